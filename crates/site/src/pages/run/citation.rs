use askama::Template;
use document::RunDocument;

use super::links::RunLinks;
use super::title::Title;
use super::words::known;
use crate::words::{FluentValue, Words};

/// Digits of a run's id that name it in a bibliography.
const KEY_LENGTH: usize = 8;

/// "Cite": the page's lasting address, and how a text names the run.
#[derive(Debug, Template)]
#[template(path = "run/citation.html")]
pub struct Citation {
    /// The page's words.
    pub words: Words,
    /// The page's address for ever.
    pub permalink: String,
    /// As a sentence.
    pub plain: String,
    /// As a BibTeX entry.
    pub bibtex: String,
}

impl Citation {
    pub(crate) fn of(run: &RunDocument, title: &Title, links: &RunLinks, words: Words) -> Citation {
        let what: FluentValue = title.in_one_line().into();
        let name = words.with("run-citation-title", &[("what", what)]);
        let author = known(run.author.as_deref()).or_else(|| known(run.organization.as_deref()));
        let year = run
            .started_at
            .as_deref()
            .or(run.finished_at.as_deref())
            .and_then(|at| at.parse::<jiff::Timestamp>().ok())
            .map(|at| at.strftime("%Y").to_string());
        let run_id = words.with("run-citation-run", &[("id", run.id.as_str().into())]);
        let parts = [
            author.clone(),
            Some(name.clone()),
            year.clone(),
            Some(run_id.clone()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let key: String = run
            .id
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(KEY_LENGTH)
            .collect();
        let fields = [
            ("title", Some(name)),
            ("author", author),
            ("year", year),
            ("note", Some(run_id)),
        ];
        let fields: String = fields
            .into_iter()
            .filter_map(|(field, value)| Some(format!("  {field} = {{{}}},\n", plain_tex(&value?))))
            .collect();
        Citation {
            words,
            plain: format!("{}. {}", parts.join(". "), links.permalink),
            bibtex: format!(
                "@misc{{tokgrid-{key},\n{fields}  url = {{{}}}\n}}",
                links.permalink
            ),
            permalink: links.permalink.clone(),
        }
    }
}

/// Text in which TeX finds nothing to do.
fn plain_tex(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => plain.push_str("\\textbackslash{}"),
            '~' => plain.push_str("\\textasciitilde{}"),
            '^' => plain.push_str("\\textasciicircum{}"),
            '{' | '}' | '%' | '&' | '#' | '_' | '$' => {
                plain.push('\\');
                plain.push(character);
            }
            _ => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_readers_tex() {
        assert_eq!(plain_tex("GLM-5_3 100% {x}"), "GLM-5\\_3 100\\% \\{x\\}");
        assert_eq!(plain_tex("\\input{/a}"), "\\textbackslash{}input\\{/a\\}");
    }
}

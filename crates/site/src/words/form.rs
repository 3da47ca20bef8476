use super::Words;

/// The first of the characters that stand for values until a form is filled: of a
/// private use area, so in no sentence.
const FIRST_MARK: u32 = 0xE000;

/// A sentence taken apart, so that filling it again and again only joins texts.
///
/// Its values are texts: a sentence that chooses by a number is [`Words::with`]'s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What stands before the first value.
    start: String,
    /// Which value, and what stands after it.
    rest: Vec<(usize, String)>,
}

impl Form {
    pub(super) fn of(words: Words, key: &'static str, names: &[&'static str]) -> Form {
        let marks: Vec<char> = (FIRST_MARK..)
            .filter_map(char::from_u32)
            .take(names.len())
            .collect();
        let mut buffer = [0; 4];
        let values: Vec<_> = names
            .iter()
            .zip(&marks)
            .map(|(name, mark)| (*name, mark.encode_utf8(&mut buffer).to_owned().into()))
            .collect();
        let mut form = Form {
            start: String::new(),
            rest: Vec::new(),
        };
        for character in words.with(key, &values).chars() {
            match marks.iter().position(|mark| *mark == character) {
                Some(value) => form.rest.push((value, String::new())),
                None => form.last().push(character),
            }
        }
        form
    }

    fn last(&mut self) -> &mut String {
        match self.rest.last_mut() {
            Some((_, text)) => text,
            None => &mut self.start,
        }
    }

    /// The sentence with `values`, in the order of the names. A value that is not
    /// given is left out.
    #[must_use]
    pub fn fill(&self, values: &[&str]) -> String {
        let length = self.start.len()
            + self.rest.iter().map(|(_, text)| text.len()).sum::<usize>()
            + values.iter().map(|value| value.len()).sum::<usize>();
        let mut filled = String::with_capacity(length);
        filled.push_str(&self.start);
        for (value, text) in &self.rest {
            if let Some(value) = values.get(*value) {
                filled.push_str(value);
            }
            filled.push_str(text);
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn a_filled_form_is_the_sentence_with_its_values() {
        for language in Language::ALL {
            let words = Words::of(language);
            let form = words.form("run-place-decode", &["context", "concurrency"]);
            assert_eq!(
                form.fill(&["8K", "64"]),
                words.with(
                    "run-place-decode",
                    &[("context", "8K".into()), ("concurrency", "64".into())]
                )
            );
        }
    }
}

//! One line of the exposition format.

use std::borrow::Cow;

use super::Sample;

/// Longest part of a line that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 40;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It does not begin with a metric's name.
    #[error("no metric name at {0:?}")]
    Name(String),
    /// A label's name, equals sign or opening quote is missing.
    #[error("a label is not name=\"value\" at {0:?}")]
    Label(String),
    /// A label's value has no closing quote.
    #[error("a label value has no closing quote at {0:?}")]
    OpenQuote(String),
    /// Labels without a closing brace, or something between them.
    #[error("labels are not followed by a comma or closing brace at {0:?}")]
    Braces(String),
    /// The value is missing or no number.
    #[error("the value is not a number: {0:?}")]
    Value(String),
    /// What follows the value is no timestamp.
    #[error("the timestamp is not a number: {0:?}")]
    Timestamp(String),
}

/// Reads a line that is neither blank nor a comment.
pub(super) fn sample(line: &str) -> Result<Sample<'_>, LineError> {
    let (name, rest) =
        identifier(line, is_metric_char).ok_or_else(|| LineError::Name(quoted(line)))?;
    let rest = rest.trim_start_matches(BLANKS);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    // An OpenMetrics exemplar, which repeats one observation, is not the sample's.
    let own = rest.split_once(" # ").map_or(rest, |(own, _)| own);
    let mut words = own.split(BLANKS).filter(|word| !word.is_empty());
    let value = words.next().unwrap_or_default();
    let value = value.parse().map_err(|_| LineError::Value(quoted(value)))?;
    let timestamp = match words.next() {
        Some(word) => Some(
            word.parse()
                .map_err(|_| LineError::Timestamp(quoted(word)))?,
        ),
        None => None,
    };
    if let Some(word) = words.next() {
        return Err(LineError::Timestamp(quoted(word)));
    }
    Ok(Sample {
        name,
        labels,
        value,
        timestamp,
    })
}

const BLANKS: [char; 2] = [' ', '\t'];

type Labels<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// Reads labels after the opening brace; gives what follows the closing one.
fn labels(mut rest: &str) -> Result<(Labels<'_>, &str), LineError> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches(BLANKS);
        if let Some(after) = rest.strip_prefix('}') {
            return Ok((labels, after));
        }
        let (label, after) = label(rest)?;
        labels.push(label);
        rest = after.trim_start_matches(BLANKS);
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return Err(LineError::Braces(quoted(rest))),
        }
    }
}

fn label(text: &str) -> Result<((&str, Cow<'_, str>), &str), LineError> {
    let wrong = || LineError::Label(quoted(text));
    let (name, rest) = identifier(text, is_label_char).ok_or_else(wrong)?;
    let rest = rest
        .trim_start_matches(BLANKS)
        .strip_prefix('=')
        .ok_or_else(wrong)?;
    let rest = rest
        .trim_start_matches(BLANKS)
        .strip_prefix('"')
        .ok_or_else(wrong)?;
    let (value, rest) = quoted_value(rest).ok_or_else(|| LineError::OpenQuote(quoted(text)))?;
    Ok(((name, value), rest))
}

/// Reads a label's value after the opening quote. Borrowed unless it has
/// escapes; an unknown escape stays as it is, as Prometheus itself reads it.
fn quoted_value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let special = text.find(['"', '\\'])?;
    if text.as_bytes()[special] == b'"' {
        return Some((Cow::Borrowed(&text[..special]), &text[special + 1..]));
    }
    let mut value = String::with_capacity(text.len());
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((Cow::Owned(value), &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('"' | '\\') => value.push(escaped),
                unknown => value.extend(['\\', unknown]),
            },
            plain => value.push(plain),
        }
    }
    None
}

fn identifier(text: &str, allowed: fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|char| !allowed(char)).unwrap_or(text.len());
    let starts_well = text.starts_with(|char: char| !char.is_ascii_digit());
    (end > 0 && starts_well).then(|| text.split_at(end))
}

fn is_metric_char(char: char) -> bool {
    char == ':' || is_label_char(char)
}

fn is_label_char(char: char) -> bool {
    char == '_' || char.is_ascii_alphanumeric()
}

fn quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}

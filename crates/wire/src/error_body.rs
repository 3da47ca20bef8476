//! An HTTP error response, as one sentence a person understands.
//!
//! Servers answer errors as `{"error": {"message": …}}`, `{"error": "…"}`,
//! `{"message": …}` (vLLM before 0.10), FastAPI's `{"detail": …}`, plain text,
//! or a proxy's web page.

use serde_json::Value;

use crate::prometheus::looks_like_html;

/// Longest sentence given, in characters; more is cut and ends in `…`.
pub const MAX_SENTENCE_CHARS: usize = 300;

/// What is said of a response without a visible character.
const EMPTY: &str = "an empty answer";

/// Says what an error response says. Control characters, which could upset a
/// terminal, become spaces.
///
/// ```
/// use wire::error_body::sentence;
/// assert_eq!(sentence(br#"{"error":{"message":"no such model"}}"#), "no such model");
/// assert_eq!(
///     sentence(b"<html><title>502 Bad Gateway</title></html>"),
///     "an HTML page (\"502 Bad Gateway\") instead of JSON"
/// );
/// ```
#[must_use]
pub fn sentence(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    if looks_like_html(text) {
        return match title(text) {
            Some(title) => format!("an HTML page (\"{}\") instead of JSON", excerpt(title)),
            None => "an HTML page instead of JSON".to_owned(),
        };
    }
    let told = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|value| message(&value));
    let told = told
        .map(|message| excerpt(&message))
        .filter(|message| !message.is_empty());
    match told.unwrap_or_else(|| excerpt(text)) {
        blank if blank.is_empty() => EMPTY.to_owned(),
        said => said,
    }
}

/// The beginning of a text on one line, at most [`MAX_SENTENCE_CHARS`] long.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let plain = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char });
    let mut kept = String::new();
    for (count, char) in plain.enumerate() {
        if count == MAX_SENTENCE_CHARS {
            kept.push('…');
            break;
        }
        if char != ' ' || !kept.ends_with(' ') {
            kept.push(char);
        }
    }
    kept.trim().to_owned()
}

/// The message inside a JSON error of any known shape.
fn message(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => ["error", "message", "detail", "msg"]
            .iter()
            .find_map(|key| object.get(*key).and_then(message)),
        // FastAPI's validation errors: [{"loc": ["body", "n"], "msg": "…"}].
        Value::Array(errors) => {
            let all: Vec<String> = errors.iter().filter_map(located_message).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn located_message(error: &Value) -> Option<String> {
    let text = message(error)?;
    let location = error.get("loc").and_then(Value::as_array).map(|parts| {
        let parts = parts.iter().map(|part| {
            part.as_str()
                .map_or_else(|| part.to_string(), str::to_owned)
        });
        parts.collect::<Vec<_>>().join(".")
    });
    Some(match location {
        Some(location) => format!("{location}: {text}"),
        None => text,
    })
}

fn title(html: &str) -> Option<&str> {
    // Lower-casing ASCII keeps byte positions.
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let title = html[start..end].trim();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_shapes_give_their_message() {
        let cases: [(&str, &str); 10] = [
            (
                r#"{"error":{"message":"The model `nope` does not exist.","code":404}}"#,
                "The model `nope` does not exist.",
            ),
            (r#"{"error":"busy"}"#, "busy"),
            (
                r#"{"object":"error","message":"too long","code":400}"#,
                "too long",
            ),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (
                r#"{"detail":[{"loc":["body","n",0],"msg":"not a number","type":"int"}]}"#,
                "body.n.0: not a number",
            ),
            ("Bad Gateway\r\n", "Bad Gateway"),
            ("", "an empty answer"),
            ("\u{1}\0", "an empty answer"),
            (r#"{"error":{"message":""}}"#, r#"{"error":{"message":""}}"#),
            (r#"{"code":7}"#, r#"{"code":7}"#),
        ];
        for (body, expected) in cases {
            assert_eq!(sentence(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn html_is_named_as_such() {
        let page = b"\n<!DOCTYPE html><html><head><TITLE>\n Sign in </TITLE>";
        assert_eq!(sentence(page), "an HTML page (\"Sign in\") instead of JSON");
        assert_eq!(sentence(b"<html><body>x"), "an HTML page instead of JSON");
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        assert_eq!(sentence(b"a\x1b[31mb\0\n\nc"), "a [31mb c");
    }

    #[test]
    fn long_answers_are_cut_and_say_so() {
        let text = excerpt(&"é".repeat(1000));
        assert_eq!(text.chars().count(), MAX_SENTENCE_CHARS + 1);
        assert!(text.ends_with('…'));
    }
}

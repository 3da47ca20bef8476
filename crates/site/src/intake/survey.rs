//! One pass over JSON of unknown intent: how deep, how much, which texts. It keeps
//! nothing but the path, so whatever comes costs no more than its length.

use std::collections::HashSet;
use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Problems, Refusal};

/// Objects and lists inside each other; a run document has six levels.
pub const MAX_DEPTH: usize = 32;
/// Values in a document, objects and lists included: those take memory that their
/// few bytes do not tell.
pub const MAX_VALUES: usize = 600_000;
/// Items of a list that the schema does not bound.
pub const MAX_ITEMS: usize = 65_536;
/// Bytes of any text.
pub const MAX_STRING_BYTES: usize = 256 << 10;
/// Bytes of a field's name.
pub const MAX_KEY_BYTES: usize = 256;
/// Bytes of a place that are told.
const MAX_PATH_BYTES: usize = 512;

/// What a pass over a document found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The document's `schema`, where it is a text.
    pub(super) schema: Option<String>,
    /// What no file may have.
    pub(super) problems: Problems,
    /// What a run document may not have; another tool's file is converted first.
    pub(super) texts: Problems,
    path: String,
    value_count: usize,
    /// Why the pass was ended early.
    is_ended: bool,
}

/// Looks over a document.
pub(super) fn survey(text: &str) -> Result<Survey, Refusal> {
    let mut survey = Survey::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let walk = Walk {
        survey: &mut survey,
        depth: 0,
    };
    let end = walk.deserialize(&mut reader).and_then(|()| reader.end());
    match end {
        Err(error) if !survey.is_ended => {
            let advice = if error.is_eof() {
                format!(
                    "the document breaks off at line {}, column {}: give the whole of it",
                    error.line(),
                    error.column()
                )
            } else {
                format!("not JSON: {error}")
            };
            survey.problems.add(None, advice);
        }
        Ok(()) | Err(_) => {}
    }
    Ok(survey)
}

impl Survey {
    /// The place, told so that it can stand on a page: without control characters,
    /// and not without end.
    fn here(&self) -> Option<String> {
        let path = self.path.trim_start_matches('.');
        let cut = &path[..path.floor_char_boundary(MAX_PATH_BYTES)];
        (!cut.is_empty()).then(|| cut.replace(char::is_control, "\u{fffd}"))
    }

    fn text(&mut self, text: &str) {
        if text.len() > MAX_STRING_BYTES {
            let here = self.here();
            let told = format!("a text of {} bytes; at most {MAX_STRING_BYTES}", text.len());
            self.texts.add(here, told);
        }
        let control = text
            .chars()
            .find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        if let Some(control) = control {
            let here = self.here();
            let told = format!(
                "has the control character U+{:04X}; only line breaks (\\n) and tabs may stand in a text",
                u32::from(control)
            );
            self.texts.add(here, told);
        }
    }
}

/// Walks one value.
struct Walk<'s> {
    survey: &'s mut Survey,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.survey.value_count += 1;
        if self.survey.value_count > MAX_VALUES {
            self.survey.is_ended = true;
            let told = format!("the document has more than {MAX_VALUES} values");
            self.survey.problems.add(None, told);
            return Err(D::Error::custom("ended"));
        }
        from.deserialize_any(self)
    }
}

impl Walk<'_> {
    /// Whether the value may be looked into.
    fn is_too_deep(&mut self) -> bool {
        let is_too_deep = self.depth >= MAX_DEPTH;
        if is_too_deep {
            let here = self.survey.here();
            let told = format!("more than {MAX_DEPTH} objects and lists inside each other");
            self.survey.problems.add(here, told);
        }
        is_too_deep
    }

    fn inside(&mut self) -> Walk<'_> {
        Walk {
            survey: self.survey,
            depth: self.depth + 1,
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.survey.text(text);
        if self.depth == 1 && self.survey.path == ".schema" {
            self.survey.schema = Some(text.chars().take(MAX_KEY_BYTES).collect());
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if self.is_too_deep() {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let end = self.survey.path.len();
        let mut count = 0;
        loop {
            // Writing to a string cannot fail.
            let _ = write!(self.survey.path, "[{count}]");
            let next = items.next_element_seed(self.inside())?;
            self.survey.path.truncate(end);
            if next.is_none() {
                break;
            }
            count += 1;
        }
        if count > MAX_ITEMS {
            let here = self.survey.here();
            let told = format!("a list of {count} items; at most {MAX_ITEMS}");
            self.survey.texts.add(here, told);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        if self.is_too_deep() {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let end = self.survey.path.len();
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            self.survey.path.push('.');
            let told = name.floor_char_boundary(MAX_KEY_BYTES);
            self.survey.path.push_str(&name[..told]);
            if told < name.len() {
                let here = self.survey.here();
                let told = format!("a name of {} bytes; at most {MAX_KEY_BYTES}", name.len());
                self.survey.texts.add(here, told);
            }
            if name.chars().any(char::is_control) {
                let here = self.survey.here();
                self.survey
                    .texts
                    .add(here, "a name with control characters");
            }
            if !names.insert(name) {
                let here = self.survey.here();
                let told = "stands in this object twice, and which one counts is not for us to say";
                self.survey.problems.add(here, told);
            }
            fields.next_value_seed(self.inside())?;
            self.survey.path.truncate(end);
        }
        Ok(())
    }
}

//! Reading a foreign object field by field: each by name, with its path in every
//! error, and with an account of what was not read.

use std::cell::RefCell;
use std::collections::BTreeSet;

use document::Extra;
use serde_json::{Map, Value};

use crate::error::ImportError;

/// Largest count that a number of JSON carries exactly.
const MAX_COUNT: f64 = 9_007_199_254_740_991.0;
/// No speed, latency or power is larger.
const MAX_FIGURE: f64 = 1e12;
/// Longest text that is taken over, characters.
const MAX_TEXT_CHARS: usize = 4096;
/// Longest part of a wrong value that an error shows, characters.
const MAX_SHOWN_CHARS: usize = 60;
/// Parts of names of fields that may tell who and where, or let someone in.
const PRIVATE: [&str; 11] = [
    "api_key", "auth", "cmd", "command", "cookie", "env", "host", "password", "path", "secret",
    "url",
];
/// Private names as a whole.
const PRIVATE_NAMES: [&str; 6] = ["server", "stderr", "stdout", "uname", "user", "username"];

/// An object of a foreign file.
pub(crate) struct Fields<'a> {
    path: String,
    map: &'a Map<String, Value>,
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Fields<'a> {
    /// The file itself.
    pub(crate) fn root(map: &'a Map<String, Value>) -> Fields<'a> {
        Fields::at(String::new(), map)
    }

    fn at(path: String, map: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            path,
            map,
            read: RefCell::default(),
        }
    }

    /// An error about one of the fields.
    pub(crate) fn wrong(&self, name: &str, problem: impl Into<String>) -> ImportError {
        ImportError::Field {
            path: self.path_of(name),
            problem: problem.into(),
        }
    }

    fn path_of(&self, name: &str) -> String {
        let name: String = name.chars().take(MAX_SHOWN_CHARS).collect();
        if self.path.is_empty() {
            name
        } else {
            format!("{}.{name}", self.path)
        }
    }

    fn not_a(&self, name: &str, wanted: &str, value: &Value) -> ImportError {
        let shown: String = value.to_string().chars().take(MAX_SHOWN_CHARS).collect();
        self.wrong(name, format!("{shown} is not {wanted}"))
    }

    /// The value, `null` counting as none.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Whether the field is there and not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// A number of either sign.
    pub(crate) fn signed(&self, name: &str) -> Result<Option<f64>, ImportError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| self.not_a(name, "a number", value))?;
        if number.abs() > MAX_FIGURE {
            return Err(self.wrong(name, format!("{number:e} is more than can be true")));
        }
        Ok(Some(number))
    }

    /// A number, 0 or more.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ImportError> {
        match self.signed(name)? {
            Some(number) if number < 0.0 => Err(self.wrong(name, format!("{number} is negative"))),
            number => Ok(number),
        }
    }

    /// A figure: in these files 0 stands for what was not measured.
    pub(crate) fn figure(&self, name: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.number(name)?.filter(|number| *number > 0.0))
    }

    /// A whole number, 0 or more.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, ImportError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let whole = value
            .as_f64()
            .filter(|number| (0.0..=MAX_COUNT).contains(number) && number.fract() == 0.0);
        match whole {
            Some(whole) => Ok(Some(whole as u64)),
            None => Err(self.not_a(name, "a count", value)),
        }
    }

    /// A whole number over 0 that fits 32 bits.
    pub(crate) fn small_count(&self, name: &str) -> Result<Option<u32>, ImportError> {
        let Some(count) = self.count(name)?.filter(|count| *count > 0) else {
            return Ok(None);
        };
        match u32::try_from(count) {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(self.wrong(name, format!("{count} is more than can be true"))),
        }
    }

    /// A text; an empty one counts as none.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, ImportError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let Value::String(text) = value else {
            return Err(self.not_a(name, "a text", value));
        };
        let chars = text.chars().count();
        if chars > MAX_TEXT_CHARS {
            let problem = format!("{chars} characters; at most {MAX_TEXT_CHARS} are read");
            return Err(self.wrong(name, problem));
        }
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// Yes or no.
    pub(crate) fn is(&self, name: &str) -> Result<Option<bool>, ImportError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(is)) => Ok(Some(*is)),
            Some(value) => Err(self.not_a(name, "true or false", value)),
        }
    }

    /// An object inside.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Fields<'a>>, ImportError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Fields::at(self.path_of(name), map))),
            Some(value) => Err(self.not_a(name, "an object", value)),
        }
    }

    /// The names of all fields, in the file's order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.map.keys().map(String::as_str)
    }

    fn list(&self, name: &str, most: usize) -> Result<&'a [Value], ImportError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) if items.len() <= most => Ok(items),
            Some(Value::Array(items)) => {
                let problem = format!("{} entries; at most {most} are read", items.len());
                Err(self.wrong(name, problem))
            }
            Some(value) => Err(self.not_a(name, "a list", value)),
        }
    }

    /// The objects of a list.
    pub(crate) fn objects(&self, name: &str, most: usize) -> Result<Vec<Fields<'a>>, ImportError> {
        let objects = self.list(name, most)?.iter().enumerate();
        objects
            .map(|(i, value)| match value.as_object() {
                Some(map) => Ok(Fields::at(format!("{}[{i}]", self.path_of(name)), map)),
                None => Err(self.not_a(&format!("{name}[{i}]"), "an object", value)),
            })
            .collect()
    }

    /// The counts of a list.
    pub(crate) fn counts(&self, name: &str, most: usize) -> Result<Vec<u64>, ImportError> {
        let counts = self.list(name, most)?.iter().enumerate();
        counts
            .map(
                |(i, value)| match value.as_u64().filter(|c| *c as f64 <= MAX_COUNT) {
                    Some(count) => Ok(count),
                    None => Err(self.not_a(&format!("{name}[{i}]"), "a count", value)),
                },
            )
            .collect()
    }

    /// The texts of a list, long ones cut.
    pub(crate) fn texts(&self, name: &str, most: usize) -> Result<Vec<String>, ImportError> {
        let texts = self.list(name, most)?.iter().enumerate();
        texts
            .map(|(i, value)| match value.as_str() {
                Some(text) => Ok(text.chars().take(MAX_TEXT_CHARS).collect()),
                None => Err(self.not_a(&format!("{name}[{i}]"), "a text", value)),
            })
            .collect()
    }

    /// The fields nobody asked for, but for `left_out` and for those that may tell
    /// whose machine it was.
    pub(crate) fn unread(&self, left_out: &[&str]) -> Extra {
        let read = self.read.borrow();
        self.map
            .iter()
            .filter(|(name, _)| !read.contains(*name) && !left_out.contains(&name.as_str()))
            .filter(|(name, _)| !is_private(name))
            .map(|(name, value)| (name.clone(), without_private(value)))
            .collect()
    }
}

fn is_private(name: &str) -> bool {
    let name = name.to_lowercase();
    PRIVATE_NAMES.contains(&name.as_str()) || PRIVATE.iter().any(|part| name.contains(part))
}

/// The value without what is private inside it. No deeper than JSON is read.
fn without_private(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(name, _)| !is_private(name))
            .map(|(name, value)| (name.clone(), without_private(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_private).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

use std::collections::HashSet;

use store::PageRequest;

use super::{MAX_VALUE_CHARS, QueryError};

/// The parameter that chooses a language, on every page.
const LANGUAGE: &str = "lang";

/// The parameters of an address. Each is taken by what understands it; what is left
/// over in the end is refused. An empty value is none: forms send those.
#[derive(Debug, Clone)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
    has_empty: bool,
}

impl Parameters {
    /// Those of the part of an address after its `?`.
    ///
    /// # Errors
    /// A parameter that is given twice, or is too long.
    pub fn of(query: Option<&str>) -> Result<Parameters, QueryError> {
        let mut seen = HashSet::new();
        let mut pairs = Vec::new();
        let mut has_empty = false;
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if name == LANGUAGE {
                continue;
            }
            let value = value.trim();
            let name = name.into_owned();
            if name.chars().count() > MAX_VALUE_CHARS || value.chars().count() > MAX_VALUE_CHARS {
                let parameter = name.chars().take(MAX_VALUE_CHARS).collect();
                return Err(QueryError::TooLong { parameter });
            }
            if !seen.insert(name.clone()) {
                return Err(QueryError::Twice { parameter: name });
            }
            has_empty |= value.is_empty();
            pairs.push((name, value.to_owned()));
        }
        Ok(Parameters {
            pairs,
            known: Vec::new(),
            has_empty,
        })
    }

    /// Whether some value is empty, as of a form: the same address is shorter without.
    #[must_use]
    pub fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// The value of `name`, if it has one.
    pub fn take(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let at = self.pairs.iter().position(|(given, _)| given == name)?;
        let (_, value) = self.pairs.remove(at);
        (!value.is_empty()).then_some(value)
    }

    /// The value of `name`, read by `read`; `expected` says what it can be.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] where `read` finds none.
    pub fn take_as<T>(
        &mut self,
        parameter: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
        expected: impl FnOnce() -> String,
    ) -> Result<Option<T>, QueryError> {
        let Some(value) = self.take(parameter) else {
            return Ok(None);
        };
        match read(&value) {
            Some(found) => Ok(Some(found)),
            None => Err(QueryError::Invalid {
                parameter,
                expected: expected(),
                value,
            }),
        }
    }

    /// Which part of a list: `after`, and `limit` items or `default_limit`; a list
    /// whose pages have one size has no parameter `limit`.
    ///
    /// # Errors
    /// A `limit` that is none.
    pub fn take_page(
        &mut self,
        default_limit: u32,
        most: Option<u32>,
    ) -> Result<PageRequest, QueryError> {
        let limit = match most {
            Some(most) => self.take_as(
                "limit",
                |text| whole(text, 1, most),
                || format!("1 … {most}"),
            )?,
            None => None,
        };
        Ok(PageRequest {
            limit: limit.unwrap_or(default_limit),
            after: self.take("after"),
        })
    }

    /// Refuses what nobody took.
    ///
    /// # Errors
    /// [`QueryError::Unknown`] for the first of them.
    pub fn finish(self) -> Result<(), QueryError> {
        match self.pairs.into_iter().next() {
            Some((parameter, _)) => Err(QueryError::Unknown {
                parameter,
                known: self.known,
            }),
            None => Ok(()),
        }
    }
}

/// A number as people write it: digits only.
pub(super) fn whole(text: &str, least: u32, most: u32) -> Option<u32> {
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| digits_only && (least..=most).contains(number))
}

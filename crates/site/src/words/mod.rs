//! What pages say, in every language the site speaks.
//!
//! Sentences are Fluent messages in `locales/LANGUAGE/AREA.ftl`. A key that a
//! template or a module names and a language lacks fails `tests/words.rs`.

mod bundles;
mod form;
mod language;
mod nouns;

use std::borrow::Cow;

use fluent_bundle::FluentArgs;
pub use fluent_bundle::FluentValue;
use jiff::Timestamp;

pub use form::Form;
pub use language::Language;

/// What is said: nearly always static, so that saying it copies nothing.
pub type Said = Cow<'static, str>;

/// The words of one language. Copied freely: it is a name, the words are static.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words {
    language: Language,
}

impl Words {
    /// The words of `language`.
    #[must_use]
    pub fn of(language: Language) -> Words {
        Words { language }
    }

    /// Whether texts in English, such as a flag's evidence, are in another language
    /// than the page and have to be marked.
    #[must_use]
    pub fn are_foreign(&self) -> bool {
        self.language != Language::English
    }

    /// The language these words are in.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The sentence called `key`, which takes no values. A key that no language
    /// has is shown as it is.
    #[must_use]
    pub fn t(&self, key: &'static str) -> Said {
        bundles::say(self.language, key, None)
    }

    /// The sentence called `key` with `values` in it: `("count", 3.into())`. Fluent
    /// chooses plural forms by numbers; print numbers with [`document::format`]
    /// beside them where the pages' formats matter.
    #[must_use]
    pub fn with(&self, key: &'static str, values: &[(&'static str, FluentValue<'_>)]) -> String {
        let mut arguments = FluentArgs::with_capacity(values.len());
        for (name, value) in values {
            arguments.set(*name, value.clone());
        }
        bundles::say(self.language, key, Some(&arguments)).into_owned()
    }

    /// The sentence called `key`, to be filled many times with texts for `names`.
    #[must_use]
    pub fn form(&self, key: &'static str, names: &[&'static str]) -> Form {
        Form::of(*self, key, names)
    }

    /// A day: `1 Dec 2026`, `2026年12月1日`. UTC.
    #[must_use]
    pub fn date(&self, at: Timestamp) -> String {
        match self.language {
            Language::English => at.strftime("%-d %b %Y"),
            Language::SimplifiedChinese => at.strftime("%Y年%-m月%-d日"),
        }
        .to_string()
    }

    /// A day and a time: `1 Dec 2026, 14:45 UTC`.
    #[must_use]
    pub fn moment(&self, at: Timestamp) -> String {
        match self.language {
            Language::English => at.strftime("%-d %b %Y, %H:%M UTC"),
            Language::SimplifiedChinese => at.strftime("%Y年%-m月%-d日 %H:%M UTC"),
        }
        .to_string()
    }
}

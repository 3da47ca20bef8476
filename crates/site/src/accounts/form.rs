use askama::Template;

use crate::words::{Said, Words};

/// A form, or a part of a page that is one.
#[derive(Debug, Template)]
#[template(path = "accounts/form.html")]
pub(super) struct Form {
    pub(super) action: String,
    pub(super) fields: Vec<Field>,
    /// What stands in the form unseen: name and value.
    pub(super) hidden: Vec<(&'static str, String)>,
    /// What can be ticked: name, value, label, whether it is.
    pub(super) ticks: Vec<(&'static str, &'static str, Said, bool)>,
    pub(super) button: Said,
    /// What is wrong with the whole.
    pub(super) fault: Option<String>,
}

/// A line of a form.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: Said,
    /// `text`, `password`, `number`, `area`
    pub(super) kind: &'static str,
    /// As HTML names it; `off` for what browsers must not fill in.
    pub(super) autocomplete: &'static str,
    pub(super) value: String,
    pub(super) hint: Option<Said>,
    pub(super) fault: Option<Said>,
    pub(super) chars_max: usize,
    pub(super) required: bool,
}

impl Form {
    pub(super) fn new(action: impl Into<String>, button: Said, fields: Vec<Field>) -> Form {
        Form {
            action: action.into(),
            fields,
            hidden: Vec::new(),
            ticks: Vec::new(),
            button,
            fault: None,
        }
    }

    /// Whether something is wrong with it.
    pub(super) fn is_faulty(&self) -> bool {
        self.fault.is_some() || self.fields.iter().any(|field| field.fault.is_some())
    }
}

impl Field {
    /// A line of text.
    pub(super) fn text(name: &'static str, label: Said, value: &str, chars_max: usize) -> Field {
        Field {
            name,
            label,
            kind: "text",
            autocomplete: "off",
            value: value.to_owned(),
            hint: None,
            fault: None,
            chars_max,
            required: true,
        }
    }

    /// A password, which is never sent back. `current-password` or `new-password`.
    pub(super) fn password(name: &'static str, label: Said, autocomplete: &'static str) -> Field {
        Field {
            kind: "password",
            autocomplete,
            ..Field::text(name, label, "", super::names::PASSWORD_CHARS_MAX)
        }
    }

    pub(super) fn hint(mut self, hint: Said) -> Field {
        self.hint = Some(hint);
        self
    }

    pub(super) fn fault(mut self, fault: Option<Said>) -> Field {
        self.fault = fault;
        self
    }
}

/// The line for a person's name.
pub(super) fn name_field(words: Words, value: &str) -> Field {
    Field {
        autocomplete: "username",
        ..Field::text(
            "name",
            words.t("account-name"),
            value,
            super::names::HANDLE_CHARS_MAX,
        )
    }
}

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::form::Form;
use crate::frame::{Frame, PageError, Place, page};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Said;

/// A page that is a form and little else.
#[derive(Debug, Template)]
#[template(path = "accounts/one_form.html")]
pub(super) struct OneForm {
    frame: Frame,
    lines: Vec<String>,
    form: Form,
    second: Option<Form>,
    links: Vec<(String, Said)>,
}

impl OneForm {
    pub(super) fn new(site: &Site, visitor: &Visitor, title: Said, form: Form) -> OneForm {
        OneForm {
            frame: Frame::new(site, visitor, Place::Account, title),
            lines: Vec::new(),
            form,
            second: None,
            links: Vec::new(),
        }
    }

    /// Something to be read before the form.
    pub(super) fn line(mut self, line: impl Into<String>) -> OneForm {
        self.lines.push(line.into());
        self
    }

    /// The other thing that can be done.
    pub(super) fn second(mut self, form: Form) -> OneForm {
        self.second = Some(form);
        self
    }

    /// A way on below the form.
    pub(super) fn link(mut self, address: impl Into<String>, label: Said) -> OneForm {
        self.links.push((address.into(), label));
        self
    }

    /// The page: 422 where the form has a fault.
    pub(super) fn answer(self) -> Result<Response, PageError> {
        let status = if self.form.is_faulty() {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        };
        self.answer_with(status)
    }

    /// The page with a status.
    pub(super) fn answer_with(self, status: StatusCode) -> Result<Response, PageError> {
        Ok((status, page(&self.frame, &self)?).into_response())
    }
}

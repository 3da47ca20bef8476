use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;

use super::Identity;
use super::attempt::go_to;
use super::session::OpenSession;
use crate::site::Site;

/// Somebody who is signed in here, in a browser. Who is not is asked to.
#[derive(Debug, Clone)]
pub(super) struct Here(OpenSession);

impl Deref for Here {
    type Target = OpenSession;

    fn deref(&self) -> &OpenSession {
        &self.0
    }
}

impl FromRequestParts<Site> for Here {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _site: &Site) -> Result<Here, Response> {
        if let Some(Identity::Session(session)) = parts.extensions.get::<Identity>() {
            return Ok(Here(session.clone()));
        }
        // What was being sent is lost: only a page can be come back to.
        let here = match (&parts.method, parts.uri.path_and_query()) {
            (&Method::GET, Some(path)) => path.as_str(),
            _ => "/account",
        };
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("next", here)
            .finish();
        Err(go_to(&format!("/sign-in?{query}")))
    }
}

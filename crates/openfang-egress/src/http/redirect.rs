//! Where a response redirects to, and what is sent along. A redirect within an operator URL's origin stays an operator
//! URL, such as from `/mcp` to `/mcp/`. Every other target is foreign. Redirects from https to http are refused.
//! Secrets are sent to their own origin only. A body is sent to another origin only when http is upgraded to https on
//! the same host.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::HttpError;
use super::request::{Redirects, Target};
use crate::url::{Guard, Origin, UrlRefused};

/// Headers that are credentials even if they are not marked as sensitive.
const CREDENTIALS: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

/// Headers that describe a body.
const ABOUT_THE_BODY: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::CONTENT_LOCATION];

/// One request in a chain of redirects.
#[derive(Clone)]
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) redirects: Redirects,
}

impl Hop {
    pub(super) fn origin(&self) -> Origin {
        self.target.origin()
    }

    /// The next hop; none if the response is final.
    pub(super) fn next(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        guard: &Guard,
    ) -> Result<Option<Self>, HttpError> {
        let becomes_get = match status {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => {
                self.method != Method::GET && self.method != Method::HEAD
            }
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => false,
            _ => return Ok(None),
        };
        match self.redirects {
            Redirects::Any => {}
            Redirects::Unchanged if !becomes_get => {}
            Redirects::Unchanged | Redirects::None => return Ok(None),
        }
        let Some(location) = headers.get(header::LOCATION) else { return Ok(None) };
        let from = self.origin();
        let Ok(location) = location.to_str() else { return Err(HttpError::BadResponse { origin: from }) };
        let target = self
            .led_to(location, guard)
            .map_err(|cause| HttpError::RedirectRefused { from: from.clone(), cause })?;
        let to = target.origin();
        if from.is_https() && !to.is_https() {
            return Err(HttpError::Downgrade { from, to });
        }
        let mut next = Self { target, ..self.clone() };
        if becomes_get {
            next.method = Method::GET;
            next.body = Bytes::new();
            ABOUT_THE_BODY.iter().for_each(|name| drop(next.headers.remove(name)));
        }
        if from != to {
            if !next.body.is_empty() && !from.is_upgraded_by(&to) {
                return Err(HttpError::BodyAcrossOrigins { from, to });
            }
            next.drop_secrets();
        }
        Ok(Some(next))
    }

    /// The target of a redirect: within the operator's origin if the caller allows it, foreign otherwise.
    fn led_to(&self, location: &str, guard: &Guard) -> Result<Target, UrlRefused> {
        if let Target::Operator(url) = &self.target
            && let Some(home) = guard.at_home(url, location)
        {
            return Ok(home.into());
        }
        guard.redirect(self.target.url(), location).map(Target::from)
    }

    fn drop_secrets(&mut self) {
        CREDENTIALS.iter().for_each(|name| drop(self.headers.remove(name)));
        let marked: Vec<HeaderName> = self
            .headers
            .iter()
            .filter(|(_, value)| value.is_sensitive())
            .map(|(name, _)| name.clone())
            .collect();
        marked.iter().for_each(|name| drop(self.headers.remove(name)));
    }
}

#[cfg(test)]
#[path = "redirect_tests.rs"]
mod tests;

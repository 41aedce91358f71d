//! Where an answer sends us, and what goes along. Every hop is a foreign URL, whoever was asked first. There is no way
//! from https to http; secrets stay with their origin; a body goes nowhere else, except from http to https of one host.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::HttpError;
use super::request::Target;
use crate::url::{Guard, Origin};

/// Headers that are credentials even when nobody marked them.
const CREDENTIALS: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

/// Headers that describe a body.
const ABOUT_THE_BODY: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::CONTENT_LOCATION];

/// One request of a chain.
#[derive(Clone)]
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Hop {
    pub(super) fn origin(&self) -> Origin {
        self.target.origin()
    }

    /// The next hop; none if the answer is one to keep.
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
        let Some(location) = headers.get(header::LOCATION) else { return Ok(None) };
        let from = self.origin();
        let Ok(location) = location.to_str() else { return Err(HttpError::BadResponse { origin: from }) };
        let target = guard
            .redirect(self.target.url(), location)
            .map_err(|cause| HttpError::RedirectRefused { from: from.clone(), cause })?;
        let to = target.origin();
        if from.is_https() && !to.is_https() {
            return Err(HttpError::Downgrade { from, to });
        }
        let mut next = Self { target: target.into(), ..self.clone() };
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

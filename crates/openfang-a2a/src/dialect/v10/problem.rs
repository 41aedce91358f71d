//! Writes the details of a refusal in the form of `google.rpc`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::A2aError;

/// The domain of the error reasons.
const DOMAIN: &str = "a2a-protocol.org";

#[derive(Serialize)]
#[serde(tag = "@type")]
pub(in crate::dialect) enum Detail<'a> {
    #[serde(rename = "type.googleapis.com/google.rpc.ErrorInfo")]
    ErrorInfo { reason: &'static str, domain: &'static str, metadata: BTreeMap<&'static str, &'static str> },
    #[serde(rename = "type.googleapis.com/google.rpc.BadRequest", rename_all = "camelCase")]
    BadRequest { field_violations: [Violation<'a>; 1] },
}

#[derive(Serialize)]
pub(in crate::dialect) struct Violation<'a> {
    field: &'a str,
    description: &'a str,
}

pub(in crate::dialect) fn details(error: &A2aError) -> Vec<Detail<'_>> {
    let mut details = vec![Detail::ErrorInfo { reason: error.reason(), domain: DOMAIN, metadata: BTreeMap::new() }];
    if let A2aError::InvalidParams { field, why } = error {
        details.push(Detail::BadRequest { field_violations: [Violation { field, description: why }] });
    }
    details
}

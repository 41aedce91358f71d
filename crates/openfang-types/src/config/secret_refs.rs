//! References to stored secrets in entries: `${secret:NAME}`. They stand in values of headers and variables and in URLs. A
//! command line must not have one, because every process of the machine can read it.

use std::collections::BTreeSet;

/// What the name of a secret follows in a reference.
const PREFIX: &str = "secret:";

/// The name of the secret that a reference names, given the text between `${` and `}`.
pub fn secret_reference(reference: &str) -> Option<&str> {
    reference.strip_prefix(PREFIX)
}

/// The names of the secrets that texts refer to.
pub fn secret_references<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<&'t str> {
    let references = texts.into_iter().flat_map(|text| text.split("${").skip(1));
    references.filter_map(|rest| secret_reference(rest.split_once('}')?.0)).collect()
}

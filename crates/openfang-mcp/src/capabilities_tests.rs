//! What of a client's capabilities each revision can ask for.

use super::*;
use crate::revision::Revision;

#[test]
fn a_client_is_not_asked_in_ways_that_its_revision_does_not_have() {
    use Capability::{ElicitationForm, ElicitationUrl, Roots, Sampling};
    let everything = ClientCapabilities::from_byte(u8::MAX);
    let askable = |revision: Revision| -> Vec<Capability> {
        let can = revision.facts().askable(everything);
        [ElicitationForm, ElicitationUrl, Sampling, Roots]
            .into_iter()
            .filter(|capability| can.has(*capability))
            .collect()
    };

    assert_eq!(askable(Revision::V2024_11_05), [Sampling, Roots]);
    assert_eq!(askable(Revision::V2025_03_26), [Sampling, Roots]);
    assert_eq!(askable(Revision::V2025_06_18), [ElicitationForm, Sampling, Roots]);
    assert_eq!(askable(Revision::V2025_11_25), [ElicitationForm, ElicitationUrl, Sampling, Roots]);
    assert_eq!(Revision::NEWEST.facts().askable(ClientCapabilities::NONE), ClientCapabilities::NONE);
}

//! The table, and what is negotiated by it.

use super::*;

#[test]
fn the_table_is_in_order_and_every_revision_finds_its_own_row() {
    let names: Vec<&str> = Revision::all().map(Revision::name).collect();
    assert_eq!(names, ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    for revision in Revision::all() {
        assert_eq!(revision.facts().revision, revision);
        assert_eq!(Revision::named(revision.name()), Some(revision));
    }
}

#[test]
fn initialize_is_never_answered_with_a_revision_that_has_none() {
    let asked = [None, Some("2024-11-05"), Some("2025-03-26"), Some("2025-06-18"), Some("2025-11-25")];
    let legacy = ["2024-11-05", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for (asked, expected) in asked.into_iter().zip(legacy) {
        assert_eq!(Revision::negotiated(asked).name(), expected, "{asked:?}");
    }
    for odd in ["2026-07-28", "2027-01-01", "", "latest", "2025-11-25 "] {
        assert_eq!(Revision::negotiated(Some(odd)), Revision::NEWEST_LEGACY, "{odd:?}");
    }
}

#[test]
fn a_handshake_a_session_and_questions_by_request_come_together() {
    for facts in Revision::all().map(Revision::facts) {
        let is_legacy = facts.era == Era::Legacy;
        assert_eq!((facts.handshake, facts.sessions), (is_legacy, is_legacy), "{}", facts.name);
        assert_eq!((facts.meta_required, facts.disconnect_cancels), (!is_legacy, !is_legacy), "{}", facts.name);
        assert_eq!(facts.questions == Questions::ByRequest, is_legacy, "{}", facts.name);
        assert_eq!(facts.changes == Changes::Pushed, is_legacy, "{}", facts.name);
    }
}

//! What people read of a refusal.

use super::*;

#[test]
fn a_refusal_shows_its_words_and_its_number() {
    let error = PeerError {
        fault: PeerFault::TaskNotFound,
        code: Some(-32_001),
        status: Some(404),
        message: "gone".into(),
        reason: None,
        blames_method: false,
    };
    assert_eq!(error.to_string(), "gone (-32001)");
    assert_eq!(PeerError { code: None, ..error.clone() }.to_string(), "gone (HTTP 404)");
    assert_eq!(PeerError { code: None, status: None, ..error }.to_string(), "gone");
    let unreadable = |at: &str| AnswerError::Unreadable { at: at.into(), why: "it must be a list".into() };
    assert_eq!(unreadable("").to_string(), "the agent's answer cannot be read: it must be a list");
    assert_eq!(unreadable("parts").to_string(), "the agent's answer cannot be read: `parts`: it must be a list");
}

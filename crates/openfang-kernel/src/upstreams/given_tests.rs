//! What a server says is shown without what it was given.

use super::*;

#[test]
fn what_a_server_was_given_is_nowhere_in_what_it_says() {
    let given = Given::default();
    given.note(vec!["canary-token-1".to_owned(), "canary-token-2".to_owned(), "short".to_owned()]);
    let said = given.shown("bad auth: canary-token-2, canary-token-1 and a short word");
    assert_eq!(said, "bad auth: [redacted], [redacted] and a short word");
    assert!(matches!(given.shown("nothing of that"), Cow::Borrowed(_)));
}

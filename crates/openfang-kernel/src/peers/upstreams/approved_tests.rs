//! What was seen is remembered, the later of two looks.

use super::*;

#[test]
fn the_later_look_counts_and_what_is_written_is_read_again() {
    let print = |byte| Fingerprint([byte; 32]);
    let first = Approved::default().with(&[("a", print(1)), ("c", print(3))]);
    let all = first.with(&[("b", print(2)), ("c", print(4))]);

    for approved in [&all, &serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap()] {
        let seen = ["a", "b", "c", "d"].map(|tool| approved.get(tool).copied());
        assert_eq!(seen, [Some(print(1)), Some(print(2)), Some(print(4)), None]);
    }
    assert_eq!(first.get("c"), Some(&print(3)));
    assert!(Approved::default().is_empty() && !first.is_empty());
}

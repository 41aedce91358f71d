//! How long is waited between tries, and what is pushed to nobody.

use openfang_types::taint::Label;

use super::*;

#[test]
fn pauses_grow_and_are_half_random() {
    let seconds = |attempts, chance| pause(attempts, chance).as_secs_f64();
    let shortest: Vec<f64> = (1..PUSH_TRIES).map(|attempts| seconds(attempts, 0)).collect();
    let longest: Vec<f64> = (1..PUSH_TRIES).map(|attempts| seconds(attempts, u32::MAX)).collect();

    assert_eq!(shortest, [2.5, 12.5, 62.5, 312.5]);
    assert_eq!(longest, [5.0, 25.0, 125.0, 625.0]);
    assert!(pause(u32::MAX, u32::MAX) > Duration::from_secs(625), "there is no overflow");
}

#[test]
fn a_task_that_carries_a_secret_is_told_to_nobody_and_every_other_is() {
    for label in Label::ALL {
        let why = withheld(&Labels::one(label, "file_read"));

        match label {
            Label::Secret => assert_eq!(
                why.as_deref(),
                Some("not sent: the task carries secret (from file_read), which is pushed to nobody")
            ),
            Label::Operator
            | Label::User
            | Label::UntrustedAgent
            | Label::ExternalNetwork
            | Label::McpServer
            | Label::Workspace
            | Label::Pii
            | Label::Internal
            | Label::Private => assert_eq!(why, None, "{label}"),
        }
    }
}

#[test]
fn reasons_are_cut_between_characters() {
    assert_eq!(cut("\u{1f980}".repeat(PUSH_OUTCOME_MAX_CHARS + 1)), "\u{1f980}".repeat(PUSH_OUTCOME_MAX_CHARS));
    assert_eq!(cut("short".to_owned()), "short");
}

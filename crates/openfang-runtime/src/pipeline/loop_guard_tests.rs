//! When a run goes in circles.

use serde_json::json;

use super::*;

fn guard() -> LoopGuard {
    LoopGuard::new(LoopGuardConfig::default())
}

/// Plays calls named by letters; returns what the guard said: `.` fine, `w` warn, `B` block.
fn play(calls: &str) -> String {
    let mut guard = guard();
    let judge = |call: char| match guard.judge([u8::try_from(call).unwrap(); 16]) {
        Verdict::Fine => '.',
        Verdict::Warn(_) => 'w',
        Verdict::Block(_) => 'B',
    };
    calls.chars().map(judge).collect()
}

#[test]
fn the_third_identical_call_warns_and_the_fifth_is_refused() {
    assert_eq!(play("aaaaa"), "..wwB");
    assert_eq!(play("abcadaea"), ".....w.w");
}

#[test]
fn a_cycle_warns_in_its_second_round_and_is_refused_in_its_third() {
    assert_eq!(play("ababab"), "...wwB");
    assert_eq!(play("abcabcabc"), ".....wwwB");
}

#[test]
fn cycles_of_every_length_up_to_the_longest_are_refused_before_their_third_round_ends() {
    for length in 2..=10 {
        let cycle: String = ('a'..='z').take(length).collect();
        let said = play(&cycle.repeat(3));
        assert!(said.ends_with('B'), "length {length}: {said}");
        assert!(!said[..said.len() - 1].contains('B'), "length {length}: {said}");
    }
}

#[test]
fn different_calls_are_fine_until_the_run_has_used_them_up() {
    let mut guard = guard();
    for n in 0..50_u8 {
        assert_eq!(guard.judge([n; 16]), Verdict::Fine, "call {n}");
    }
    assert!(matches!(guard.judge([99; 16]), Verdict::Block(_)));
}

#[test]
fn the_order_of_members_does_not_make_a_call_different() {
    let hash_of = |arguments: Value| super::hash_of(&"t".parse().unwrap(), &arguments.into());
    let call = |text: &str| serde_json::from_str(text).unwrap();

    assert_eq!(hash_of(call(r#"{"a":1,"b":[2,"x"]}"#)), hash_of(call(r#"{"b":[2,"x"],"a":1}"#)));
    for other in [json!({"a": 1, "b": [2, "y"]}), json!({"a": "1", "b": [2, "x"]}), json!({})] {
        assert_ne!(hash_of(call(r#"{"a":1,"b":[2,"x"]}"#)), hash_of(other));
    }
}

#[test]
fn a_number_is_one_argument_however_it_is_written() {
    let hash_of = |arguments: Value| super::hash_of(&"t".parse().unwrap(), &arguments.into());
    let call = |text: &str| serde_json::from_str(text).unwrap();
    let same = |a: &str, b: &str| hash_of(call(a)) == hash_of(call(b));

    for (a, b) in [
        ("[1]", "[1.0]"),
        ("[100]", "[1e2]"),
        ("[-3]", "[-3.00]"),
        ("[0]", "[-0.0]"),
        ("[2.5]", "[25e-1]"),
        ("[1000000000000000000]", "[1e18]"),
        ("[18446744073709549568]", "[18446744073709549568.0]"),
    ] {
        assert!(same(a, b), "{a} {b}");
    }
    for (a, b) in [("[1]", "[1.5]"), ("[1]", "[-1]"), ("[1]", "[\"1\"]"), ("[1e300]", "[1e301]")] {
        assert!(!same(a, b), "{a} {b}");
    }
}

//! Answers to a list of choices.

use super::*;

#[test]
fn numbers_all_none_and_nothing_are_understood_and_anything_else_is_asked_again() {
    let rows: [(&str, Option<&[usize]>); 11] = [
        ("", Some(&[1])),
        ("all", Some(&[0, 1, 2])),
        ("none", Some(&[])),
        ("y", Some(&[1])),
        ("n", Some(&[])),
        ("3 1", Some(&[0, 2])),
        ("1,2, 2", Some(&[0, 1])),
        ("0", None),
        ("4", None),
        ("1 x", None),
        ("-1", None),
    ];
    for (answer, expected) in rows {
        assert_eq!(chosen(answer, 3, &[1]).as_deref(), expected, "{answer}");
    }
}

//! Licence expressions: what can be satisfied, what cannot, what cannot even be read.

use super::super::tests::metadata;
use super::*;

#[test]
fn expressions_are_read_with_their_precedence() {
    let rows = [
        ("MIT", Some(true)),
        ("GPL-3.0-only", Some(false)),
        ("MIT OR GPL-3.0-only", Some(true)),
        ("GPL-3.0-only OR LGPL-2.1-or-later", Some(false)),
        ("MIT AND GPL-3.0-only", Some(false)),
        ("MIT AND BSD-3-Clause", Some(true)),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
        ("(MIT OR Apache-2.0) AND GPL-2.0-only", Some(false)),
        ("GPL-2.0-only AND MIT OR ISC", Some(true)),
        ("ISC OR GPL-2.0-only AND MIT", Some(true)),
        ("GPL-2.0-only AND (MIT OR ISC)", Some(false)),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", Some(true)),
        ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ("GPL-2.0-only WITH Classpath-exception-2.0", Some(false)),
        ("MIT/Apache-2.0", Some(true)),
        ("Apache-2.0 / MIT", Some(true)),
        ("", None),
        ("MIT OR", None),
        ("MIT Apache-2.0", None),
        ("(MIT", None),
        ("MIT)", None),
        ("MIT WITH", None),
        ("AND MIT", None),
    ];
    for (expression, expected) in rows {
        assert_eq!(is_allowed(expression), expected, "{expression}");
    }
}

#[test]
fn a_package_under_another_licence_or_none_is_caught() {
    let mut graph = metadata(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])]);
    graph.packages[1].license = Some("AGPL-3.0-only".to_owned());
    graph.packages[2].license = None;
    graph.packages[3].license = Some("MIT or so".to_owned());
    let lock = "name = \"a\"\nname = \"b\"\nname = \"c\"\nname = \"d\"\n";

    let found = check(&graph, &Tree::of(&[(LOCK, lock)]));

    let expected = [
        Violation::new(LOCK, 2, RULE, "b 1.0.0 is under AGPL-3.0-only, which the list does not allow"),
        Violation::new(LOCK, 3, RULE, "c 1.0.0 says no licence"),
        Violation::new(LOCK, 4, RULE, "d 1.0.0 has a licence that is no SPDX expression: MIT or so"),
    ];
    assert_eq!(found, expected);
}

//! Comments: each rule catches what it is for and lets prose through.

use super::super::source;
use super::*;

type Rule = fn(&str, &[Line]) -> Vec<Violation>;

#[track_caller]
fn check(rule: Rule, caught: &[&str], passed: &[&str]) {
    for text in caught {
        assert_eq!(rule("a.rs", &source::lines(text)).len(), 1, "not caught: {text}");
    }
    for text in passed {
        assert_eq!(rule("a.rs", &source::lines(text)), [], "wrongly caught: {text}");
    }
}

#[test]
fn rulers_are_caught() {
    check(
        rulers,
        &[
            "// ----",
            "// ---- helpers ----",
            "// ====================",
            "/// ======",
            "//! ------",
            "////",
            "//////// tests ////////",
            "// ########",
            "// ──────────",
            "/* ******** */",
            "let x = 1; // -----",
        ],
        &[
            "// a dash -- in prose",
            "//! | row | value |",
            "//! |-----|-------|",
            "//! cli ──> api ──> kernel",
            "/// #### A heading",
            "// ...and so on",
            r#"let line = "// ----------";"#,
            "/// ---",
        ],
    );
}

#[test]
fn a_note_without_an_issue_is_caught() {
    check(
        notes_without_issue,
        &["// TODO: later", "// TODO(me): later", "/// FIXME", "// XXX hack", "/* TODO */", "// TODO(#): later"],
        &[
            "// TODO(#12): later",
            "// FIXME(#3)",
            "// XXXL is a size",
            "// see MY_TODOS",
            r#"let note = "TODO";"#,
            "// todo lists are a feature",
        ],
    );
}

#[test]
fn commented_out_code_is_caught() {
    check(
        commented_out_code,
        &[
            "// let x = f(1);",
            "// foo.bar(baz)?;",
            "// kernel.shutdown().await;",
            "// println!(\"{x}\");",
            "// self.count += 1;",
            "// use std::fs::File;",
            "// pub use crate::x;",
            "// mod tests;",
            "// return;",
            "// fn main() {",
            "// pub(crate) async fn main() {",
            "// if x > 1 {",
            "// Some(x) => {",
            "// } else {",
            "// }",
            "// });",
        ],
        &[
            "// The reader waits here; the writer does not.",
            "// the reader waits here;",
            "// closes the file (see above);",
            "// as close(2) does;",
            "// let the reader wait;",
            "// return early when nothing is left;",
            "// use the other door;",
            "// a body such as `{`",
            "// answers {\"a\": 1}",
            "// the map is {name: count}",
            "/// let x = f(1);",
            "//! foo(bar);",
            "let x = 1; // seconds",
            r#"let code = "// let x = 1;";"#,
        ],
    );
}

#[test]
fn a_test_that_is_switched_off_is_caught() {
    check(
        ignored_tests,
        &["#[ignore]", "#[ignore = \"slow\"]", "    # [ ignore ]", "#[cfg_attr(windows, ignore)]"],
        &["// #[ignore] is not allowed", "let ignore = true;", "#[test]", r##"let text = "#[ignore]";"##],
    );
}

#[test]
fn the_line_of_a_violation_is_counted_from_one() {
    let lines = source::lines("//! Docs.\n\n// ------\n");

    assert_eq!(rulers("a.rs", &lines)[0].line, 3);
}

//! Words: each rule catches what it is for and lets the rest through.

use super::super::source;
use super::*;

#[test]
fn a_doc_comment_that_only_repeats_a_name_is_caught() {
    let short = "/// The key.\nstruct Key;\n";
    let long = "/// What lets a caller in.\nstruct Key;\n";
    let two_lines = "/// The key\n/// that opens it.\nstruct Key;\n";

    assert_eq!(short_docs("a.rs", &source::lines(short)).len(), 1);
    assert_eq!(short_docs("a.rs", &source::lines(long)), []);
    assert_eq!(short_docs("a.rs", &source::lines(two_lines)), []);
    assert_eq!(short_docs("a.rs", &source::lines("//! The key.\n// Short.\nlet a = 1;\n")), []);
}

#[test]
fn a_type_that_is_named_by_a_participle_is_caught() {
    assert_eq!(type_names("a.rs", &source::lines("pub(crate) struct Held<'a> {\n")).len(), 1);
    assert_eq!(type_names("a.rs", &source::lines("enum Known {\n")).len(), 1);
    assert_eq!(type_names("a.rs", &source::lines("struct HeldLock;\nlet held = Known;\n")), []);
}

#[test]
fn a_metaphor_in_a_message_is_caught_and_in_code_it_is_not() {
    assert_eq!(messages("crates/a/src/b.rs", &source::lines("let a = \"the house is full\";\n")).len(), 1);
    assert_eq!(messages("crates/a/src/b.rs", &source::lines("/// The house.\nlet house = \"a household\";\n")), []);
    assert_eq!(messages("crates/openfang-cli/src/args.rs", &source::lines("/// Servers of the house\n")).len(), 1);
}

#[test]
fn pages_are_judged_and_other_files_are_not() {
    assert_eq!(pages("docs/a.md", "A session is let go.\n").len(), 1);
    assert_eq!(pages("docs/a.md", "Removes a session of the gateway.\n"), []);
    assert_eq!(pages("docs/a.md", "The interface is in `door`.\n```json\n{\"door\":\"cli\",\n```\n"), []);
    assert_eq!(pages("ARCHITECTURE.md", "The house has doors.\n"), []);
}

//! Module docs, length, layout: what passes and what does not.

use super::*;

#[test]
fn a_file_without_module_docs_is_caught() {
    assert_eq!(module_docs("a.rs", "//! What it is.\n"), None);
    assert_eq!(module_docs("a.rs", "#![no_std]\n\n//! What it is.\n"), None);
    for text in ["", "use std::fs;\n", "// not docs\n", "\n\n\n//! too late\n", "/// of an item\nfn f() {}\n"] {
        assert!(module_docs("a.rs", text).is_some(), "{text:?} passes");
    }
}

#[test]
fn a_file_over_its_length_is_caught_and_tests_may_be_longer() {
    let text = |lines: usize| "x\n".repeat(lines);
    let rows = [
        ("crates/x/src/lib.rs", 500, true),
        ("crates/x/src/lib.rs", 501, false),
        ("crates/x/src/lib_tests.rs", 800, true),
        ("crates/x/src/lib_tests.rs", 801, false),
        ("crates/x/tests/walk.rs", 800, true),
        ("tests/src/walk.rs", 801, false),
    ];
    for (path, lines, passes) in rows {
        assert_eq!(length(path, &text(lines)).is_none(), passes, "{path} with {lines} lines");
    }
}

#[test]
fn a_long_file_is_only_a_warning_and_only_outside_tests() {
    let text = "x\n".repeat(301);

    assert!(long("src/lib.rs", &text).is_some());
    assert!(long("src/lib_tests.rs", &text).is_none());
    assert!(long("src/lib.rs", &"x\n".repeat(300)).is_none());
    assert!(length("src/lib.rs", &text).is_none());
}

#[test]
fn a_mod_rs_is_caught() {
    assert!(layout("crates/x/src/tools/mod.rs").is_some());
    assert!(layout("crates/x/src/tools.rs").is_none());
    assert!(layout("crates/x/src/tools/some_mod.rs").is_none());
}

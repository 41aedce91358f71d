//! Which fences are examples.

use super::*;

#[test]
fn a_rust_fence_is_an_example_and_another_language_is_not() {
    let rows = [
        ("/// ```\n/// f();\n/// ```\nfn f() {}", true),
        ("//! ```rust,no_run\n//! f();\n//! ```\n", true),
        ("//! ```compile_fail\n//! f();\n//! ```\n", true),
        ("//! ```text\n//! a -> b\n//! ```\n", false),
        ("//! ```text\n//! a\n//! ```\n//! and\n//! ```toml\n//! ```\n", false),
        ("//! ```text\n//! a\n//! ```\n//! ```\n//! f();\n//! ```\n", true),
        ("// ```\n", false),
        (r#"let x = "/// ```";"#, false),
        ("/// Plain `code`.\nfn f() {}", false),
    ];
    for (text, expected) in rows {
        assert_eq!(has_any(text), expected, "{text}");
    }
}

//! Dependencies that nothing uses, and those that only tests use.

use super::super::tests::metadata;
use super::*;

fn found(kind: Option<Kind>, files: &[(&str, &str)]) -> Vec<String> {
    let mut house = metadata(&[("openfang-a", &["tokio-util"])]);
    house.packages[0].dependencies[0].kind = kind;
    let manifest = ("crates/openfang-a/Cargo.toml", "[dependencies]\ntokio-util.workspace = true\n");
    let files: Vec<_> = files.iter().copied().chain([manifest]).collect();
    let found = dependencies(&house, &Tree::of(&files));
    found.iter().map(ToString::to_string).collect()
}

const USE: &str = "use tokio_util::sync::CancellationToken;";

#[test]
fn a_dependency_that_nothing_names_is_caught_at_its_line() {
    let rows = [
        ("crates/openfang-a/src/lib.rs", "// tokio_util is not needed"),
        ("crates/openfang-a/src/lib.rs", "let text = \"tokio_util\";"),
        ("crates/openfang-a/src/lib.rs", "let tokio_util = x::tokio_util::y();"),
        ("crates/openfang-ab/src/lib.rs", USE),
    ];
    for row in rows {
        assert_eq!(
            found(None, &[row]),
            ["crates/openfang-a/Cargo.toml:2: [unused] nothing uses tokio-util"],
            "{row:?}"
        );
    }
}

#[test]
fn a_dependency_of_the_product_that_only_tests_name_is_caught() {
    let reason = "crates/openfang-a/Cargo.toml:2: [unused] only tests use tokio-util: it is a dev-dependency";
    assert_eq!(found(None, &[("crates/openfang-a/src/lib_tests.rs", USE)]), [reason]);
    assert_eq!(found(Some(Kind::Dev), &[("crates/openfang-a/src/lib_tests.rs", USE)]), [""; 0]);
}

#[test]
fn a_dependency_that_is_named_passes_also_where_it_is_renamed() {
    assert_eq!(found(None, &[("crates/openfang-a/src/lib.rs", USE)]), [""; 0]);
    for text in
        ["fn f() { tokio_util::x() }", "tokio_util!(x)", "use tokio_util as util;", "use {a::B, tokio_util::C};"]
    {
        assert_eq!(found(None, &[("crates/openfang-a/src/x.rs", text)]), [""; 0], "{text}");
    }
    let mut house = metadata(&[("openfang-a", &["tokio-util"])]);
    house.packages[0].dependencies[0].rename = Some("util".to_owned());
    let tree = Tree::of(&[("crates/openfang-a/src/lib.rs", "use util::x;")]);
    assert_eq!(dependencies(&house, &tree), []);
}

#[test]
fn sources_of_a_target_outside_the_package_count() {
    let mut house = metadata(&[("openfang-a", &["tokio-util"])]);
    house.packages[0].dependencies[0].kind = Some(Kind::Dev);
    house.packages[0].targets =
        vec![crate::metadata::Target { src_path: "/house/crates/openfang-a/../../tests/main.rs".into() }];
    let tree = Tree::of(&[("tests/deep/x.rs", USE)]);
    assert_eq!(dependencies(&house, &tree), []);
}

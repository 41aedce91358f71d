//! The house plan: each wall stops what it should, in manifests and in sources.

use super::super::source;
use super::super::tests::metadata;
use super::*;

fn reasons(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.reason.as_str()).collect()
}

#[test]
fn every_arrow_of_the_plan_is_allowed_and_points_at_a_room() {
    for room in HOUSE {
        for to in room.may_name {
            assert_eq!(refusal(room.name, to), None);
            assert!(super::room(to).is_some(), "{to} is not in the plan");
            assert!(!super::room(to).unwrap().may_name.contains(&room.name), "{} and {to} name each other", room.name);
        }
    }
}

#[test]
fn a_forbidden_arrow_in_a_manifest_is_caught_at_its_line() {
    let rows = [
        ("openfang-types", "openfang-store"),
        ("openfang-store", "openfang-egress"),
        ("openfang-mcp", "openfang-store"),
        ("openfang-a2a", "openfang-kernel"),
        ("openfang-runtime", "openfang-kernel"),
        ("openfang-kernel", "openfang-api"),
        ("openfang-api", "openfang-store"),
        ("openfang-api", "openfang-runtime"),
        ("openfang-cli", "openfang-testkit"),
        ("openfang-kernel", "xtask"),
    ];
    for (from, to) in rows {
        let path = format!("crates/{from}/Cargo.toml");
        let manifest = format!("[dependencies]\n{to}.workspace = true\n");

        let found = declared(&metadata(&[(from, &[to])]), &Tree::of(&[(&path, &manifest)]));

        assert_eq!(found.len(), 1, "{from} -> {to}");
        assert_eq!((found[0].path.as_str(), found[0].line), (path.as_str(), 2));
        assert!(found[0].reason.starts_with(&format!("{from} may not name {to}")), "{}", found[0].reason);
    }
}

#[test]
fn a_foreign_crate_in_the_wrong_room_is_caught() {
    let rows = [
        ("openfang-types", "tokio", "openfang-types must never know tokio"),
        ("openfang-types", "rusqlite", "openfang-types must never know rusqlite"),
        ("openfang-store", "hyper", "openfang-store must never know hyper"),
        ("openfang-runtime", "rusqlite", "openfang-runtime must never know rusqlite"),
        ("openfang-kernel", "axum", "openfang-kernel may not depend on axum: its sole owner is openfang-api"),
        ("openfang-api", "clap", "openfang-api may not depend on clap: its sole owner is openfang-cli"),
        ("openfang-bench", "axum", "openfang-bench may not depend on axum: its sole owner is openfang-api"),
    ];
    for (from, to, reason) in rows {
        assert_eq!(reasons(&declared(&metadata(&[(from, &[to])]), &Tree::of(&[]))), [reason]);
    }
}

#[test]
fn owners_and_development_crates_may_have_what_they_need() {
    let house = metadata(&[
        ("openfang-api", &["axum", "hyper", "openfang-kernel"]),
        ("openfang-cli", &["clap", "openfang-api"]),
        ("openfang-testkit", &["openfang-api", "openfang-store", "tokio"]),
        ("openfang-bench", &["openfang-api", "openfang-testkit"]),
    ]);

    assert_eq!(declared(&house, &Tree::of(&[])), []);
}

#[test]
fn a_dev_dependency_is_free() {
    let mut house = metadata(&[("openfang-kernel", &["openfang-testkit"])]);
    house.packages[0].dependencies[0].kind = Some(crate::metadata::Kind::Dev);

    assert_eq!(declared(&house, &Tree::of(&[])), []);
}

#[test]
fn a_crate_that_is_not_in_the_plan_is_caught() {
    let found = declared(&metadata(&[("openfang-utils", &[])]), &Tree::of(&[]));

    assert_eq!(reasons(&found), ["openfang-utils is not in the house plan"]);
}

#[test]
fn a_forbidden_name_in_a_source_is_caught() {
    let house = metadata(&[("openfang-api", &[]), ("openfang-types", &[])]);
    let caught = [
        "use openfang_store::Tasks;",
        "pub(crate) use openfang_runtime as runtime;",
        "fn f() -> openfang_runtime::Pipeline { g() }",
        "use openfang_testkit::Home;",
    ];
    let passed = [
        "use openfang_kernel::Kernel;",
        "use openfang_api::routes;",
        "// openfang_store::Tasks is behind the kernel",
        r#"let filter = "openfang_store=debug";"#,
        "let openfang_home = 1;",
    ];
    for text in caught {
        assert_eq!(named_in_source("crates/openfang-api/src/a.rs", &source::lines(text), &house).len(), 1, "{text}");
        assert_eq!(named_in_source("crates/openfang-api/src/a_tests.rs", &source::lines(text), &house), []);
        assert_eq!(named_in_source("crates/openfang-api/tests/a.rs", &source::lines(text), &house), []);
    }
    for text in passed {
        assert_eq!(named_in_source("crates/openfang-api/src/a.rs", &source::lines(text), &house), [], "{text}");
    }
}

//! The rules over the real project, and what the checks share in their tests.

use super::*;

#[test]
fn the_tree_is_tidy() {
    let findings = check(&Tree::read(&process::root()).unwrap(), &Metadata::load().unwrap());

    let shown: Vec<String> = findings.violations.iter().map(Violation::to_string).collect();
    assert!(shown.is_empty(), "{} violations:\n{}", shown.len(), shown.join("\n"));
}

#[test]
fn a_violation_is_shown_as_a_place_a_rule_and_a_reason() {
    let violation = Violation::new("crates/x/src/lib.rs", 7, "docs", "no module docs");

    assert_eq!(violation.to_string(), "crates/x/src/lib.rs:7: [docs] no module docs");
}

#[test]
fn the_help_names_every_rule_that_a_violation_may_carry() {
    let sources = Tree::read(&process::root()).unwrap();

    let rules = sources
        .rust()
        .filter(|file| file.path.starts_with("xtask/src/tidy/") && !file.path.ends_with("_tests.rs"));
    let named: Vec<&str> = rules.flat_map(|file| file.text.lines()).filter_map(declared_rule).collect();

    assert!(named.len() >= 8, "found only {named:?}");
    for rule in named {
        assert!(HELP.contains(&format!("\n  {rule} ")), "the help does not name {rule}");
    }
}

fn declared_rule(line: &str) -> Option<&str> {
    line.strip_prefix("const RULE")?.split('"').nth(1)
}

/// Metadata from a list of (package, its normal dependencies), all members, below `/house/crates`.
pub(crate) fn metadata(packages: &[(&str, &[&str])]) -> Metadata {
    let package = |(name, dependencies): &(&str, &[&str])| {
        let declared: Vec<_> = dependencies.iter().map(|dep| serde_json::json!({"name": dep, "kind": null})).collect();
        serde_json::json!({
            "id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": null,
            "manifest_path": format!("/house/crates/{name}/Cargo.toml"), "dependencies": declared,
        })
    };
    let node = |(name, dependencies): &(&str, &[&str])| serde_json::json!({"id": name, "dependencies": dependencies});
    serde_json::from_value(serde_json::json!({
        "packages": packages.iter().map(package).collect::<Vec<_>>(),
        "workspace_members": packages.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "workspace_root": "/house", "target_directory": "/house/target",
        "resolve": {"nodes": packages.iter().map(node).collect::<Vec<_>>()},
    }))
    .unwrap()
}

//! When a part is installed again, and that the manifests name one version of everything.

use serde_json::Value;

use super::*;

fn files(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

fn manifest(name: &str) -> String {
    fs::read_to_string(root().join(MANIFESTS).join(name)).unwrap()
}

#[test]
fn the_same_manifests_in_the_same_place_have_the_same_stamp() {
    let stamp = |root: &str, text: &str| wanted_stamp(Path::new(root), &files(&[("a", text), ("b", "")]));

    assert_eq!(stamp("/x", "1"), stamp("/x", "1"));
    assert_ne!(stamp("/x", "1"), stamp("/x", "2"), "a manifest changed");
    assert_ne!(stamp("/x", "1"), stamp("/y", "1"), "the checkout moved");
}

#[test]
fn text_that_moves_from_one_manifest_to_the_next_changes_the_stamp() {
    let root = Path::new("/x");

    let one = wanted_stamp(root, &files(&[("a", "12"), ("b", "3")]));
    let other = wanted_stamp(root, &files(&[("a", "1"), ("b", "23")]));

    assert_ne!(one, other);
}

#[test]
fn a_part_without_a_stamp_or_with_another_one_is_not_current() {
    let wanted = wanted_stamp(Path::new("/x"), &[]);

    assert!(is_current(Some(&wanted), &wanted));
    assert!(!is_current(None, &wanted), "never installed, or not to the end");
    assert!(!is_current(Some(""), &wanted), "the stamp was cut off");
    assert!(!is_current(Some(&wanted[..8]), &wanted), "the stamp was cut off");
}

#[test]
fn a_directory_stands_for_every_file_below_it_in_order() {
    let read = read(&root().join(MANIFESTS), &["rust/Cargo.toml", "rust/src"]).unwrap();

    let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "rust/Cargo.toml",
            "rust/src/bin/agent_a2a_lf.rs",
            "rust/src/bin/client_a2a/job.rs",
            "rust/src/bin/client_a2a/main.rs",
            "rust/src/bin/client_a2a/normal.rs",
            "rust/src/bin/client_a2a/wire.rs",
            "rust/src/bin/client_rmcp/job.rs",
            "rust/src/bin/client_rmcp/main.rs",
            "rust/src/bin/gateway_mcp_proxy.rs",
            "rust/src/bin/server_a2a_lf.rs",
            "rust/src/bin/server_rmcp.rs"
        ]
    );
}

#[test]
fn a_manifest_that_is_not_there_is_named() {
    let error = read(Path::new("/nowhere"), &["node/package.json"]).unwrap_err().to_string();

    assert_eq!(error, "/nowhere/node/package.json cannot be read");
}

#[test]
fn what_is_not_there_counts_as_removed() {
    remove(&root().join(HOME).join("no such file")).unwrap();
}

#[test]
fn every_node_peer_is_pinned_to_one_version_and_locked() {
    let package: Value = serde_json::from_str(&manifest("node/package.json")).unwrap();
    let lock: Value = serde_json::from_str(&manifest("node/package-lock.json")).unwrap();

    for (name, version) in package["dependencies"].as_object().unwrap() {
        let locked = &lock["packages"][format!("node_modules/{name}")];
        let version = version.as_str().unwrap();
        // An alias names the package too: `npm:@scope/package@1.2.3`.
        let version = version.strip_prefix("npm:").map_or(version, |alias| alias.rsplit_once('@').unwrap().1);
        assert_eq!(version, locked["version"], "{name}");
        assert!(locked["integrity"].is_string(), "{name}");
    }
}

#[test]
fn every_python_package_is_pinned_to_one_version() {
    let sdks =
        [("mcp", "mcp"), ("fastmcp", "fastmcp"), ("a2a13", "a2a-sdk"), ("a2a03", "a2a-sdk"), ("a2a02", "a2a-sdk")];
    for (venv, name) in sdks {
        let text = manifest(&format!("python/requirements-{venv}.txt"));
        let packages: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();

        assert!(
            packages
                .iter()
                .all(|line| line.split_once("==").is_some_and(|(_, version)| !version.is_empty()))
        );
        assert!(packages.iter().any(|line| line.starts_with(&format!("{name}=="))), "{venv}");
    }
}

#[test]
fn no_manifest_says_where_packages_are_fetched_from() {
    let lock: Value = serde_json::from_str(&manifest("node/package-lock.json")).unwrap();

    for (name, package) in lock["packages"].as_object().unwrap() {
        assert!(package.get("resolved").is_none(), "{name}: the registry is whoever installs' own matter");
    }
}

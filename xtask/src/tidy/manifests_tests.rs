//! Versions in a member's manifest, in every shape a dependency can take.

use super::*;

#[track_caller]
fn check(text: &str, expected: &[(usize, &str)]) {
    let found = versions("Cargo.toml", text);
    let wanted: Vec<Violation> = expected.iter().map(|(line, name)| violation("Cargo.toml", *line, name)).collect();
    assert_eq!(found, wanted, "in {text}");
}

#[test]
fn inherited_dependencies_pass() {
    check("[package]\nversion = \"1.0.0\"\n", &[]);
    check("[dependencies]\nanyhow.workspace = true\nserde = { workspace = true, features = [\"rc\"] }\n", &[]);
    check("[dependencies]\ntokio = { workspace = true, features = [\n    \"net\",\n] }\n", &[]);
    check("[dependencies]\ntokio.workspace = true\ntokio.optional = true\n", &[]);
    check("[dev-dependencies.tempfile]\nworkspace = true\n", &[]);
    check("[target.'cfg(unix)'.dependencies]\nrustix.workspace = true\n", &[]);
    check("[lints]\nworkspace = true\n\n[features]\ndefault = []\n", &[]);
}

#[test]
fn a_version_path_or_git_of_its_own_is_caught() {
    check("[dependencies]\nanyhow = \"1.0\"\n", &[(2, "anyhow")]);
    check("[dependencies]\nserde = { version = \"1\", features = [\"rc\"] }\n", &[(2, "serde")]);
    check("[build-dependencies]\n# why\ncc = \"1\"\n", &[(3, "cc")]);
    check("[dependencies]\nours = { path = \"../ours\" }\n", &[(2, "ours")]);
    check("[dependencies]\nfork = { git = \"https://example.org/x\" }\n", &[(2, "fork")]);
    check("[target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n", &[(2, "rustix")]);
    check("[dependencies.tokio]\nversion = \"1\"\n\n[lints]\nworkspace = true\n", &[(1, "tokio")]);
    check("[dependencies]\ntokio.version = \"1\"\n", &[(2, "tokio")]);
}

//! What is wrong with `[exec]`.

use super::*;

fn keys(text: &str) -> Vec<String> {
    let config: ExecConfig = toml::from_str(text).unwrap();
    problems(&config).into_iter().map(|problem| problem.key).collect()
}

#[test]
fn rules_are_texts_or_tables() {
    let config: ExecConfig =
        toml::from_str("allow = [\"git status *\", { command = \"python3 *\", unsafe = true }]\ndeny = [\"curl\"]")
            .unwrap();

    assert_eq!(config.allow[0].command(), "git status *");
    assert!(config.allow[1].pattern().unwrap().is_unsafe());
    assert_eq!(problems(&config), []);
    assert!(
        toml::from_str::<ExecConfig>("allow = [3]")
            .unwrap_err()
            .to_string()
            .contains("git status *")
    );
}

#[test]
fn what_is_too_wide_or_out_of_bounds_is_named() {
    assert_eq!(keys("allow = [\"sh *\"]"), ["exec.allow"]);
    assert_eq!(keys("allow = [\"*\"]"), ["exec.allow"]);
    assert_eq!(keys("deny = [\"'\"]"), ["exec.deny"]);
    assert_eq!(keys("timeout_secs = 0\noutput_bytes = 1"), ["exec.timeout_secs", "exec.output_bytes"]);
    assert_eq!(keys("read = [\"/opt/x\", \"bin\"]"), ["exec.read"]);
    assert_eq!(keys("read = [\"/\"]"), ["exec.read"]);
    assert_eq!(keys("timeout_secs = 1_000_000_000"), ["exec.timeout_secs"]);
}

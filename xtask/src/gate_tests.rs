//! The gate: which stages run, in which order, how they are shown.

use super::*;

fn names(args: &[&str]) -> Result<Vec<&'static str>> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    Ok(selected(&args)?.into_iter().map(|stage| stage.name).collect())
}

#[test]
fn all_stages_run_when_none_is_named() {
    assert_eq!(
        names(&[]).unwrap(),
        ["fmt", "tools", "tidy", "crates", "clippy", "build", "peers", "test", "conformance", "doctest", "doc"]
    );
}

#[test]
fn named_stages_run_in_the_order_of_the_gate() {
    assert_eq!(names(&["clippy", "fmt"]).unwrap(), ["fmt", "clippy"]);
}

#[test]
fn an_unknown_stage_is_refused_with_the_known_ones() {
    let error = names(&["fmt", "lint"]).unwrap_err().to_string();

    assert_eq!(
        error,
        "no stage `lint`: there are fmt, tools, tidy, crates, clippy, build, peers, test, conformance, doctest, doc"
    );
}

#[test]
fn a_line_has_the_stage_its_outcome_and_its_time() {
    assert_eq!(line("fmt", "ok", Duration::from_millis(1_240), ""), "== fmt      ok        1.2s");
    assert_eq!(line("doc", "FAILED", Duration::from_secs(61), "why"), "== doc      FAILED   61.0s  why");
}

#[test]
fn the_help_names_every_stage() {
    assert!(STAGES.iter().all(|stage| help().contains(stage.about)));
}

#[test]
fn crates_are_counted_once_whether_or_not_they_were_shown_before() {
    let tree = "a v1.0.0\nb v2.0.0\nb v2.0.0 (*)\nb v1.0.0\n\nc v1.0.0 (proc-macro)\nc v1.0.0 (proc-macro) (*)\n";

    assert_eq!(distinct_crates(tree), 4);
}

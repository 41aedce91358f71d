//! The table of long runs.

use super::*;

#[test]
fn runs_are_chosen_by_name_and_an_unknown_one_is_refused() {
    let names = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        selected(&args).map(|runs| runs.iter().map(|run| run.name).collect::<Vec<_>>())
    };

    assert_eq!(names(&[]).unwrap(), ["kills", "agents", "cuts"]);
    assert_eq!(names(&["cuts"]).unwrap(), ["cuts"]);
    assert!(names(&["cut"]).unwrap_err().to_string().contains("kills, agents, cuts"));
}

#[test]
fn every_test_that_is_run_for_longer_reads_its_number() {
    let tests = crate::process::root().join("tests");
    let text = |file: &str| std::fs::read_to_string(tests.join(file)).unwrap();
    let sources = [text("external/crash.rs"), text("model_agents/crash.rs"), text("a2a/agents.rs")].concat();

    for run in RUNS {
        assert!(sources.contains(&format!("\"{}\"", run.variable)), "{}", run.variable);
    }
}

//! A run that goes in circles ends with a reason.

use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, LoopGuardConfig};
use openfang_types::task::{Task, TaskState};

use crate::support::{artifact_names, artifact_text, assert_state, send, status_text};

/// A script that calls `probe_say` with these texts, one after the other.
fn script_of(texts: &[String]) -> String {
    let step = |text: &String| format!("{{ tool = {{ name = \"probe_say\", arguments = {{ text = \"{text}\" }} }} }}");
    let steps: Vec<String> = texts.iter().map(step).collect();
    format!("[[rules]]\nsteps = [{}]", steps.join(", "))
}

async fn run(texts: Vec<String>) -> (Task, usize) {
    let home = TestHome::new().with_script("looper", &["*"], &script_of(&texts));
    let probe = Probe::say("ok");
    let kernel = home.boot().tool(probe.boxed()).start().unwrap();
    let task = send(&kernel, &callers::operator(&kernel), "looper", "go").await;
    (task, probe.calls())
}

/// LPG-01, the same call again and again.
#[tokio::test]
async fn fifty_identical_calls_are_warned_at_three_and_ended_at_five() {
    let (task, calls) = run(vec!["same".to_owned(); 50]).await;

    assert_state(&task, TaskState::Failed);
    assert_eq!(calls, 4);
    assert!(status_text(&task).contains("identical call number 5"), "{}", status_text(&task));
    let third = &task.artifacts[2].parts;
    assert!(
        third
            .iter()
            .filter_map(openfang_types::task::Part::as_text)
            .any(|text| text.starts_with("[openfang]"))
    );
}

/// LPG-01, cycles of every length.
#[tokio::test]
async fn cycles_of_two_to_ten_calls_end_in_their_third_round() {
    for length in 2..=10 {
        let rounds = (0..length * 5).map(|n| format!("call {}", n % length)).collect();
        let (task, calls) = run(rounds).await;

        assert_state(&task, TaskState::Failed);
        assert!(status_text(&task).contains("repeat in a cycle"), "{length}: {}", status_text(&task));
        assert!(calls < 3 * length, "{length}: {calls}");
    }
}

#[tokio::test]
async fn a_run_has_only_so_many_calls() {
    let (task, calls) = run((0..60).map(|n| format!("call {n}")).collect()).await;

    assert_state(&task, TaskState::Failed);
    assert_eq!(calls, 50);
    assert!(status_text(&task).contains("has made its 50 tool calls"));
}

/// LPG-05: retries of what does not exist, however they vary.
#[tokio::test]
async fn a_run_whose_calls_are_all_refused_is_ended() {
    let steps: Vec<String> = (0..20).map(|n| format!("{{ tool = {{ name = \"nothing_{n}\" }} }}")).collect();
    let home = TestHome::new().with_script("stubborn", &["*"], &format!("[[rules]]\nsteps = [{}]", steps.join(", ")));
    let kernel = home.kernel();

    let task = send(&kernel, &callers::operator(&kernel), "stubborn", "go").await;

    assert_state(&task, TaskState::Failed);
    assert_eq!(artifact_names(&task).len(), 5);
    assert!(status_text(&task).contains("5 calls in a row were refused"), "{}", status_text(&task));
}

#[tokio::test]
async fn the_thresholds_come_from_config_and_belong_to_one_run() {
    let home = TestHome::new().with_script("looper", &["*"], &script_of(&vec!["same".to_owned(); 3]));
    let loop_guard = LoopGuardConfig { warn_identical: 1, block_identical: 3, ..LoopGuardConfig::default() };
    let kernel = home
        .boot_with(Config { loop_guard, ..Config::default() })
        .tool(Probe::say("ok").boxed())
        .start()
        .unwrap();
    let operator = callers::operator(&kernel);

    for _ in 0..2 {
        let task = send(&kernel, &operator, "looper", "go").await;
        assert_state(&task, TaskState::Failed);
        assert!(artifact_text(&task, "probe_say-error").contains("identical call number 3"));
    }
}

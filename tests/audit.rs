//! Every call leaves its row, however it ends.

use openfang_store::{AuditOutcome, Stores};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use serde_json::json;

use crate::support::call;

async fn outcomes(stores: &Stores) -> Vec<(String, AuditOutcome)> {
    let rows = stores.audit.recent(100).await.unwrap();
    rows.into_iter().map(|row| (row.tool.to_string(), row.outcome)).collect()
}

#[tokio::test]
async fn what_changes_something_is_recorded_before_and_after_and_what_reads_only_after() {
    let home = TestHome::new();
    let stores = Stores::in_memory();
    let kernel = home.boot().stores(stores.clone()).start().unwrap();
    let admin = callers::admin(&kernel);

    call(&kernel, &admin, "memory_store", json!({"key": "k", "value": "v"})).await.unwrap();
    call(&kernel, &admin, "memory_recall", json!({"key": "k"})).await.unwrap();
    call(&kernel, &admin, "memory_recall", json!({"key": "none"})).await.unwrap();

    let row = |tool: &str, outcome| (tool.to_owned(), outcome);
    let expected = [
        row("memory_store", AuditOutcome::Started),
        row("memory_store", AuditOutcome::Succeeded),
        row("memory_recall", AuditOutcome::Succeeded),
        row("memory_recall", AuditOutcome::ToolFailed),
    ];
    assert_eq!(outcomes(&stores).await, expected);
}

#[tokio::test]
async fn refusals_panics_and_unknown_tools_are_recorded_too() {
    let home = TestHome::new();
    let stores = Stores::in_memory();
    let kernel = home.boot().stores(stores.clone()).tool(Probe::panic().boxed()).start().unwrap();
    let admin = callers::admin(&kernel);

    for (tool, arguments) in [("nothing", json!({})), ("add_numbers", json!({})), ("probe_panic", json!({}))] {
        assert!(call(&kernel, &admin, tool, arguments).await.is_err());
    }

    let reasons: Vec<AuditOutcome> = outcomes(&stores).await.into_iter().map(|(_, outcome)| outcome).collect();
    let refused = |reason: &str| AuditOutcome::Refused(reason.to_owned());
    let expected = [refused("unknown_tool"), refused("invalid_arguments"), AuditOutcome::Started, refused("panicked")];
    assert_eq!(reasons, expected);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_row_that_says_so() {
    let home = TestHome::new();
    let stores = Stores::in_memory();
    let hang = Probe::hang();
    let kernel = home.boot().stores(stores.clone()).tool(hang.boxed()).start().unwrap();
    let admin = callers::admin(&kernel);

    {
        let mut waiting = Box::pin(call(&kernel, &admin, "probe_hang", json!({})));
        while hang.calls() == 0 {
            tokio::select! {
                biased;
                _ = &mut waiting => panic!("it never answers"),
                () = tokio::task::yield_now() => {}
            }
        }
    }

    assert_eq!(outcomes(&stores).await.last().unwrap().1, AuditOutcome::Cancelled);
}

#[tokio::test]
async fn a_row_names_who_through_which_door_agent_and_run() {
    let home = TestHome::new();
    let stores = Stores::in_memory();
    let kernel = home.boot().stores(stores.clone()).start().unwrap();
    let user = callers::user(&kernel, "ada", &["agent:starter/*"]);

    crate::support::send(&kernel, &user, "starter", "/add_numbers {\"a\": 1, \"b\": 2}").await;

    let rows = stores.audit.recent(1).await.unwrap();
    assert_eq!(rows[0].owner.as_str(), "ada");
    assert_eq!(rows[0].agent.as_ref().unwrap().as_str(), "starter");
    assert_eq!((rows[0].trace, rows[0].run.is_some()), (user.trace, true));
}

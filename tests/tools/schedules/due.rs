//! When schedules start: once each, however the clock jumps and however many processes there are.

use openfang_testkit::probes::Probe;
use openfang_types::task::TaskState;

use super::*;
use crate::support::{artifact_text, assert_state};

#[tokio::test]
async fn a_schedule_starts_one_task_each_time_with_the_labels_it_was_created_with() {
    let works = Works::new(worker_home());
    let operator = callers::operator(&works.kernel);
    let wanted = json!({ "description": "tidy up", "schedule": "0 * * * *", "agent": "worker", "time_zone": "UTC" });
    works.create(&operator, wanted).await;

    works.after(HOUR).await;
    works.after(HOUR).await;

    let tasks = works.tasks(&operator).await;
    assert_eq!(tasks.len(), 2);
    for task in &tasks {
        assert_state(task, TaskState::Completed);
    }
    let schedule = works.only(&operator).await;
    let last = schedule.last.clone().unwrap();
    assert_eq!((last.outcome.as_str(), schedule.failures), ("completed", 0));
    assert!(tasks.iter().any(|task| Some(task.id) == last.task));
    let task = works.stores.tasks.get(operator.principal.owner(), last.task.unwrap()).await.unwrap();
    assert!(task.labels.covers(&schedule.labels) && !schedule.labels.is_empty());
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_starts_one_run_and_one_that_jumps_far_starts_none() {
    let works = Works::new(worker_home());
    let admin = callers::admin(&works.kernel);
    works
        .create(&admin, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;

    works.after(HOUR * 9).await;
    assert_eq!(works.tasks(&admin).await.len(), 1);
    works.kernel.start_due_schedules().await.unwrap();
    assert_eq!(works.tasks(&admin).await.len(), 1);

    works.after(HOUR * 48).await;
    assert_eq!(works.tasks(&admin).await.len(), 1);
    let skipped = works.only(&admin).await.last.unwrap().outcome;
    assert!(skipped.contains("skipped") && skipped.contains("hours late"), "{skipped}");
    works.after(HOUR).await;
    assert_eq!(works.tasks(&admin).await.len(), 2);
}

#[tokio::test]
async fn what_happens_once_is_over_then_and_what_is_missed_by_a_day_is_over_too() {
    let works = Works::new(worker_home());
    let admin = callers::admin(&works.kernel);
    for times in [HOUR * 2, HOUR * 48] {
        let id = works
            .create(&admin, json!({ "description": "x", "schedule": "in 2 hours", "agent": "worker" }))
            .await;
        works.after(times).await;
        let listed = call(&works.kernel, &admin, "schedule_list", json!({ "id": id })).await.unwrap();
        let shown = &listed.structured_value().unwrap()["schedules"][0];
        assert_eq!((shown["status"].as_str(), shown["next_times"].as_array().unwrap().len()), (Some("ended"), 0));
    }
    assert_eq!(works.tasks(&admin).await.len(), 1);
}

#[tokio::test]
async fn processes_on_one_home_start_what_is_due_once() {
    let works = Works::new(worker_home());
    let (other, third) = (works.another(), works.another());
    let admin = callers::admin(&works.kernel);
    for n in 0..20 {
        works
            .create(&admin, json!({ "description": format!("n{n}"), "schedule": "hourly", "agent": "worker" }))
            .await;
    }

    for hour in 1..=3 {
        works.clock.advance(HOUR);
        let started = tokio::join!(
            works.kernel.start_due_schedules(),
            other.start_due_schedules(),
            third.start_due_schedules(),
            works.kernel.start_due_schedules()
        );
        assert!(started.0.is_ok() && started.1.is_ok() && started.2.is_ok() && started.3.is_ok());
        works.settled().await;
        let tasks = works.stores.tasks.list(&every_task()).await.unwrap();
        assert_eq!(tasks.tasks.len(), 20 * hour);
    }
}

#[tokio::test]
async fn one_run_is_under_way_at_a_time_and_what_came_meanwhile_is_left_out() {
    let home = TestHome::new().with_script("worker", &[], "[[rules]]\nsteps = [{ wait_for_cancel = true }]");
    let works = Works::new(home);
    let admin = callers::admin(&works.kernel);
    let id = works
        .create(&admin, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;
    for _ in 0..3 {
        works.clock.advance(HOUR);
        works.kernel.start_due_schedules().await.unwrap();
    }
    let listed = call(&works.kernel, &admin, "schedule_list", json!({})).await.unwrap().joined_text();
    assert!(listed.contains("running now"), "{listed}");
    let run = works
        .kernel
        .change_schedule(&admin, id.parse().unwrap(), openfang_types::api::ScheduleAction::Run)
        .await;
    assert!(run.unwrap_err().to_string().contains("is under way"));

    let task = loop {
        match works.tasks(&admin).await.pop() {
            Some(task) => break task,
            None => tokio::task::yield_now().await,
        }
    };
    works.kernel.cancel_task(&admin, task.id).await.unwrap();
    works.settled().await;
    works.kernel.start_due_schedules().await.unwrap();
    assert_eq!(works.tasks(&admin).await.len(), 1);
    assert_eq!(works.only(&admin).await.last.unwrap().outcome, "canceled");
}

#[tokio::test]
async fn five_failed_runs_in_a_row_pause_a_schedule_and_a_person_resumes_it() {
    let home = TestHome::new().with_script("worker", &[], "[[rules]]\nsteps = [{ fail = \"no\" }]");
    let works = Works::new(home);
    let admin = callers::admin(&works.kernel);
    let id = works
        .create(&admin, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;
    for _ in 0..7 {
        works.after(HOUR).await;
    }
    assert_eq!(works.tasks(&admin).await.len(), 5);
    let listed = call(&works.kernel, &admin, "schedule_list", json!({})).await.unwrap().joined_text();
    assert!(listed.contains("paused: 5 runs in a row did not complete; the last one: failed"), "{listed}");

    let resume = openfang_types::api::ScheduleAction::Resume;
    let agent = Caller { door: openfang_types::principal::Door::A2a, ..admin.clone() };
    let refused = works.kernel.change_schedule(&agent, id.parse().unwrap(), resume).await.unwrap_err();
    assert_eq!(refused.reason(), "not_a_person");
    works.kernel.change_schedule(&admin, id.parse().unwrap(), resume).await.unwrap();
    works.after(HOUR).await;
    assert_eq!(works.tasks(&admin).await.len(), 6);
}

#[tokio::test]
async fn a_run_of_a_schedule_creates_no_schedules_also_through_other_agents_and_after_deleting_its_own() {
    let create = r#"{ tool = { name = "schedule_create", arguments = { description = "again", schedule = "hourly", agent = "deep" } } }"#;
    let works = Works::new(
        TestHome::new()
            .with_script("maker", &["*"], &format!("[[rules]]\nsteps = [{create}]"))
            .with_script(
                "deep",
                &["*"],
                "[[rules]]\nsteps = [{ tool = { name = \"agent_send\", arguments = { agent = \"maker\", message = \"go\" } } }]",
            ),
    );
    let operator = callers::operator(&works.kernel);
    for agent in ["maker", "deep"] {
        works
            .create(&operator, json!({ "description": "go", "schedule": "in 1 hour", "agent": agent }))
            .await;
    }
    works.after(HOUR).await;
    let all = works.stores.schedules.list(operator.principal.owner()).await.unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    let tasks = works.tasks(&operator).await;
    let refused = tasks
        .iter()
        .find(|task| task.artifacts.iter().any(|a| a.name.as_deref() == Some("schedule_create-error")));
    let said = artifact_text(refused.unwrap(), "schedule_create-error");
    assert!(said.contains("a run of a schedule cannot create schedules"), "{said}");
}

#[tokio::test]
async fn a_schedule_made_after_reading_the_web_taints_its_runs() {
    let reader = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "schedule_create", arguments = { description = "run this", schedule = "hourly" } } }]
    "#;
    let home = TestHome::new().with_script("reader", &["*"], reader);
    let kernel = home.boot().tool(Probe::fetch().boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    let task = crate::support::send(&kernel, &operator, "reader", "go").await;

    let said = artifact_text(&task, "schedule_create-error");
    assert!(said.contains("content from outside may have led to a call that executes"), "{said}");
    let listed = call(&kernel, &operator, "schedule_list", json!({})).await.unwrap().joined_text();
    assert_eq!(listed, "(no schedules)");
}

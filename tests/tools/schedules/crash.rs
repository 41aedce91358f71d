//! A server that is killed when a schedule is due: each time makes one task, not two and not none.

use std::time::Instant;

use openfang_store::{Schedule, ScheduleRun, ScheduleStore, Sqlite};
use openfang_types::ids::NodeId;

use super::*;
use crate::support::binary::Openfang;
use crate::support::rounds;

fn node(number: u32) -> NodeId {
    format!("00000000-0000-4000-8000-{number:012}").parse().unwrap()
}

fn database(openfang: &Openfang) -> Sqlite {
    Sqlite::open_existing(&openfang.home().join("data/openfang.db"), node(1)).unwrap()
}

async fn only(store: &dyn ScheduleStore) -> Schedule {
    store.list(&Owner::admin()).await.unwrap().remove(0)
}

async fn names_of_tasks(sqlite: &Sqlite) -> Vec<String> {
    let page = sqlite.stores().tasks.list(&every_task()).await.unwrap();
    page.tasks.iter().map(|record| record.peer_name.as_ref().unwrap().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_when_a_schedule_is_due_starts_it_once() {
    let openfang = command_line("");
    openfang
        .write("agents/worker/agent.toml", "name = \"worker\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n");
    openfang.write("agents/worker/script.toml", "[[rules]]\nsteps = [{ delay_ms = 10 }, { chunk = \"done\" }]");
    let created = openfang.run(&["schedule", "create", "tick", "@yearly", "--agent", "worker"]);
    assert_eq!(created.code, 0, "{created:?}");
    let kills = rounds("SCHEDULE_KILLS", 6);
    for kill in 0..kills {
        {
            let sqlite = database(&openfang);
            let store = sqlite.stores().schedules;
            let due = jiff::Timestamp::now() + Duration::from_secs(kill);
            let schedule = only(&*store).await;
            // Due a moment ago, or in the midst of the start.
            store
                .update(Schedule { next_at: Some(due - Duration::from_secs(kill)), ..schedule })
                .await
                .unwrap();
        }
        let mut daemon = openfang.start();
        tokio::time::sleep(Duration::from_millis(kill * 7)).await;
        daemon.signal("KILL");
        daemon.wait();
        let before = only(&*database(&openfang).stores().schedules).await;
        let _daemon = openfang.start();
        let sqlite = database(&openfang);
        let store = sqlite.stores().schedules;
        let mut changes = store.changes();
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            changes.mark_unchanged();
            let schedule = only(&*store).await;
            let is_over = schedule.run.is_none() && schedule.next_at > Some(jiff::Timestamp::now());
            if is_over && schedule.last.is_some() {
                break;
            }
            assert!(Instant::now() < deadline, "{before:?} {schedule:?}");
            let _ = tokio::time::timeout(Duration::from_secs(1), changes.changed()).await;
        }
        let names = names_of_tasks(&sqlite).await;
        assert_eq!(names.len() as u64, kill + 1, "{names:?}");
    }
}

#[tokio::test]
async fn a_claim_of_a_process_that_died_before_its_task_was_made_leads_to_one_task() {
    let home = worker_home();
    let kernel = home.kernel();
    let operator = callers::operator(&kernel);
    let wanted = json!({ "description": "x", "schedule": "@yearly", "agent": "worker" });
    call(&kernel, &operator, "schedule_create", wanted).await.unwrap();
    let sqlite = Sqlite::open_existing(&home.home().database(), node(2)).unwrap();
    let store = sqlite.stores().schedules;
    let schedule = only(&*store).await;
    let run = ScheduleRun { node: node(3), due: jiff::Timestamp::now() };
    store.update(Schedule { run: Some(run), ..schedule }).await.unwrap();

    let (one, other) = tokio::join!(kernel.take_over_claims(), kernel.take_over_claims());
    assert!(one.is_ok() && other.is_ok());
    let mut changes = store.changes();
    while only(&*store).await.run.is_some() {
        changes.changed().await.unwrap();
    }
    kernel.take_over_claims().await.unwrap();

    assert_eq!(names_of_tasks(&sqlite).await.len(), 1);
    assert_eq!(only(&*store).await.last.unwrap().outcome, "completed");
}

//! Schedules: created through every interface, started when they are due, with the rights that their creator has then.

mod crash;
mod due;
mod rights;

use std::time::Duration;

use openfang_kernel::{Caller, Kernel, TaskFilter};
use openfang_store::{Schedule, Stores, TaskQuery};
use openfang_testkit::HandClock;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::ids::Owner;
use openfang_types::task::{Task, TaskParts};
use serde_json::{Value, json};

use super::doors::{Site, command_line, config};
use crate::support::call;

const HOUR: Duration = Duration::from_secs(3_600);
/// An agent that says one thing.
const WORKER: &str = "[[rules]]\nsteps = [{ chunk = \"done\" }]";

/// A kernel whose time stands still, and what it stores.
struct Works {
    home: TestHome,
    kernel: Kernel,
    stores: Stores,
    clock: HandClock,
}

impl Works {
    fn new(home: TestHome) -> Self {
        Self::with(home, Config::default())
    }

    fn with(home: TestHome, config: Config) -> Self {
        let (stores, clock) = (Stores::in_memory(), HandClock::default());
        let boot = home.boot_with(config).stores(stores.clone()).clock(std::sync::Arc::new(clock.clone()));
        Self { kernel: boot.start().unwrap(), home, stores, clock }
    }

    /// Another process on the same store.
    fn another(&self) -> Kernel {
        let boot = self.home.boot().stores(self.stores.clone());
        boot.clock(std::sync::Arc::new(self.clock.clone())).start().unwrap()
    }

    async fn create(&self, caller: &Caller, arguments: Value) -> String {
        let created = call(&self.kernel, caller, "schedule_create", arguments).await.unwrap();
        assert!(!created.is_error, "{}", created.joined_text());
        created.structured_value().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Starts what is due after some time, and waits for its end.
    async fn after(&self, time: Duration) {
        self.clock.advance(time);
        self.kernel.start_due_schedules().await.unwrap();
        self.settled().await;
    }

    async fn settled(&self) {
        let mut changes = self.stores.schedules.changes();
        loop {
            changes.mark_unchanged();
            if self.stores.schedules.running().await.unwrap().is_empty() {
                return;
            }
            changes.changed().await.unwrap();
        }
    }

    async fn tasks(&self, caller: &Caller) -> Vec<Task> {
        let filter = TaskFilter { parts: TaskParts::ALL, ..TaskFilter::default() };
        self.kernel.tasks(caller, filter).await.unwrap().tasks
    }

    async fn only(&self, caller: &Caller) -> Schedule {
        let mut all = self.stores.schedules.list(caller.principal.owner()).await.unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

/// All tasks of the admin.
fn every_task() -> TaskQuery {
    TaskQuery {
        owner: Owner::admin(),
        agent: None,
        state: None,
        context_id: None,
        changed_since: None,
        scope: None,
        limit: 1_000,
        after: None,
        parts: TaskParts::default(),
        max_bytes: usize::MAX,
    }
}

fn worker_home() -> TestHome {
    TestHome::new().with_script("worker", &["*"], WORKER)
}

#[tokio::test]
async fn every_interface_reaches_the_schedules_of_its_owner() {
    let site = Site::start(config()).await;
    let wanted =
        json!({ "description": "look", "schedule": "weekdays at 9:30am", "agent": "allowed", "time_zone": "UTC" });

    for (interface, said) in site.call("schedule_create", &wanted).await {
        // A caller over A2A is another agent: what executes waits for somebody at this machine.
        let is_created = said.contains("created ") && said.contains("30 9 * * 1-5");
        assert_eq!(is_created, interface != "a2a", "{interface}: {said}");
    }
    let mut id = String::new();
    for (interface, said) in site.call("schedule_list", &json!({})).await {
        assert_eq!(said.matches("tells allowed: look").count(), 3, "{interface}: {said}");
        let at = said.find("at 09:30, Mondays to Fridays (UTC)").unwrap();
        id = said[at - 37..at - 1].to_owned();
    }
    for (n, (interface, said)) in site.call("schedule_delete", &json!({ "id": id })).await.into_iter().enumerate() {
        assert_eq!(said.contains(&format!("deleted {id}")), n == 0, "{interface}: {said}");
        assert_eq!(said.contains("there is no such schedule"), n > 0, "{interface}: {said}");
    }
    for (tool, arguments) in
        [("schedule_create", wanted), ("schedule_list", json!({})), ("schedule_delete", json!({ "id": id }))]
    {
        for (interface, said) in site.call_refused(tool, &arguments).await {
            let is_refused = !["created ", "tells allowed", "no such schedule"].iter().any(|fact| said.contains(fact));
            assert!(is_refused, "{interface} {tool}: {said}");
        }
    }
    site.stop().await;
}

#[test]
fn the_command_line_creates_lists_pauses_runs_and_deletes() {
    let openfang = command_line("");
    let run = |arguments: &[&str]| openfang.run(arguments);

    let created = run(&["schedule", "create", "/add_numbers {\"a\": 3, \"b\": 7}", "daily at 6", "--json"]);
    assert_eq!(created.code, 0, "{created:?}");
    let made = created.json()["structuredContent"].clone();
    let id = made["id"].as_str().unwrap();
    assert_eq!((made["cron"].as_str(), made["next_times"].as_array().unwrap().len()), (Some("0 6 * * *"), 3));
    let once = run(&["schedule", "create", "x", "in 2 hours"]);
    assert!(once.code == 0 && once.stderr.contains("no server is running"), "{once:?}");
    assert!(run(&["schedule", "list"]).stdout.contains("every day"));
    let ran = run(&["schedule", "run", id]);
    assert!(ran.code == 0 && ran.stdout.contains("the run: completed (task "), "{ran:?}");
    assert!(run(&["schedule", "pause", id]).stdout.contains("paused: paused by admin"));
    assert!(run(&["schedule", "show", id]).stdout.contains("paused by admin"));
    let resumed = run(&["schedule", "resume", id, "--json"]).json();
    assert_eq!((resumed["status"].as_str(), resumed["lastOutcome"].as_str()), (Some("active"), Some("completed")));
    assert_eq!(run(&["schedule", "delete", id]).stdout, format!("deleted {id}\n"));
    for gone in ["show", "delete", "pause", "resume", "run"] {
        let again = run(&["schedule", gone, id]);
        assert!(again.code != 0 && (again.stdout + &again.stderr).contains("schedule"), "{gone}");
    }
}

#[tokio::test]
async fn arguments_out_of_bounds_and_schedules_of_others_are_refused() {
    let config = Config {
        schedules: openfang_types::config::SchedulesConfig {
            per_owner: 2,
            min_interval_secs: 600,
            ..openfang_types::config::SchedulesConfig::default()
        },
        ..Config::default()
    };
    let works = Works::with(worker_home(), config);
    let kernel = &works.kernel;
    let (admin, ada) = (callers::admin(kernel), callers::user(kernel, "ada", &["schedule_*", "agent:worker"]));
    let good = json!({ "description": "x", "schedule": "daily at 9", "agent": "worker" });
    for (member, value, says) in [
        ("description", json!(" "), "1 to 8192 bytes"),
        ("description", json!("x".repeat(8 * 1024 + 1)), "1 to 8192 bytes"),
        ("schedule", json!("0 30 9 * * 1"), "seconds and years are not supported"),
        ("schedule", json!("0 0 31 2 *"), "never run"),
        ("schedule", json!("every 1000000000 minutes"), "at most 366 days"),
        ("schedule", json!("every 5 minutes"), "at least 600 seconds"),
        ("schedule", json!("in 2 seconds"), "seconds are not supported"),
        ("schedule", json!("now and then"), "weekdays at 9"),
        ("agent", json!("nobody"), "agent_list shows"),
        ("time_zone", json!("Mars/Olympus"), "no time zone"),
        ("time_zone", json!("../../etc/passwd"), "has a name such as"),
    ] {
        let mut arguments = good.clone();
        arguments[member] = value.clone();
        let said = call(kernel, &admin, "schedule_create", arguments).await.unwrap();
        assert!(said.is_error && said.joined_text().contains(says), "{member} {value}: {}", said.joined_text());
    }
    let id = works.create(&admin, good.clone()).await;
    works.create(&admin, good.clone()).await;
    let full = call(kernel, &admin, "schedule_create", good.clone()).await.unwrap();
    assert!(full.joined_text().contains("the limit of 2 schedules"), "{}", full.joined_text());
    works.create(&ada, good).await;

    let unknown = "00000000-0000-4000-8000-000000000001";
    for tool in ["schedule_delete", "schedule_list"] {
        let foreign = call(kernel, &ada, tool, json!({ "id": id })).await.unwrap();
        assert_eq!(foreign, call(kernel, &ada, tool, json!({ "id": unknown })).await.unwrap());
        assert!(foreign.is_error);
    }
    let listed = call(kernel, &ada, "schedule_list", json!({})).await.unwrap();
    assert_eq!(listed.structured_value().unwrap()["schedules"].as_array().unwrap().len(), 1);
}

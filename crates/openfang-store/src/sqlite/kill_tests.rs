//! A process that is killed while it writes: what it acknowledged is there, and a commit has its events and its items, or
//! neither. The test runs itself once more, as the process that is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use openfang_types::ids::TaskId;
use openfang_types::task::{Part, TaskState};

use super::*;
use crate::contract::transcripts::{item, words};
use crate::contract::{artifact, query, status, write};
use crate::{Append, NewTask, TaskRecord, TranscriptKind, TranscriptWrite};

const DATABASE: &str = "OPENFANG_TEST_DATABASE";
const TEST: &str = "a_process_that_is_killed_leaves_whole_steps";
const KILLS: usize = 20;

/// The database, in the process that is to be killed.
#[expect(
    clippy::disallowed_methods,
    reason = "the second process of a test is told by the environment what it works on"
)]
fn database_of_the_second_run() -> Option<PathBuf> {
    std::env::var_os(DATABASE).map(PathBuf::from)
}

/// Starts the process that writes until it is killed.
#[expect(clippy::disallowed_methods, reason = "a process of its own is what is tested")]
fn start(database: &std::path::Path) -> std::process::Child {
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("{module}::{TEST}"), "--nocapture"]);
    again.env(DATABASE, database).stdout(Stdio::piped()).spawn().unwrap()
}

/// The items of a step: what a call says before and after it.
fn step(number: usize) -> TranscriptWrite {
    let items = [(TranscriptKind::CallBegun, "begun"), (TranscriptKind::CallDone, "done")];
    TranscriptWrite::at_the_end(items.map(|(kind, word)| item(kind, &format!("{word}{number}"))).to_vec())
}

/// Writes tasks of ten steps each, one after the other, and says so after each step.
async fn write_for_ever(sqlite: &Sqlite) {
    let (tasks, ada) = (sqlite.stores().tasks, owner("ada"));
    let mut number = tasks.list(&query(&ada)).await.unwrap().total * 10;
    loop {
        number += 1;
        let name = |number: usize| format!("step{number}");
        let (id, context_id) = (TaskId::from_uuid(Uuid::now_v7()), name(number).parse().unwrap());
        let events = vec![status(TaskState::Working), artifact(&name(number))];
        let new = new_task(&ada, &name(number));
        let mut record = create(&*tasks, NewTask { id, context_id, events, transcript: step(number), ..new }).await;
        acknowledge(number);
        for _ in 0..9 {
            number += 1;
            let transcript = TranscriptWrite { after: Some(record.version * 2), ..step(number) };
            let events = vec![artifact(&name(number))];
            tasks.append(Append { transcript, ..write(&record, events) }).await.unwrap();
            acknowledge(number);
            record = tasks.get(&ada, record.task.id).await.unwrap();
        }
    }
}

fn acknowledge(number: usize) {
    println!("\nacknowledged {number}");
    std::io::stdout().flush().unwrap();
}

/// The steps of a task by its events, which must be those by its items.
async fn steps(sqlite: &Sqlite, record: &TaskRecord) -> Vec<String> {
    let steps: Vec<String> = record.task.artifacts.iter().map(|artifact| artifact.artifact_id.to_string()).collect();
    let of_items = words(&sqlite.stores(), record).await;
    let expected = steps.iter().flat_map(|step| ["begun", "done"].map(|word| step.replace("step", word)));
    assert_eq!(of_items, expected.collect::<Vec<_>>(), "{}", record.task.id);
    assert!(record.task.artifacts.iter().all(|artifact| artifact.parts == [Part::text("x")]));
    steps
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_whole_steps() {
    if let Some(database) = database_of_the_second_run() {
        let node = NodeId::from_uuid(Uuid::now_v7());
        return write_for_ever(&Sqlite::open(&database, node).unwrap()).await;
    }
    let home = Home::new();
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        let mut writer = start(&home.path());
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let last = lines
            .filter(|line| line.starts_with("acknowledged "))
            .inspect(|_| acknowledged += 1)
            .nth(kill * 7 % 23)
            .unwrap();
        writer.kill().unwrap();
        writer.wait().unwrap();

        let sqlite = home.open();
        let page = sqlite.stores().tasks.list(&query(&owner("ada"))).await.unwrap();
        let mut found = Vec::new();
        for record in &page.tasks {
            found.extend(steps(&sqlite, record).await);
        }

        assert!(found.contains(&last.replace("acknowledged ", "step")), "{last} is missing");
        assert!(found.len() >= acknowledged, "{} of {acknowledged}", found.len());
    }
    let findings = DatabaseFile::open(&home.path()).unwrap().check().unwrap().findings;
    assert_eq!(findings, []);
}

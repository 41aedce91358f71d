//! Kill -9 under load, again and again: what was acknowledged over A2A is there and ends once, and a reader that comes
//! back with its last event id misses nothing and hears nothing twice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use openfang_testkit::http::{Client, Lines};
use serde_json::{Value, json};

use super::wire::{is_end, request, said};
use crate::support::binary::{Daemon, Openfang};

const KILLS: u64 = 100;
const SEED: u64 = 0x0a2a_5eed;

const STEPS: &str = r#"
    [[rules]]
    when = { text = "effect" }
    steps = [{ chunk = "one" }, { tool = { name = "memory_store", arguments = { key = "k", value = "v" } } }, { delay_ms = 3 }, { chunk = "two" }]
    [[rules]]
    steps = [{ chunk = "one" }, { delay_ms = 4 }, { chunk = "two" }, { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } }, { delay_ms = 4 }, { artifact = { name = "r", text = "three" } }, { delay_ms = 4 }, { chunk = "four" }]
"#;

/// A small generator, so that a run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A task that the server has told somebody about.
#[derive(Default)]
struct Owed {
    id: String,
    /// The ids of the events that its reader has had, if it has a reader.
    read: Vec<String>,
    /// Whether its reader was told of the end.
    is_over: bool,
    /// What the server said when it had ended.
    end: Option<String>,
}

/// A message that nobody answered.
struct Unanswered {
    agent: &'static str,
    message: Value,
}

#[derive(Default)]
struct Written {
    owed: Vec<Owed>,
    unanswered: Vec<Unanswered>,
}

/// The next event that came whole, as (id, data); none when the connection is gone.
async fn whole_event(lines: &mut Lines) -> Option<(String, Value)> {
    let (mut id, mut data) = (None, None);
    loop {
        let line = lines.next().await?;
        if let Some(value) = line.strip_prefix("id: ") {
            id = Some(value.to_owned());
        } else if let Some(value) = line.strip_prefix("data: ") {
            data = Some(value.to_owned());
        } else if line.is_empty()
            && let (Some(id), Some(data)) = (id.take(), data.take())
        {
            return Some((id, serde_json::from_str(&data).unwrap()));
        }
    }
}

fn state_in(result: &Value) -> Option<&str> {
    result["task"]["status"]["state"]
        .as_str()
        .or_else(|| result["statusUpdate"]["status"]["state"].as_str())
}

/// Reads a stream until it ends or breaks.
async fn read(owed: &mut Owed, mut lines: Lines) {
    while let Some((id, data)) = whole_event(&mut lines).await {
        let result = &data["result"];
        owed.is_over |= state_in(result).is_some_and(is_end);
        match (result["task"]["id"].as_str(), owed.read.last()) {
            // A reader that returns is first shown the task as of the event that it had last.
            (Some(_), Some(last)) => assert_eq!(id, *last),
            (Some(task), None) => {
                owed.id = task.to_owned();
                owed.read.push(id);
            }
            (None, _) => owed.read.push(id),
        }
    }
}

/// How a writer wants to be answered.
#[derive(Clone, Copy)]
enum Way {
    Settled(&'static str),
    AtOnce,
    Streaming,
}

const WRITERS: [Way; 6] = [
    Way::Settled("worker"),
    Way::Settled("worker"),
    Way::Settled("steps"),
    Way::AtOnce,
    Way::Streaming,
    Way::Streaming,
];

/// Sends until the server is gone.
async fn write(client: Client, way: Way, name: String, stop: &AtomicBool, accepted: &AtomicUsize) -> Written {
    let mut written = Written::default();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let (agent, text) = match way {
            Way::Settled("worker") => ("worker", format!("/add_numbers {{\"a\": {number}, \"b\": 1}}")),
            Way::Settled(_) | Way::AtOnce if number % 3 == 0 => ("steps", "effect".to_owned()),
            Way::Settled(_) | Way::AtOnce | Way::Streaming => ("steps", "go".to_owned()),
        };
        // Each message is a conversation of its own, so that what it led to can be found again.
        let mut message = said(&format!("{name}-{number}"), &text);
        message["contextId"] = json!(format!("{name}-{number}"));
        let configuration = json!({"returnImmediately": matches!(way, Way::AtOnce)});
        let params = json!({"tenant": agent, "message": message, "configuration": configuration});
        let unanswered = Unanswered { agent, message };
        if let Way::Streaming = way {
            let body = request(1, "SendStreamingMessage", params).to_string();
            let Some(lines) = client.try_stream("POST", "/a2a", Some(&body)).await else { return written };
            let mut owed = Owed::default();
            read(&mut owed, lines).await;
            match owed.id.is_empty() {
                true => written.unanswered.push(unanswered),
                false => written.owed.push(owed),
            }
        } else {
            let body = request(1, "SendMessage", params).to_string();
            let Some(answer) = client.try_send("POST", "/a2a", Some(&body)).await else { return written };
            let is_whole = answer.header("content-length") == Some(&answer.body.len().to_string());
            if answer.status != 200 || !is_whole {
                written.unanswered.push(unanswered);
                continue;
            }
            let task = answer.json()["result"]["task"].clone();
            let id = task["id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
            let end = state_in(&json!({"task": task})).filter(|state| is_end(state)).map(str::to_owned);
            written.owed.push(Owed { id, end, ..Owed::default() });
        }
        accepted.fetch_add(1, Ordering::Relaxed);
    }
    written
}

/// The log of a task as the house itself shows it, to its end: (id, name, state).
async fn log(client: &Client, task: &str) -> Vec<(String, String, String)> {
    let resumed = client.clone().with("last-event-id", &format!("{task}:0"));
    let events = resumed.stream("GET", &format!("/api/tasks/{task}/events"), None).await.events().await;
    let entry = |(name, id, data): (String, String, Value)| {
        (id, name, data["body"]["status"]["state"].as_str().unwrap_or_default().to_owned())
    };
    events.into_iter().map(entry).collect()
}

/// What is owed is there, has ended once, and its reader gets the rest.
async fn settle(client: &Client, mut owed: Owed) {
    let task = owed.id.clone();
    let full = log(client, &task).await;
    let expected: Vec<String> = (1..=full.len()).map(|seq| format!("{task}:{seq}")).collect();
    assert_eq!(full.iter().map(|(id, ..)| id.clone()).collect::<Vec<_>>(), expected, "a gap in the log");
    let terminal = |state: &str| ["completed", "failed", "canceled"].contains(&state);
    let ends: Vec<_> = full.iter().filter(|(_, _, state)| terminal(state)).collect();
    assert_eq!((ends.len(), ends.last().copied()), (1, full.last()), "{full:?}");

    let body = request(1, "GetTask", json!({"id": task})).to_string();
    let answer = client.send("POST", "/a2a", Some(&body)).await.json();
    let now = answer["result"]["status"]["state"]
        .as_str()
        .unwrap_or_else(|| panic!("{task} is missing: {answer}"));
    assert_eq!(now, format!("TASK_STATE_{}", ends[0].2.to_uppercase()));
    if let Some(end) = &owed.end {
        assert_eq!(now, end, "an end that was acknowledged changed");
    }
    let Some(last) = owed.read.last() else { return };
    let resumed = client.clone().with("last-event-id", last);
    let body = request(1, "SubscribeToTask", json!({"id": task})).to_string();
    let lines = resumed.stream("POST", "/a2a", Some(&body)).await;
    read(&mut owed, lines).await;
    assert!(owed.is_over);
    // The task as it stood at first, and then what the agent did; messages of the conversation are in the task.
    let begun = full.iter().position(|(id, ..)| *id == owed.read[0]).unwrap();
    let later = full[begun + 1..].iter().filter(|(_, name, _)| name != "message");
    let expected: Vec<String> = full[begun..=begun].iter().chain(later).map(|(id, ..)| id.clone()).collect();
    assert_eq!(owed.read, expected, "once each, and in order");
}

/// A message that nobody answered is sent again: it makes one task, however far it had come.
async fn resend(client: &Client, Unanswered { agent, message }: Unanswered) -> Owed {
    let context = message["contextId"].clone();
    let body = request(1, "SendMessage", json!({"tenant": agent, "message": message})).to_string();
    let answer = client.send("POST", "/a2a", Some(&body)).await.json();
    let task = &answer["result"]["task"];
    let state = task["status"]["state"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(is_end(state), "{answer}");
    let list = request(1, "ListTasks", json!({"contextId": context})).to_string();
    let listed = client.send("POST", "/a2a", Some(&list)).await.json();
    assert_eq!(listed["result"]["totalSize"], 1, "{listed}");
    Owed { id: task["id"].as_str().unwrap().to_owned(), end: Some(state.to_owned()), ..Owed::default() }
}

fn home() -> Openfang {
    let openfang = Openfang::new();
    openfang.write("config.toml", "[a2a]\nenabled = true\n");
    for (name, provider) in [("worker", "direct"), ("steps", "script")] {
        let manifest = format!(
            "name = \"{name}\"\ndescription = \"d\"\n[model]\nprovider = \"{provider}\"\n[capabilities]\ntools = [\"*\"]"
        );
        openfang.write(&format!("agents/{name}/agent.toml"), &manifest);
    }
    openfang.write("agents/steps/script.toml", STEPS);
    openfang
}

/// Some work, and then the end, at a moment that nobody chose.
async fn killed_under_load(daemon: &mut Daemon, round: u64, random: &mut Random) -> Written {
    let (stop, accepted) = (AtomicBool::new(false), AtomicUsize::new(0));
    let client = daemon.client();
    let writers = WRITERS
        .iter()
        .enumerate()
        .map(|(number, way)| write(client.clone(), *way, format!("m-{round}-{number}"), &stop, &accepted));
    let kill = async {
        tokio::time::sleep(Duration::from_micros(1_000 + random.below(60_000))).await;
        daemon.signal("KILL");
        stop.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(join_all(writers), kill);
    daemon.wait();
    let mut all = Written::default();
    for Written { owed, unanswered } in written {
        all.owed.extend(owed);
        all.unanswered.extend(unanswered);
    }
    all
}

/// Everything that is owed, at the same time.
async fn settle_all(client: &Client, all: Written) -> [usize; 3] {
    let cut = all.owed.iter().filter(|owed| !owed.read.is_empty() && !owed.is_over).count();
    let again = join_all(all.unanswered.into_iter().map(|message| resend(client, message))).await;
    let (owed, resent) = (all.owed.len(), again.len());
    let settled = all.owed.into_iter().chain(again);
    let settled: Vec<BoxFuture<'_, ()>> =
        settled.map(|owed| Box::pin(settle(client, owed)) as BoxFuture<'_, ()>).collect();
    join_all(settled).await;
    [owed, resent, cut]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_each_of_many_kills_every_acknowledged_task_ends_once_and_every_reader_goes_on() {
    println!("seed {SEED:#x}");
    let openfang = home();
    let mut random = Random(SEED);
    let mut counts = [0; 3];
    let mut count = |settled: [usize; 3]| counts.iter_mut().zip(settled).for_each(|(all, more)| *all += more);
    let mut open = Written::default();
    for round in 0..KILLS {
        let mut daemon = openfang.start();
        // Now and then the server dies again before anybody has asked what became of the last time.
        if random.below(4) > 0 {
            count(settle_all(&daemon.client(), std::mem::take(&mut open)).await);
        }
        let more = killed_under_load(&mut daemon, round, &mut random).await;
        open.owed.extend(more.owed);
        open.unanswered.extend(more.unanswered);
    }
    let daemon = openfang.start();
    count(settle_all(&daemon.client(), open).await);
    let [owed, resent, cut] = counts;
    println!("{KILLS} kills, {owed} acknowledged, {resent} sent again, {cut} readers cut off");
    assert!(owed > 100 && cut > 0, "{owed} {cut}");
    for command in [["db", "check"], ["audit", "verify"]] {
        let checked = openfang.run(&command);
        assert_eq!(checked.code, 0, "{checked:?}");
    }
}

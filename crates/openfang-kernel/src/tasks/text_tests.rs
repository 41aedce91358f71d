//! An agent that says much, bit by bit: how often it is committed, and who sees what of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use openfang_runtime::answerer::{AgentRun, Answerer, Ending, Recovery, RunEvent, RunStopped, TextDelta, Turn};
use openfang_runtime::catalog::Catalog;
use openfang_types::agent::AgentManifest;
use openfang_types::config::Config;
use openfang_types::event::{ArtifactUpdate, EventBody, Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::TEXT_PACE;
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::task::{Artifact, Message, Part, TaskState};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::home::Home;
use crate::settings::agents::Agent;
use crate::tasks::Tasks;
use crate::tasks::log::{TaskLog, Visibility};
use crate::tasks::run::Plan;
use crate::tasks::streams::{Begin, Follow, TaskStream};
use crate::{Boot, Caller, Kernel};

const DELTAS: usize = 10_000;

/// Says numbers, one after the other; between the halves it waits until it may go on.
struct Talker {
    go_on: Arc<Semaphore>,
    /// Whether each number is an artifact chunk instead of a delta.
    as_chunks: bool,
    numbers: usize,
}

impl Talker {
    async fn say(&self, run: &AgentRun<'_>, number: usize) -> Result<(), RunStopped> {
        let (artifact_id, text) = ("reply".parse().unwrap(), format!("{number} "));
        let event = if self.as_chunks {
            let artifact = Artifact::of_parts(artifact_id, None, vec![Part::text(text)]);
            RunEvent::Artifact(ArtifactUpdate { artifact, append: number > 0, last_chunk: false })
        } else {
            RunEvent::Text(TextDelta {
                artifact_id,
                name: None,
                text,
                begins: false,
                is_last: number + 1 == self.numbers,
            })
        };
        run.events.emit(event).await?;
        if number.is_multiple_of(100) {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

impl Answerer for Talker {
    fn plain_reply(&self, _: &Message) -> Option<Vec<Part>> {
        None
    }

    fn recovery(&self, _: &Turn<'_>, _: &AgentManifest, _: &Catalog) -> Recovery {
        Recovery::Fail
    }

    fn run<'a>(&'a self, run: &'a AgentRun<'a>, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>> {
        Box::pin(async move {
            for number in 0..self.numbers / 2 {
                self.say(run, number).await?;
            }
            self.go_on.acquire().await.unwrap().forget();
            for number in self.numbers / 2..self.numbers {
                self.say(run, number).await?;
            }
            Ok(Ending::completed())
        })
    }
}

struct TaskStage {
    _home: TempDir,
    kernel: Kernel,
    caller: Caller,
    go_on: Arc<Semaphore>,
}

impl TaskStage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().to_owned());
        home.prepare().unwrap();
        let kernel = Boot::new(home, Config::default()).start().unwrap();
        let principal = Arc::new(Principal::admin(AdminProof::InProcess));
        let caller = Caller { principal, door: Door::Cli, trace: kernel.trace(), hops: 0, room: None };
        Self { _home: directory, kernel, caller, go_on: Arc::new(Semaphore::new(0)) }
    }

    fn tasks(&self) -> &Tasks {
        self.kernel.task_room()
    }

    fn written(&self) -> u64 {
        self.tasks().inner.health.stats().writes
    }

    /// Begins a task that somebody may look at.
    async fn begin(&self, as_chunks: bool, numbers: usize) -> TaskId {
        let name: AgentName = "starter".parse().unwrap();
        let known = self.tasks().inner.settings().agent(&self.caller.principal, &name).unwrap();
        let talker = Talker { go_on: Arc::clone(&self.go_on), as_chunks, numbers };
        let agent = Arc::new(Agent::of(Arc::clone(&known.manifest), Box::new(talker)));
        let message = self.kernel.message("go");
        let incoming = self.tasks().incoming(&self.caller, &name, message.clone(), Visibility::Seen);
        let log = Arc::new(TaskLog::begin(Arc::clone(&self.tasks().inner), self.tasks().inner.new_task(&incoming)));
        let id = log.id();
        log.show().await.unwrap();
        let (caller, cancel) = (self.caller.clone(), incoming.cancel);
        let plan = Plan { caller, agent, log, message, told: 0, is_resumed: false, granted: None, cancel };
        drop(self.tasks().begin_run(id, plan).detach());
        id
    }

    async fn follow(&self, id: TaskId, after: Seq) -> TaskStream {
        let from = Follow { begin: Begin::After(after), until: Until::Ended };
        self.kernel.follow(&self.caller, id, from).await.unwrap()
    }
}

/// The text and the places of what comes next, until there is so much text or the stream ends.
async fn read(stream: &mut TaskStream, enough: usize) -> (String, Vec<Seq>) {
    let (mut text, mut seqs) = (String::new(), Vec::new());
    while text.len() < enough {
        let Some(item) = stream.next().await.unwrap() else { break };
        let StreamItem::Event(event) = item else { panic!("{item:?}") };
        seqs.push(event.seq);
        if let EventBody::Artifact(update) = &event.body {
            text.extend(update.artifact.parts.iter().filter_map(Part::as_text));
        }
    }
    (text, seqs)
}

fn numbers(count: usize) -> String {
    (0..count).map(|number| format!("{number} ")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_deltas_are_few_commits_and_every_reader_sees_all_of_them_once() {
    let place = TaskStage::new();
    let (begun, before) = (Instant::now(), place.written());
    let id = place.begin(false, DELTAS).await;
    let half = numbers(DELTAS / 2);

    let mut early = place.follow(id, 0).await;
    let (mut text, mut seqs) = read(&mut early, half.len()).await;
    assert_eq!(text, half);
    let middle = *seqs.last().unwrap();
    // One that resumes in the middle, and one that reads nothing before the end.
    let mut resumed = place.follow(id, middle).await;
    let mut idle = place.follow(id, 0).await;
    place.go_on.add_permits(1);
    let (rest, later) = read(&mut early, usize::MAX).await;
    let (resumed_text, resumed_seqs) = read(&mut resumed, usize::MAX).await;
    assert_eq!((&resumed_text, &resumed_seqs), (&rest, &later));
    text.push_str(&rest);
    seqs.extend(later);
    assert_eq!(text, numbers(DELTAS));
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert_eq!(read(&mut idle, usize::MAX).await, (text.clone(), seqs));

    let task = place.kernel.task(&place.caller, id).await.unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    let stored: String = task.artifacts[0].parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(stored, text);
    // The task, that it works, its end, and the audit of nothing; the text at its pace.
    let paces = begun.elapsed().as_millis() / TEXT_PACE.as_millis() + 2;
    let written = u128::from(place.written() - before);
    assert!(written <= 4 + paces, "{written} writes in {paces} times the pace");
}

#[tokio::test]
async fn chunks_that_are_no_deltas_are_committed_one_by_one() {
    let place = TaskStage::new();
    let id = place.begin(true, 20).await;
    place.go_on.add_permits(1);

    let mut stream = place.follow(id, 0).await;
    let (text, seqs) = read(&mut stream, usize::MAX).await;

    assert_eq!(text, numbers(20));
    // Submitted, the message, working, the chunks, completed.
    assert_eq!(seqs.len(), 3 + 20 + 1);
}

#[tokio::test]
async fn text_is_shown_while_the_agent_is_silent() {
    let place = TaskStage::new();
    let id = place.begin(false, 2).await;
    let mut stream = place.follow(id, 0).await;
    let (text, _) = tokio::time::timeout(Duration::from_secs(10), read(&mut stream, 1)).await.unwrap();
    assert_eq!(text, "0 ");
    place.go_on.add_permits(1);
    assert_eq!(read(&mut stream, usize::MAX).await.0, "1 ");
}

#[tokio::test]
async fn what_was_said_before_a_cancel_is_kept() {
    let place = TaskStage::new();
    let id = place.begin(false, 10).await;
    let mut stream = place.follow(id, 0).await;
    read(&mut stream, 1).await;
    let task = place.kernel.cancel_task(&place.caller, id).await.unwrap();
    let said: String = task.artifacts[0].parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(said, numbers(5));
}

//! Calls that outlive the request that began them.

use futures_util::StreamExt as _;
use serde_json::json;

use super::*;
use crate::system::{SystemClock, SystemIds};

struct Stage {
    held: HeldCalls,
    clock: Arc<dyn Clock>,
    ids: SystemIds,
    tracker: TaskTracker,
    draining: CancellationToken,
}

impl Stage {
    fn new() -> Self {
        Self {
            held: HeldCalls::default(),
            clock: Arc::new(SystemClock),
            ids: SystemIds::default(),
            tracker: TaskTracker::new(),
            draining: CancellationToken::new(),
        }
    }

    fn parts(&self) -> HoldingParts<'_> {
        HoldingParts { clock: &self.clock, ids: &self.ids, tracker: &self.tracker, draining: &self.draining }
    }

    async fn begin(&self, choice: TaskChoice, cancel: CancellationToken, make: MakeCall) -> ToolAnswer {
        let call =
            HoldableCall { holder: holder("ada"), choice, resumed: None, became_task: Arc::default(), cancel, make };
        self.held.make(self.parts(), call).await.unwrap()
    }

    async fn task(&self, choice: TaskChoice, make: MakeCall) -> String {
        match self.begin(choice, CancellationToken::new(), make).await {
            ToolAnswer::Task(task) => task.id,
            ToolAnswer::Ended(ended) => panic!("{ended:?}"),
        }
    }
}

fn holder(owner: &str) -> Holder {
    Holder { owner: owner.to_owned(), scope: String::new() }
}

fn answers(text: &'static str) -> MakeCall {
    Box::new(move |_, _| Box::pin(async move { Ok(Outcome::Done(ToolOutput::text(text))) }))
}

/// Asks two things, then answers with what was said.
fn asks() -> MakeCall {
    Box::new(|resumed, _| {
        Box::pin(async move {
            match resumed {
                Some(resumed) => {
                    let said: Vec<String> = resumed.answers.values().map(|raw| raw.get().to_owned()).collect();
                    Ok(Outcome::Done(ToolOutput::text(format!("{} {:?}", said.join(" "), resumed.state))))
                }
                None => {
                    let ask =
                        |key: &str| (key.to_owned(), InputRequest::elicitation(key, &json!({ "type": "object" })));
                    let requests = [ask("a"), ask("b")].into();
                    Ok(Outcome::NeedsInput(InputRequired { requests, state: vec![7] }))
                }
            }
        })
    })
}

fn waits() -> MakeCall {
    Box::new(|_, _| Box::pin(std::future::pending()))
}

#[tokio::test]
async fn what_ends_in_time_is_no_task_unless_the_client_wants_one_whatever_happens() {
    let stage = Stage::new();
    let quick = stage.begin(TaskChoice::IfLong, CancellationToken::new(), answers("quick")).await;
    assert!(matches!(quick, ToolAnswer::Ended(Outcome::Done(output)) if output.joined_text() == "quick"));

    let id = stage.task(TaskChoice::Always, answers("later")).await;
    let task = stage.held.settled(&holder("ada"), &id).await.unwrap();
    assert!(matches!(task.state, CallTaskState::Completed(output) if output.joined_text() == "later"));
    assert!(stage.held.get(&holder("bob"), &id).is_none(), "another's is none");
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_one_by_one_and_then_the_call_goes_on() {
    let stage = Stage::new();
    let (ada, id) = (holder("ada"), stage.task(TaskChoice::Always, asks()).await);
    let give = |key: &str, text: &str| {
        let answer = serde_json::value::to_raw_value(text).unwrap();
        assert!(stage.held.answer(&ada, &id, &BTreeMap::from([(key.to_owned(), answer)])));
    };
    let open = |task: CallTask| match task.state {
        CallTaskState::InputRequired(open) => open.into_keys().collect::<Vec<_>>(),
        state => panic!("{state:?}"),
    };
    assert_eq!(open(stage.held.settled(&ada, &id).await.unwrap()), ["1.a", "1.b"]);
    give("1.a", "one");
    give("made up", "x");
    assert_eq!(open(stage.held.get(&ada, &id).unwrap()), ["1.b"]);
    give("1.b", "two");
    let done = stage.held.settled(&ada, &id).await.unwrap();
    assert!(matches!(done.state, CallTaskState::Completed(output) if output.joined_text() == "\"one\" \"two\" [7]"));
    give("1.a", "again");
    assert!(stage.held.get(&ada, &id).unwrap().state.is_terminal());
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_a_call_is_told_at_once_and_of_every_change_to_its_end() {
    let stage = Stage::new();
    let (ada, id) = (holder("ada"), stage.task(TaskChoice::Always, asks()).await);
    let mut changes = stage.held.changes(&ada, &id).unwrap();
    let mut seen = Vec::new();
    while changes.next().await.is_some() {
        let state = stage.held.get(&ada, &id).unwrap().state;
        if let CallTaskState::InputRequired(open) = &state {
            let answers = open.keys().map(|key| (key.clone(), raw(&"yes"))).collect();
            assert!(stage.held.answer(&ada, &id, &answers));
        }
        let is_over = state.is_terminal();
        seen.push(state);
        if is_over {
            break;
        }
    }

    assert!(seen.iter().any(|state| matches!(state, CallTaskState::InputRequired(_))), "{seen:?}");
    assert!(matches!(seen.last(), Some(CallTaskState::Completed(_))), "{seen:?}");
    assert!(stage.held.changes(&holder("bob"), &id).is_none(), "another's is none");
}

#[tokio::test(start_paused = true)]
async fn a_canceled_call_stays_canceled_and_one_that_nobody_was_told_of_ends_with_its_request() {
    let stage = Stage::new();
    let id = stage.task(TaskChoice::IfLong, waits()).await;
    for _ in 0..2 {
        let task = stage.held.cancel(&holder("ada"), &id).await.unwrap();
        assert!(matches!(task.state, CallTaskState::Canceled));
    }
    let cancel = CancellationToken::new();
    let request = stage.begin(TaskChoice::IfLong, cancel.clone(), waits());
    assert!(tokio::time::timeout(CALL_TASK_GRACE / 2, request).await.is_err());
    assert!(cancel.is_cancelled(), "the client left before it was told of a task");
    stage.tracker.close();
    stage.tracker.wait().await;
}

#[tokio::test(start_paused = true)]
async fn beyond_the_room_of_an_owner_calls_are_waited_for_and_others_have_theirs() {
    let stage = Stage::new();
    for _ in 0..HELD_CALLS_PER_OWNER {
        stage.task(TaskChoice::Always, waits()).await;
    }
    let make: MakeCall = Box::new(|_, _| {
        Box::pin(async {
            tokio::time::sleep(CALL_TASK_GRACE * 3).await;
            Ok(Outcome::Done(ToolOutput::text("slow")))
        })
    });
    let kept = stage.held.keep(&stage.parts(), holder("ada"), ToolOutput::text("an end"));
    assert!(matches!(kept, Err(McpError::Busy(_))), "ends count too");
    let waited = stage.begin(TaskChoice::IfLong, CancellationToken::new(), make).await;
    assert!(matches!(waited, ToolAnswer::Ended(_)));
    let call = HoldableCall {
        holder: holder("bob"),
        choice: TaskChoice::Always,
        resumed: None,
        became_task: Arc::default(),
        cancel: CancellationToken::new(),
        make: waits(),
    };
    assert!(matches!(stage.held.make(stage.parts(), call).await, Ok(ToolAnswer::Task(_))));
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_an_answer_that_never_comes() {
    let stage = Stage::new();
    let (ada, id) = (holder("ada"), stage.task(TaskChoice::Always, asks()).await);
    assert!(matches!(stage.held.settled(&ada, &id).await.unwrap().state, CallTaskState::InputRequired(_)));
    stage.draining.cancel();
    stage.tracker.close();
    stage.tracker.wait().await;
    assert!(matches!(stage.held.get(&ada, &id).unwrap().state, CallTaskState::Canceled));
}

#[tokio::test(start_paused = true)]
async fn calls_that_begin_at_the_same_time_do_not_pass_the_limit_together() {
    let stage = Stage::new();
    let slow = || -> MakeCall {
        Box::new(|_, _| {
            Box::pin(async {
                tokio::time::sleep(CALL_TASK_GRACE * 3).await;
                Ok(Outcome::Done(ToolOutput::text("slow")))
            })
        })
    };
    let calls =
        (0..HELD_CALLS_PER_OWNER + 8).map(|_| stage.begin(TaskChoice::IfLong, CancellationToken::new(), slow()));
    let answers = futures_util::future::join_all(calls).await;
    let tasks = answers.iter().filter(|answer| matches!(answer, ToolAnswer::Task(_))).count();
    assert_eq!((tasks, answers.len() - tasks), (HELD_CALLS_PER_OWNER, 8));
}

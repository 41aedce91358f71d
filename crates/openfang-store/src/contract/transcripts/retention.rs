//! The rules of every durable store for the retention of transcripts.

use std::time::Duration;

use openfang_types::task::TaskState;

use super::{add, new_with, said, words};
use crate::contract::{create, end, finished_task, new_task, now, owner};
use crate::{NewTask, Retention, RetentionReport, Stores, TaskRecord};

const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) async fn retention(fresh: impl Fn() -> Stores) {
    a_transcript_goes_with_the_last_task_of_its_conversation(&fresh()).await;
    a_transcript_outlives_the_folding_of_events(&fresh()).await;
    a_transcript_in_which_nothing_happens_goes(&fresh()).await;
    a_transcript_that_a_live_task_needs_stays(&fresh()).await;
    many_transcripts_go_at_once(&fresh()).await;
    a_transcript_that_is_gone_makes_room_and_begins_anew(&fresh()).await;
}

async fn finished(stores: &Stores, message: &str, context: &str) -> TaskRecord {
    let new = NewTask { context_id: context.parse().unwrap(), ..new_with("ada", message, &[message]) };
    let record = create(&*stores.tasks, new).await;
    end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await
}

async fn keep(stores: &Stores, finished_per_owner: usize) -> RetentionReport {
    let rule = Retention { finished_per_owner, ..Retention::FOREVER };
    stores.tasks.retain(rule, now()).await.unwrap()
}

async fn a_transcript_goes_with_the_last_task_of_its_conversation(stores: &Stores) {
    let first = finished(stores, "1", "c").await;
    let other = finished(stores, "2", "other").await;
    let last = finished(stores, "3", "c").await;
    let agent = NewTask { agent: "other".parse().unwrap(), ..finished_task(&owner("ada"), "4") };
    create(&*stores.tasks, agent).await;
    create(&*stores.tasks, finished_task(&owner("bob"), "5")).await;

    assert_eq!(keep(stores, 3).await, RetentionReport { evicted: 1, folded: 0, transcripts: 0 });
    assert_eq!(words(stores, &first).await, ["1", "3"], "another task of the conversation is there");
    assert_eq!(keep(stores, 2).await, RetentionReport { evicted: 1, folded: 0, transcripts: 1 });
    assert_eq!(words(stores, &other).await.len(), 0);
    assert_eq!(words(stores, &last).await, ["1", "3"]);
    assert_eq!(keep(stores, 1).await, RetentionReport { evicted: 1, folded: 0, transcripts: 1 });
    assert_eq!(words(stores, &last).await.len(), 0, "a task of another agent or owner is in another conversation");
}

async fn a_transcript_outlives_the_folding_of_events(stores: &Stores) {
    let record = finished(stores, "1", "c").await;
    let rule = Retention { fold_after: Duration::ZERO, ..Retention::FOREVER };

    let retained = stores.tasks.retain(rule, now()).await.unwrap();

    assert_eq!(retained, RetentionReport { evicted: 0, folded: 1, transcripts: 0 });
    assert_eq!(words(stores, &record).await, ["1"]);
}

async fn a_transcript_in_which_nothing_happens_goes(stores: &Stores) {
    let (old, changed) = (finished(stores, "1", "old").await, finished(stores, "2", "changed").await);
    let cutoff = now();
    let again = NewTask { context_id: "changed".parse().unwrap(), ..new_with("ada", "3", &["3"]) };
    let again = create(&*stores.tasks, again).await;
    end(&*stores.tasks, &again.owner, again.task.id, TaskState::Failed).await;
    let young = finished(stores, "4", "young").await;
    let rule = Retention { transcripts_for: HOUR, ..Retention::FOREVER };

    let retained = stores.tasks.retain(rule, cutoff + HOUR).await.unwrap();

    assert_eq!(retained, RetentionReport { evicted: 0, folded: 0, transcripts: 1 });
    assert_eq!(words(stores, &old).await.len(), 0);
    assert_eq!(words(stores, &changed).await, ["2", "3"], "it goes as a whole or not at all");
    assert_eq!(words(stores, &young).await, ["4"]);
    assert_eq!(stores.tasks.get(&old.owner, old.task.id).await.unwrap(), old, "the task stays");
    assert_eq!(stores.tasks.retain(rule, now() + HOUR).await.unwrap().transcripts, 2);
}

async fn a_transcript_that_a_live_task_needs_stays(stores: &Stores) {
    let record = finished(stores, "1", "c").await;
    let live = create(&*stores.tasks, new_task(&owner("ada"), "2")).await;
    let nothing = Retention {
        finished_per_owner: 0,
        finished_for: Duration::ZERO,
        fold_after: Duration::ZERO,
        transcripts_for: Duration::ZERO,
    };

    let retained = stores.tasks.retain(nothing, now() + HOUR).await.unwrap();

    assert_eq!(retained, RetentionReport { evicted: 1, folded: 0, transcripts: 0 });
    assert_eq!(words(stores, &record).await, ["1"]);
    add(stores, &live, said(&["2"])).await.unwrap();
    assert_eq!(words(stores, &live).await, ["1", "2"]);
}

async fn many_transcripts_go_at_once(stores: &Stores) {
    for n in 0..150 {
        finished(stores, &format!("m{n}"), &format!("c{n}")).await;
    }
    let rule = Retention { transcripts_for: Duration::ZERO, ..Retention::FOREVER };
    assert_eq!(keep(stores, 80).await, RetentionReport { evicted: 70, folded: 0, transcripts: 70 });
    assert_eq!(stores.tasks.retain(rule, now()).await.unwrap().transcripts, 80);
}

async fn a_transcript_that_is_gone_makes_room_and_begins_anew(stores: &Stores) {
    stores.quota.set(20_000);
    let long = "x".repeat(9_000);
    for message in ["1", "2"] {
        let new = NewTask { context_id: message.parse().unwrap(), ..new_with("ada", message, &[&long]) };
        let record = create(&*stores.tasks, new).await;
        end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await;
    }
    stores.tasks.create(new_with("ada", "3", &[&long])).await.unwrap_err();
    assert_eq!(keep(stores, 1).await.transcripts, 1);

    let again = NewTask { context_id: "1".parse().unwrap(), ..new_with("ada", "4", &[&long]) };
    let record = create(&*stores.tasks, again).await;

    assert_eq!(words(stores, &record).await.len(), 1);
    end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await;
    let rule = Retention { transcripts_for: Duration::ZERO, ..Retention::FOREVER };
    assert_eq!(stores.tasks.retain(rule, now()).await.unwrap().transcripts, 2);
    create(&*stores.tasks, new_with("ada", "5", &[&long, "more"])).await;
}

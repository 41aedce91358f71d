//! The rules of every store for the remote side of tasks: it is written and deleted with its task, in one commit.

use openfang_types::task::TaskState;

use super::{create, finished_task, new_task, node, now, owner, status, write};
use crate::{Append, NewTask, RemotePhase, RemoteRecord, StoreError, Stores, TaskRecord};

pub(crate) async fn remotes(fresh: impl Fn() -> Stores) {
    it_is_written_with_its_task(&fresh()).await;
    a_refused_write_changes_nothing_of_it(&fresh()).await;
    it_is_gone_with_the_end_of_the_task(&fresh()).await;
    a_cancel_stays_until_the_agent_was_told(&fresh()).await;
    cancels_of_the_living_are_left_to_them(&fresh()).await;
    sign_ins_of_the_dead_are_found_and_nothing_else_that_waits(&fresh()).await;
    a_conversation_keeps_its_name_for_its_owner_and_agent_alone(&fresh()).await;
}

fn begun() -> RemoteRecord {
    RemoteRecord {
        agent: "starter".parse().unwrap(),
        endpoint: "http://127.0.0.1:9/a2a".to_owned(),
        dialect: "1.0".to_owned(),
        message_id: "m".parse().unwrap(),
        remote_task: None,
        remote_context: None,
        phase: RemotePhase::Begun,
        trace: "00000000-0000-0000-0000-00000000000f".parse().unwrap(),
        hops: 3,
        begun_at: now(),
        seen_at: now(),
    }
}

fn known(task: &str, context: &str) -> RemoteRecord {
    RemoteRecord {
        remote_task: Some(task.parse().unwrap()),
        remote_context: Some(context.parse().unwrap()),
        phase: RemotePhase::Known,
        ..begun()
    }
}

async fn change(
    stores: &Stores,
    record: &TaskRecord,
    state: TaskState,
    remote: Option<RemoteRecord>,
) -> Result<TaskRecord, StoreError> {
    stores.tasks.append(Append { remote, ..write(record, vec![status(state)]) }).await?;
    stores.tasks.get(&record.owner, record.task.id).await
}

async fn it_is_written_with_its_task(stores: &Stores) {
    let ada = owner("ada");
    let remote = begun();

    let record = create(&*stores.tasks, NewTask { remote: Some(remote.clone()), ..new_task(&ada, "m") }).await;
    let plain = create(&*stores.tasks, new_task(&ada, "n")).await;

    assert_eq!(stores.remotes.get(record.task.id).await.unwrap(), Some(remote));
    assert_eq!(stores.remotes.get(plain.task.id).await.unwrap(), None);
    let later = known("a task/with:marks", "theirs");
    let record = change(stores, &record, TaskState::Working, Some(later.clone())).await.unwrap();
    assert_eq!(stores.remotes.get(record.task.id).await.unwrap(), Some(later.clone()));
    let record = change(stores, &record, TaskState::InputRequired, None).await.unwrap();
    assert_eq!(
        stores.remotes.get(record.task.id).await.unwrap(),
        Some(later),
        "a write that says nothing changes nothing"
    );
}

async fn a_refused_write_changes_nothing_of_it(stores: &Stores) {
    let ada = owner("ada");
    let record = create(&*stores.tasks, NewTask { remote: Some(begun()), ..new_task(&ada, "m") }).await;
    let before = stores.remotes.get(record.task.id).await.unwrap();
    change(stores, &record, TaskState::Working, None).await.unwrap();

    let stale = change(stores, &record, TaskState::Working, Some(known("t", "c"))).await;

    assert_eq!(stale, Err(StoreError::Conflict));
    assert_eq!(stores.remotes.get(record.task.id).await.unwrap(), before);
}

async fn it_is_gone_with_the_end_of_the_task(stores: &Stores) {
    let ada = owner("ada");
    for (number, end) in [TaskState::Completed, TaskState::Failed, TaskState::Canceled, TaskState::Rejected]
        .into_iter()
        .enumerate()
    {
        let new = NewTask { remote: Some(begun()), ..new_task(&ada, &format!("m{number}")) };
        let record = create(&*stores.tasks, new).await;
        let last = (number % 2 == 0).then(|| known("t", "c"));
        change(stores, &record, end, last).await.unwrap();
        assert_eq!(stores.remotes.get(record.task.id).await.unwrap(), None, "{end}");
    }
    let at_once = NewTask { remote: Some(known("t", "c")), ..finished_task(&ada, "at once") };
    let record = create(&*stores.tasks, at_once).await;
    assert_eq!(stores.remotes.get(record.task.id).await.unwrap(), None);
}

async fn a_cancel_stays_until_the_agent_was_told(stores: &Stores) {
    let ada = owner("ada");
    let record = create(&*stores.tasks, NewTask { remote: Some(known("t", "c")), ..new_task(&ada, "m") }).await;
    let canceling = RemoteRecord { phase: RemotePhase::Canceling, ..known("t", "c") };

    let record = change(stores, &record, TaskState::Canceled, Some(canceling.clone())).await.unwrap();

    let id = record.task.id;
    assert_eq!(stores.remotes.get(id).await.unwrap(), Some(canceling.clone()));
    assert_eq!(stores.remotes.untold_cancels(&[]).await.unwrap(), [(id, canceling)]);
    stores.remotes.forget(id).await.unwrap();
    stores.remotes.forget(id).await.unwrap();
    assert_eq!(stores.remotes.get(id).await.unwrap(), None);
    assert_eq!(stores.remotes.untold_cancels(&[]).await.unwrap(), []);
}

async fn cancels_of_the_living_are_left_to_them(stores: &Stores) {
    let ada = owner("ada");
    let mut ended = Vec::new();
    for number in 1..=2 {
        let new =
            NewTask { node: node(number), remote: Some(known("t", "c")), ..new_task(&ada, &format!("m{number}")) };
        let record = create(&*stores.tasks, new).await;
        let canceling = RemoteRecord { phase: RemotePhase::Canceling, ..known("t", "c") };
        ended.push(change(stores, &record, TaskState::Canceled, Some(canceling)).await.unwrap().task.id);
    }

    let untold = |living: Vec<_>| async move {
        let found = stores.remotes.untold_cancels(&living).await.unwrap();
        found.into_iter().map(|(task, _)| task).collect::<Vec<_>>()
    };

    assert_eq!(untold(vec![]).await, ended);
    assert_eq!(untold(vec![node(1)]).await, ended[1..]);
    assert_eq!(untold(vec![node(1), node(2)]).await, []);
}

async fn sign_ins_of_the_dead_are_found_and_nothing_else_that_waits(stores: &Stores) {
    let asked = RemoteRecord { phase: RemotePhase::Asked, ..known("t", "c") };
    let mut waiting = Vec::new();
    for (number, whose, state, remote) in [
        (1, "ada", TaskState::AuthRequired, Some(asked.clone())),
        (2, "bob", TaskState::AuthRequired, Some(asked.clone())),
        (1, "ada", TaskState::InputRequired, Some(asked.clone())),
        (1, "ada", TaskState::Working, Some(known("t", "c"))),
        (1, "ada", TaskState::AuthRequired, None),
        (1, "ada", TaskState::Canceled, Some(RemoteRecord { phase: RemotePhase::Canceling, ..asked.clone() })),
    ] {
        let message = format!("m{number}{whose}{state}{}", remote.is_some());
        let record = create(&*stores.tasks, NewTask { node: node(number), ..new_task(&owner(whose), &message) }).await;
        waiting.push((owner(whose), change(stores, &record, state, remote).await.unwrap().task.id, asked.clone()));
    }

    let found = |living: Vec<_>| async move { stores.remotes.abandoned_sign_ins(&living).await.unwrap() };

    assert_eq!(found(vec![]).await, waiting[..2]);
    assert_eq!(found(vec![node(1)]).await, waiting[1..2]);
    assert_eq!(found(vec![node(1), node(2)]).await, []);
}

async fn a_conversation_keeps_its_name_for_its_owner_and_agent_alone(stores: &Stores) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let (agent, other) = ("starter".parse().unwrap(), "other".parse().unwrap());
    let (ours, unknown) = ("c".parse().unwrap(), "d".parse().unwrap());
    let named = |name: &str| Some(known("t", name));
    for (whose, message, name) in [(&ada, "1", "first"), (&bob, "2", "bobs"), (&ada, "3", "second")] {
        let record = create(&*stores.tasks, NewTask { remote: Some(begun()), ..new_task(whose, message) }).await;
        change(stores, &record, TaskState::Completed, named(name)).await.unwrap();
    }
    create(&*stores.tasks, NewTask { remote: Some(begun()), ..new_task(&ada, "4") }).await;

    let context = |whose, agent, context| async move { stores.remotes.context(whose, agent, context).await.unwrap() };

    assert_eq!(context(&ada, &agent, &ours).await, Some("second".parse().unwrap()));
    assert_eq!(context(&bob, &agent, &ours).await, Some("bobs".parse().unwrap()));
    assert_eq!(context(&ada, &other, &ours).await, None);
    assert_eq!(context(&ada, &agent, &unknown).await, None);
}

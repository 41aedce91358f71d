//! What every home must keep of approvals.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{ApprovalId, TaskId};
use openfang_types::limits::{
    APPROVAL_KEPT, APPROVAL_LASTS, APPROVALS_FOR_PERSONS, APPROVALS_KEPT_PER_OWNER, APPROVALS_PER_ASKER,
    APPROVALS_PER_OWNER, APPROVALS_PER_TASK,
};
use openfang_types::principal::Door;
use openfang_types::taint::{Label, Labels};

use super::{now, owner, tick};
use crate::{Approval, ApprovalState, ApprovalStore, Asker, CallDigests, Decision, DecisionWord, StoreError, Stores};

pub(crate) async fn approvals(fresh: impl Fn() -> Stores) {
    an_approval_is_kept_as_it_was_asked(&*fresh().approvals).await;
    anothers_approval_is_none(&*fresh().approvals).await;
    an_approval_is_used_once_for_the_call_that_was_approved(&*fresh().approvals).await;
    what_waits_is_decided_once_and_in_time(&*fresh().approvals).await;
    of_uses_at_once_one_succeeds(&*fresh().approvals).await;
    a_call_that_waits_is_not_asked_for_twice(&*fresh().approvals).await;
    as_many_wait_as_may_and_others_are_not_in_the_way(&*fresh().approvals).await;
    what_has_expired_is_shown_for_a_while_and_then_deleted(&*fresh().approvals).await;
    one_caller_takes_no_places_of_others_and_nobody_those_of_persons(&*fresh().approvals).await;
}

fn id() -> ApprovalId {
    format!("00000000-0000-4000-8000-{:012}", tick()).parse().unwrap()
}

fn digests(call: impl ToString) -> CallDigests {
    CallDigests { call: call.to_string(), definition: "d".to_owned() }
}

fn asker(scope: &str, number: usize) -> Asker {
    Asker { scope: scope.to_owned(), shown: format!("key {number}"), is_person: scope.is_empty() }
}

fn asked(whose: &str, call: impl ToString, made: Timestamp) -> Approval {
    let mut labels = Labels::one(Label::McpServer, "the MCP server a");
    labels.add(Label::McpServer, "the MCP server b");
    Approval {
        id: id(),
        owner: owner(whose),
        asker: Some(asker("", 0)),
        task: None,
        agent: Some("mailer".parse().unwrap()),
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        door: Door::Mcp,
        tool: "mcp_mail_send".parse().unwrap(),
        arguments: r#"{"to":"a\u0000b"}"#.to_owned(),
        digests: digests(call),
        labels,
        reason: "because".to_owned(),
        at_machine: true,
        made,
        expires: made + APPROVAL_LASTS,
        state: ApprovalState::Pending,
        decided: None,
    }
}

fn decision(word: DecisionWord, at: Timestamp) -> Decision {
    Decision { word, by: owner("ada"), door: Door::Cli, at }
}

async fn approved(store: &dyn ApprovalStore, asked: Approval) -> Approval {
    let asked = store.request(asked).await.unwrap();
    store
        .decide(asked.id, &asked.digests.call, decision(DecisionWord::Approve, asked.made))
        .await
        .unwrap()
}

async fn an_approval_is_kept_as_it_was_asked(store: &dyn ApprovalStore) {
    let at = now();
    let with_task = Approval {
        task: Some("00000000-0000-4000-8000-000000000009".parse().unwrap()),
        agent: None,
        asker: None,
        at_machine: false,
        labels: Labels::none(),
        ..asked("ada", 2, at)
    };
    for asked in [asked("ada", 1, at), with_task] {
        assert_eq!(store.request(asked.clone()).await, Ok(asked.clone()));
        assert_eq!(store.get(Some(&owner("ada")), asked.id, at).await, Ok(Some(asked)));
    }
    let states: Vec<ApprovalState> = store.list(None, at).await.unwrap().iter().map(|known| known.state).collect();
    assert_eq!(states, [ApprovalState::Pending; 2]);
}

async fn anothers_approval_is_none(store: &dyn ApprovalStore) {
    let (at, bob) = (now(), owner("bob"));
    let known = approved(store, asked("ada", 1, at)).await;

    assert_eq!(store.get(Some(&bob), known.id, at).await, Ok(None));
    assert_eq!(store.get(Some(&owner("ada")), id(), at).await, Ok(None));
    assert_eq!(store.list(Some(&bob), at).await, Ok(Vec::new()));
    assert_eq!(store.use_up(&bob, known.id, &known.digests, at).await, Err(StoreError::NotFound));
    assert_eq!(store.find_approved((&bob, ""), &known.digests, at).await, Ok(None));
    assert_eq!(store.get(None, known.id, at).await, Ok(Some(known)));
}

async fn an_approval_is_used_once_for_the_call_that_was_approved(store: &dyn ApprovalStore) {
    let (at, ada) = (now(), owner("ada"));
    let known = approved(store, asked("ada", 1, at)).await;
    let other_tool = CallDigests { definition: "other".to_owned(), ..known.digests.clone() };
    for other in [digests(2), other_tool] {
        assert_eq!(store.use_up(&ada, known.id, &other, at).await, Err(StoreError::Conflict));
        assert_eq!(store.find_approved((&ada, ""), &other, at).await, Ok(None));
    }

    assert_eq!(store.find_approved((&ada, "work"), &known.digests, at).await, Ok(None), "another's call");
    assert_eq!(store.find_approved((&ada, ""), &known.digests, at).await, Ok(Some(known.id)));
    let used = store.use_up(&ada, known.id, &known.digests, at).await.unwrap();

    assert_eq!(used.state, ApprovalState::Used);
    assert_eq!(store.use_up(&ada, known.id, &known.digests, at).await, Err(StoreError::Conflict));
    assert_eq!(store.find_approved((&ada, ""), &known.digests, at).await, Ok(None));
}

async fn what_waits_is_decided_once_and_in_time(store: &dyn ApprovalStore) {
    let (at, ada) = (now(), owner("ada"));
    let late = at + APPROVAL_LASTS;
    let waits = store.request(asked("ada", 1, at)).await.unwrap();
    let decide = |digest: &'static str, word, when| store.decide(waits.id, digest, decision(word, when));
    assert_eq!(store.use_up(&ada, waits.id, &waits.digests, at).await, Err(StoreError::Conflict), "nobody decided");
    assert_eq!(decide("2", DecisionWord::Approve, at).await, Err(StoreError::Conflict), "another call was shown");
    assert_eq!(decide("1", DecisionWord::Approve, late).await, Err(StoreError::Conflict), "it has expired");

    let denied = decide("1", DecisionWord::Deny, at).await.unwrap();

    assert_eq!((denied.state, denied.decided), (ApprovalState::Denied, Some(decision(DecisionWord::Deny, at))));
    assert_eq!(decide("1", DecisionWord::Approve, at).await, Err(StoreError::Conflict));
    assert_eq!(store.use_up(&ada, waits.id, &waits.digests, at).await, Err(StoreError::Conflict));
    let unknown = store.decide(id(), "1", decision(DecisionWord::Approve, at)).await;
    assert_eq!(unknown, Err(StoreError::NotFound));

    let approved = approved(store, asked("ada", 3, at)).await;
    let too_late = store.use_up(&ada, approved.id, &approved.digests, late).await;
    assert_eq!(too_late, Err(StoreError::Conflict));
}

async fn of_uses_at_once_one_succeeds(store: &dyn ApprovalStore) {
    let (at, ada) = (now(), owner("ada"));
    let known = approved(store, asked("ada", 1, at)).await;

    let uses = (0..20).map(|_| store.use_up(&ada, known.id, &known.digests, at));
    let done = futures_util::future::join_all(uses).await;

    assert_eq!(done.iter().filter(|used| used.is_ok()).count(), 1);
}

async fn a_call_that_waits_is_not_asked_for_twice(store: &dyn ApprovalStore) {
    let at = now();
    let first = store.request(asked("ada", 1, at)).await.unwrap();

    assert_eq!(store.request(asked("ada", 1, at)).await, Ok(first.clone()));
    let narrowed = Approval { asker: Some(asker("work", 0)), ..asked("ada", 1, at) };
    let with_task = Approval { task: Some(task(1)), ..asked("ada", 1, at) };
    for other in [asked("ada", 2, at), asked("bob", 1, at), with_task, narrowed] {
        assert_eq!(store.request(other.clone()).await, Ok(other));
    }
    let later = at + APPROVAL_LASTS;
    assert_ne!(store.request(asked("ada", 1, later)).await.unwrap().id, first.id, "the first has expired");
}

fn task(number: usize) -> TaskId {
    format!("00000000-0000-4000-9000-{number:012}").parse().unwrap()
}

async fn as_many_wait_as_may_and_others_are_not_in_the_way(store: &dyn ApprovalStore) {
    let at = now();
    for number in 0..APPROVALS_PER_TASK {
        store.request(Approval { task: Some(task(1)), ..asked("ada", number, at) }).await.unwrap();
    }
    let refused = store.request(Approval { task: Some(task(1)), ..asked("ada", "one more", at) }).await;
    assert!(matches!(refused, Err(StoreError::TooMany { limit: APPROVALS_PER_TASK, .. })), "{refused:?}");
    for number in APPROVALS_PER_TASK..APPROVALS_PER_OWNER {
        let asker = asker("", number / APPROVALS_PER_ASKER);
        store.request(Approval { asker: Some(asker), ..asked("ada", number, at) }).await.unwrap();
    }
    let refused = store.request(asked("ada", "one more", at)).await;
    assert!(matches!(refused, Err(StoreError::TooMany { limit: APPROVALS_PER_OWNER, .. })), "{refused:?}");
    store.request(asked("bob", 1, at)).await.unwrap();

    let later = at + APPROVAL_LASTS;
    for number in 0..APPROVALS_KEPT_PER_OWNER {
        let when = later + Duration::from_micros(number as u64);
        let known = store.request(asked("ada", number + 1_000, when)).await.unwrap();
        store
            .decide(known.id, &known.digests.call, decision(DecisionWord::Deny, when))
            .await
            .unwrap();
    }
    let kept = store.list(Some(&owner("ada")), later).await.unwrap();
    assert_eq!(kept.len(), APPROVALS_KEPT_PER_OWNER);
    assert!(kept.iter().all(|known| known.state == ApprovalState::Denied), "the oldest made room");
}

async fn what_has_expired_is_shown_for_a_while_and_then_deleted(store: &dyn ApprovalStore) {
    let at = now();
    let known = store.request(asked("ada", 1, at)).await.unwrap();
    let late = at + APPROVAL_LASTS;

    assert_eq!(store.get(None, known.id, late).await.unwrap().unwrap().state, ApprovalState::Expired);
    assert_eq!(store.delete_expired(late).await, Ok(0));
    assert_eq!(store.delete_expired(late + APPROVAL_KEPT).await, Ok(1));
    assert_eq!(store.get(None, known.id, late).await, Ok(None));
}

async fn one_caller_takes_no_places_of_others_and_nobody_those_of_persons(store: &dyn ApprovalStore) {
    let at = now();
    let by = |who: usize, call: usize| Approval {
        asker: Some(asker("=untrusted-agent", who)),
        ..asked("ada", format!("{who} {call}"), at)
    };
    let free = (APPROVALS_PER_OWNER - APPROVALS_FOR_PERSONS) / APPROVALS_PER_ASKER;
    for who in 0..free {
        for call in 0..APPROVALS_PER_ASKER {
            store.request(by(who, call)).await.unwrap();
        }
        let refused = store.request(by(who, APPROVALS_PER_ASKER)).await;
        assert!(matches!(refused, Err(StoreError::TooMany { .. })), "{refused:?}");
    }
    for one_more in [by(free, 0), Approval { asker: None, ..by(free, 0) }] {
        let refused = store.request(one_more).await;
        assert!(matches!(refused, Err(StoreError::TooMany { .. })), "{refused:?}");
    }
    let person = Some(asker("", free + 1));
    store
        .request(Approval { asker: person, ..asked("ada", "of the person", at) })
        .await
        .unwrap();
}

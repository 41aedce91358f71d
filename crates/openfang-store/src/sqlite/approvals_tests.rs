//! Approvals in SQLite keep the contract, and of two processes one uses an approval.

use std::cell::RefCell;

use openfang_types::taint::{Label, Labels};

use super::super::tests::Home;
use super::*;
use crate::contract::{self, now, owner};
use crate::{DecisionWord, Stores};

#[tokio::test]
async fn approvals_keep_the_contract() {
    let homes = RefCell::new(Vec::new());
    let fresh = || -> Stores {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    };
    contract::approvals(fresh).await;
}

#[tokio::test]
async fn of_two_processes_one_uses_an_approval() {
    let (home, at) = (Home::new(), now());
    let (one, other) = (home.open().stores().approvals, home.open().stores().approvals);
    let asked = Approval {
        id: ApprovalId::from_uuid(Uuid::from_u128(7)),
        owner: owner("ada"),
        asker: None,
        task: None,
        agent: None,
        trace: TraceId::from_uuid(Uuid::from_u128(1)),
        door: Door::Cli,
        tool: "mcp_mail_send".parse().unwrap(),
        arguments: "{}".to_owned(),
        digests: CallDigests { call: "c".to_owned(), definition: "d".to_owned() },
        labels: Labels::one(Label::Internal, "the MCP server a"),
        reason: "because".to_owned(),
        at_machine: false,
        made: at,
        expires: at + APPROVAL_LASTS,
        state: ApprovalState::Pending,
        decided: None,
    };
    one.request(asked.clone()).await.unwrap();
    let decision = Decision { word: DecisionWord::Approve, by: owner("ada"), door: Door::Cli, at };
    other.decide(asked.id, "c", decision.clone()).await.unwrap();
    assert_eq!(one.decide(asked.id, "c", decision).await, Err(StoreError::Conflict));

    let ada = owner("ada");
    let (first, second) =
        tokio::join!(one.use_up(&ada, asked.id, &asked.digests, at), other.use_up(&ada, asked.id, &asked.digests, at));

    assert_eq!([first.is_ok(), second.is_ok()].iter().filter(|is_used| **is_used).count(), 1);
    assert_eq!(home.open().stores().approvals.list(None, at).await.unwrap()[0].state, ApprovalState::Used);
}

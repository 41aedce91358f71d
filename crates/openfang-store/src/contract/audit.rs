//! The rules of every audit log.

use jiff::Timestamp;
use openfang_types::limits::AUDIT_SUMMARY_FIRST;
use openfang_types::principal::Door;

use crate::audit::{ApprovalStep, AuditRetention, RefusalLimits, RefusalSummary};
use crate::{
    AuditKind, AuditOutcome, AuditRow, AuditStore, AuditSubject, ChangeAction, ChangeTarget, HomePart, StoreError,
    SubjectKind,
};

pub(crate) async fn audit(fresh: impl Fn() -> Box<dyn AuditStore>) {
    what_is_handed_over_is_read_in_order(&*fresh()).await;
    a_reader_goes_on_where_it_stopped(&*fresh()).await;
    rows_come_back_as_they_were_written(&*fresh()).await;
    rows_of_every_kind_come_back_and_verify(&*fresh()).await;
    an_untouched_log_is_as_it_was_written(&*fresh()).await;
    sealing_ends_nothing(&*fresh()).await;
    refusals_beyond_what_an_owner_may_leave_are_counted(&*fresh()).await;
    counts_are_written_when_they_have_waited(&*fresh()).await;
}

async fn what_is_handed_over_is_read_in_order(store: &dyn AuditStore) {
    store.commit(audit_row(1)).await.unwrap();
    store.record(AuditKind::Read, audit_row(2));

    assert_eq!(store.recent(1).await.unwrap(), [audit_row(2)], "newest last");
    assert_eq!(store.recent(10).await.unwrap(), [audit_row(1), audit_row(2)]);
}

async fn a_reader_goes_on_where_it_stopped(store: &dyn AuditStore) {
    for n in 1..=5 {
        store.record(AuditKind::Read, audit_row(n));
    }
    let numbers = async |after, limit| {
        let entries = store.tail(after, limit).await.unwrap();
        entries.iter().map(|entry| entry.n).collect::<Vec<u64>>()
    };

    assert_eq!(numbers(None, 2).await, [4, 5]);
    assert_eq!(numbers(Some(0), 2).await, [1, 2]);
    assert_eq!(numbers(Some(2), 9).await, [3, 4, 5]);
    assert_eq!(numbers(Some(5), 9).await, [0; 0]);
    assert_eq!(numbers(Some(u64::MAX), 9).await, [0; 0]);
}

async fn rows_come_back_as_they_were_written(store: &dyn AuditStore) {
    let outcomes = [
        AuditOutcome::Started,
        AuditOutcome::Succeeded,
        AuditOutcome::ToolFailed,
        AuditOutcome::Refused("denied".to_owned()),
        AuditOutcome::Cancelled,
        AuditOutcome::Quarantined,
        AuditOutcome::StillOffered,
    ];
    for outcome in outcomes {
        let agent = Some("starter".parse().unwrap());
        let run = Some("00000000-0000-0000-0000-000000000002".parse().unwrap());
        let row = AuditRow { outcome, agent, run, ..audit_row(7) };
        store.commit(row.clone()).await.unwrap();
        let n = store.tail(None, 1).await.unwrap()[0].n;

        let entry = store.row(n).await.unwrap();

        assert_eq!(entry.row().unwrap(), row);
        assert_eq!(*entry.text, *serde_json::to_string(&row).unwrap());
    }
    assert_eq!(store.row(0).await, Err(StoreError::NotFound));
    assert_eq!(store.row(8).await, Err(StoreError::NotFound));
    assert_eq!(store.row(u64::MAX).await, Err(StoreError::NotFound));
}

async fn rows_of_every_kind_come_back_and_verify(store: &dyn AuditStore) {
    let subjects = subjects();
    for kind in SubjectKind::ALL {
        assert!(subjects.iter().any(|subject| subject.kind() == kind), "{kind:?} is in the list");
    }
    let rows: Vec<AuditRow> = subjects.into_iter().map(|subject| AuditRow { subject, ..audit_row(8) }).collect();
    for row in &rows {
        store.commit(row.clone()).await.unwrap();
    }

    assert_eq!(store.recent(usize::MAX).await.unwrap(), rows);
    let verified = store.verify().await.unwrap();
    assert_eq!((verified.rows, verified.first_problem), (rows.len() as u64, None));
}

async fn an_untouched_log_is_as_it_was_written(store: &dyn AuditStore) {
    assert_eq!(store.verify().await.unwrap().first_problem, None);
    for n in 1..=3 {
        store.record(AuditKind::Read, audit_row(n));
    }

    let verified = store.verify().await.unwrap();

    assert_eq!((verified.rows, verified.first_problem), (3, None));
}

async fn sealing_ends_nothing(store: &dyn AuditStore) {
    let now = Timestamp::UNIX_EPOCH;
    store.seal(now).await.unwrap();
    store.record(AuditKind::Read, audit_row(1));
    store.seal(now).await.unwrap();
    store.seal_abandoned(&[], now).await.unwrap();
    store.record(AuditKind::Read, audit_row(2));
    store.rotate(AuditRetention::default(), now).await.unwrap();

    assert_eq!(store.recent(9).await.unwrap(), [audit_row(1), audit_row(2)]);
    assert_eq!(store.verify().await.unwrap().first_problem, None);
}

async fn refusals_beyond_what_an_owner_may_leave_are_counted(store: &dyn AuditStore) {
    let limit = u64::from(RefusalLimits::default().rows);
    store.commit(audit_row(1)).await.unwrap();
    for _ in 0..limit + 30 {
        store.record(AuditKind::Refusal, refusal("ada", "unknown_tool"));
    }
    store.record(AuditKind::Refusal, refusal("ada", "invalid_arguments"));
    store.record(AuditKind::Refusal, refusal("bob", "unknown_tool"));
    store.seal(Timestamp::UNIX_EPOCH).await.unwrap();

    let rows = store.recent(usize::MAX).await.unwrap();
    assert_eq!(rows.len() as u64, limit + 3, "a deed, what ada may leave, bob's, and a count");
    assert_eq!((&rows[0], &rows[rows.len() - 2]), (&audit_row(1), &refusal("bob", "unknown_tool")));
    let count = rows.last().unwrap();
    assert_eq!((count.owner.as_str(), &count.subject), ("ada", &AuditSubject::Log));
    let reasons = [("invalid_arguments".to_owned(), 1), ("unknown_tool".to_owned(), 30)];
    let (from, to) = (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
    let expected = RefusalSummary { count: 31, from, to, reasons: reasons.into() };
    assert_eq!(count.outcome, AuditOutcome::Refusals(expected));
    assert_eq!(store.verify().await.unwrap().first_problem, None);
}

async fn counts_are_written_when_they_have_waited(store: &dyn AuditStore) {
    let limit = RefusalLimits::default().rows as usize;
    for _ in 0..=limit {
        store.record(AuditKind::Refusal, refusal("ada", "unknown_tool"));
    }
    let rows = async || store.recent(usize::MAX).await.unwrap().len();
    store.write_counts(Timestamp::UNIX_EPOCH);
    assert_eq!(rows().await, limit);

    let soon = Timestamp::UNIX_EPOCH + AUDIT_SUMMARY_FIRST;
    store.write_counts(soon);
    store.write_counts(soon);

    assert_eq!(rows().await, limit + 1);
}

/// One of each kind of subject, and of each kind of target.
pub(crate) fn subjects() -> Vec<AuditSubject> {
    let longest = "x".repeat(64);
    let user = || "bob@example.org".parse().unwrap();
    let id = || "4f1c0a9d27be".parse().unwrap();
    let server: openfang_types::ids::ServerName = longest.parse().unwrap();
    let targets = [
        (ChangeAction::Add, ChangeTarget::User { name: user() }),
        (ChangeAction::SetGrants, ChangeTarget::User { name: longest.parse().unwrap() }),
        (ChangeAction::SetPassword, ChangeTarget::User { name: user() }),
        (ChangeAction::Create, ChangeTarget::Key { id: id(), user: Some(user()) }),
        (ChangeAction::Revoke, ChangeTarget::Key { id: id(), user: None }),
        (ChangeAction::Set, ChangeTarget::Config { key: "limits.tool_timeout_secs".to_owned() }),
        (ChangeAction::Remove, ChangeTarget::McpServer { name: server.clone() }),
        (ChangeAction::Restart, ChangeTarget::McpServer { name: server.clone() }),
        (ChangeAction::Test, ChangeTarget::McpServer { name: server.clone() }),
        (ChangeAction::Accept, ChangeTarget::mcp_tool(server.clone(), "get \"it\"\n\u{1f980}")),
        (ChangeAction::Accept, ChangeTarget::Home { part: HomePart::SecretKey }),
        (ChangeAction::Trust, ChangeTarget::Skill { name: longest.parse().unwrap(), digest: Some(longest.clone()) }),
        (ChangeAction::Enable, ChangeTarget::Skill { name: "pdf-forms".parse().unwrap(), digest: None }),
        (ChangeAction::Trust, ChangeTarget::skill_project("/srv/\n\u{1f980}")),
    ];
    let changes = targets.map(|(action, target)| AuditSubject::Change { action, target });
    let others = [
        AuditSubject::call("add_numbers".parse().unwrap()),
        AuditSubject::Login,
        AuditSubject::Logout,
        AuditSubject::definition(server, &"\u{202e}\u{1b}[2J".repeat(1_000)),
        AuditSubject::reload(["limits.tool_timeout_secs", "agents.starter"]),
        AuditSubject::reload(["x".repeat(1_000).as_str(); 1_000]),
        AuditSubject::reload([]),
        AuditSubject::Approval {
            id: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
            step: ApprovalStep::Ask,
            tool: "add_numbers".parse().unwrap(),
        },
        AuditSubject::Compact { before: u64::MAX, after: 0 },
        AuditSubject::Log,
    ];
    changes.into_iter().chain(others).collect()
}

fn refusal(owner: &str, why: &str) -> AuditRow {
    AuditRow { owner: owner.parse().unwrap(), outcome: AuditOutcome::Refused(why.to_owned()), ..audit_row(0) }
}

pub(crate) fn audit_row(micros: u64) -> AuditRow {
    AuditRow {
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
        owner: "ada".parse().unwrap(),
        door: Door::Rest,
        agent: None,
        run: None,
        subject: AuditSubject::call("add_numbers".parse().unwrap()),
        outcome: AuditOutcome::Succeeded,
        micros,
    }
}

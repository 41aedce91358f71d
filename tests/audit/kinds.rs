//! Rows of every kind, through every command that shows them, with the real binary.

use openfang_kernel::home::Home;
use openfang_kernel::maintenance::{AuditEntry, AuditLog, SubjectKind};
use openfang_store::{ApprovalStep, AuditGap, AuditKind, AuditOutcome, AuditRow, AuditSubject, Sqlite};
use openfang_types::ids::{NodeId, Owner};
use openfang_types::principal::Door;
use serde_json::{Value, json};

use super::Changing;
use crate::support::binary::Openfang;

/// A home of the version before rows had subjects.
const FORMER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openfang-store/fixtures/v9_audit.db");

fn entries(openfang: &Openfang) -> Vec<AuditEntry> {
    AuditLog::open(&Home::at(openfang.home())).unwrap().tail(Some(0), 1_000).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What people do that leaves a row of one of the kinds.
async fn live(changing: &Changing) {
    let openfang = &changing.0;
    let mut daemon = openfang.start();
    changing.ok(&["tool", "call", "add_numbers", "--args", r#"{"a": 1, "b": 2}"#]);
    assert_eq!(openfang.run(&["tool", "call", "user_add.bob", "--args", "{}"]).code, 1);
    let added = ["user", "add", "bob@example.org", "--grant", "get_*", "--password-stdin"];
    assert_eq!(openfang.run_with_input(&added, b"correct horse").code, 0);
    let key = changing.ok(&["key", "create", "bob@example.org", "-q"]);
    changing.ok(&["key", "revoke", key.split('_').nth(1).unwrap()]);
    changing.ok(&["user", "set-permissions", "bob@example.org", "file_*"]);
    let client = daemon.client();
    let login = client
        .post("/api/login", &json!({"user": "bob@example.org", "password": "correct horse"}))
        .await;
    let cookie = login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(
        client
            .post("/api/login", &json!({"user": "bob@example.org", "password": "wrong"}))
            .await
            .status,
        401
    );
    let page = client
        .clone()
        .with("cookie", &cookie)
        .with("origin", &format!("http://{}", daemon.address()));
    assert_eq!(page.post("/api/logout", &json!({})).await.status, 200);
    changing.add_and_change();
    changing.ok(&["mcp", "test", "library"]);
    changing.ok(&["mcp", "accept", "library", "search"]);
    changing.ok(&["mcp", "remove", "library"]);
    changing.ok(&["user", "remove", "bob@example.org"]);
    daemon.signal("TERM");
    daemon.wait();
    std::fs::remove_file(openfang.home().join("data/secret.key")).unwrap();
    changing.ok(&["home", "accept"]);
}

/// Rows that are seldom written, as their writers write them.
async fn add_seldom_rows(openfang: &Openfang) {
    let path = openfang.home().join("data/openfang.db");
    let node: NodeId = "00000000-0000-0000-0000-000000000001".parse().unwrap();
    let sqlite = Sqlite::open(&path, node).unwrap();
    let audit = sqlite.stores().audit;
    let at = "2026-01-02T03:04:05Z".parse().unwrap();
    let gap = AuditGap { of: Owner::admin(), kind: AuditKind::Read, count: 3, from: at, to: at };
    let id = "00000000-0000-4000-8000-000000000001".parse().unwrap();
    let approval = |step| AuditSubject::Approval { id, step, tool: "mcp_mail_send".parse().unwrap() };
    let rows = [
        (AuditSubject::reload(["limits.tool_timeout_secs", "agents.starter"]), AuditOutcome::Succeeded),
        (approval(ApprovalStep::Ask), AuditOutcome::Succeeded),
        (approval(ApprovalStep::Deny), AuditOutcome::Refused("not_a_person".to_owned())),
        (AuditSubject::Compact { before: 7_012, after: 2_893 }, AuditOutcome::Succeeded),
        (AuditSubject::Log, AuditOutcome::Gap(gap)),
    ];
    for (subject, outcome) in rows {
        let row = AuditRow {
            trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            at,
            owner: Owner::house(),
            door: Door::Cli,
            agent: None,
            run: None,
            subject,
            outcome,
            micros: 0,
        };
        audit.commit(row).await.unwrap();
    }
    audit.seal(at).await.unwrap();
}

/// Every command shows every row, and each the same.
#[track_caller]
fn walk(openfang: &Openfang) {
    let written = entries(openfang);
    let table = openfang.run(&["audit", "tail", "-n", "1000"]).stdout;
    let tail = lines(&openfang.run(&["audit", "tail", "-n", "1000", "--json"]).stdout);
    let export = openfang.run(&["audit", "export", "-"]).stdout;
    let file = openfang.scratch("export.jsonl");
    let exported = openfang.run(&["audit", "export", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(exported["rows"], written.len());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), export);
    std::fs::remove_file(file).unwrap();
    let export = lines(&export);
    assert_eq!((tail.len(), export.len(), table.lines().count()), (written.len(), written.len(), written.len() + 1));
    for (at, entry) in written.iter().enumerate() {
        let (n, row) = (entry.n.to_string(), entry.row().unwrap());
        let expected = serde_json::to_value(entry).unwrap();
        assert_eq!(openfang.run(&["audit", "show", &n, "--json"]).json(), expected);
        assert_eq!((&tail[at], &export[at]), (&expected, &expected));
        let (kind, subject) = (row.subject.kind().as_str(), row.subject.to_string());
        let shown = openfang.run(&["audit", "show", &n]).stdout;
        let line = table.lines().nth(at + 1).unwrap();
        for text in [shown.as_str(), line] {
            assert!(text.contains(kind) && text.contains(&subject), "{kind} {subject} is not in {text}");
        }
    }
    let verified = openfang.run(&["audit", "verify"]);
    assert!(verified.code == 0 && verified.stdout.contains(&format!("ok: {} rows", written.len())), "{verified:?}");
    let verified = openfang.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&verified["ok"], &verified["rows"]), (&json!(true), &json!(written.len())));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_every_kind_go_through_tail_show_verify_and_export() {
    let changing = Changing::new();
    live(&changing).await;
    let openfang = &changing.0;
    add_seldom_rows(openfang).await;

    walk(openfang);

    let rows: Vec<AuditRow> = entries(openfang).iter().map(|entry| entry.row().unwrap()).collect();
    for kind in SubjectKind::ALL {
        assert!(rows.iter().any(|row| row.subject.kind() == kind), "no row is about a {kind:?}");
    }
    let changes = rows.iter().filter(|row| row.subject.kind() == SubjectKind::Change);
    let changes = changes.filter(|row| row.outcome == AuditOutcome::Succeeded);
    let changes: Vec<String> = changes.map(|row| row.subject.to_string()).collect();
    let key = changes[1].clone();
    let id = key.split(' ').nth(2).unwrap();
    let expected = [
        "add user bob@example.org",
        &format!("create key {id} of bob@example.org"),
        &format!("revoke key {id}"),
        "set grants of user bob@example.org",
        "add MCP server library",
        "restart MCP server library",
        "test MCP server library",
        "accept tool search of MCP server library",
        "remove MCP server library",
        "remove user bob@example.org",
        "accept loss of secret_key",
        "accept loss of users",
    ];
    assert_eq!(changes, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_the_version_before_are_shown_as_what_they_were_and_still_verify() {
    let openfang = Openfang::new();
    std::fs::create_dir_all(openfang.home().join("data")).unwrap();
    std::fs::copy(FORMER, openfang.home().join("data/openfang.db")).unwrap();
    walk(&openfang);
    let shown = |kind: &str| {
        let rows = openfang.run(&["audit", "tail", "-n", "1000", "--kind", kind]).stdout;
        rows.lines().count() - 1
    };
    assert_eq!(["call", "change", "login", "logout", "definition", "reload", "log"].map(shown), [6, 22, 2, 1, 1, 0, 0]);

    let mut daemon = openfang.start();
    assert_eq!(openfang.run(&["tool", "call", "get_greeting", "--args", "{}"]).code, 0);
    daemon.signal("TERM");
    daemon.wait();

    walk(&openfang);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tail_shows_only_the_rows_that_are_asked_for() {
    let openfang = Openfang::new();
    std::fs::create_dir_all(openfang.home().join("data")).unwrap();
    std::fs::copy(FORMER, openfang.home().join("data/openfang.db")).unwrap();
    let numbers = |filter: &[&str]| {
        let ran = openfang.run(&[&["audit", "tail", "--json"][..], filter].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        lines(&ran.stdout).iter().map(|entry| entry["n"].as_u64().unwrap()).collect::<Vec<_>>()
    };

    assert_eq!(numbers(&["--owner", "bob@example.org"]), [16, 17, 18]);
    assert_eq!(numbers(&["--owner", "*house"]), [20]);
    assert_eq!(numbers(&["--outcome", "wrong_login"]), [17]);
    assert_eq!(numbers(&["--outcome", "refused", "--kind", "call"]), [6, 7, 22]);
    assert_eq!(numbers(&["--subject", "memory_*", "--outcome", "started"]), [4]);
    assert_eq!(numbers(&["--kind", "change", "-n", "2"]), [31, 32], "the latest ones");
    assert_eq!(numbers(&["--since", "2026-11-17T20:03:01Z", "-n", "1000"]).len(), 11);
    assert_eq!(numbers(&["--since", "9999-01-01T00:00:00Z"]), [0; 0]);
    for wrong in [&["--since", "yesterday"][..], &["--kind", "deed"]] {
        assert_eq!(openfang.run(&[&["audit", "tail"][..], wrong].concat()).code, 2);
    }
}

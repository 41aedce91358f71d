//! The disk: what is acknowledged was synced, a full one is told honestly, and a backup holds what it should.

use std::time::{Duration, Instant};

use openfang_kernel::home::Home;
use openfang_kernel::maintenance::{AuditKind, AuditLog, AuditOutcome, AuditRow};
use serde_json::json;

use crate::support::binary::Openfang;

/// Acknowledged means synced: in the order of system calls, a sync of the log stands between request and answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_byte_of_an_answer_leaves_after_the_commit_is_synced() {
    let openfang = Openfang::new();
    let trace = openfang.home().with_file_name("trace");
    let calls = "trace=fdatasync,fsync,recvfrom,read,sendto,write,writev";
    let trace_text = trace.to_str().unwrap().to_owned();
    let mut daemon = openfang.start_under(&["strace", "-f", "-s", "64", "-e", calls, "-o", &trace_text]);
    let agents = ["/add_numbers {\"a\": 1, \"b\": 2}", "/get_greeting"];
    for text in agents {
        let answer = daemon.client().post("/api/agents/starter/message", &json!({"text": text})).await;
        assert_eq!(answer.json()["task"]["status"]["state"], "completed");
    }
    daemon.signal("TERM");
    daemon.wait();

    let lines = std::fs::read_to_string(&trace).unwrap();
    let mut asked = 0;
    let mut synced_since = None;
    for line in lines.lines() {
        // As much as tells which version of HTTP is spoken is read first.
        if line.contains("POST /api/agents/starter") {
            asked += 1;
            synced_since = Some(0);
        } else if line.contains("fdatasync(") || line.contains("fsync(") {
            synced_since = synced_since.map(|count| count + 1);
        } else if line.contains("HTTP/1.1 200") && synced_since.is_some() {
            assert!(synced_since > Some(0), "answered before a sync:\n{line}");
            synced_since = None;
        }
    }
    assert_eq!(asked, 2, "the trace shows the requests");
}

/// On a file system of a few megabytes that somebody else fills up.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_honestly_and_recovers_when_there_is_room_again() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start_on_small_disk("6m");
    let client = daemon.client();
    let body = json!({"text": "Ada"});
    let first = client.post("/api/agents/starter/message", &body).await.json()["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let filler = daemon.small_disk().join("filler");
    // A copy that fails for lack of room has used it up.
    let _ = std::fs::write(&filler, vec![0_u8; 8 << 20]);

    let begun = Instant::now();
    let mut acknowledged = vec![first];
    let health = loop {
        let answer = client.post("/api/agents/starter/message", &body).await;
        match answer.status {
            200 => acknowledged.push(answer.json()["task"]["id"].as_str().unwrap().to_owned()),
            _ => {
                let code = answer.json()["error"]["code"].as_str().map(str::to_owned);
                assert_eq!((answer.status, code.as_deref()), (503, Some("store_unavailable")), "{answer:?}");
                let health = client.get("/health").await;
                if health.status != 200 {
                    break health;
                }
                // Whoever is told that all is well must be served.
                let next = client.post("/api/agents/starter/message", &body).await;
                assert_eq!(next.status, 200, "refused although the health was good: {next:?}");
                acknowledged.push(next.json()["task"]["id"].as_str().unwrap().to_owned());
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "the disk is never full");
    };
    assert_eq!((health.status, health.json()["status"].as_str()), (503, Some("failing")));
    for id in &acknowledged {
        assert_eq!(client.get(&format!("/api/tasks/{id}")).await.status, 200, "what was acknowledged can be read");
    }

    std::fs::remove_file(&filler).unwrap();
    let begun = Instant::now();
    while client.get("/health").await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10), "there is room again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(client.post("/api/agents/starter/message", &body).await.status, 200);
    let total = client.get("/api/tasks?state=completed").await.json()["total"].as_u64().unwrap();
    assert_eq!(total, acknowledged.len() as u64 + 1, "what was refused did not happen");
    daemon.signal("TERM");
    daemon.wait();
}

/// The disk is full, and calls that only read go on, and calls are refused: each is in the log afterwards, by a row of its
/// own or by a gap that counts it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_hides_nothing_from_the_audit_log() {
    const CALLS: u64 = 60;
    let openfang = Openfang::new();
    let mut daemon = openfang.start_on_small_disk("6m");
    let client = daemon.client();
    let reserve = daemon.small_disk().join("data/openfang.reserve");
    assert!(reserve.metadata().unwrap().len() > 100_000, "room is set aside");
    let filler = daemon.small_disk().join("filler");
    let _ = std::fs::write(&filler, vec![0_u8; 8 << 20]);
    let begun = Instant::now();
    let deed = json!({"arguments": {"key": "k", "value": "v".repeat(10_000)}});
    // The first refusal may come before anything had to be written into the room that was set aside.
    while client.post("/api/tools/memory_store", &deed).await.status == 200 || reserve.metadata().unwrap().len() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the disk is never full, or the room never used");
    }

    for n in 0..CALLS {
        let sum = client.post("/api/tools/add_numbers", &json!({"arguments": {"a": n, "b": 1}})).await;
        assert_eq!(sum.status, 200, "reading goes on: {sum:?}");
        assert_eq!(client.post("/api/tools/add_numbers", &json!({"arguments": {}})).await.status, 422, "refusing too");
        let refused = client.post("/api/tools/memory_store", &deed).await;
        assert_eq!(refused.status, 503, "nothing new begins: {refused:?}");
        assert!(refused.body.contains("the disk is full"), "{refused:?}");
    }
    std::fs::remove_file(&filler).unwrap();
    let begun = Instant::now();
    while client.get("/health").await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10), "there is room again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(reserve.metadata().unwrap().len() > 100_000, "and it is set aside again");
    assert_eq!(client.post("/api/tools/memory_store", &deed).await.status, 200);
    // A commit that is waited for holds all rows before it.
    assert_eq!(client.post("/api/agents/starter/message", &json!({"text": "Ada"})).await.status, 200);

    // SQLite does not find the way into the server's namespace.
    let copy = openfang.scratch("copy");
    std::fs::create_dir_all(copy.join("data")).unwrap();
    for file in ["data/openfang.db", "data/openfang.db-wal"] {
        std::fs::copy(daemon.small_disk().join(file), copy.join(file)).unwrap();
    }
    let log = AuditLog::open(&Home::at(copy)).unwrap();
    let verified = log.verify().unwrap();
    assert_eq!(verified.first_problem, None);
    let rows: Vec<AuditRow> = log.tail(None, 10_000).unwrap().iter().map(|entry| entry.row().unwrap()).collect();
    let missing = |kind| verified.gaps.iter().filter(|gap| gap.kind == kind).map(|gap| gap.count).sum::<u64>();
    let written = |outcome: &AuditOutcome| {
        let so = rows.iter().filter(|row| is_call(row, "add_numbers") && row.outcome == *outcome);
        so.count() as u64
    };
    assert_eq!(written(&AuditOutcome::Succeeded) + missing(AuditKind::Read), CALLS);
    let invalid = written(&AuditOutcome::Refused("invalid_arguments".to_owned()));
    let unrecorded = rows
        .iter()
        .filter(|row| row.outcome == AuditOutcome::Refused("unrecorded".to_owned()))
        .count();
    assert!(invalid + unrecorded as u64 + missing(AuditKind::Refusal) >= 2 * CALLS);
    assert_eq!(missing(AuditKind::Deed), 0);
    let stored = |outcome: AuditOutcome| {
        rows.iter().filter(|row| is_call(row, "memory_store") && row.outcome == outcome).count()
    };
    assert_eq!(stored(AuditOutcome::Started), stored(AuditOutcome::Succeeded), "what has begun is written to its end");
    daemon.signal("TERM");
    daemon.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_opens_and_holds_what_was_acknowledged_before_it_began() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    let client = daemon.client();
    let body = json!({"text": "Ada"});
    let mut before = Vec::new();
    for _ in 0..20 {
        before.push(
            client.post("/api/agents/starter/message", &body).await.json()["task"]["id"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    let stop = std::sync::atomic::AtomicBool::new(false);
    let load = async {
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            assert_eq!(client.post("/api/agents/starter/message", &body).await.status, 200);
        }
    };
    let file = openfang.home().with_file_name("backup.db");
    let target = file.to_str().unwrap().to_owned();
    let backup = async {
        let ran = tokio::task::block_in_place(|| openfang.run(&["backup", &target]));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        ran
    };

    let ((), ran) = tokio::join!(load, backup);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(openfang.run(&["backup", &target]).code, 0, "an existing file is not overwritten");

    let restored = Openfang::new();
    std::fs::create_dir_all(restored.home().join("data")).unwrap();
    std::fs::copy(&file, restored.home().join("data/openfang.db")).unwrap();
    assert_eq!(restored.run(&["db", "check"]).code, 0);
    for id in before {
        assert_eq!(restored.run(&["task", "show", &id, "--json"]).json()["task"]["status"]["state"], "completed");
    }
}

#[test]
fn a_damaged_database_is_refused_and_the_backup_way_is_named() {
    let openfang = Openfang::new();
    openfang.run(&["agent", "send", "starter", "Ada"]);
    let file = openfang.home().join("data/openfang.db");
    std::fs::write(&file, b"this is not a database at all, but long enough to look like a header of one......")
        .unwrap();

    let ran = openfang.run(&["agent", "send", "starter", "Ada"]);

    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("openfang restore"), "{}", ran.stderr);
}

#[test]
fn the_audit_log_shows_who_did_what_and_names_what_was_changed() {
    let openfang = Openfang::new();
    openfang.run(&["tool", "call", "add_numbers", "--args", "{\"a\":3,\"b\":7}"]);
    openfang.run(&["tool", "call", "memory_store", "--args", "{\"key\":\"k\",\"value\":\"v\"}"]);

    let tail = openfang.run(&["audit", "tail"]);
    assert!(tail.stdout.contains("add_numbers") && tail.stdout.contains("memory_store"), "{tail:?}");
    assert_eq!(openfang.run(&["audit", "verify"]).code, 0);
    let export = openfang.run(&["audit", "export", "-"]);
    assert!(export.stdout.lines().count() >= 3, "{export:?}");
}

fn is_call(row: &AuditRow, tool: &str) -> bool {
    row.subject.tool().is_some_and(|name| name.as_str() == tool)
}

//! stdin, stdout and stderr: whole frames, nothing that blocks for ever, nothing that grows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use openfang_egress::process::{Environment, EnvironmentKind, SendError, Surroundings};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use super::fixture::{Driver, House, PATIENCE, driven, output, program, shell, until};

const IMPATIENT: Duration = Duration::from_millis(300);
const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn frames_arrive_whole_and_in_order_and_closing_ends_them() {
    let house = House::new();
    let mut child = house.start(shell(EnvironmentKind::McpServer, "cat; echo the end")).await;

    for frame in ["one\n", "two\n", "three\n"] {
        child.stdin().send(Bytes::from_static(frame.as_bytes())).await.unwrap();
    }
    child.stdin().close();

    assert_eq!(output(&mut child).await, "one\ntwo\nthree\nthe end\n");
    assert!(child.wait().await.is_success());
    assert_eq!(child.stdin().send(Bytes::from_static(b"late")).await, Err(SendError::Closed));
}

#[tokio::test]
async fn a_frame_much_larger_than_the_pipe_arrives_whole() {
    let house = House::new();
    let mut child = house.start(program("cat", EnvironmentKind::McpServer)).await;
    let frame = Bytes::from((0..16 * MIB).map(|index| (index % 251) as u8).collect::<Vec<u8>>());
    let mut stdout = child.take_stdout().unwrap();

    let mut back = vec![0; frame.len()];
    let (sent, read) = tokio::join!(child.stdin().send(frame.clone()), stdout.read_exact(&mut back));

    assert_eq!((sent, read.unwrap()), (Ok(()), frame.len()));
    assert!(back == frame, "the bytes differ");
}

#[tokio::test]
async fn a_child_that_never_reads_is_stuck_within_its_limit_and_stays_so() {
    let house = House::new();
    let mut launch = shell(EnvironmentKind::McpServer, "exec sleep 1000");
    launch.stdin_limit = IMPATIENT;
    let child = house.start(launch).await;
    let frame = Bytes::from(vec![b'x'; MIB]);

    let sends = async { tokio::join!(child.stdin().send(frame.clone()), child.stdin().send(frame.clone())) };
    let stuck = Err(SendError::Stuck { limit: IMPATIENT });

    assert_eq!(timeout(PATIENCE, sends).await.unwrap(), (stuck.clone(), stuck.clone()));
    assert_eq!(child.stdin().send(Bytes::from_static(b"small")).await, stuck);
}

#[tokio::test]
async fn a_child_that_takes_no_more_input_is_an_error_and_not_a_signal() {
    let house = House::new();
    let closed = house
        .start(shell(EnvironmentKind::McpServer, "exec <&-; echo closed >&2; exec sleep 1000"))
        .await;
    let ended = house.start(shell(EnvironmentKind::McpServer, "exit 0")).await;

    until(PATIENCE, || if closed.stderr_tail() == "closed\n" { Ok(()) } else { Err("not closed") }).await;
    ended.wait().await;

    for child in [closed, ended] {
        assert_eq!(child.stdin().send(Bytes::from_static(b"frame")).await, Err(SendError::Gone));
    }
}

#[tokio::test]
async fn giving_up_on_a_send_does_not_cut_its_frame() {
    let house = House::new();
    let mut child = house.start(program("cat", EnvironmentKind::McpServer)).await;
    let (first, second) = (Bytes::from(vec![b'a'; MIB]), Bytes::from_static(b"b"));

    // Nobody reads what cat writes yet, so the pipes are full long before the frame is through.
    assert!(timeout(IMPATIENT, child.stdin().send(first.clone())).await.is_err());
    let stdin = child.stdin().clone();
    let (sent, written) = tokio::join!(
        async move {
            let sent = stdin.send(second).await;
            stdin.close();
            sent
        },
        output(&mut child)
    );

    assert_eq!(sent, Ok(()));
    assert_eq!(written.len(), MIB + 1);
    assert!(written.ends_with("ab"));
}

#[test]
fn megabytes_of_stderr_leave_a_bounded_tail_and_flat_memory() {
    Driver::new("children::streams::drive_megabytes_of_stderr").run();
}

#[tokio::test]
async fn drive_megabytes_of_stderr() {
    if driven().is_none() {
        return;
    }
    let house = House::new();
    let (longest, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let script = "head -c 20000000 /dev/zero | tr '\\0' x >&2; yes 'a line' | head -n 40000 >&2; echo last >&2";
    let mut launch = shell(EnvironmentKind::McpServer, script);
    let (seen_longest, seen_bytes) = (Arc::clone(&longest), Arc::clone(&bytes));
    launch.on_stderr = Some(Arc::new(move |line| {
        seen_longest.fetch_max(line.len(), Ordering::Relaxed);
        seen_bytes.fetch_add(line.len(), Ordering::Relaxed);
    }));
    let before = resident();

    let child = house.start(launch).await;
    let exit = timeout(PATIENCE, child.wait()).await.unwrap();

    assert!(exit.is_success());
    assert!(child.stderr_tail().ends_with("a line\nlast\n"));
    assert!(child.stderr_tail().len() <= 64 * 1024);
    assert_eq!(longest.load(Ordering::Relaxed), 8 * 1024);
    assert!(bytes.load(Ordering::Relaxed) > 20_000_000);
    assert!(resident().saturating_sub(before) < 12 * MIB, "{before} -> {}", resident());
}

#[test]
fn output_that_nobody_reads_waits_in_the_pipe() {
    Driver::new("children::streams::drive_output_that_nobody_reads").run();
}

#[tokio::test]
async fn drive_output_that_nobody_reads() {
    if driven().is_none() {
        return;
    }
    let house = House::new();
    let child = house.start(program("yes", EnvironmentKind::Tool)).await;
    let before = resident();

    // It has filled the pipe when it sleeps in the write.
    let state = || std::fs::read_to_string(format!("/proc/{}/wchan", child.pid())).unwrap_or_default();
    until(PATIENCE, || if state().contains("pipe") { Ok(()) } else { Err(state()) }).await;

    assert!(resident().saturating_sub(before) < 16 * MIB);
    assert!(child.shutdown().await.asked);
}

#[tokio::test]
async fn what_was_listed_for_the_environment_is_taken_out_of_stderr() {
    let house = House::new();
    let surroundings = Surroundings::of([("PATH", "/usr/bin:/bin"), ("OUR_KEY", "sk-very-secret-key")]);
    let listed = ["KEY=${OUR_KEY}".to_owned()];
    let mut launch = shell(EnvironmentKind::McpServer, "echo \"bad key $KEY!\" >&2; printf \"$KEY\" >&2; sleep 1000");
    launch.environment = Environment::build(EnvironmentKind::McpServer, &listed, &surroundings).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    launch.on_stderr = Some(Arc::new(move |line| seen.lock().unwrap().push(line.to_owned())));
    assert!(!format!("{launch:?}").contains("sk-very"));

    let child = house.start(launch).await;

    let expected = "bad key [redacted]!\n[redacted]";
    until(PATIENCE, || if child.stderr_tail() == expected { Ok(()) } else { Err(child.stderr_tail()) }).await;
    assert_eq!(*lines.lock().unwrap(), ["bad key [redacted]!"]);
}

/// What this process has in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_child_that_floods_stderr_waits_in_its_own_write() {
    let house = House::new();
    let said = |lines: usize| format!("yes 1234567 | head -n {lines} >&2; echo done");
    let mut modest = house.start(shell(EnvironmentKind::McpServer, &said(10_000))).await;
    assert_eq!(output(&mut modest).await, "done\n");

    // 170,000 short lines count for 43 MiB, of which 32 are free.
    let begun = std::time::Instant::now();
    let mut flood = house.start(shell(EnvironmentKind::McpServer, &said(170_000))).await;
    assert_eq!(output(&mut flood).await, "done\n");

    assert!(begun.elapsed() > Duration::from_secs(3), "{:?}", begun.elapsed());
}

//! How children end: in which order they are told, and that nothing is left of them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use openfang_egress::process::{Ending, EnvironmentKind, Exit};
use openfang_types::config::ChildIsolation;

use super::fixture::{
    Driver, House, PATIENCE, cgroups_of, driven, mark, marked, none, output, program, shell, until, with_mark,
    zombies_of,
};

/// Ignores the end of its stdin and every polite signal, and so does what it starts.
pub(super) const STUBBORN: &str =
    "trap '' TERM HUP INT; (trap '' TERM HUP INT; while :; do sleep 1; done) & while :; do sleep 1; done";
const SOON: Duration = Duration::from_secs(2);

#[tokio::test]
async fn shutdown_closes_stdin_then_sends_term_then_kill() {
    let house = House::new();
    let script = "trap 'echo term >&2' TERM; echo up >&2; cat >/dev/null; echo eof >&2; while :; do sleep 0.02; done";
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let mut launch = shell(EnvironmentKind::McpServer, script);
    launch.on_stderr = Some(Arc::new(move |line| {
        // What the shell says about its killed sleep is not what is looked for.
        if ["up", "eof", "term"].contains(&line) {
            hears.lock().unwrap().push((line.to_owned(), Instant::now()));
        }
    }));
    let child = house.start(launch).await;
    until(PATIENCE, || if heard.lock().unwrap().is_empty() { Err("not up") } else { Ok(()) }).await;

    let begun = Instant::now();
    let exit = child.shutdown().await;

    let took = begun.elapsed();
    let heard = heard.lock().unwrap();
    let words: Vec<&str> = heard.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["up", "eof", "term"]);
    assert!(heard[1].1 < heard[2].1);
    assert!(heard[2].1 - begun >= Duration::from_secs(1), "{heard:?}");
    assert!(took >= Duration::from_millis(1_500), "{took:?}");
    assert_eq!(exit, Exit { ending: Ending::Signal(9), asked: true });
}

#[tokio::test]
async fn a_child_that_ends_when_its_stdin_does_is_not_killed() {
    let house = House::new();
    let mut child = house.start(shell(EnvironmentKind::McpServer, "cat; echo bye")).await;
    let stdout = child.take_stdout();

    let exit = child.shutdown().await;

    assert_eq!(exit, Exit { ending: Ending::Code(0), asked: true });
    drop(stdout);
}

#[tokio::test]
async fn what_a_child_leaves_running_ends_with_it() {
    let (house, mark) = (House::new(), mark());
    let script = format!("({STUBBORN}) </dev/null >/dev/null 2>&1 & echo started");
    let mut child = house.start(with_mark(shell(EnvironmentKind::McpServer, &script), &mark)).await;

    assert_eq!(output(&mut child).await, "started\n");
    assert_eq!(child.wait().await, Exit { ending: Ending::Code(0), asked: false });

    until(SOON, || none(marked(&mark))).await;
}

#[tokio::test]
async fn a_temporary_home_lives_as_long_as_its_child() {
    let house = House::new();
    let script =
        "echo $HOME; test \"$HOME\" = \"$TMPDIR\"; echo x > $HOME/file; mkdir -p $HOME/a/b; ln -s / $HOME/root; cat";
    let mut child = house.start(shell(EnvironmentKind::Tool, script)).await;
    let homes = || house.homes();
    until(
        PATIENCE,
        || if homes().first().is_some_and(|home| home.join("root").exists()) { Ok(()) } else { Err(homes()) },
    )
    .await;
    let home = house.homes();

    child.stdin().close();

    assert_eq!(output(&mut child).await, format!("{}\n", home[0].display()));
    assert!(child.wait().await.is_success());
    assert_eq!(house.homes(), Vec::<std::path::PathBuf>::new());
}

/// Starts and drops children, sixteen at a time, half of them stubborn, and looks for whatever is left. In a process of
/// its own, since it counts descriptors and zombies.
pub(super) async fn start_and_drop(rounds: usize, isolation: ChildIsolation) {
    let (house, mark) = (House::with(isolation), mark());
    let tool = if isolation == ChildIsolation::Isolated { EnvironmentKind::Tool } else { EnvironmentKind::McpServer };
    // The door, its reaper and the runtime have their descriptors from here on.
    house.start(program("true", tool)).await.wait().await;
    let before = descriptors();

    for round in 0..rounds {
        let starts = (0..16).map(|index| {
            let kind = if index < 8 { EnvironmentKind::McpServer } else { tool };
            let script = if index % 2 == round % 2 { STUBBORN } else { "cat" };
            house.door.start(with_mark(shell(kind, script), &mark))
        });
        let children = futures_util::future::join_all(starts).await;
        assert!(children.iter().all(Result::is_ok), "{children:?}");
    }

    until(SOON, || none(marked(&mark))).await;
    until(SOON, || none(zombies_of(std::process::id()))).await;
    house.tracker.close();
    tokio::time::timeout(PATIENCE, house.tracker.wait()).await.unwrap();
    until(SOON, || if descriptors() <= before { Ok(()) } else { Err((before, descriptors())) }).await;
    until(SOON, || none(house.homes())).await;
    assert_eq!(cgroups_of(std::process::id()), Vec::<std::path::PathBuf>::new());
    let metrics = house.metrics();
    assert!(metrics.contains("openfang_children_living 0"), "{metrics}");
    assert!(metrics.contains(&format!("openfang_children_started_total {}", 16 * rounds + 1)), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drive_a_thousand_starts_and_drops() {
    if driven().is_some() {
        start_and_drop(63, ChildIsolation::Isolated).await;
    }
}

#[test]
fn a_thousand_starts_and_drops_leave_nothing() {
    Driver::new("children::endings::drive_a_thousand_starts_and_drops").run();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drive_fewer_starts_and_drops() {
    if driven().is_some() {
        start_and_drop(10, ChildIsolation::Isolated).await;
    }
}

#[test]
fn without_the_right_to_control_groups_they_leave_nothing_either() {
    Driver::as_nobody("children::endings::drive_fewer_starts_and_drops").run();
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_leaves_nothing() {
    let (house, mark) = (House::new(), mark());
    house.start(program("true", EnvironmentKind::Tool)).await.wait().await;

    for delay in 0..40 {
        let start = house.door.start(with_mark(shell(EnvironmentKind::Tool, "cat"), &mark));
        drop(tokio::time::timeout(Duration::from_micros(delay * 150), start).await);
    }

    house.tracker.close();
    tokio::time::timeout(PATIENCE, house.tracker.wait()).await.unwrap();
    until(SOON, || none(marked(&mark))).await;
    assert_eq!(house.homes(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn when_the_runtime_ends_its_children_are_killed_at_once() {
    let mark = mark();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (house, child) = runtime.block_on(async {
        let house = House::new();
        let child = house.start(with_mark(shell(EnvironmentKind::Tool, STUBBORN), &mark)).await;
        (house, child)
    });
    assert!(!marked(&mark).is_empty());

    drop(runtime);

    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    waiting.block_on(async {
        until(SOON, || none(marked(&mark))).await;
        let process = format!("/proc/{}", child.pid());
        until(SOON, || if std::path::Path::new(&process).exists() { Err("a zombie") } else { Ok(()) }).await;
        until(SOON, || none(house.homes())).await;
        assert_eq!(child.wait().await, Exit { ending: Ending::Unknown, asked: true });
    });
}

#[tokio::test]
async fn the_figures_say_how_children_ended() {
    let house = House::new();
    house.start(shell(EnvironmentKind::Tool, "exit 7")).await.wait().await;
    house.start(shell(EnvironmentKind::Tool, "kill -9 $$")).await.wait().await;
    house.start(program("yes", EnvironmentKind::Tool)).await.shutdown().await;
    let mut nowhere = program("true", EnvironmentKind::Tool);
    nowhere.directory = "/nonexistent".into();
    house.door.start(nowhere).await.unwrap_err();

    let metrics = house.metrics();

    for line in [
        "openfang_children_started_total 3",
        "openfang_children_ended_total{how=\"exited\"} 1",
        "openfang_children_ended_total{how=\"signalled\"} 1",
        "openfang_children_ended_total{how=\"killed\"} 1",
        "openfang_children_ended_total{how=\"never_ran\"} 1",
        "openfang_children_living 0",
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }
}

/// How many descriptors this process has.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

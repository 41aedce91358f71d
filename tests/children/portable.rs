//! Children with what every Unix has: no sandbox, no control group, no signal of the kernel when their parent dies.

use std::path::Path;

use openfang_egress::process::{Containment, Ending, EnvironmentKind, Exit, Network, Sandbox};
use openfang_types::config::ChildIsolation;

use super::endings::{STUBBORN, start_and_drop};
use super::fixture::{
    Driver, House, PATIENCE, cgroups_of, children_of, driven, kill, marked, none, output, program, shell, until,
};
use super::survival::{SOON, mark_of, started, up, wait_to_be_killed};

fn house() -> House {
    House::with(ChildIsolation::Portable)
}

#[tokio::test]
async fn a_portable_child_runs_and_its_end_is_noticed() {
    let house = house();
    let mut child = house
        .start(shell(EnvironmentKind::McpServer, "read line; echo \"got $line\"; exit 3"))
        .await;

    child.stdin().send(b"a line\n".as_slice().into()).await.unwrap();

    assert_eq!(output(&mut child).await, "got a line\n");
    assert_eq!(child.wait().await, Exit { ending: Ending::Code(3), asked: false });
    assert_eq!(*child.containment(), Containment::NotAsked);
    let stubborn = house.start(shell(EnvironmentKind::McpServer, STUBBORN)).await;
    assert_eq!(stubborn.shutdown().await, Exit { ending: Ending::Signal(9), asked: true });
}

#[tokio::test]
async fn what_needs_a_sandbox_is_refused() {
    let house = house();
    let mut sandboxed = program("true", EnvironmentKind::McpServer);
    sandboxed.sandbox = Some(Sandbox { read: Vec::new(), write: Vec::new(), network: Network::Denied });

    for launch in [program("true", EnvironmentKind::Tool), sandboxed] {
        let refused = house.door.start(launch).await.unwrap_err().to_string();
        assert!(refused.contains("/usr/bin/true does not run: it needs a sandbox"), "{refused}");
    }
    let metrics = house.metrics();
    assert!(metrics.contains("openfang_children_ended_total{how=\"never_ran\"} 2"), "{metrics}");
    none(house.homes()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drive_portable_starts_and_drops() {
    if driven().is_some() {
        start_and_drop(10, ChildIsolation::Portable).await;
    }
}

#[test]
fn many_starts_and_drops_of_portable_children_leave_nothing() {
    Driver::new("children::portable::drive_portable_starts_and_drops").run();
}

#[tokio::test]
async fn drive_portable_children() {
    let Some(directory) = driven() else { return };
    let (house, mark) = (house(), mark_of(&directory));
    let mut children = Vec::new();
    for index in 0..20 {
        let script = if index % 2 == 0 { STUBBORN } else { "cat" };
        children.push(started(&house, shell(EnvironmentKind::McpServer, script), &mark).await);
    }
    assert_eq!(cgroups_of(std::process::id()), Vec::<std::path::PathBuf>::new());
    // A new reaper is told of all of them.
    let first = children_of(std::process::id(), "__reaper");
    kill(first[0]);
    until(PATIENCE, || {
        let next = children_of(std::process::id(), "__reaper");
        if next.len() == 1 && next != first { Ok(()) } else { Err(next) }
    })
    .await;
    children.push(started(&house, shell(EnvironmentKind::McpServer, "cat"), &mark).await);
    wait_to_be_killed(&directory).await;
}

#[tokio::test]
async fn a_killed_parent_takes_its_portable_children_with_it() {
    for mut driver in [
        Driver::new("children::portable::drive_portable_children"),
        Driver::as_nobody("children::portable::drive_portable_children"),
    ] {
        let mut parent = driver.spawn();
        up(&driver, &mut parent).await;
        let mark = mark_of(driver.directory.path());
        let reaper = children_of(parent.id(), "__reaper");
        assert!(marked(&mark).len() >= 20);

        parent.kill();

        until(SOON, || none(marked(&mark))).await;
        until(SOON, || none(reaper.iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).collect())).await;
    }
}

//! When we are killed, nothing of ours stays. The parent is a driver here: this test binary in another process.

use std::path::Path;
use std::time::Duration;

use openfang_egress::process::{Child, EnvironmentKind, Launch};

use super::endings::STUBBORN;
use super::fixture::{
    Driver, House, PATIENCE, Parent, cgroups_of, children_of, driven, kill, marked, none, program, shell, until,
    with_mark,
};

pub(super) const SOON: Duration = Duration::from_secs(2);
/// What a driver writes when its children are up.
const UP: &str = "up";

/// A driver's directory is unique, and so a mark.
pub(super) fn mark_of(directory: &Path) -> String {
    directory.to_str().unwrap().to_owned()
}

/// In a driver: says that all is up, and waits to be killed.
pub(super) async fn wait_to_be_killed(directory: &Path) {
    std::fs::write(directory.join("writing"), "").unwrap();
    std::fs::rename(directory.join("writing"), directory.join(UP)).unwrap();
    std::future::pending().await
}

pub(super) async fn up(driver: &Driver, parent: &mut Parent) {
    let file = driver.directory.path().join(UP);
    until(PATIENCE, || {
        assert!(!parent.has_ended(), "the driver failed, see above");
        if file.exists() { Ok(()) } else { Err("the driver is not up") }
    })
    .await;
}

/// A session of its own: out of reach of whoever kills the group, and not of a control group.
fn escaping() -> String {
    format!("setsid sh -c \"{}\" </dev/null >/dev/null 2>&1 & cat", STUBBORN.replace('"', "\\\""))
}

pub(super) async fn started(house: &House, launch: Launch, mark: &str) -> Child {
    let mut child = house.start(with_mark(launch, mark)).await;
    // Nobody reads it here, and a full pipe would be an end too.
    drop(child.take_stdout());
    child
}

#[tokio::test]
async fn drive_twenty_children() {
    let Some(directory) = driven() else { return };
    let (house, mark) = (House::new(), mark_of(&directory));
    let mut children = Vec::new();
    for index in 0..20 {
        let kind = if index % 2 == 0 { EnvironmentKind::McpServer } else { EnvironmentKind::Tool };
        let script = if index % 4 < 2 { STUBBORN } else { "cat" };
        children.push(started(&house, shell(kind, script), &mark).await);
    }
    if !cgroups_of(std::process::id()).is_empty() {
        children.push(started(&house, shell(EnvironmentKind::Tool, &escaping()), &mark).await);
    }
    std::fs::write(directory.join("homes"), house.directory.path().to_str().unwrap()).unwrap();
    wait_to_be_killed(&directory).await;
}

#[tokio::test]
async fn a_parent_that_is_killed_takes_everything_with_it() {
    killed(Driver::new("children::survival::drive_twenty_children")).await;
}

#[tokio::test]
async fn a_killed_parent_without_rights_takes_everything_with_it_too() {
    killed(Driver::as_nobody("children::survival::drive_twenty_children")).await;
}

async fn killed(mut driver: Driver) {
    let mut parent = driver.spawn();
    up(&driver, &mut parent).await;
    let mark = mark_of(driver.directory.path());
    let homes = std::fs::read_to_string(driver.directory.path().join("homes")).unwrap();
    let reaper = children_of(parent.id(), "__reaper");
    let with_cgroups = !cgroups_of(parent.id()).is_empty();
    assert_eq!(reaper.len(), 1);
    if with_cgroups {
        let sessions = || processes_in_session_of_their_own(&mark);
        until(PATIENCE, || if sessions() > 20 { Ok(()) } else { Err("the one that escapes is not there yet") }).await;
    }
    assert!(marked(&mark).len() >= 20);
    assert_eq!(std::fs::read_dir(&homes).unwrap().count(), if with_cgroups { 11 } else { 10 });

    parent.kill();

    until(SOON, || none(marked(&mark))).await;
    until(SOON, || none(reaper.iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).collect())).await;
    assert_eq!(cgroups_of(parent.id()), Vec::<std::path::PathBuf>::new());
    assert_eq!(std::fs::read_dir(&homes).unwrap().count(), 0);
    std::fs::remove_dir(&homes).unwrap();
}

fn processes_in_session_of_their_own(mark: &str) -> usize {
    let session = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(3).map(str::to_owned)
    };
    let sessions: std::collections::BTreeSet<_> = marked(mark).iter().filter_map(session).collect();
    sessions.len().saturating_sub(1)
}

#[tokio::test]
async fn drive_a_new_reaper() {
    let Some(directory) = driven() else { return };
    let (house, mark) = (House::new(), mark_of(&directory));
    let old = started(&house, shell(EnvironmentKind::McpServer, STUBBORN), &mark).await;
    let first = children_of(std::process::id(), "__reaper");
    assert_eq!(first.len(), 1);

    kill(first[0]);
    let young = started(&house, program("cat", EnvironmentKind::McpServer), &mark).await;

    let second = children_of(std::process::id(), "__reaper");
    assert_eq!(second.len(), 1);
    assert_ne!(first, second);
    assert!(Path::new(&format!("/proc/{}", old.pid())).exists());
    young.shutdown().await;

    // Without a start in between, too.
    kill(second[0]);
    until(PATIENCE, || {
        let third = children_of(std::process::id(), "__reaper");
        if third.len() == 1 && third != second { Ok(()) } else { Err(third) }
    })
    .await;
    wait_to_be_killed(&directory).await;
}

#[tokio::test]
async fn a_new_reaper_knows_the_old_children() {
    let mut driver = Driver::new("children::survival::drive_a_new_reaper");
    let mut parent = driver.spawn();
    up(&driver, &mut parent).await;
    let mark = mark_of(driver.directory.path());
    assert!(!marked(&mark).is_empty());

    parent.kill();

    until(SOON, || none(marked(&mark))).await;
}

#[tokio::test]
async fn a_child_that_leaves_its_session_ends_with_its_control_group() {
    let (house, mark) = (House::new(), super::fixture::mark());
    let probe = started(&house, program("cat", EnvironmentKind::McpServer), &mark).await;
    let with_cgroups = !cgroups_of(std::process::id()).is_empty();
    probe.shutdown().await;
    let child = started(&house, shell(EnvironmentKind::McpServer, &escaping()), &mark).await;
    until(PATIENCE, || if processes_in_session_of_their_own(&mark) == 1 { Ok(()) } else { Err("not away yet") }).await;

    child.shutdown().await;

    if !with_cgroups {
        // A process in a session of its own lives on, as the documentation says; nothing else does.
        let only_one = |left: Vec<i32>| if left.len() == 1 { Ok(()) } else { Err(left) };
        until(SOON, || only_one(marked(&mark))).await;
        marked(&mark).into_iter().for_each(kill);
    }
    until(SOON, || none(marked(&mark))).await;
}

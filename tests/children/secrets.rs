//! Canaries in our environment, our open files and another child's environment: a child that looks everywhere finds
//! what it was given and nothing else. The parent is a driver without rights, as a user's daemon is.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;

use bytes::Bytes;
use openfang_egress::process::{Environment, EnvironmentKind, Launch, Network, Sandbox, Surroundings, not_dumpable};

use super::fixture::{Driver, House, driven, output, processes, program};

const LOOK: &str = include_str!("look.py");

/// A word that occurs nowhere else on this machine.
fn canary(directory: &std::path::Path) -> String {
    let name = directory.file_name().unwrap().to_str().unwrap();
    format!("canary-{}", name.trim_start_matches('.').replace('.', "-"))
}

fn looking(canary: &str) -> Launch {
    let surroundings =
        Surroundings::of([("PATH", "/usr/bin:/bin"), ("GIVEN", &format!("{canary}-given")), ("OTHER", "x")]);
    let mut launch = program("python3", EnvironmentKind::McpServer);
    launch.environment = Environment::build(EnvironmentKind::McpServer, &["GIVEN".to_owned()], &surroundings).unwrap();
    launch.arguments = vec!["-c".into(), LOOK.into()];
    launch
}

async fn found(house: &House, launch: Launch, canary: &str) -> Vec<String> {
    let mut child = house.start(launch).await;
    child.stdin().send(Bytes::from(format!("{canary}\n"))).await.unwrap();
    let text = output(&mut child).await;
    assert!(text.ends_with("looked\n"), "{text}{}", child.stderr_tail());
    text.lines().filter(|line| *line != "looked").map(str::to_owned).collect()
}

#[tokio::test]
async fn drive_children_that_look_around() {
    let Some(directory) = driven() else { return };
    not_dumpable();
    let canary = canary(&directory);
    let held = File::open(directory.join("held")).unwrap();
    let house = House::new();
    let mut sibling = program("cat", EnvironmentKind::McpServer);
    let listed = [format!("KEY={canary}-sibling")];
    sibling.environment =
        Environment::build(EnvironmentKind::McpServer, &listed, &Surroundings::of([("PATH", "/usr/bin")])).unwrap();
    let sibling = house.start(sibling).await;
    let given = format!("environ {canary}-given");
    let own = format!("/proc/self/environ {canary}-given");

    let open = found(&house, looking(&canary), &canary).await;
    let mut walled = looking(&canary);
    walled.sandbox = Some(Sandbox { read: vec!["/proc".into()], write: Vec::new(), network: Network::Denied });
    let walled = found(&house, walled, &canary).await;

    // Whoever has no sandbox runs as the user, and sees what other unprotected processes of the user show.
    let of_sibling = format!("/proc/{}/environ {canary}-sibling", sibling.pid());
    assert_eq!(open, [own.clone(), given.clone(), of_sibling]);
    // Even with all of /proc to read.
    assert_eq!(walled, [own, given]);
    let helpers = processes().filter(|(_, line)| line.contains("openfang-helper") && line.contains("__"));
    for (_, line) in helpers {
        assert!(line.trim_end().ends_with("__reaper") || line.trim_end().ends_with("__child"), "{line}");
    }
    drop(held);
}

#[test]
fn a_child_finds_what_it_was_given_and_nothing_of_ours() {
    let mut driver = Driver::as_nobody("children::secrets::drive_children_that_look_around");
    let directory = driver.directory.path().to_owned();
    let canary = canary(&directory);
    for name in ["held", "inherited"] {
        std::fs::write(directory.join(name), format!("{canary}-{name}")).unwrap();
        std::fs::set_permissions(directory.join(name), std::fs::Permissions::from_mode(0o644)).unwrap();
    }

    // A shell leaves a descriptor open for us that is not marked as ours alone.
    driver.through_shell("exec 9<inherited").env("CANARY", format!("{canary}-environment"));

    driver.run();
}

#[test]
fn our_own_command_line_shows_the_command_and_nothing_of_its_arguments() {
    let openfang = crate::support::binary::Openfang::new();
    let daemon = openfang.start();

    let line = std::fs::read(format!("/proc/{}/cmdline", daemon.pid())).unwrap();

    let line = String::from_utf8(line).unwrap();
    assert!(line.trim_end_matches('\0').ends_with("openfang start"), "{line:?}");
    assert!(!line.contains("127.0.0.1"), "{line:?}");
}

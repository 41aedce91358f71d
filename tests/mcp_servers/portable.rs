//! MCP servers that are programs, with children as every Unix can hold them.

use crate::children::fixture::{PATIENCE, mark, marked, none, until};
use crate::support::binary::{Openfang, Ran};
use crate::support::peers::PeerServer;

/// Each restart ends all servers and starts them again.
const RESTARTS: usize = 10;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn entry(name: &str, words: &[String], mark: &str) -> String {
    let (command, args) = words.split_first().unwrap();
    format!(
        "\n[[mcp_servers]]\nname = \"{name}\"\nenv = [\"MARK={mark}\"]\n\
         transport = {{ type = \"stdio\", command = {command:?}, args = {args:?} }}\n"
    )
}

/// Waits until a server is connected.
fn connect(openfang: &Openfang, name: &str) {
    let state = || openfang.run(&["mcp", "show", name, "--json"]).json()["connected"].clone();
    let mut seen = state();
    while seen["state"] != "ready" {
        assert_ne!(seen["state"], "failed", "{seen}");
        seen = state();
    }
}

#[tokio::test]
async fn the_reference_servers_work_with_portable_children_and_no_restart_leaves_one_behind() {
    let (openfang, mark) = (Openfang::new(), mark());
    let directory = openfang.scratch("files");
    std::fs::create_dir(&directory).unwrap();
    let directory = directory.canonicalize().unwrap();
    std::fs::write(directory.join("note.txt"), "written here").unwrap();
    let mut files = PeerServer::Filesystem.stdio();
    files.push(directory.to_str().unwrap().to_owned());
    let everything = entry("everything", &PeerServer::Everything.stdio(), &mark);
    openfang.write(
        "config.toml",
        &format!("[egress]\nchildren = \"portable\"\n{everything}{}", entry("files", &files, &mark)),
    );
    let path = format!("path={}", directory.join("note.txt").display());

    for restart in 0..RESTARTS {
        let mut daemon = openfang.start();
        connect(&openfang, "everything");
        connect(&openfang, "files");
        let sum = ok(openfang.run(&["tool", "call", "mcp_everything_get_sum", "a=19", "b=23"]));
        assert!(sum.stdout.contains("42"), "{sum:?}");
        let read = ok(openfang.run(&["tool", "call", "mcp_files_read_text_file", &path]));
        assert!(read.stdout.contains("written here"), "{read:?}");
        let before = marked(&mark);
        assert!(before.len() >= 2, "{before:?}");
        if restart == 0 {
            ok(openfang.run(&["mcp", "restart", "everything"]));
            connect(&openfang, "everything");
            until(PATIENCE, || {
                if before.iter().all(|pid| marked(&mark).contains(pid)) { Err(marked(&mark)) } else { Ok(()) }
            })
            .await;
        }

        if restart % 2 == 0 {
            daemon.signal("KILL");
        } else {
            ok(openfang.run(&["stop"]));
        }
        daemon.wait();

        until(PATIENCE, || none(marked(&mark))).await;
    }
}

#[test]
fn portable_children_are_chosen_in_the_file_only_and_the_missing_walls_are_named() {
    let openfang = Openfang::new();
    let variable = openfang.run_with(("OPENFANG_EGRESS__CHILDREN", "portable"), &["config", "check"]);
    assert!(variable.code == 64 && variable.stderr.contains("is not set by a variable"), "{variable:?}");
    openfang.write("config.toml", "[egress]\nchildren = \"portable\"\n");
    let _daemon = openfang.start();

    let refused = openfang.run(&["mcp", "add", "box", "--sandbox", "--", "/bin/sh"]);
    let status = ok(openfang.run(&["status"]));
    let doctor = openfang.run(&["doctor", "--offline"]);

    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("it needs a sandbox, and portable child processes have none"), "{refused:?}");
    for shown in [&status.stdout, &doctor.stdout] {
        assert!(shown.contains("no sandbox: ") && shown.contains("no control groups: "), "{shown}");
    }
    openfang.write("config.toml", "# the defaults\n");
    let reloaded = ok(openfang.run(&["reload"]));
    assert!(format!("{reloaded:?}").contains("egress.children"), "{reloaded:?}");
    assert!(!openfang.run(&["doctor", "--offline"]).stdout.contains("no sandbox: "));
}

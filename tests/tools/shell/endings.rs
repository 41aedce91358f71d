//! How programs end: by themselves, when their time is over, when nobody waits, and when the server is killed.

use std::time::{Duration, Instant};

use openfang_testkit::TestHome;
use serde_json::json;

use super::{Shell, structured};
use crate::children::fixture::{Driver, PATIENCE, cgroups_of, driven, none, processes, until, zombies_of};
use crate::support::binary::Openfang;

const SOON: Duration = Duration::from_secs(3);

/// The processes with this word on their command line.
fn running(word: &str) -> Vec<i32> {
    processes().filter(|(_, line)| line.contains(word)).map(|(pid, _)| pid).collect()
}

/// Starts processes that leave their parent, their session and their group as far as they can.
fn scatter(mark: &str) -> String {
    format!(
        "import os, sys, time
for round in range(3):
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', '600.{mark}'])
        os._exit(0)
os.system('nohup setsid sleep 600.{mark} >/dev/null 2>&1 &')
print('up', flush=True)
"
    )
}

/// A number that is on the command line of no other process.
fn number() -> String {
    let nanos = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("{}{nanos}", std::process::id())
}

#[tokio::test]
async fn an_exit_code_a_signal_and_both_outputs_are_returned() {
    let shell = Shell::new();

    let ran = shell.python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)").await;
    assert_eq!((&ran["stdout"], &ran["stderr"], &ran["exit_code"]), (&json!("out\n"), &json!("err\n"), &json!(7)));
    assert_eq!((&ran["timed_out"], &ran["stdout_bytes"]), (&json!(false), &json!(4)));
    let ran = shell.python("import os; os.kill(os.getpid(), 9)").await;
    assert_eq!((&ran["signal"], ran.get("exit_code")), (&json!(9), None));
    let ran = shell.python("import sys; sys.stdout.buffer.write(bytes(range(256)))").await;
    assert_eq!((ran["exit_code"].clone(), ran["stdout_bytes"].clone()), (json!(0), json!(256)));
}

#[tokio::test]
async fn there_is_no_input_and_no_terminal_to_wait_for() {
    let shell = Shell::new();

    assert_eq!(shell.run("cat").await["exit_code"], 0);
    let ran = shell.python("input('password: ')").await;
    assert!(ran["stderr"].as_str().unwrap().contains("EOFError"), "{ran}");
    let ran = shell.python("open('/dev/tty')").await;
    assert!(ran["stderr"].as_str().unwrap().contains("Error"), "{ran}");
}

#[tokio::test]
async fn of_endless_output_the_beginning_and_the_end_are_kept_until_the_time_is_over() {
    let shell = Shell::with(TestHome::new(), "output_bytes = 4096");
    for command in [
        "yes",
        "head -c 100G /dev/zero",
        "/usr/bin/python3 -B -c \"import sys\nwhile 1: sys.stderr.write('x' * 65536)\"",
    ] {
        let begun = Instant::now();

        let output = shell.call(json!({ "command": command, "timeout_seconds": 1 })).await;

        let ran = structured(&output);
        assert_eq!(ran["timed_out"], true, "{command}");
        assert!(begun.elapsed() < PATIENCE);
        let (stdout, stderr) = (ran["stdout"].as_str().unwrap(), ran["stderr"].as_str().unwrap());
        assert!(stdout.len().max(stderr.len()) < 3_000, "{command}");
        assert!(format!("{stdout}{stderr}").contains("bytes left out"), "{command}: {ran}");
        assert!(output.joined_text().contains("its time was over"));
    }
}

#[tokio::test]
async fn when_its_time_is_over_everything_that_it_started_ends() {
    let shell = Shell::new();
    let mark = number();
    let code = scatter(&mark) + "time.sleep(1e9)";

    let output = shell
        .call(json!({ "command": "/usr/bin/python3 -B -c", "args": [code], "timeout_seconds": 1 }))
        .await;

    let ran = structured(&output);
    assert_eq!((&ran["timed_out"], &ran["stdout"]), (&json!(true), &json!("up\n")), "{ran}");
    until(SOON, || none(running(&format!("600.{mark}")))).await;
}

#[tokio::test]
async fn a_program_that_ignores_every_signal_ends_too() {
    let shell = Shell::new();
    let script = "trap '' TERM HUP INT; while :; do sleep 1; done";
    let begun = Instant::now();

    let output = shell.call(json!({ "command": "sh -c", "args": [script], "timeout_seconds": 1 })).await;

    assert_eq!(structured(&output)["timed_out"], true);
    assert!(begun.elapsed() < PATIENCE);
}

#[tokio::test]
async fn when_nobody_waits_any_more_a_program_ends() {
    let shell = Shell::new();
    let mark = number();
    let code = scatter(&mark) + "open('up', 'w').close(); time.sleep(1e9)";
    let up = shell.workspace().join("up");
    {
        let call = std::pin::pin!(shell.call(json!({ "command": "/usr/bin/python3 -B -c", "args": [code] })));
        let is_up = until(PATIENCE, || if up.exists() { Ok(()) } else { Err("not up") });
        tokio::select! {
            output = call => panic!("{}", output.joined_text()),
            () = is_up => {}
        }
        assert!(!running(&format!("600.{mark}")).is_empty());
    }

    until(SOON, || none(running(&format!("600.{mark}")))).await;
}

/// Runs programs that leave as much behind as they can, and looks for it. In a process of its own, since it counts.
async fn leave_nothing(rounds: u64) {
    let shell = Shell::new();
    let mark = number();
    let code =
        scatter(&mark) + "open(os.environ['HOME'] + '/x', 'w').close(); os.mkdir(os.environ['TMPDIR'] + '/d', 0)";
    let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap().lines().count();
    let before = mounts();

    for _ in 0..rounds.div_ceil(4) {
        let call = || shell.call(json!({ "command": "/usr/bin/python3 -B -c", "args": [code] }));
        let (a, b, c, d) = tokio::join!(call(), call(), call(), call());
        for output in [a, b, c, d] {
            assert_eq!(structured(&output)["exit_code"], 0, "{}", output.joined_text());
        }
    }

    let us = std::process::id();
    until(SOON, || none(running(&format!("600.{mark}")))).await;
    until(SOON, || none(zombies_of(us))).await;
    let homes = || {
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("openfang-{us}-")));
        ours.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    until(SOON, || none(homes())).await;
    assert_eq!(cgroups_of(us), Vec::<std::path::PathBuf>::new());
    assert_eq!(mounts(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drive_a_hundred_runs() {
    if driven().is_some() {
        leave_nothing(crate::support::rounds("SHELL_RUNS", 100)).await;
    }
}

#[test]
fn a_hundred_runs_leave_no_process_file_or_mount() {
    Driver::new("tools::shell::endings::drive_a_hundred_runs").run();
}

#[test]
fn a_hundred_runs_of_a_user_without_rights_leave_nothing_either() {
    Driver::as_nobody("tools::shell::endings::drive_a_hundred_runs").run();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_a_command_is_not_run_again_and_nothing_of_it_runs_on() {
    let openfang = Openfang::new();
    let mark = number();
    let program = format!("echo x >> ledger; exec sleep 600.{mark}");
    let rule = toml::Value::from(format!("sh -c '{program}'"));
    openfang.write("config.toml", &format!("[exec]\nallow = [{rule}]\n"));
    openfang.write(
        "agents/worker/agent.toml",
        "name = \"worker\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]",
    );
    let step = format!("{{ tool = {{ name = \"shell_exec\", arguments = {{ command = {rule} }} }} }}");
    openfang.write("agents/worker/script.toml", &format!("[[rules]]\nwhen = {{ text = \"go\" }}\nsteps = [{step}]\n"));
    let mut daemon = openfang.start();
    let mut sender = openfang.spawn(&["agent", "send", "worker", "go"]);
    let ledger = openfang.home().join("workspaces/agents/worker/ledger");
    let written = || std::fs::read_to_string(&ledger).unwrap_or_default();
    until(PATIENCE, || if written() == "x\n" { Ok(()) } else { Err(written()) }).await;

    daemon.signal("KILL");
    daemon.wait();
    sender.wait().unwrap();
    until(SOON, || none(running(&format!("600.{mark}")))).await;
    let daemon = openfang.start();

    let is_over = async || {
        let tasks = daemon.client().get("/api/tasks").await.json();
        tasks["tasks"][0]["status"]["state"].as_str().unwrap_or_default().to_owned()
    };
    let begun = Instant::now();
    while is_over().await != "failed" {
        assert!(begun.elapsed() < PATIENCE, "{}", is_over().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(written(), "x\n");
    assert!(running(&format!("600.{mark}")).is_empty());
}

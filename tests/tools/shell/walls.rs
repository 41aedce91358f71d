//! What a program cannot reach, and what happens where there are no walls.

use std::net::TcpListener;

use openfang_testkit::TestHome;
use serde_json::json;

use super::Shell;
use crate::children::fixture::{Driver, driven};
use crate::support::binary::Openfang;

/// Tries each line, and says the number of the error or that it was done.
const TRY: &str = r#"
import sys, os, socket, ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "call")
for line in LINES:
    try:
        exec(line)
        print("did")
    except OSError as error:
        print(error.errno)
"#;

async fn attempts(shell: &Shell, lines: &[String]) -> Vec<String> {
    let code = TRY.replace("LINES", &json!(lines).to_string());
    let ran = shell.python(&code).await;
    let outcomes: Vec<String> = ran["stdout"].as_str().unwrap().lines().map(str::to_owned).collect();
    assert_eq!(outcomes.len(), lines.len(), "{ran}");
    outcomes
}

#[tokio::test]
async fn a_program_reaches_its_workspace_and_nothing_else_of_this_machine() {
    let shell = Shell::new();
    let home = shell.home.path().canonicalize().unwrap();
    for other in ["owners/bob", "agents/other", "users/bob/agents/x"] {
        std::fs::create_dir_all(home.join("workspaces").join(other)).unwrap();
        std::fs::write(home.join("workspaces").join(other).join("file"), "x").unwrap();
    }
    std::fs::write(shell.workspace().join("mine"), "x").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, us, home) = (listener.local_addr().unwrap().port(), std::process::id(), home.display());
    let rows = [
        ("open('mine').read()".to_owned(), "did"),
        ("open('new', 'w').write('x')".to_owned(), "did"),
        ("open(os.environ['HOME'] + '/x', 'w')".to_owned(), "did"),
        (format!("open('{home}/config.toml')"), "13"),
        (format!("open('{home}/agents/starter/agent.toml')"), "13"),
        (format!("open('{home}/data/openfang.db')"), "13"),
        (format!("open('{home}/config.toml', 'w')"), "13"),
        (format!("os.truncate('{home}/config.toml', 0)"), "13"),
        (format!("os.listdir('{home}')"), "13"),
        (format!("os.listdir('{home}/workspaces')"), "13"),
        (format!("open('{home}/workspaces/owners/bob/file')"), "13"),
        (format!("open('{home}/workspaces/agents/other/file')"), "13"),
        (format!("open('{home}/workspaces/users/bob/agents/x/file')"), "13"),
        (format!("os.link('{home}/config.toml', 'link')"), "18"),
        (format!("os.rename('{home}/config.toml', 'moved')"), "13"),
        ("os.symlink('/', 'root') or open('root/etc/shadow')".to_owned(), "13"),
        ("open('/etc/shadow')".to_owned(), "13"),
        ("os.listdir('/root')".to_owned(), "13"),
        ("os.listdir('/home')".to_owned(), "13"),
        ("open('/tmp/planted-by-a-test', 'w')".to_owned(), "13"),
        (format!("open('/proc/{us}/environ')"), "13"),
        (format!("open('/proc/{us}/mem')"), "13"),
        (format!("socket.create_connection(('127.0.0.1', {port}))"), "1"),
        ("socket.socket(socket.AF_UNIX)".to_owned(), "1"),
        (format!("os.kill({us}, 0)"), "1"),
        (format!("call({}, 16, {us}, 0, 0)", if cfg!(target_arch = "x86_64") { 101 } else { 117 }), "1"),
    ];
    let lines: Vec<String> = rows.iter().map(|(line, _)| line.clone()).collect();

    let outcomes = attempts(&shell, &lines).await;

    for ((line, expected), outcome) in rows.iter().zip(outcomes) {
        assert_eq!(outcome, *expected, "{line}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn with_network_it_connects_and_an_agent_can_do_without() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("socket.create_connection(('127.0.0.1', {}))", listener.local_addr().unwrap().port());

    let shell = Shell::with(TestHome::new(), "network = true");

    assert_eq!(attempts(&shell, &[connect]).await, ["did"]);
    let output = shell.call(json!({ "command": "printf x" })).await;
    assert!(output.labels.contains(openfang_types::taint::Label::ExternalNetwork));
}

#[test]
fn a_program_gets_nothing_of_our_environment() {
    let openfang = Openfang::new();
    let variables =
        [("CANARY_API_KEY", "sk-canary-0123456789"), ("LANG", "C.UTF-8"), ("OPENFANG_API_KEY", "0123456789abcdef")];
    let code = "import os; print(sorted(os.environ)); print(os.environ['HOME'] == os.environ['TMPDIR'])";
    let arguments = json!({ "command": "/usr/bin/python3 -B -c", "args": [code] }).to_string();

    let ran = openfang.run_with_all(&variables, &["tool", "call", "shell_exec", "--args", &arguments]);
    let read = json!({ "command": "cat /proc/self/environ" }).to_string();
    let read = openfang.run_with_all(&variables, &["tool", "call", "shell_exec", "--args", &read]);

    assert!(ran.stdout.starts_with("['HOME', 'LANG', 'PATH', 'TMPDIR']\nTrue\n"), "{ran:?}");
    assert!(read.stderr.contains("Permission denied") || read.stdout.contains("Permission denied"), "{read:?}");
    assert!(!format!("{ran:?}{read:?}").contains("canary-0123"));
}

#[test]
fn portable_children_run_nothing_until_the_operator_says_that_walls_may_be_missing() {
    let openfang = Openfang::new();
    let arguments = json!({ "command": "printf done" }).to_string();
    let ran = |config: &str| {
        openfang.write("config.toml", config);
        openfang.run(&["tool", "call", "shell_exec", "--args", &arguments])
    };

    let refused = ran("[egress]\nchildren = \"portable\"\n");
    let open = ran("[egress]\nchildren = \"portable\"\n[exec]\nunsandboxed = true\n");

    let said = refused.stdout + &refused.stderr;
    assert!(
        refused.code != 0 && said.contains("unsandboxed = true under [exec]") && !said.starts_with("done"),
        "{said}"
    );
    assert!(open.code == 0 && open.stdout.starts_with("done"), "{open:?}");
}

/// Makes a kernel without Landlock, or without seccomp filters, of the one that is there, and becomes the program.
const WITHOUT: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
call, error = int(sys.argv[1]), int(sys.argv[2])
step = lambda code, jt, jf, k: struct.pack("HBBI", code, jt, jf, k)
code = step(0x20, 0, 0, 0) + step(0x15, 0, 1, call) + step(6, 0, 0, 0x50000 | error) + step(6, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(code, len(code))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(4, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
"#;

#[test]
fn without_landlock_or_without_seccomp_nothing_runs_and_the_error_names_the_way_out() {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), WITHOUT).unwrap();
    let script = script.path().to_str().unwrap();
    let seccomp = if cfg!(target_arch = "x86_64") { "317" } else { "277" };
    // ENOSYS for landlock_create_ruleset, EACCES for seccomp.
    for (call, error) in [("444", "38"), (seccomp, "13")] {
        let openfang = Openfang::new();
        let _daemon = openfang.start_under(&["python3", script, call, error]);
        let arguments = json!({ "command": "touch ran" }).to_string();

        let ran = openfang.run(&["tool", "call", "shell_exec", "--args", &arguments]);

        let said = ran.stdout + &ran.stderr;
        assert!(ran.code != 0 && said.contains("the program did not run"), "{call}: {said}");
        assert!(said.contains("set unsandboxed = true under [exec] in config.toml"), "{call}: {said}");
        assert!(!openfang.home().join("workspaces/owners/admin/ran").exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drive_programs_of_a_user_without_rights() {
    if driven().is_none() {
        return;
    }
    let shell = Shell::new();
    let code = "\
import os, sys
for name in ('setsid', 'setpgrp'):
    try:
        getattr(os, name)()
        print('did')
    except OSError as error:
        print(error.errno)
pids = []
try:
    while len(pids) < 500:
        pid = os.fork()
        if pid == 0:
            import time
            time.sleep(600)
        pids.append(pid)
except OSError as error:
    print(error.errno, len(pids) < 100)
";
    let ran = shell.python(code).await;
    assert_eq!(ran["stdout"], "1\n1\n11 True\n", "{ran}");
    let lines = ["open('/etc/shadow')".to_owned(), "os.kill(os.getppid(), 15)".to_owned()];
    assert_eq!(attempts(&shell, &lines).await, ["13", "1"]);
    let large = shell.python("x = bytearray(800 * 1024 * 1024)").await;
    assert!(large["stderr"].as_str().unwrap().contains("MemoryError"), "{large}");
}

#[test]
fn without_control_groups_a_program_cannot_leave_its_group_or_fork_without_end() {
    Driver::as_nobody("tools::shell::walls::drive_programs_of_a_user_without_rights").run();
}

#[tokio::test]
async fn what_the_operator_opens_is_read_and_not_changed_and_is_never_our_own() {
    let given = tempfile::tempdir().unwrap();
    let path = given.path().canonicalize().unwrap();
    std::fs::write(path.join("file"), "x").unwrap();
    let shell = Shell::with(TestHome::new(), &format!("read = [{:?}]", path.to_str().unwrap()));
    let file = path.join("file").display().to_string();
    let lines = [format!("open('{file}').read()"), format!("open('{file}', 'w')")];
    assert_eq!(attempts(&shell, &lines).await, ["did", "13"]);

    for inner in ["", "data", ".."] {
        let home = TestHome::new();
        let open = home.path().join(inner).canonicalize().unwrap();
        let shell = Shell::with(home, &format!("read = [{:?}]", open.to_str().unwrap()));
        let output = shell.call(json!({ "command": "printf x" })).await;
        assert!(output.is_error && output.joined_text().contains("would open files of OpenFang"), "{open:?}");
    }
}

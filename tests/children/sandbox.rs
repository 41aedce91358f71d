//! What a sandboxed child cannot do. Without Landlock these fail, on purpose: the gate runs where there is one.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;

use openfang_egress::process::{Containment, Environment, EnvironmentKind, Launch, Network, Sandbox, Surroundings};

use super::fixture::{House, output, program, shell};

/// Runs Python in a sandbox; the arguments follow the script.
async fn python(house: &House, script: &str, arguments: &[&str], sandbox: Sandbox) -> String {
    let mut launch = program("python3", EnvironmentKind::Tool);
    launch.arguments = vec!["-c".into(), script.into()];
    launch.arguments.extend(arguments.iter().map(Into::into));
    contained(house, launch, sandbox).await
}

async fn contained(house: &House, mut launch: Launch, sandbox: Sandbox) -> String {
    launch.sandbox = Some(sandbox);
    let mut child = house.start(launch).await;
    assert_eq!(*child.containment(), Containment::Full, "this machine cannot hold a sandbox");
    child.stdin().close();
    let text = output(&mut child).await;
    child.wait().await;
    text + &child.stderr_tail()
}

fn closed() -> Sandbox {
    Sandbox { read: Vec::new(), write: Vec::new(), network: Network::Denied }
}

/// Tries each line of Python and says what came of it.
const TRY: &str = r#"
import sys, os, socket, ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "call")
for line in sys.argv[1:]:
    try:
        exec(line)
        print("did", line)
    except OSError as error:
        print(error.errno, line)
"#;

/// What happened to each attempt: an error number, or that it was done.
async fn attempts(house: &House, lines: &[&str], sandbox: Sandbox) -> Vec<String> {
    let text = python(house, TRY, lines, sandbox).await;
    let outcomes: Vec<String> = text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(outcomes.len(), lines.len(), "{text}");
    outcomes
}

#[tokio::test]
async fn it_reads_and_writes_what_it_was_given_and_nothing_else() {
    let (house, given) = (House::new(), tempfile::tempdir().unwrap());
    for name in ["read", "write", "hidden"] {
        std::fs::create_dir(given.path().join(name)).unwrap();
        std::fs::write(given.path().join(name).join("file"), name).unwrap();
    }
    let sandbox = Sandbox {
        read: vec![given.path().join("read"), given.path().join("missing")],
        write: vec![given.path().join("write")],
        network: Network::Denied,
    };
    let at = |code: &str, path: &str| code.replace("{}", given.path().join(path).to_str().unwrap());
    let rows = [
        (at("open('{}').read()", "read/file"), "did"),
        (at("os.listdir('{}')", "read"), "did"),
        (at("open('{}', 'w')", "read/file"), "13"),
        (at("os.unlink('{}')", "read/file"), "13"),
        (at("open('{}', 'w').write('x')", "write/file"), "did"),
        (at("open('{}', 'w').write('x')", "write/new"), "did"),
        (at("os.symlink('/', '{}')", "write/root"), "did"),
        (at("open('{}/etc/shadow')", "write/root"), "13"),
        (at("open('{}').read()", "hidden/file"), "13"),
        (at("os.listdir('{}')", "hidden"), "13"),
        (at("os.link('{}', os.environ['HOME'] + '/link')", "hidden/file"), "18"),
        ("open(os.environ['HOME'] + '/mine', 'w').write('x')".to_owned(), "did"),
        ("open('/dev/null', 'w').write('x')".to_owned(), "did"),
        ("open('/etc/shadow')".to_owned(), "13"),
        ("open('/etc/hostname')".to_owned(), "13"),
        ("os.listdir('/root')".to_owned(), "13"),
        ("os.listdir('/home')".to_owned(), "13"),
        ("os.listdir('/')".to_owned(), "13"),
        ("open('/proc/1/environ')".to_owned(), "13"),
        ("open('/proc/self/environ')".to_owned(), "13"),
        ("open('/usr/planted', 'w')".to_owned(), "13"),
        ("open('/tmp/planted-by-a-test', 'w')".to_owned(), "13"),
    ];
    let lines: Vec<&str> = rows.iter().map(|(line, _)| line.as_str()).collect();

    let outcomes = attempts(&house, &lines, sandbox).await;

    for ((line, expected), outcome) in rows.iter().zip(outcomes) {
        assert_eq!(outcome, *expected, "{line}");
    }
    assert!(!Path::new("/tmp/planted-by-a-test").exists());
}

#[tokio::test]
async fn it_reaches_no_network_and_no_other_process() {
    let (house, directory) = (House::new(), tempfile::tempdir().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(directory.path().join("socket")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (path, parent) = (directory.path().join("socket"), std::process::id());
    let rows = [
        (format!("socket.create_connection(('127.0.0.1', {port}))"), "1"),
        ("socket.socket(socket.AF_INET6)".to_owned(), "1"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)".to_owned(), "1"),
        (format!("socket.socket(socket.AF_UNIX).connect('{}')", path.display()), "1"),
        ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)".to_owned(), "1"),
        ("socket.socket(socket.AF_VSOCK)".to_owned(), "1"),
        ("socket.socketpair()".to_owned(), "did"),
        (format!("os.kill({parent}, 0)"), "1"),
        (format!("os.kill({parent}, 15)"), "1"),
        (format!("__import__('resource').prlimit({parent}, 7, (1, 1))"), "1"),
        ("__import__('resource').prlimit(0, 7, (64, 64))".to_owned(), "did"),
        ("__import__('resource').setrlimit(7, (63, 63))".to_owned(), "did"),
        (format!("os.setpriority(os.PRIO_PROCESS, {parent}, 5)"), "1"),
        (format!("os.sched_setaffinity({parent}, {{0}})"), "1"),
        ("os.nice(1)".to_owned(), "did"),
        // io_uring_setup, ptrace attach, process_vm_readv, bpf, unshare of the user, mount, keyctl.
        ("call(425, 8, ctypes.create_string_buffer(256))".to_owned(), "1"),
        (format!("call({}, 16, {parent}, 0, 0)", numbers().0), "1"),
        (format!("call({}, {parent}, 0, 0, 0, 0, 0)", numbers().1), "1"),
        (format!("call({}, 0, 0, 0)", numbers().2), "1"),
        (format!("call({}, 0x10000000)", numbers().3), "1"),
        (format!("open('/proc/{parent}/mem')"), "13"),
    ];
    let lines: Vec<&str> = rows.iter().map(|(line, _)| line.as_str()).collect();
    let sandbox = Sandbox { read: vec![directory.path().to_owned()], ..closed() };

    let outcomes = attempts(&house, &lines, sandbox).await;

    for ((line, expected), outcome) in rows.iter().zip(outcomes) {
        assert_eq!(outcome, *expected, "{line}");
    }
    listener.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err() && unix.accept().is_err(), "somebody came");
}

/// ptrace, process_vm_readv, bpf, unshare.
fn numbers() -> (i32, i32, i32, i32) {
    if cfg!(target_arch = "x86_64") { (101, 310, 321, 272) } else { (117, 270, 280, 97) }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_second_numbers_of_x86_64_are_no_way_round() {
    let house = House::new();

    let outcomes =
        attempts(&house, &["call(0x40000000 + 41, 2, 1, 0)", "call(0x40000000 + 521, 0, 0)"], closed()).await;

    assert_eq!(outcomes, ["38", "38"]);
}

#[tokio::test]
async fn with_network_it_connects_and_still_reaches_nothing_else() {
    let house = House::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("socket.create_connection(('127.0.0.1', {}))", listener.local_addr().unwrap().port());
    let rows = [
        connect.as_str(),
        "socket.getaddrinfo('localhost', 80)",
        "open('/etc/shadow')",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_VSOCK)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    ];

    let outcomes = attempts(&house, &rows, Sandbox { network: Network::Allowed, ..closed() }).await;

    assert_eq!(outcomes, ["did", "did", "13", "1", "1", "1"]);
}

#[tokio::test]
async fn the_usual_programs_work_in_it() {
    let house = House::new();
    let python = python(
        &house,
        "import ssl, json, subprocess, tempfile, threading; print(json.dumps(tempfile.mkdtemp() != ''))",
        &[],
        closed(),
    )
    .await;
    let shell = contained(
        &house,
        shell(EnvironmentKind::Tool, "cd; echo a > f; ls | wc -l; date +%Y >/dev/null; id -un"),
        closed(),
    )
    .await;
    let mut node = program("node", EnvironmentKind::Tool);
    node.arguments = vec!["-e".into(), "require('fs').writeFileSync(process.env.HOME + '/x', 'y'); console.log(require('os').userInfo().uid >= 0, 1 + 1)".into()];
    let node = contained(&house, node, closed()).await;

    assert_eq!(python, "true\n");
    assert!(shell.starts_with("1\n") && shell.lines().count() == 2, "{shell}");
    assert_eq!(node, "true 2\n");
}

#[tokio::test]
async fn nothing_of_our_environment_is_in_it() {
    let house = House::new();
    let surroundings = Surroundings::of([("PATH", "/usr/bin:/bin"), ("LANG", "C"), ("HOME", "/h"), ("KEY", "sk-1")]);
    let mut launch = program("env", EnvironmentKind::Tool);
    launch.environment = Environment::build(EnvironmentKind::Tool, &["A=b".to_owned()], &surroundings).unwrap();

    let text = contained(&house, launch, closed()).await;

    let home = house.directory.path().display();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 5, "{text}");
    assert_eq!((lines[0], lines[2], lines[3]), ("A=b", "LANG=C", "PATH=/usr/bin:/bin"));
    assert!(lines[1].starts_with(&format!("HOME={home}/openfang-")), "{text}");
    assert_eq!(lines[4].strip_prefix("TMPDIR="), lines[1].strip_prefix("HOME="));
}

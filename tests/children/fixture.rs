//! A door with the real binary as its helper, children that are marked so that they can be found again, and drivers:
//! this test binary run again as another process, which can be killed or run as another user.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use openfang_egress::process::{
    Child, DoorConfig, Environment, EnvironmentKind, Launch, ProcessDoor, ProcessMetrics, Program, Surroundings,
};
use openfang_types::config::ChildIsolation;
use prometheus_client::registry::Registry;
use tokio::io::AsyncReadExt as _;
use tokio_util::task::TaskTracker;

/// Long enough for a loaded machine; nothing waits for it when things go well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Tells a driver what to do, and with which directory.
const DRIVE: &str = "OPENFANG_TEST_DRIVE";
/// From here on there are users without rights, one for each driver: the processes of a user are counted.
const NOBODY: u32 = 1_000_000;

/// A door and where its temporary homes are.
pub(crate) struct House {
    pub(crate) door: ProcessDoor,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) registry: Arc<Registry>,
    pub(crate) tracker: TaskTracker,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(ChildIsolation::Isolated)
    }

    pub(crate) fn with(isolation: ChildIsolation) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut registry = Registry::default();
        let metrics = ProcessMetrics::register(&mut registry);
        let tracker = TaskTracker::new();
        let config = DoorConfig { helper: helper(), temporary: directory.path().to_owned(), isolation };
        let door = ProcessDoor::open(config, tracker.clone(), metrics).unwrap();
        Self { door, directory, registry: Arc::new(registry), tracker }
    }

    /// The names of temporary homes that are there.
    pub(crate) fn homes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("openfang-"))
            .collect()
    }

    pub(crate) fn metrics(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }

    pub(crate) async fn start(&self, launch: Launch) -> Child {
        self.door.start(launch).await.unwrap()
    }
}

/// The helper: beside the driver where there is one, so that a user without rights can read it.
pub(crate) fn helper() -> PathBuf {
    let beside = std::env::current_exe().unwrap().with_file_name("openfang-helper");
    if beside.exists() { beside } else { env!("CARGO_BIN_EXE_openfang").into() }
}

/// A shell command for an MCP server or a tool.
pub(crate) fn shell(kind: EnvironmentKind, script: &str) -> Launch {
    let mut launch = program("sh", kind);
    launch.arguments = vec!["-c".into(), script.into()];
    launch
}

/// A program of the system, without arguments.
pub(crate) fn program(name: &str, kind: EnvironmentKind) -> Launch {
    let surroundings = Surroundings::of([("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("HOME", "/nonexistent")]);
    let environment = Environment::build(kind, &[], &surroundings).unwrap();
    let program = Program::resolve(name, environment.path(), Path::new("/")).unwrap();
    Launch::new(program, environment, "/".into())
}

/// Everything that a child writes until it closes its stdout.
pub(crate) async fn output(child: &mut Child) -> String {
    let mut text = Vec::new();
    let mut stdout = child.take_stdout().unwrap();
    tokio::time::timeout(PATIENCE, stdout.read_to_end(&mut text)).await.unwrap().unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Puts a mark into a child's environment; whatever it starts has it too.
pub(crate) fn with_mark(mut launch: Launch, mark: &str) -> Launch {
    let surroundings = Surroundings::of([("PATH", "/usr/bin:/bin")]);
    launch.environment =
        Environment::build(launch.environment.kind(), &[format!("MARK={mark}")], &surroundings).unwrap();
    launch
}

/// The processes that carry a mark, zombies left out: those have no environment any more.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    let environment = |pid: &i32| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let ours = processes().map(|(pid, _)| pid);
    ours.filter(|pid| String::from_utf8_lossy(&environment(pid)).contains(mark)).collect()
}

/// The control groups that a process made for its children; none where it cannot make any.
pub(crate) fn cgroups_of(parent: u32) -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = mounts
        .lines()
        .filter(|line| line.contains(" - cgroup2 "))
        .filter_map(|line| line.split(' ').nth(4));
    points.flat_map(|point| below(Path::new(point), &format!("openfang-{parent}-"))).collect()
}

fn below(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .flat_map(|entry| match entry.file_name().to_string_lossy().starts_with(prefix) {
            true => vec![entry.path()],
            false => below(&entry.path(), prefix),
        })
        .collect()
}

/// The children of a process whose command line ends like this.
pub(crate) fn children_of(parent: u32, ending: &str) -> Vec<i32> {
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1) == Some(&parent.to_string())
    };
    processes()
        .filter(|(pid, line)| line.trim_end().ends_with(ending) && is_child(pid))
        .map(|(pid, _)| pid)
        .collect()
}

/// A signal, from the test itself.
pub(crate) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Our children that nobody reaped.
pub(crate) fn zombies_of(parent: u32) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let mut fields = stat.rsplit(')').next().unwrap().split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&parent.to_string())
        })
        .collect()
}

pub(crate) fn processes() -> impl Iterator<Item = (i32, String)> {
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    })
}

/// Waits until something holds, and fails after a while.
pub(crate) async fn until<T: std::fmt::Debug>(within: Duration, mut look: impl FnMut() -> Result<(), T>) {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(()) => return,
            Err(seen) if begun.elapsed() > within => panic!("still {seen:?} after {within:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Nothing is in the list.
pub(crate) fn none<T>(list: Vec<T>) -> Result<(), Vec<T>> {
    if list.is_empty() { Ok(()) } else { Err(list) }
}

/// A mark that nobody else has.
pub(crate) fn mark() -> String {
    format!("mark-{}-{}", std::process::id(), std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos())
}

/// This test binary in another process, doing the part of `test` that is for drivers.
pub(crate) struct Driver {
    command: Command,
    /// Who it runs as, if not as we do.
    user: Option<u32>,
    /// Where it runs; it may write there.
    pub(crate) directory: tempfile::TempDir,
}

impl Driver {
    #[expect(clippy::disallowed_methods, reason = "a parent that can be killed is another process")]
    pub(crate) fn new(test: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env_clear();
        command.env("PATH", "/usr/bin:/bin").env(DRIVE, directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        Self { command, user: None, directory }
    }

    /// As a user without rights, from copies that such a user can read.
    pub(crate) fn as_nobody(test: &str) -> Self {
        let mut driver = Self::new(test);
        let directory = driver.directory.path().to_owned();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
        let driving = copy(&std::env::current_exe().unwrap(), &directory.join("driver"));
        copy(Path::new(env!("CARGO_BIN_EXE_openfang")), &directory.join("openfang-helper"));
        let arguments: Vec<_> = driver.command.get_args().map(std::ffi::OsStr::to_owned).collect();
        driver.command = renewed(&driving, &directory);
        driver.command.args(arguments);
        // Only root can be somebody else; another developer has few enough rights already.
        driver.user = rustix::process::getuid().is_root().then(unused_user);
        driver.user.map(|user| driver.command.uid(user).gid(user));
        driver
    }

    /// Lets a shell do something in the directory first, such as leave a file open.
    #[expect(clippy::disallowed_methods, reason = "a shell can leave descriptors open, which we cannot")]
    pub(crate) fn through_shell(&mut self, first: &str) -> &mut Command {
        let mut shell = Command::new("/bin/sh");
        shell
            .arg("-c")
            .arg(format!("{first}; exec \"$0\" \"$@\""))
            .arg(self.command.get_program());
        shell
            .args(self.command.get_args())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env(DRIVE, self.directory.path());
        shell.current_dir(self.directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
        self.user.map(|user| shell.uid(user).gid(user));
        self.command = shell;
        &mut self.command
    }

    pub(crate) fn spawn(&mut self) -> Parent {
        Parent(self.command.spawn().unwrap())
    }

    /// Runs it to its end, which must be a good one.
    pub(crate) fn run(&mut self) {
        assert!(self.command.status().unwrap().success(), "the driver failed, see above");
    }
}

/// A driver that runs; it is killed when its test ends.
pub(crate) struct Parent(std::process::Child);

impl Parent {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// With KILL, so that it can do nothing about it.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a parent of another user is another process")]
fn renewed(driving: &Path, directory: &Path) -> Command {
    let mut command = Command::new(driving);
    command.env_clear().env("PATH", "/usr/bin:/bin").env(DRIVE, directory).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

fn unused_user() -> u32 {
    static USED: AtomicU32 = AtomicU32::new(0);
    NOBODY + std::process::id() * 16 + USED.fetch_add(1, Ordering::Relaxed) % 16
}

fn copy(from: &Path, to: &Path) -> PathBuf {
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).unwrap();
    }
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755)).unwrap();
    to.to_owned()
}

/// Where a driver works; none in an ordinary run, in which a driver's part returns at once.
#[expect(clippy::disallowed_methods, reason = "a driver is told by its environment that it is one")]
pub(crate) fn driven() -> Option<PathBuf> {
    std::env::var_os(DRIVE).map(PathBuf::from)
}

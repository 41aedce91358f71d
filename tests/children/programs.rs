//! What starts and what does not, and what is said about it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use openfang_egress::process::{Ending, EnvironmentKind, Exit, Launch, ProcessError, Program};

use super::fixture::{House, none, output, program, shell};

#[tokio::test]
async fn a_program_runs_with_its_arguments_directory_and_exit_code() {
    let house = House::new();
    let mut launch = shell(EnvironmentKind::McpServer, "echo \"$0 $1\"; pwd; echo oops >&2; exit 3");
    launch.arguments.extend(["zero".into(), "o n e".into()]);
    launch.directory = "/usr".into();

    let mut child = house.start(launch).await;
    let written = output(&mut child).await;
    let exit = child.wait().await;

    assert_eq!(written, "zero o n e\n/usr\n");
    assert_eq!(child.stderr_tail(), "oops\n");
    assert_eq!(exit, Exit { ending: Ending::Code(3), asked: false });
    assert_eq!(child.wait().await, exit);
}

#[tokio::test]
async fn what_cannot_run_is_said_precisely_and_leaves_nothing() {
    let house = House::new();
    let mut nowhere = program("true", EnvironmentKind::Tool);
    nowhere.directory = "/nonexistent/place".into();
    let rows = [
        (nowhere, "/usr/bin/true cannot run in /nonexistent/place: No such file or directory (os error 2)"),
        (script(&house, "#!/nonexistent/interpreter -x\n"), "its interpreter `/nonexistent/interpreter` is missing"),
        (script(&house, "#!/etc/passwd\n"), "cannot be run: Permission denied (os error 13)"),
    ];

    for (launch, expected) in rows {
        let message = house.door.start(launch).await.unwrap_err().to_string();
        assert!(message.contains(expected), "`{expected}` is not in `{message}`");
    }

    house.tracker.close();
    house.tracker.wait().await;
    none(house.homes()).unwrap();
}

#[tokio::test]
async fn too_much_to_tell_a_child_is_an_error() {
    let house = House::new();
    let mut large = program("true", EnvironmentKind::Tool);
    large.arguments = vec!["x".repeat(200_000).into()];
    let mut enormous = program("true", EnvironmentKind::Tool);
    enormous.arguments = vec!["x".repeat(100_000).into(); 100];

    for launch in [large, enormous] {
        let error = house.door.start(launch).await.unwrap_err();
        assert!(error.to_string().contains("Argument list too long"), "{error}");
    }
}

#[tokio::test]
async fn without_its_helper_the_door_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let config = openfang_egress::process::DoorConfig {
        helper: directory.path().join("openfang"),
        temporary: directory.path().to_owned(),
        isolation: Default::default(),
    };
    let door = openfang_egress::process::ProcessDoor::open(config, Default::default(), Default::default()).unwrap();

    let error = door.start(program("true", EnvironmentKind::Tool)).await.unwrap_err();

    assert!(matches!(error, ProcessError::Helper { .. }), "{error}");
    assert!(error.to_string().contains("cannot be started: No such file"), "{error}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "as somebody would run it by hand")]
fn a_helper_that_is_run_by_hand_does_nothing() {
    for helper in ["__child", "__reaper"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_openfang"));
        let ran = command.arg(helper).stdin(std::process::Stdio::null()).output().unwrap();

        assert_eq!(ran.status.code(), Some(64));
        assert_eq!(
            String::from_utf8_lossy(&ran.stderr),
            format!("{helper} is for openfang itself; see `openfang --help`\n")
        );
    }
}

/// An executable file with this text.
fn script(house: &House, text: &str) -> Launch {
    let path = house.directory.path().join(format!("script-{}", text.len()));
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut launch = program("true", EnvironmentKind::Tool);
    launch.program = Program::resolve(path.to_str().unwrap(), launch.environment.path(), Path::new("/")).unwrap();
    launch
}

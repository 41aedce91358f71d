//! Errors: the exit code, the sentence for people and the object for programs.

use openfang_types::limits::DAEMON_ANSWER_MAX_BYTES;

use super::*;

fn refusal(message: &str) -> CliError {
    let (code, message) = ("unknown_tool".to_owned(), message.to_owned());
    CliError::Refused(Refusal { code, message, trace: Some("t-1".to_owned()) })
}

fn io_error(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "no")
}

fn address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1))
}

#[test]
fn every_error_has_its_exit_code_and_a_next_step() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.toml");
    std::fs::write(&config, "api_lisen = 1\n").unwrap();
    let faulty = openfang_kernel::config_file::load(&config, &[]).unwrap_err();
    let id = "0199c0de-0000-7000-8000-000000000001".parse().unwrap();
    let rows = [
        (refusal("there is no tool x"), Exit::Failed, "`openfang tool list`"),
        (CliError::Config(faulty), Exit::Config, "did you mean api_listen?"),
        (CliError::NoHome, Exit::Config, "--home"),
        (CliError::Usage("wrong; write it so".to_owned()), Exit::Usage, "write it so"),
        (
            CliError::Daemon(DaemonError::TooLarge { limit: DAEMON_ANSWER_MAX_BYTES }),
            Exit::NoDaemon,
            "request less at a time",
        ),
        (
            CliError::NeedsDaemon { what: "task list", start: "openfang start".to_owned() },
            Exit::NoDaemon,
            "start one with `openfang start`",
        ),
        (CliError::Maintenance(MaintenanceError::NoRow { n: 7 }), Exit::Failed, "openfang audit tail"),
        (CliError::CutOff { id }, Exit::NoDaemon, "openfang task watch"),
        (
            CliError::AlreadyRunning { pid: 1, address: address(), stop: "openfang stop".to_owned() },
            Exit::Failed,
            "stop it with `openfang stop`",
        ),
        (CliError::Listen { address: address(), cause: io_error(io::ErrorKind::AddrInUse) }, Exit::Failed, "--listen"),
        (CliError::Input(io_error(io::ErrorKind::InvalidData)), Exit::Failed, "as an argument"),
        (CliError::Output(io_error(io::ErrorKind::StorageFull)), Exit::Failed, "check its destination"),
        (CliError::Answer { why: "x".to_owned() }, Exit::Failed, "openfang status"),
        (CliError::StillStopping { pid: 7 }, Exit::Failed, "kill -9 7"),
        (
            CliError::NotSignalled { pid: 7, cause: io_error(io::ErrorKind::PermissionDenied) },
            Exit::Failed,
            "the user who started it",
        ),
        (CliError::Runtime(io_error(io::ErrorKind::OutOfMemory)), Exit::Failed, "ulimit"),
    ];
    for (error, exit, next_step) in rows {
        assert_eq!(error.exit(), exit, "{error}");
        assert!(error.to_text().contains(next_step), "{error}");
        let json = error.to_json();
        assert_eq!(json["error"]["message"], error.to_string());
        assert!(json["error"]["code"].as_str().is_some_and(|code| !code.is_empty()), "{json}");
    }
}

#[test]
fn a_refusal_keeps_the_words_of_the_api() {
    let json = refusal("no such tool").to_json();

    let expected = json!({ "error": { "code": "unknown_tool", "message": "no such tool", "trace": "t-1" } });
    assert_eq!(json, expected);
}

#[test]
fn the_trace_id_is_shown_to_people_where_the_message_sends_them_to_the_log() {
    assert_eq!(refusal("no such tool").to_text(), "no such tool; `openfang tool list` lists the tools you may call");
    assert_eq!(refusal("see the trace id").to_text(), "see the trace id (trace id t-1)");
}

#[test]
fn the_faults_of_a_configuration_are_listed_one_by_one() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.toml");
    std::fs::write(&config, "api_lisen = 1\n\n[limts]\n").unwrap();
    let error = CliError::from(openfang_kernel::config_file::load(&config, &[]).unwrap_err());

    let json = error.to_json();

    let keys: Vec<&str> = json["error"]["faults"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["key"].as_str())
        .collect();
    assert_eq!(keys, ["api_lisen", "limts"]);
    assert_eq!(error.to_text().lines().count(), 2);
}

#[test]
fn an_agent_that_cannot_be_read_does_not_stop_a_start() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("agents").join("x");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("agent.toml"), "nme = \"x\"\n").unwrap();
    let home = openfang_kernel::home::Home::at(home.path().to_owned());
    home.prepare().unwrap();

    let started = openfang_kernel::Boot::new(home, openfang_types::config::Config::default()).start();

    assert!(started.is_ok());
}

#[test]
fn only_a_pipe_that_nobody_reads_is_quiet() {
    assert!(CliError::Output(io_error(io::ErrorKind::BrokenPipe)).is_broken_pipe());
    assert!(!CliError::Output(io_error(io::ErrorKind::StorageFull)).is_broken_pipe());
    assert!(!CliError::Input(io_error(io::ErrorKind::BrokenPipe)).is_broken_pipe());
}

//! The daemon file: who may have written it, and what must be in it.

use super::*;

fn file() -> DaemonFile {
    DaemonFile {
        pid: 4711,
        address: "127.0.0.1:50051".parse().unwrap(),
        token: Secret::new("0123456789abcdef".to_owned()),
        version: "0.1.0".to_owned(),
    }
}

fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("daemon.json");
    (home, path)
}

fn write_text(path: &Path, text: &str) {
    let _ = std::fs::remove_file(path);
    write_private(path, text.as_bytes()).unwrap();
}

fn refusal(path: &Path) -> String {
    DaemonFile::read(path).unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read_back_and_nothing_else_is_left_behind() {
    let (home, path) = home();

    file().write(&path).unwrap();
    file().write(&path).unwrap();

    assert_eq!(DaemonFile::read(&path).unwrap(), Some(file()));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn no_file_is_no_daemon() {
    let (_home, path) = home();

    assert_eq!(DaemonFile::read(&path).unwrap(), None);
}

#[test]
fn the_token_is_not_in_the_debug_output() {
    assert!(!format!("{:?}", file()).contains("0123456789abcdef"));
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_home, path) = home();

    file().write(&path).unwrap();

    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_home, path) = home();
    file().write(&path).unwrap();
    for mode in [0o640, 0o604, 0o660, 0o622, 0o700 | 0o001] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();

        let refused = DaemonFile::read(&path);

        assert!(matches!(refused, Err(DaemonError::NotPrivate { mode: seen, .. }) if seen == mode), "{mode:o}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_refused() {
    let (_home, path) = home();
    file().write(&path).unwrap();
    // Root can give a file away; for everybody else root has files.
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(4711), None).unwrap();
        path
    } else {
        PathBuf::from("/etc/passwd")
    };

    let refused = DaemonFile::read(&foreign);

    assert!(matches!(refused, Err(DaemonError::NotOurs { .. })), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_its_place_does_not_hold_us_up() {
    let (_home, path) = home();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();

    assert!(refusal(&path).contains("not a regular file"));
}

#[test]
fn a_file_that_says_something_else_is_refused_without_being_quoted() {
    let (_home, path) = home();
    let rows = [
        ("", "line"),
        ("[]", "line"),
        (r#"{"pid": 1, "address": "127.0.0.1:1", "version": "1"}"#, "line 1"),
        (r#"{"pid": "s3cret", "address": "127.0.0.1:1", "token": "s3cret", "version": "1"}"#, "line 1"),
        (r#"{"pid": 1, "address": "s3cret", "token": "s3cret", "version": "1"}"#, "line 1"),
        (r#"{"pid": 1, "address": "127.0.0.1:1", "token": "", "version": "1"}"#, "token"),
        (r#"{"pid": 1, "address": "127.0.0.1:1", "token": "s3cret\r\nx: y", "version": "1"}"#, "token"),
    ];
    for (text, expected) in rows {
        write_text(&path, text);

        let refused = refusal(&path);

        assert!(refused.contains(expected) && !refused.contains("s3cret"), "{text}: {refused}");
        assert!(refused.contains("start the daemon again"), "{refused}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let (_home, path) = home();
    write_text(&path, &" ".repeat(20_000));

    assert!(refusal(&path).contains("too large"));
}

#[test]
fn members_of_a_newer_daemon_are_ignored() {
    let (_home, path) = home();
    write_text(
        &path,
        r#"{"pid":4711,"address":"127.0.0.1:50051","token":"0123456789abcdef","version":"0.1.0","new":1}"#,
    );

    assert_eq!(DaemonFile::read(&path).unwrap(), Some(file()));
}

#[test]
fn only_ones_own_file_is_removed() {
    let (_home, path) = home();
    let other = DaemonFile { token: Secret::new("another".to_owned()), ..file() };
    other.write(&path).unwrap();

    file().remove(&path).unwrap();
    assert!(path.exists());

    other.remove(&path).unwrap();
    assert!(!path.exists());
    other.remove(&path).unwrap();
}

#[test]
fn an_address_that_stands_for_all_is_dialled_over_loopback() {
    let rows = [
        ("0.0.0.0:80", "127.0.0.1:80"),
        ("[::]:80", "[::1]:80"),
        ("127.0.0.1:80", "127.0.0.1:80"),
        ("192.168.1.5:80", "192.168.1.5:80"),
    ];
    for (listen, dialled) in rows {
        let file = DaemonFile { address: listen.parse().unwrap(), ..file() };

        assert_eq!(file.dial_address(), dialled.parse().unwrap());
    }
}

#[test]
fn ones_own_process_is_alive_and_an_impossible_one_is_not() {
    assert!(DaemonFile { pid: std::process::id(), ..file() }.is_alive());
    #[cfg(unix)]
    assert!(!DaemonFile { pid: u32::MAX, ..file() }.is_alive());
}

#[test]
fn a_file_that_was_copied_to_another_home_says_nothing() {
    let ((_home, path), (_other, copy)) = (home(), home());
    file().write(&path).unwrap();

    std::fs::copy(&path, &copy).unwrap();

    assert_eq!(DaemonFile::read(&copy).unwrap(), None);
    assert_eq!(DaemonFile::read(&path).unwrap(), Some(file()));
}

#[cfg(unix)]
#[test]
fn a_home_under_another_name_is_the_same_home() {
    let (home, path) = home();
    file().write(&path).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(home.path(), &link).unwrap();

    assert_eq!(DaemonFile::read(&link.join("daemon.json")).unwrap(), Some(file()));
}

//! What a home remembers: a database, users or a key that are lost are never taken for a first start.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use crate::support::binary::{Daemon, Openfang, Ran};

const KEY: (&str, &str) = ("OPENFANG_API_KEY", "0123456789abcdef0123");

/// A home with a user whose server was killed, so that everything is still in the log.
fn killed_with_a_user() -> Openfang {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "*"]).code, 0);
    end(&mut daemon, "KILL");
    openfang
}

/// A home with a user whose server was stopped in order.
fn stopped_with_a_user() -> Openfang {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "*"]).code, 0);
    end(&mut daemon, "TERM");
    openfang
}

fn end(daemon: &mut Daemon, signal: &str) {
    daemon.signal(signal);
    daemon.wait();
}

fn database(openfang: &Openfang) -> PathBuf {
    openfang.home().join("data/openfang.db")
}

fn log(openfang: &Openfang) -> PathBuf {
    openfang.home().join("data/openfang.db-wal")
}

#[track_caller]
fn refused(openfang: &Openfang, variable: Option<(&str, &str)>) -> Ran {
    match openfang.try_start(variable) {
        Ok(_) => panic!("the server started"),
        Err(ran) => ran,
    }
}

/// Every way into the home says the same, and names the two ways out.
#[track_caller]
fn assert_every_entry_is_refused(openfang: &Openfang) {
    let mut all = vec![refused(openfang, None)];
    let commands: [&[&str]; 6] = [
        &["mcp"],
        &["tool", "list"],
        &["user", "list"],
        &["agent", "send", "starter", "Ada"],
        &["audit", "tail"],
        &["backup", "/nowhere/backup.db"],
    ];
    all.extend(commands.iter().map(|command| openfang.run(command)));
    for ran in all {
        assert_eq!(ran.code, 1, "{ran:?}");
        for expected in ["openfang.db", "openfang restore", "openfang home accept"] {
            assert!(ran.stderr.contains(expected), "{expected} is missing in {ran:?}");
        }
    }
}

#[test]
fn a_flipped_bit_in_the_log_is_not_a_first_start_and_nothing_is_overwritten() {
    // The head of the log, the head of its first frame, and the first page in it.
    for offset in [9, 40, 200] {
        let openfang = killed_with_a_user();
        let mut damaged = fs::read(log(&openfang)).unwrap();
        damaged[offset] ^= 4;
        fs::write(log(&openfang), &damaged).unwrap();

        assert_every_entry_is_refused(&openfang);

        assert_eq!(fs::read(log(&openfang)).unwrap(), damaged, "what may be saved is left alone");
    }
}

#[test]
fn a_log_whose_end_is_lost_does_not_let_everybody_in() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    let before = fs::read(log(&openfang)).unwrap();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "*"]).code, 0);
    end(&mut daemon, "KILL");
    let mut damaged = fs::read(log(&openfang)).unwrap();
    // The server may have begun the log anew in between, so what was written last is not always at its end.
    let same = damaged.iter().zip(&before).take_while(|(after, before)| after == before).count();
    damaged[same + 100] ^= 1;
    fs::write(log(&openfang), damaged).unwrap();

    let ran = refused(&openfang, None);

    assert_eq!(ran.code, 1, "{ran:?}");
    for expected in ["users", "openfang restore", "openfang user add", "openfang home accept"] {
        assert!(ran.stderr.contains(expected), "{expected} is missing in {ran:?}");
    }
}

#[test]
fn a_missing_or_empty_database_is_not_a_first_start() {
    let removed = stopped_with_a_user();
    fs::remove_file(database(&removed)).unwrap();
    assert_every_entry_is_refused(&removed);
    assert!(!database(&removed).exists(), "a start that is refused makes nothing");

    let emptied = stopped_with_a_user();
    fs::write(database(&emptied), b"").unwrap();
    assert_every_entry_is_refused(&emptied);

    let whole_directory = stopped_with_a_user();
    fs::remove_dir_all(whole_directory.home().join("data")).unwrap();
    assert_every_entry_is_refused(&whole_directory);
}

#[test]
fn the_database_of_another_home_is_refused() {
    let (ours, theirs) = (stopped_with_a_user(), Openfang::new());
    assert_eq!(theirs.run(&["tool", "call", "get_counter"]).code, 0);
    fs::copy(database(&theirs), database(&ours)).unwrap();

    assert_every_entry_is_refused(&ours);
}

#[test]
fn a_database_without_one_of_its_tables_is_refused() {
    let openfang = stopped_with_a_user();
    let mut bytes = fs::read(database(&openfang)).unwrap();
    let name = b"a2a_tasks";
    let places: Vec<usize> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    places.iter().for_each(|at| bytes[*at] = b'b');
    fs::write(database(&openfang), bytes).unwrap();

    let ran = refused(&openfang, None);

    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("openfang restore"), "{ran:?}");
}

#[test]
fn a_backup_of_this_home_is_taken_in_the_place_of_what_was_lost() {
    let openfang = stopped_with_a_user();
    let backup = openfang.scratch("backup.db");
    assert_eq!(openfang.run(&["backup", backup.to_str().unwrap()]).code, 0);
    fs::remove_file(database(&openfang)).unwrap();
    assert_eq!(refused(&openfang, None).code, 1);

    fs::copy(&backup, database(&openfang)).unwrap();

    assert!(openfang.try_start(None).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_lost_is_given_up_only_deliberately_and_that_is_audited() {
    let openfang = killed_with_a_user();
    let mut damaged = fs::read(log(&openfang)).unwrap();
    damaged[9] ^= 4;
    fs::write(log(&openfang), &damaged).unwrap();
    assert_eq!(refused(&openfang, None).code, 1);

    let accepted = openfang.run(&["home", "accept"]);

    assert_eq!(accepted.code, 0, "{accepted:?}");
    let kept = fs::read_dir(openfang.home().join("data")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<PathBuf> = kept.filter(|path| path.to_string_lossy().contains(".lost-")).collect();
    assert!(kept.iter().any(|path| fs::read(path).unwrap() == damaged), "the damaged log is kept: {kept:?}");
    let daemon = openfang.try_start(None).unwrap_or_else(|ran| panic!("{ran:?}"));
    assert_eq!(daemon.client().get("/api/tools").await.status, 200);
    let audited = openfang.run(&["audit", "tail"]);
    for expected in ["accept loss of database", "accept loss of users"] {
        assert!(audited.stdout.contains(expected), "{expected} is missing in {audited:?}");
    }
    let nothing = openfang.run(&["home", "accept"]);
    assert_ne!(nothing.code, 0, "not while a server runs: {nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_gone_from_the_environment_does_not_let_everybody_in() {
    let openfang = Openfang::new();
    let mut daemon = openfang.try_start(Some(KEY)).unwrap_or_else(|ran| panic!("{ran:?}"));
    assert_eq!(daemon.client().get("/api/tools").await.status, 401);
    end(&mut daemon, "TERM");

    let ran = refused(&openfang, None);

    assert_eq!(ran.code, 1, "{ran:?}");
    for expected in ["api_key", "OPENFANG_API_KEY", "openfang home accept"] {
        assert!(ran.stderr.contains(expected), "{expected} is missing in {ran:?}");
    }
    assert_eq!(openfang.run(&["tool", "list"]).code, 0, "the operator's own commands need no key");
    end(&mut openfang.try_start(Some(KEY)).unwrap_or_else(|ran| panic!("{ran:?}")), "TERM");
    assert_eq!(openfang.run(&["home", "accept"]).code, 0);
    assert!(openfang.try_start(None).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_the_last_user_lets_nobody_in_before_or_after_the_next_start() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "*"]).code, 0);
    assert_eq!(openfang.run(&["user", "remove", "ada"]).code, 0);
    assert_eq!(daemon.client().get("/api/tools").await.status, 401);
    end(&mut daemon, "TERM");

    let ran = refused(&openfang, None);

    assert!(ran.stderr.contains("openfang user add") && ran.stderr.contains("openfang home accept"), "{ran:?}");
    assert_eq!(openfang.run(&["user", "add", "bob", "--grant", "*"]).code, 0);
    assert!(openfang.try_start(None).is_ok(), "a user is protection again");
}

#[test]
fn a_lost_key_of_the_home_is_not_made_anew() {
    let openfang = stopped_with_a_user();
    fs::remove_file(openfang.home().join("data/secret.key")).unwrap();

    for ran in [refused(&openfang, None), openfang.run(&["mcp"]), openfang.run(&["tool", "list"])] {
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("secret.key") && ran.stderr.contains("openfang home accept"), "{ran:?}");
    }
    assert!(!openfang.home().join("data/secret.key").exists());

    assert_eq!(openfang.run(&["home", "accept"]).code, 0);
    assert!(openfang.try_start(None).is_ok());
}

#[test]
fn a_home_of_an_earlier_version_is_taken_as_it_is() {
    let openfang = stopped_with_a_user();
    fs::remove_file(openfang.home().join("home.json")).unwrap();

    let mut daemon = openfang.try_start(None).unwrap_or_else(|ran| panic!("{ran:?}"));
    end(&mut daemon, "TERM");

    fs::remove_file(database(&openfang)).unwrap();
    assert_every_entry_is_refused(&openfang);
}

/// What a home of an earlier version has: no `home.json`.
fn forgets(openfang: &Openfang) {
    fs::remove_file(openfang.home().join("home.json")).unwrap();
}

#[test]
fn a_lost_database_of_an_earlier_version_is_not_a_first_start() {
    let flipped = killed_with_a_user();
    forgets(&flipped);
    let mut damaged = fs::read(log(&flipped)).unwrap();
    damaged[9] ^= 4;
    fs::write(log(&flipped), &damaged).unwrap();

    let emptied = stopped_with_a_user();
    forgets(&emptied);
    fs::write(database(&emptied), b"").unwrap();

    let only_the_key = stopped_with_a_user();
    forgets(&only_the_key);
    fs::remove_file(database(&only_the_key)).unwrap();

    let only_the_log = killed_with_a_user();
    forgets(&only_the_log);
    fs::remove_file(database(&only_the_log)).unwrap();
    fs::remove_file(only_the_log.home().join("data/secret.key")).unwrap();

    for openfang in [&flipped, &emptied, &only_the_key, &only_the_log] {
        for ran in [refused(openfang, None), openfang.run(&["tool", "list"])] {
            assert_eq!(ran.code, 1, "{ran:?}");
            for expected in ["openfang.db", "openfang restore", "openfang home accept"] {
                assert!(ran.stderr.contains(expected), "{expected} is missing in {ran:?}");
            }
        }
    }
    assert_eq!(fs::read(log(&flipped)).unwrap(), damaged, "what may be saved is left alone");
    assert!(!database(&only_the_key).exists(), "a start that is refused makes nothing");

    for openfang in [&flipped, &emptied, &only_the_key, &only_the_log] {
        let accepted = openfang.run(&["home", "accept"]);
        assert_eq!(accepted.code, 0, "{accepted:?}");
        assert!(openfang.try_start(None).is_ok());
    }
}

#[test]
fn commands_that_meet_at_the_first_start_of_a_home_make_one_database() {
    let openfang = Openfang::new();
    let all: Vec<_> = (0..4).map(|_| openfang.in_process(&["tool", "list"])).collect();

    for running in all {
        let ran = running.finished();
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_the_whole_database_is_checked_and_the_health_says_so() {
    let openfang = Openfang::new();
    let mut first = openfang.start();
    assert_eq!(first.client().get("/health").await.json().get("check"), None, "nothing to check");
    end(&mut first, "KILL");

    let second = openfang.start();

    loop {
        let health = second.client().get("/health").await;
        assert_eq!((health.status, &health.json()["status"]), (200, &json!("ok")));
        match health.json()["check"].as_str().unwrap() {
            "running" => {}
            word => return assert_eq!(word, "ok"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_that_shows_at_work_makes_the_health_red() {
    use std::os::unix::fs::FileExt as _;
    let openfang = Openfang::new();
    // Too long for the pages that are read at the start and then cached.
    let sent = openfang.run(&["agent", "send", "starter", &"x".repeat(100_000), "--json"]).json();
    let task = sent["task"]["id"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned();
    let daemon = openfang.start();
    assert_eq!(daemon.client().get("/health").await.status, 200);
    let file = fs::OpenOptions::new().write(true).open(database(&openfang)).unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&vec![0xff; usize::try_from(length).unwrap() - 8_192], 8_192).unwrap();

    let read = daemon.client().get(&format!("/api/tasks/{task}")).await;

    assert!(read.status >= 500, "{read:?}");
    let health = daemon.client().get("/health").await;
    assert_eq!((health.status, &health.json()["status"]), (503, &json!("failing")), "{health:?}");
    assert_eq!(openfang.run(&["stop"]).code, 0, "a server that is ill can be stopped");
}

#[test]
fn a_copied_home_does_not_reach_the_originals_server() {
    let (original, copy) = (Openfang::new(), Openfang::new());
    let daemon = original.start();
    copy_directory(&original.home(), &copy.home());

    let status = copy.run(&["status", "--json"]);
    assert_eq!((status.code, &status.json()["running"]), (3, &json!(false)), "{status:?}");
    assert_eq!(copy.run(&["user", "add", "mallory", "--grant", "*"]).code, 0, "this works in process, on the copy");
    assert_eq!(copy.run(&["stop"]).code, 0);

    assert_eq!(
        original.run(&["user", "list", "--json"]).json(),
        json!({"users": []}),
        "nothing happened to the original"
    );
    assert_eq!(original.run(&["status", "--json"]).json()["pid"], daemon.pid());
    let own = copy.try_start(None).unwrap_or_else(|ran| panic!("{ran:?}"));
    assert_ne!(own.pid(), daemon.pid(), "the copy has a server of its own");
}

fn copy_directory(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn whatever_the_umask_files_are_0600_and_directories_0700_and_programs_keep_the_umask() {
    for umask in ["000", "022", "277", "777"] {
        let openfang = Openfang::new();
        let seen = openfang.scratch("umask");
        let server = format!(
            "[[mcp_servers]]\nname = \"mask\"\ntransport = {{ type = \"stdio\", command = \"sh\", args = [\"-c\", \"umask > {0}.new; mv {0}.new {0}; cat\"] }}\n",
            seen.display()
        );
        openfang.write("config.toml", &server);
        for path in [openfang.home(), openfang.home().join("config.toml")] {
            let mode = if path.is_dir() { 0o700 } else { 0o600 };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let daemon = openfang.start_under(&["sh", "-c", &format!("umask {umask}; exec \"$@\""), "sh"]);
        while !seen.exists() {
            std::thread::yield_now();
        }

        assert_eq!(fs::read_to_string(&seen).unwrap().trim(), format!("0{umask}"));
        assert_private(&openfang.home());
        drop(daemon);
    }
}

#[track_caller]
fn assert_private(path: &std::path::Path) {
    let found = fs::symlink_metadata(path).unwrap();
    let expected = if found.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(found.permissions().mode() & 0o777, expected, "{}", path.display());
    if found.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| assert_private(&entry.unwrap().path()));
    }
}

#[test]
fn a_home_or_config_that_everybody_may_write_is_refused() {
    let openfang = Openfang::new();
    assert_eq!(openfang.run(&["tool", "call", "get_counter"]).code, 0);
    for (name, mode, private) in [("", 0o707, 0o700), ("config.toml", 0o602, 0o600), ("data", 0o703, 0o700)] {
        let path = openfang.home().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();

        let start = refused(&openfang, None);
        for ran in [start, openfang.run(&["tool", "list"]), openfang.run(&["mcp"]), openfang.run(&["config", "check"])]
        {
            assert_eq!(ran.code, 64, "{name}: {ran:?}");
            assert!(ran.stderr.contains("chmod go-w"), "{name}: {ran:?}");
        }

        fs::set_permissions(&path, fs::Permissions::from_mode(private)).unwrap();
    }
    fs::set_permissions(openfang.home().join("config.toml"), fs::Permissions::from_mode(0o660)).unwrap();
    let told = openfang.run(&["tool", "list"]);
    assert!(told.code == 0 && told.stderr.contains("chmod g-w"), "{told:?}");
}

//! What a session makes of its flags.

use super::*;

fn session(global: &Global) -> Session {
    Session::new(global, Output::new(global)).unwrap()
}

#[test]
fn commands_to_copy_lead_back_to_the_same_home() {
    let at = |home: &str| session(&Global { home: Some(home.into()), ..Global::default() }).command("start");

    assert_eq!(at("/a/b-c"), "openfang --home /a/b-c start");
    assert_eq!(at("/a b/it's"), r"openfang --home '/a b/it'\''s' start");
}

#[test]
fn a_relative_home_becomes_absolute() {
    let session = session(&Global { home: Some("somewhere".into()), ..Global::default() });

    assert!(session.home.root().is_absolute());
}

#[test]
fn a_single_command_logs_warnings_unless_it_is_told_otherwise() {
    let home = Some("/h".into());

    let quiet = session(&Global { home: home.clone(), ..Global::default() });
    let loud = session(&Global { home, log_level: Some("trace".to_owned()), ..Global::default() });

    assert_eq!(quiet.command_log().level, LogLevel::Warn);
    assert_eq!(loud.command_log().level, LogLevel::Trace);
}

#[test]
fn a_flag_overlays_the_file_and_is_named_when_it_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.toml"), "api_listen = \"127.0.0.1:1\"\n").unwrap();
    let session = session(&Global { home: Some(home.path().to_owned()), ..Global::default() });

    let config = session.config(&[flag("--listen", "api_listen", "127.0.0.1:2")]).unwrap();
    assert_eq!(config.api_listen.port(), 2);

    let refused = session.config(&[flag("--listen", "api_listen", "nowhere")]).unwrap_err();
    assert!(refused.to_string().starts_with("flag --listen: api_listen: "), "{refused}");

    let everywhere = [flag("--listen", "api_listen", "0.0.0.0:2")];
    let problem = session.config(&everywhere).unwrap().exposure().unwrap();
    let refused = session.faulty(&everywhere, problem.clone());
    assert!(refused.to_string().starts_with("flag --listen: api_listen: 0.0.0.0:2 is reachable"), "{refused}");
    let refused = session.faulty(&[], problem);
    assert!(refused.to_string().contains("config.toml:1: api_listen: "), "{refused}");
}

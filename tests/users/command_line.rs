//! `openfang user` and `openfang key`, with and without a server.

use serde_json::json;

use crate::support::binary::Openfang;

/// Runs the whole story and returns what was printed, with what differs each time taken out.
fn story(openfang: &Openfang) -> Vec<(i32, String)> {
    let mut told = Vec::new();
    let mut tell = |ran: crate::support::binary::Ran| {
        told.push((ran.code, format!("{}{}", ran.stdout, ran.stderr)));
        ran.stdout
    };
    tell(openfang.run(&["user", "list", "--json"]));
    tell(openfang.run(&["user", "add", "ada", "--grant", "get_*", "--grant", "agent:starter/*", "-q"]));
    tell(openfang.run_with_input(&["user", "add", "bob", "--password-stdin", "-q"], b"correct horse\n"));
    tell(openfang.run(&["user", "add", "ada", "-q"]));
    tell(openfang.run(&["user", "set-permissions", "adda", "x"]));
    tell(openfang.run(&["user", "set-permissions", "ada", "agent:"]));
    tell(openfang.run(&["user", "set-permissions", "ada", "file_*", "agent:starter"]));
    tell(openfang.run_with_input(&["user", "set-password", "ada", "--password-stdin"], b"short"));
    tell(openfang.run(&["user", "set-password", "bob", "--none"]));
    tell(openfang.run(&["key", "create", "boby"]));
    tell(openfang.run(&["key", "revoke", "ffffffffffff"]));
    let key = openfang.run(&["key", "create", "ada", "--label", "laptop", "-q"]);
    assert_eq!((key.code, key.stderr.as_str()), (0, ""));
    let listed = openfang.run(&["key", "list", "ada", "--json"]).json();
    let id = listed["keys"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(key.stdout.lines().count(), 1);
    assert!(key.stdout.starts_with(&format!("ofk_{id}_")), "{key:?}");
    assert_eq!(listed["keys"][0]["label"], "laptop");
    let revoked = openfang.run(&["key", "revoke", &id]);
    assert_eq!(revoked.stdout, format!("revoked {id} of ada\n"));
    assert!(openfang.run(&["key", "list", "ada"]).stdout.contains("revoked"));
    tell(openfang.run(&["user", "remove", "ada"]));
    tell(openfang.run(&["user", "add", "ada"]));
    tell(openfang.run(&["user", "add", "ada", "--again", "-q"]));
    told
}

#[test]
fn the_commands_say_and_do_the_same_with_a_server_and_without() {
    let (alone, served) = (Openfang::new(), Openfang::new());
    alone.run(&["tool", "call", "get_counter"]);
    let _daemon = served.start();

    let told = story(&alone);

    assert_eq!(told, story(&served));
    let said: Vec<(i32, &str)> = told.iter().map(|(code, text)| (*code, text.trim_end())).collect();
    assert_eq!(said[0], (0, "{\n  \"users\": []\n}"));
    assert_eq!(said[1], (0, "added ada: get_* agent:starter/*"));
    assert_eq!(said[2], (0, "added bob: no grants"));
    let refusals = [
        (
            3,
            "the user ada already exists; change the grants of that user instead; `openfang user grant NAME` adds grants",
        ),
        (4, "there is no user adda (did you mean ada?); `openfang user list` lists the users"),
        (5, "\"agent:\" is not a grant: use a tool pattern, server:NAME, agent:NAME, agent:NAME/* or skill:NAME"),
        (7, "a password has at least 10 characters and at most 1,024 bytes; choose another one"),
        (9, "there is no user boby (did you mean bob?); `openfang user list` lists the users"),
        (10, "there is no key ffffffffffff; `openfang key list` lists the keys"),
        (
            12,
            "a removed user was named ada, and their data is kept; choose another name, or pass the data on by adding the user `again`; `openfang user add NAME --again` does",
        ),
    ];
    for (place, expected) in refusals {
        assert_eq!(said[place], (1, format!("openfang: {expected}").as_str()));
    }
    let named =
        "file_*: 3 tools today (file_list, file_read, file_write)\nagent:starter: messages to the agent starter";
    assert_eq!(said[6], (0, format!("ada: file_* agent:starter\n{named}").as_str()));
    assert_eq!(said[8], (0, "bob has no password and cannot log in; existing logins have ended"));
    assert_eq!(said[11], (0, "removed ada; all keys and logins are revoked, and their running work ends"));
    assert_eq!(said[13], (0, "added ada: no grants"));
}

#[test]
fn a_new_user_and_a_new_key_come_with_what_to_do_next() {
    let openfang = Openfang::new();

    let added = openfang.run(&["user", "add", "ada", "--grant", "get_*"]);
    assert!(added.stderr.contains("key create ada"), "{added:?}");
    let made = openfang.run(&["key", "create", "ada", "--trust", "untrusted-agent"]);
    assert!(made.stderr.contains("only time") && made.stderr.contains("key revoke"), "{made:?}");
    assert!(!made.stderr.contains(made.stdout.trim()), "the key is on standard output alone");
    let listed = openfang.run(&["key", "list", "--json"]).json();
    assert_eq!(listed["keys"][0]["entryLabel"], "untrusted-agent");
    let user = openfang.run(&["user", "list", "--json"]).json();
    assert_eq!((&user["users"][0]["keys"], &user["users"][0]["hasPassword"]), (&json!(1), &json!(false)));
}

#[test]
fn what_cannot_be_typed_is_wrong_usage() {
    let openfang = Openfang::new();
    for arguments in [
        &["user", "add", "a b"][..],
        &["user", "set-permissions", "ada"],
        &["user", "set-password", "ada"],
        &["key", "revoke", "ofk_0123456789ab_canary"],
        &["key", "create", "ada", "--trust", "operator"],
    ] {
        let ran = openfang.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn an_address_for_everybody_is_refused_until_there_is_a_user_and_the_first_can_be_added() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "api_listen = \"0.0.0.0:0\"\n");
    for arguments in [&["start"][..], &["config", "check"]] {
        let ran = openfang.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran:?}");
        for expected in ["config.toml:1: api_listen: 0.0.0.0:0 is reachable", "set api_key", "openfang user add"] {
            assert!(ran.stderr.contains(expected), "{expected} is missing in\n{}", ran.stderr);
        }
    }
    assert!(!openfang.home().join("daemon.json").exists());

    assert_eq!(openfang.run(&["user", "add", "ada"]).code, 0);

    assert_eq!(openfang.run(&["config", "check"]).code, 0);
}

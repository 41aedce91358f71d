//! Commands for a server on another machine: keys stay with their origin, and what concerns this machine is refused.

use super::fixture::ok;
use crate::support::binary::Openfang;

#[test]
fn a_stored_key_serves_every_command_that_asks_a_server() {
    let (server, client) = (Openfang::new(), Openfang::new());
    let daemon = server.start();
    ok(server.run(&["user", "add", "ada", "--grant", "agent:starter/*", "--grant", "add_*"]));
    let key = ok(server.run(&["key", "create", "ada", "--json"])).json()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let url = format!("http://{}", daemon.address());

    let none = client.run(&["--url", &url, "agent", "list"]);
    assert!(none.code == 69 && none.stderr.contains("openfang login"), "{none:?}");
    let wrong = client.run_with_input(&["login", &url], b"ofk_000000000000_wrong\n");
    assert!(wrong.code == 69 && wrong.stderr.contains("wrong or revoked"), "{wrong:?}");
    let stored = client.run_with_input(&["login", &url], format!("{key}\n").as_bytes());
    assert!(stored.code == 0 && stored.stdout.contains("stored the key of ada"), "{stored:?}");
    assert!(!format!("{stored:?}").contains(&key));

    let far = |arguments: &[&str]| client.run(&[&["--url", &url], arguments].concat());
    assert!(ok(far(&["agent", "list"])).stdout.contains("starter"));
    assert_eq!(ok(far(&["tool", "call", "add_numbers", "a=3", "b=7"])).stdout.trim(), "10");
    assert!(ok(far(&["agent", "send", "starter", "Ada"])).stdout.contains("Hello, Ada!"));
    assert!(ok(far(&["agent", "send", "starter", "Ada", "--stream"])).stdout.contains("Hello, Ada!"));
    assert!(ok(far(&["task", "show", "last"])).stdout.contains("Hello, Ada!"));
    assert_eq!(ok(client.run_with(("OPENFANG_URL", &url), &["task", "list", "--json"])).json()["total"], 2);
    let chat = client.run_with_input(&["--url", &url, "chat", "starter"], b"Ada\nGrace\n");
    assert!(chat.code == 0 && chat.stdout.contains("Hello, Ada!") && chat.stdout.contains("Hello, Grace!"), "{chat:?}");
    let refused = far(&["user", "list"]);
    assert!(refused.code == 1 && refused.stderr.contains("only the admin"), "{refused:?}");
    let unknown = far(&["tool", "call", "add_number"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("add_number"), "{unknown:?}");

    ok(client.run(&["logout", &url]));
    assert_eq!(far(&["agent", "list"]).code, 69);
    drop(daemon);
    let gone = client.run_with_all(&[("OPENFANG_KEY", &*key)], &["--url", &url, "agent", "list"]);
    assert!(gone.code == 69 && !gone.stderr.contains(&key), "{gone:?}");
}

#[test]
fn a_key_goes_to_its_own_origin_and_never_in_the_clear() {
    let (one, client) = (Openfang::new(), Openfang::new());
    let daemon = one.start();
    ok(one.run(&["user", "add", "ada", "--grant", "*"]));
    let key = ok(one.run(&["key", "create", "ada", "--json"])).json()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let url = format!("http://{}", daemon.address());

    // The key of the environment belongs to the server of the environment.
    let variables = [("OPENFANG_URL", "https://openfang.example.com"), ("OPENFANG_KEY", &*key)];
    let elsewhere = client.run_with_all(&variables, &["--url", &url, "agent", "list"]);
    assert!(elsewhere.code == 69 && elsewhere.stderr.contains("it needs a key"), "{elsewhere:?}");
    let clear = client.run_with(("OPENFANG_KEY", &key), &["--url", "http://openfang.example.com", "agent", "list"]);
    assert!(clear.code == 2 && clear.stderr.contains("in the clear"), "{clear:?}");

    let file = client.scratch("key.txt");
    std::fs::write(&file, format!("{key}\n")).unwrap();
    let by_file = [("OPENFANG_URL", &*url), ("OPENFANG_KEY_FILE", file.to_str().unwrap())];
    assert!(ok(client.run_with_all(&by_file, &["tool", "list"])).stdout.contains("add_numbers"));
    // A URL that a command takes is not the server that the command is for.
    let found = ok(one.run(&["a2a", "discover", &url]));
    assert!(found.stdout.contains("starter"), "{found:?}");
}

#[test]
fn what_concerns_this_machine_is_not_done_for_another() {
    let client = Openfang::new();
    for command in [
        &["connect", "--list"][..],
        &["secret", "list"],
        &["stop"],
        &["doctor"],
        &["mcp", "add", "x", "--", "true"],
        &["mcp", "import"],
        &["backup", "x"],
        &["service", "status"],
        &["mcp", "--tools"],
        &["start"],
    ] {
        let refused = client.run(&[&["--url", "https://openfang.example.com"], command].concat());
        assert!(refused.code == 2 && refused.stderr.contains("works on this machine only"), "{command:?}: {refused:?}");
    }
    let by_variable = client.run_with(("OPENFANG_URL", "https://openfang.example.com"), &["secret", "list"]);
    assert!(by_variable.code == 2 && by_variable.stderr.contains("OPENFANG_URL"), "{by_variable:?}");
    assert!(!client.home().exists());
}

//! What the operator sees and stops: everybody's tasks, decisions for users, and grants one by one.

use serde_json::json;

use super::fixture::ok;
use crate::support::binary::Openfang;

/// A running server with the user ada, who has sent a message.
fn with_ada() -> (Openfang, crate::support::binary::Daemon, String) {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    ok(openfang.run(&["user", "add", "ada", "--grant", "agent:starter/*"]));
    let key = ok(openfang.run(&["key", "create", "ada", "--json"])).json()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    (openfang, daemon, key)
}

#[test]
fn the_operator_lists_shows_and_cancels_the_tasks_of_users() {
    let (openfang, daemon, key) = with_ada();
    let sent = with_key(&openfang, &daemon, &key, &["agent", "send", "starter", "Ada", "--json"]).json();
    let id = sent["task"]["id"].as_str().unwrap();
    ok(openfang.run(&["agent", "send", "starter", "Me"]));

    assert_eq!(ok(openfang.run(&["task", "list", "--json"])).json()["total"], 1, "the operator's own");
    let all = ok(openfang.run(&["task", "list", "--all"])).stdout;
    assert!(all.contains("ada") && all.contains("admin") && all.contains(id), "{all}");
    let users = ok(openfang.run(&["task", "list", "--all", "--json"])).json();
    assert_eq!((&users["users"][1]["user"], &users["users"][1]["total"]), (&json!("ada"), &json!(1)));
    let hers = ok(openfang.run(&["task", "list", "--user", "ada", "--json"])).json();
    assert_eq!(hers["tasks"][0]["id"], id);
    assert_eq!(openfang.run(&["task", "show", id]).code, 1, "another's task does not exist");
    assert!(
        ok(openfang.run(&["task", "show", "last", "--user", "ada"]))
            .stdout
            .contains("Hello, Ada!")
    );
    let ended = openfang.run(&["task", "cancel", id, "--user", "ada"]);
    assert!(ended.stderr.contains("completed"), "{ended:?}");
    let in_process = ok(openfang.run(&["task", "list", "--user", "ada", "--json", "--in-process"])).json();
    assert_eq!(in_process["tasks"][0]["id"], id);

    let unknown = openfang.run(&["task", "list", "--user", "ad"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("did you mean ada"), "{unknown:?}");
    let refused = with_key(&openfang, &daemon, &key, &["task", "list", "--user", "admin"]);
    assert!(refused.code == 1 && refused.stderr.contains("only the admin"), "{refused:?}");
    ok(openfang.run(&["user", "remove", "ada"]));
    assert_eq!(ok(openfang.run(&["task", "list", "--user", "ada", "--json"])).json()["total"], 1, "it is kept");
}

#[test]
fn decisions_are_explained_for_a_user() {
    let (openfang, _daemon, _key) = with_ada();
    openfang
        .write("agents/other/agent.toml", "name = \"other\"\ndescription = \"x\"\nmodel = { provider = \"direct\" }\n");
    ok(openfang.run(&["reload"]));

    assert_eq!(openfang.run(&["policy", "explain", "starter", "add_numbers", "--user", "ada"]).code, 0);
    let hidden = openfang.run(&["policy", "explain", "other", "add_numbers", "--user", "ada"]);
    assert!(hidden.code == 1 && hidden.stderr.contains("no agent other"), "{hidden:?}");
    assert!(
        ok(openfang.run(&["agent", "show", "starter", "--as", "ada"]))
            .stdout
            .contains("add_numbers")
    );
    assert_eq!(openfang.run(&["agent", "show", "other", "--as", "ada"]).code, 1);
}

#[test]
fn grants_come_and_go_one_by_one_and_each_says_what_it_names() {
    let (openfang, _daemon, _key) = with_ada();

    let granted = ok(openfang.run(&["user", "grant", "ada", "get_*", "agent:starter"]));
    assert!(granted.stderr.contains("get_*: 2 tools today (get_counter, get_greeting)"), "{granted:?}");
    assert!(granted.stderr.contains("agent:starter: messages to the agent starter"), "{granted:?}");
    let nothing = ok(openfang.run(&["user", "grant", "ada", "mcp_githbu_*"]));
    assert!(nothing.stderr.contains("mcp_githbu_* names no tool and no agent of today"), "{nothing:?}");
    let revoked = ok(openfang.run(&["user", "revoke", "ada", "mcp_githbu_*", "--json"]));
    assert_eq!(revoked.json()["grants"], json!(["agent:starter/*", "get_*", "agent:starter"]));

    let missing = openfang.run(&["user", "revoke", "ada", "get_*", "never"]);
    assert!(missing.code == 1 && missing.stderr.contains("does not have the grant never"), "{missing:?}");
    let users = ok(openfang.run(&["user", "list", "--json"])).json();
    assert_eq!(users["users"][0]["grants"].as_array().unwrap().len(), 3, "a change that fails changes nothing");
}

/// Runs a command as somebody who only has a key.
fn with_key(
    openfang: &Openfang,
    daemon: &crate::support::binary::Daemon,
    key: &str,
    arguments: &[&str],
) -> crate::support::binary::Ran {
    let home = openfang.scratch("elsewhere");
    let url = format!("http://{}", daemon.address());
    let variables = [("OPENFANG_HOME", home.to_str().unwrap()), ("OPENFANG_URL", &url), ("OPENFANG_KEY", key)];
    openfang.run_with_all(&variables, arguments)
}

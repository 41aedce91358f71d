//! A profile narrows what a client sees and can call: in every list, in both eras, with a daemon and without.

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use super::wire::{headed, initialize, modern, request};
use crate::support::binary::{Conversation, Daemon, Openfang};

const PROFILES: &str = "
[profiles.work]
servers = [\"box\"]
tools = [\"mcp_box_read*\", \"get_greeting\", \"mcp_shelf_*\"]
agents = [\"starter\"]

[profiles.books]
servers = [\"shelf\"]
tools = [\"server:shelf\"]
agents = []
";

fn script(name: &str) -> String {
    let path = format!("{}/../../tests/gateway/servers/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::canonicalize(path).unwrap().to_str().unwrap().to_owned()
}

fn server(name: &str, words: &[&str]) -> String {
    format!(
        "[[mcp_servers]]\nname = \"{name}\"\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"/usr/bin/python3\"\nargs = {}\n",
        json!(words)
    )
}

/// The servers of a home: `box` has tools, `shelf` has a prompt, a resource and a template too.
pub(super) fn servers(openfang: &Openfang) -> String {
    let (tools, shelf) = (openfang.scratch("tools.json"), openfang.scratch("shelf.json"));
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    std::fs::write(&tools, json!([tool("echo"), tool("read_file")]).to_string()).unwrap();
    let on_it = json!({"prompts": [{"name": "p"}], "resources": [{"uri": "book://a", "name": "a"}],
        "templates": [{"uriTemplate": "books://{id}", "name": "t"}]});
    std::fs::write(&shelf, on_it.to_string()).unwrap();
    let tools = ["-B", &script("peer.py"), "--tools", tools.to_str().unwrap()];
    let shelf = ["-B", &script("library.py"), "--shelf", shelf.to_str().unwrap()];
    format!("{}{}", server("box", &tools), server("shelf", &shelf))
}

fn home() -> Openfang {
    let openfang = Openfang::new();
    let agent = "description = \"greets\"\ndefault_tool = \"get_greeting\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"*\"]\n";
    for name in ["starter", "other"] {
        openfang.write(&format!("agents/{name}/agent.toml"), &format!("name = \"{name}\"\n{agent}"));
    }
    openfang.write("config.toml", &format!("[reload]\nwatch = false\n{}{PROFILES}", servers(&openfang)));
    openfang
}

/// A client on standard input and output.
pub(super) struct Ide {
    talk: Conversation,
    is_modern: bool,
    next: i64,
}

impl Ide {
    pub(super) fn open(openfang: &Openfang, arguments: &[&str], is_modern: bool) -> Self {
        let mut talk = openfang.converse(arguments);
        if !is_modern {
            talk.ask(&initialize("2025-11-25", json!({})));
            talk.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        Self { talk, is_modern, next: 0 }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let params = if self.is_modern { modern(params, json!({})) } else { params };
        self.talk.ask(&request(self.next, method, params))
    }

    /// The names of a list, once it has this one: servers may still be starting.
    pub(super) fn list(&mut self, method: &str, (member, name): (&str, &str), expected: &str) -> Vec<String> {
        loop {
            let answer = self.ask(method, json!({}));
            let listed = answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}"));
            let names: Vec<String> = listed.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect();
            if expected.is_empty() || names.iter().any(|name| name == expected) {
                return names;
            }
        }
    }
}

/// In both eras, with a daemon and without one.
pub(super) fn everywhere(openfang: &Openfang, test: impl Fn(bool)) {
    [true, false].into_iter().for_each(&test);
    let _daemon = openfang.start();
    [true, false].into_iter().for_each(&test);
}

#[test]
fn a_client_sees_and_calls_what_its_profile_has_and_nothing_else() {
    let openfang = home();
    everywhere(&openfang, |is_modern| {
        let mut ide = Ide::open(&openfang, &["mcp", "--profile", "work"], is_modern);

        let tools = ide.list("tools/list", ("tools", "name"), "mcp_box_read_file");
        assert_eq!(tools, ["get_greeting", "mcp_box_read_file", "openfang_agent_starter", "openfang_task"]);
        assert_eq!(ide.list("prompts/list", ("prompts", "name"), "agent-starter"), ["agent-starter"]);
        // The caller's own tasks are not narrowed.
        let resources = ide.list("resources/list", ("resources", "uri"), "");
        assert!(resources.iter().all(|uri| uri.starts_with("openfang://tasks/")), "{resources:?}");
        let templates = ide.list("resources/templates/list", ("resourceTemplates", "name"), "");
        assert_eq!(templates, ["result", "task", "task-artifact"]);

        for tool in ["mcp_box_echo", "mcp_shelf_touch", "add_numbers", "openfang_agent_other"] {
            let refused = ide.ask("tools/call", json!({"name": tool, "arguments": {"message": "hello"}}));
            assert_eq!(refused["error"]["message"], format!("unknown tool: {tool}"), "{refused}");
        }
        let refused = ide.ask("prompts/get", json!({"name": "mcp_shelf_p"}));
        assert_eq!(refused["error"]["message"], "unknown prompt: mcp_shelf_p", "{refused}");
        for uri in ["book://a", "books://b"] {
            let refused = ide.ask("resources/read", json!({"uri": uri}));
            assert_eq!(refused["error"]["message"], format!("resource not found: {uri}"), "{refused}");
        }
        let greeted = ide.ask("tools/call", json!({"name": "get_greeting", "arguments": {}}));
        assert_eq!(greeted["result"]["content"][0]["text"], "Hello, world!", "{greeted}");

        let through =
            json!({"name": "openfang_agent_starter", "arguments": {"message": "/add_numbers {\"a\": 1, \"b\": 2}"}});
        let refused = ide.ask("tools/call", through);
        assert_eq!(refused["result"]["isError"], json!(true), "an agent uses no more than the profile has: {refused}");
    });
}

#[test]
fn a_profile_with_a_whole_server_has_its_prompts_and_resources() {
    let openfang = home();
    everywhere(&openfang, |is_modern| {
        let mut ide = Ide::open(&openfang, &["mcp", "--profile", "books"], is_modern);

        let tools = ide.list("tools/list", ("tools", "name"), "mcp_shelf_who");
        assert_eq!(tools, ["mcp_shelf_renew", "mcp_shelf_touch", "mcp_shelf_who"]);
        assert_eq!(ide.list("prompts/list", ("prompts", "name"), "mcp_shelf_p"), ["mcp_shelf_p"]);
        assert_eq!(ide.list("resources/list", ("resources", "uri"), "book://a"), ["book://a"]);
        let read = ide.ask("resources/read", json!({"uri": "books://b"}));
        assert_eq!(read["result"]["contents"][0]["text"], "shelf.json: books://b", "{read}");
    });
}

#[test]
fn an_unknown_profile_ends_the_command_with_the_right_name() {
    let openfang = home();
    let test = || {
        let ran = openfang.run_with_input(&["mcp", "--profile", "wrok"], b"");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("there is no profile wrok (did you mean work?)"), "{ran:?}");
        assert!(ran.stdout.is_empty(), "{ran:?}");
    };
    test();
    let _daemon = openfang.start();
    test();
}

fn operator(openfang: &Openfang, daemon: &Daemon) -> Client {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap()).unwrap();
    daemon.client().bearer(file["token"].as_str().unwrap())
}

async fn tools_at(client: &Client, path: &str) -> Vec<String> {
    let message = request(1, "tools/list", modern(json!({}), json!({})));
    let answer = headed(client, &message).post(path, &message).await.json();
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn over_http_a_profile_holds_at_every_endpoint_and_a_session_stays_in_its_profile() {
    let openfang = home();
    let daemon = openfang.start();
    let client = operator(&openfang, &daemon);
    while !tools_at(&client, "/mcp").await.contains(&"mcp_box_echo".to_owned()) {}

    assert_eq!(tools_at(&client, "/mcp/servers/box?profile=work").await, ["read_file"]);
    let message = request(1, "tools/list", modern(json!({}), json!({})));
    let hidden = headed(&client, &message).post("/mcp/servers/shelf?profile=work", &message).await;
    let absent = headed(&client, &message).post("/mcp/servers/nothing?profile=work", &message).await;
    assert_eq!((hidden.status, absent.status), (404, 404), "{}", hidden.body);
    let unknown = headed(&client, &message).post("/mcp?profile=nothing", &message).await;
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_str()), (404, Some("unknown_profile")));
    let twice = headed(&client, &message).post("/mcp?profile=work&profile=books", &message).await;
    assert_eq!(twice.status, 400, "{}", twice.body);
    let first = client.get("/sse?profile=work").await;
    assert!(first.status == 400 && first.body.contains("/mcp?profile=NAME"), "{}", first.body);

    let begun = client.post("/mcp?profile=work", &initialize("2025-11-25", json!({}))).await;
    let session = client.clone().with("mcp-session-id", begun.header("mcp-session-id").unwrap());
    let list = request(2, "tools/list", json!({}));
    assert_eq!(session.post("/mcp?profile=work", &list).await.status, 200);
    for other in ["/mcp", "/mcp?profile=books"] {
        assert_eq!(session.post(other, &list).await.status, 404, "{other}");
    }
}

#[tokio::test]
async fn a_profile_that_changes_is_in_force_at_once() {
    let openfang = home();
    let daemon = openfang.start();
    let client = operator(&openfang, &daemon);
    while !tools_at(&client, "/mcp").await.contains(&"mcp_box_echo".to_owned()) {}
    assert!(!tools_at(&client, "/mcp?profile=work").await.contains(&"mcp_box_echo".to_owned()));

    let text = std::fs::read_to_string(openfang.home().join("config.toml")).unwrap();
    openfang.write("config.toml", &text.replace("mcp_box_read*", "mcp_box_echo"));
    let reloaded = openfang.run(&["reload", "--json"]).json();

    assert_eq!(reloaded["changed"], json!(["profiles.work.tools"]), "{reloaded}");
    let tools = tools_at(&client, "/mcp?profile=work").await;
    assert_eq!(tools, ["get_greeting", "mcp_box_echo", "openfang_agent_starter", "openfang_task"]);
}

//! Prompts, resources, templates, completion and subscriptions of MCP servers on `/mcp`: in both eras, for whoever may use
//! the server, and for nobody else.

use openfang_kernel::config_edit::Existing;
use openfang_kernel::mcp::View;
use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::TestHome;
use openfang_types::config::McpServerConfigEntry;
use serde_json::{Value, json};

use super::fixture::{House, PATIENCE, program, real, script};
use crate::mcp::wire::{Pipe, initialize, modern, request};
use crate::support::peers::PeerServer;

const DOCUMENT: &str = "demo://resource/static/document/features.md";
const TEMPLATE: &str = "demo://resource/dynamic/text/{resourceId}";

/// A client of either era.
struct Client {
    pipe: Pipe,
    is_modern: bool,
    capabilities: Value,
    next: i64,
}

impl Client {
    async fn of(house: &House, is_modern: bool, capabilities: Value) -> Self {
        let mut pipe = Pipe::open(house.kernel(), View::Everything);
        if !is_modern {
            pipe.send(&initialize("2025-11-25", capabilities.clone())).await;
            pipe.answer(0).await;
            pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        Self { pipe, is_modern, capabilities, next: 1 }
    }

    async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let params = if self.is_modern { modern(params, self.capabilities.clone()) } else { params };
        self.pipe.send(&request(self.next, method, params)).await;
        self.next
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        soon(self.pipe.answer(id)).await
    }

    async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// All entries of a list, page by page.
    async fn list(&mut self, method: &str, member: &str) -> Vec<Value> {
        let (mut all, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.result(method, params).await;
            all.extend(page[member].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return all,
            }
        }
    }

    /// Watches a resource in the manner of the era.
    async fn watch(&mut self, uri: &str) {
        if self.is_modern {
            self.send("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri]}}))
                .await;
            self.hears("notifications/subscriptions/acknowledged").await;
        } else {
            self.result("resources/subscribe", json!({"uri": uri})).await;
        }
    }

    /// Listens for changed lists in the manner of the era.
    async fn watch_lists(&mut self) {
        if self.is_modern {
            let wanted = json!({"promptsListChanged": true, "resourcesListChanged": true});
            self.send("subscriptions/listen", json!({"notifications": wanted})).await;
            self.hears("notifications/subscriptions/acknowledged").await;
        }
    }

    /// The next message with this method.
    async fn hears(&mut self, method: &str) -> Value {
        loop {
            let message = soon(self.pipe.next()).await;
            if message["method"] == method {
                return message;
            }
        }
    }
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("it hangs"))
}

async fn everything() -> House {
    let house =
        House::with([McpServerConfigEntry { interactive: true, ..real("everything", PeerServer::Everything) }]).await;
    house.ready("everything").await;
    house
}

/// A server with this on its shelf.
fn library(home: &TestHome, name: &str, shelf: &Value) -> McpServerConfigEntry {
    let file = format!("{name}.json");
    home.write(&file, &shelf.to_string());
    let path = home.path().join(file);
    let command = ["/usr/bin/python3", "-B", &script("library.py"), "--shelf", path.to_str().unwrap()];
    program(name, &command.map(str::to_owned))
}

fn resource(uri: &str) -> Value {
    json!({"uri": uri, "name": "n", "vendor": {"kept": 1.5}})
}

fn texts(entries: &[Value], member: &str) -> Vec<String> {
    entries.iter().filter_map(|entry| entry[member].as_str()).map(str::to_owned).collect()
}

#[tokio::test]
async fn prompts_resources_templates_and_completions_of_the_reference_server_work_on_the_aggregate_in_both_eras() {
    let house = everything().await;
    for is_modern in [false, true] {
        let mut client = Client::of(&house, is_modern, json!({})).await;

        let prompts = client.list("prompts/list", "prompts").await;
        let named = prompts.iter().find(|prompt| prompt["name"] == "mcp_everything_args_prompt").unwrap();
        assert!(named["description"].as_str().unwrap().starts_with("[MCP:everything] "), "{named}");
        assert!(texts(&prompts, "name").contains(&"agent-hand".to_owned()), "{prompts:?}");
        let filled = json!({"name": "mcp_everything_args_prompt", "arguments": {"city": "Turin"}});
        assert!(client.result("prompts/get", filled).await["messages"].to_string().contains("Turin"));

        let resources = client.list("resources/list", "resources").await;
        assert!(texts(&resources, "uri").contains(&DOCUMENT.to_owned()), "{resources:?}");
        let read = client.result("resources/read", json!({"uri": DOCUMENT})).await;
        assert!(read["contents"][0]["text"].as_str().is_some_and(|text| text.contains("Features")), "{read}");

        let templates = client.list("resources/templates/list", "resourceTemplates").await;
        assert!(texts(&templates, "uriTemplate").contains(&TEMPLATE.to_owned()), "{templates:?}");
        assert!(texts(&templates, "uriTemplate").contains(&"openfang://tasks/{id}".to_owned()), "{templates:?}");
        let made = client.result("resources/read", json!({"uri": "demo://resource/dynamic/text/7"})).await;
        assert!(made["contents"][0]["text"].as_str().is_some_and(|text| text.contains('7')), "{made}");

        let of = json!({"type": "ref/prompt", "name": "mcp_everything_completable_prompt"});
        let wanted = json!({"ref": of, "argument": {"name": "department", "value": "S"}});
        assert_eq!(
            client.result("completion/complete", wanted).await["completion"]["values"],
            json!(["Sales", "Support"])
        );
        client.pipe.end().await;
    }
    house.close().await;
}

#[tokio::test]
async fn a_resource_that_changes_in_the_conversation_of_a_call_is_told_to_its_subscribers_in_both_eras() {
    for is_modern in [false, true] {
        let house = everything().await;
        let mut client = Client::of(&house, is_modern, json!({"elicitation": {}})).await;
        client.watch(DOCUMENT).await;

        client
            .send("tools/call", json!({"name": "mcp_everything_toggle_subscriber_updates", "arguments": {}}))
            .await;

        let updated = client.hears("notifications/resources/updated").await;
        assert_eq!(updated["params"]["uri"], DOCUMENT, "{updated}");
        house.server.begin_stop();
        client.pipe.end().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_legacy_client_of_the_aggregate_is_asked_and_hears_progress_and_log_lines() {
    let house = everything().await;
    let mut client = Client::of(&house, false, json!({"elicitation": {}})).await;
    client.result("logging/setLevel", json!({"level": "debug"})).await;

    let id = client
        .send("tools/call", json!({"name": "mcp_everything_trigger_elicitation_request", "arguments": {}}))
        .await;
    let question = client.hears("elicitation/create").await;
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client.pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    let done = soon(client.pipe.answer(id)).await;
    assert!(done["result"].to_string().contains("Ada"), "{done}");

    let long = json!({"name": "mcp_everything_trigger_long_running_operation",
        "arguments": {"duration": 0.2, "steps": 2}, "_meta": {"progressToken": "p"}});
    let id = client.send("tools/call", long).await;
    assert_eq!(client.hears("notifications/progress").await["params"]["progressToken"], "p");
    soon(client.pipe.answer(id)).await;

    client
        .send("tools/call", json!({"name": "mcp_everything_toggle_simulated_logging", "arguments": {}}))
        .await;
    let line = client.hears("notifications/message").await;
    assert!(line["params"]["level"].is_string(), "{line}");
    client.pipe.end().await;
    house.close().await;
}

/// Nobody else calls in the conversation of a call, though its caller cannot be asked: its log lines have one reader.
#[tokio::test]
async fn a_client_that_cannot_be_asked_hears_the_log_lines_of_a_server_that_may_ask() {
    let house = everything().await;
    let mut client = Client::of(&house, false, json!({})).await;
    client.result("logging/setLevel", json!({"level": "debug"})).await;

    client
        .send("tools/call", json!({"name": "mcp_everything_toggle_simulated_logging", "arguments": {}}))
        .await;

    assert!(client.hears("notifications/message").await["params"]["level"].is_string());
    client.pipe.end().await;
    house.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_say_what_it_has_holds_up_nobody() {
    let home = TestHome::new();
    let mut deaf = library(&home, "deaf", &json!({"prompts": [{"name": "p"}]}));
    if let openfang_types::config::McpTransportEntry::Stdio { args, .. } = &mut deaf.transport {
        args.extend(["--deaf", "resources/list"].map(str::to_owned));
    }
    deaf.startup_timeout_secs = 8;
    let good = library(&home, "good", &json!({"resources": [resource("good://x")]}));
    let house = House::on(home, [deaf, good, super::fixture::odd("dead", &["--die", "it is dead"])]).await;
    house.ready("good").await;
    let mut client = Client::of(&house, true, json!({})).await;

    assert_eq!(texts(&client.list("resources/list", "resources").await, "uri"), ["good://x"]);
    let deaf = house.ready("deaf").await;
    assert!(deaf.reason.is_some_and(|reason| reason.contains("resources/list")));
    assert!(texts(&client.list("prompts/list", "prompts").await, "name").contains(&"mcp_deaf_p".to_owned()));
    client.pipe.end().await;
    house.close().await;
}

/// The Python SDK speaks both eras, and a tool on it asks in either.
#[tokio::test]
async fn a_server_of_both_eras_asks_clients_of_both_eras() {
    let house = House::with([McpServerConfigEntry { interactive: true, ..real("py", PeerServer::PythonMcp) }]).await;
    house.ready("py").await;
    for is_modern in [false, true] {
        let mut client = Client::of(&house, is_modern, json!({"elicitation": {"form": {}}})).await;
        let call = json!({"name": "mcp_py_favourite", "arguments": {}});
        let accept = json!({"action": "accept", "content": {"colour": "teal"}});
        let id = client.send("tools/call", call.clone()).await;
        let done = if is_modern {
            let asked = soon(client.pipe.answer(id)).await;
            assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
            let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap();
            let mut again = call;
            again["requestState"] = asked["result"]["requestState"].clone();
            again["inputResponses"] = json!({key: accept});
            client.ask("tools/call", again).await
        } else {
            let question = client.hears("elicitation/create").await;
            client.pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accept})).await;
            soon(client.pipe.answer(id)).await
        };
        assert!(done["result"].to_string().contains("teal"), "{done}");
        client.pipe.end().await;
    }
    house.close().await;
}

/// fastmcp speaks both eras, and its tools can ask only in the legacy one.
#[tokio::test]
async fn a_server_of_both_eras_asks_a_legacy_client_in_the_legacy_way() {
    let house = House::with([McpServerConfigEntry { interactive: true, ..real("fast", PeerServer::FastMcp) }]).await;
    house.ready("fast").await;
    assert_eq!(house.status("fast").protocol.as_deref(), Some("2026-07-28"));
    let mut client = Client::of(&house, false, json!({"elicitation": {}})).await;

    let id = client.send("tools/call", json!({"name": "mcp_fast_favourite", "arguments": {}})).await;

    let question = client.hears("elicitation/create").await;
    let schema = &question["params"]["requestedSchema"]["properties"];
    let member = schema.as_object().unwrap_or_else(|| panic!("{question}")).keys().next().unwrap();
    let answer = json!({"action": "accept", "content": {member: "teal"}});
    client.pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    let done = soon(client.pipe.answer(id)).await;
    assert!(done["result"].to_string().contains("teal"), "{done}");
    client.pipe.end().await;
    house.close().await;
}

#[tokio::test]
async fn the_first_server_keeps_a_uri_and_the_other_one_is_reached_at_its_own_endpoint() {
    let home = TestHome::new();
    let one = library(
        &home,
        "one",
        &json!({"resources": [resource("shared://x"), resource("one://y")],
        "templates": [{"uriTemplate": "t://{id}", "name": "t"}]}),
    );
    let two = library(
        &home,
        "two",
        &json!({"resources": [resource("shared://x"), resource("t://exact")],
        "templates": [{"uriTemplate": "t://{id}", "name": "t"}]}),
    );
    let house = House::on(home, [one]).await;
    house.ready("one").await;
    house.kernel().add_mcp_server(&house.operator(), two, Existing::Keep).await.unwrap();
    house.ready("two").await;
    let mut client = Client::of(&house, true, json!({})).await;

    let resources = client.list("resources/list", "resources").await;
    assert_eq!(texts(&resources, "uri"), ["one://y", "shared://x", "t://exact"]);
    assert_eq!(client.list("resources/templates/list", "resourceTemplates").await.len(), 4);
    for (uri, from) in [("shared://x", "one.json"), ("t://7", "one.json"), ("t://exact", "two.json")] {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["contents"][0]["text"], format!("{from}: {uri}"));
    }
    let own = house.ask("/mcp/servers/two", "resources/read", json!({"uri": "shared://x"})).await;
    assert_eq!(own["result"]["contents"][0]["text"], "two.json: shared://x");
    client.pipe.end().await;
    house.close().await;
}

#[tokio::test]
async fn nobody_claims_our_uris_and_a_template_for_everything_is_not_routed() {
    let home = TestHome::new();
    let shelf = json!({
        "resources": [resource("openfang://tasks/x"), resource("OPENFANG://tasks/x"), resource("skill://openfang/x")],
        "templates": [{"uriTemplate": "{+anything}", "name": "all"}, {"uriTemplate": "openfang://{x}", "name": "ours"}],
    });
    let greedy = library(&home, "greedy", &shelf);
    let house = House::on(home, [greedy]).await;
    house.ready("greedy").await;
    let mut client = Client::of(&house, true, json!({})).await;

    assert_eq!(client.list("resources/list", "resources").await, [] as [Value; 0]);
    let templates = client.list("resources/templates/list", "resourceTemplates").await;
    assert_eq!(texts(&templates, "name"), ["result", "task", "task-artifact"]);
    for uri in ["openfang://tasks/x", "OPENFANG://tasks/x", "skill://openfang/x", "any://thing"] {
        let refused = client.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(refused["error"]["message"], format!("resource not found: {uri}"), "{refused}");
    }
    let own = house.ask("/mcp/servers/greedy", "resources/read", json!({"uri": "any://thing"})).await;
    assert_eq!(own["result"]["contents"][0]["text"], "greedy.json: any://thing");
    client.pipe.end().await;
    house.close().await;
}

#[tokio::test]
async fn ten_thousand_resources_are_listed_page_by_page_and_each_can_be_read() {
    let home = TestHome::new();
    let many: Vec<Value> = (0..10_000).map(|number| resource(&format!("many://{number:05}"))).collect();
    let entry = library(&home, "many", &json!({"resources": many}));
    let house = House::on(home, [entry]).await;
    house.ready("many").await;
    let mut client = Client::of(&house, false, json!({})).await;

    let listed = client.list("resources/list", "resources").await;

    assert_eq!(listed, many);
    let read = client.result("resources/read", json!({"uri": "many://09999"})).await;
    assert_eq!(read["contents"][0]["text"], "many.json: many://09999");
    client.pipe.end().await;
    house.close().await;
}

#[tokio::test]
async fn what_a_prompt_or_a_resource_says_is_the_same_to_the_byte_on_the_aggregate_and_at_the_servers_own_endpoint() {
    let home = TestHome::new();
    let entry = library(&home, "odd", &json!({"resources": [resource("odd://x")], "prompts": [{"name": "Odd-One"}]}));
    let house = House::on(home, [entry]).await;
    house.ready("odd").await;

    let ours = house.ask("/mcp", "prompts/get", json!({"name": "mcp_odd_odd_one"})).await;
    let own = house.ask("/mcp/servers/odd", "prompts/get", json!({"name": "Odd-One"})).await;
    assert_eq!(ours["result"]["messages"].to_string(), own["result"]["messages"].to_string());
    assert_eq!(ours["result"]["vendor"], "Odd-One", "{ours}");

    let ours = house.ask("/mcp", "resources/read", json!({"uri": "odd://x"})).await;
    let own = house.ask("/mcp/servers/odd", "resources/read", json!({"uri": "odd://x"})).await;
    assert_eq!(ours["result"]["contents"].to_string(), own["result"]["contents"].to_string());
    assert!(ours["result"]["contents"].to_string().contains("vendor"), "{ours}");
    house.close().await;
}

#[tokio::test]
async fn changed_lists_and_resources_are_told_in_both_eras() {
    for is_modern in [false, true] {
        let home = TestHome::new();
        let entry = library(&home, "live", &json!({"resources": [resource("live://a")]}));
        let house = House::on(home, [entry]).await;
        house.ready("live").await;
        let mut client = Client::of(&house, is_modern, json!({})).await;
        client.watch("live://a").await;
        client.watch_lists().await;

        client
            .send("tools/call", json!({"name": "mcp_live_touch", "arguments": {"uri": "live://a"}}))
            .await;
        assert_eq!(client.hears("notifications/resources/updated").await["params"]["uri"], "live://a");

        house
            .home
            .write("live.json", &json!({"resources": [resource("live://b")], "prompts": [{"name": "p"}]}).to_string());
        client.send("tools/call", json!({"name": "mcp_live_renew", "arguments": {}})).await;
        let mut heard = Vec::new();
        while heard.len() < 2 {
            let message = soon(client.pipe.next()).await;
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            if method.ends_with("list_changed") && !heard.contains(&method) {
                heard.push(method);
            }
        }
        heard.sort();
        assert_eq!(heard, ["notifications/prompts/list_changed", "notifications/resources/list_changed"]);
        let resources = client.list("resources/list", "resources").await;
        assert_eq!(texts(&resources, "uri"), ["live://b"]);
        assert!(texts(&client.list("prompts/list", "prompts").await, "name").contains(&"mcp_live_p".to_owned()));
        house.server.begin_stop();
        client.pipe.end().await;
        house.close().await;
    }
}

#[tokio::test]
async fn whoever_may_not_use_a_server_is_answered_as_if_there_was_none() {
    let home = TestHome::new();
    let shelf = json!({"resources": [resource("hid://x")], "prompts": [{"name": "p"}],
        "templates": [{"uriTemplate": "hidden://{id}", "name": "t"}]});
    let entry = library(&home, "hid", &shelf);
    let house = House::on(home, [entry]).await;
    house.ready("hid").await;
    let (without, with) = (key_with(&house, "ada", "mcp_other_*").await, key_with(&house, "bob", "server:hid").await);
    let of = |name: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "a", "value": ""}});
    let rows = [
        ("prompts/get", json!({"name": "mcp_hid_p"}), json!({"name": "mcp_nil_p"}), "hid"),
        ("resources/read", json!({"uri": "hid://x"}), json!({"uri": "nil://x"}), "hid"),
        ("resources/read", json!({"uri": "hidden://x"}), json!({"uri": "absent://x"}), "hidden"),
        ("completion/complete", of("mcp_hid_p"), of("mcp_nil_p"), "hid"),
    ];

    for (method, hidden, unknown, word) in rows {
        let other = if word == "hid" { "nil" } else { "absent" };
        let (hidden, unknown) =
            (post(&house, &without, method, hidden).await, post(&house, &without, method, unknown).await);
        assert_eq!(hidden.replace(word, other), unknown, "{method}");
    }
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        let (seen, shown) =
            (post(&house, &without, method, json!({})).await, post(&house, &with, method, json!({})).await);
        assert!(!seen.contains("hid") && shown.contains("hid"), "{method}: {seen} {shown}");
    }
    let read = post(&house, &with, "resources/read", json!({"uri": "hid://x"})).await;
    assert!(read.contains("hid.json: hid://x"), "{read}");
    house.close().await;
}

async fn post(house: &House, key: &str, method: &str, params: Value) -> String {
    let client = house
        .server
        .client()
        .bearer(key)
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", method);
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    let client = name.map_or_else(|| client.clone(), |name| client.clone().with("mcp-name", name));
    let message = request(1, method, modern(params, json!({})));
    soon(client.post("/mcp", &message)).await.body
}

async fn key_with(house: &House, user: &str, grant: &str) -> String {
    let (kernel, operator) = (house.kernel(), house.operator());
    let name: openfang_types::ids::Owner = user.parse().unwrap();
    let wanted = UserWanted { name: name.clone(), grants: vec![grant.to_owned()], password: None, again: false };
    kernel.add_user(&operator, wanted).await.unwrap();
    let wanted = KeyWanted { user: name, label: "test".to_owned(), entry_label: None, profile: None, expires_at: None };
    kernel.create_user_key(&operator, wanted).await.unwrap().key.expose().to_owned()
}

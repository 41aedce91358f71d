//! `/api/mcp/servers`, from every kind of caller.

use std::net::SocketAddr;

use openfang_kernel::config_edit::Existing;
use openfang_kernel::config_file;
use openfang_store::{AuditOutcome, Stores};
use openfang_testkit::http::Client;
use openfang_testkit::server::TestServer;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, McpServerConfigEntry};
use openfang_types::secret::Secret;
use serde_json::{Value, json};

const KEY: &str = "the-admin-key-of-this-test";
const SERVERS: &str = "/api/mcp/servers";

struct Site {
    server: TestServer,
    home: TestHome,
    stores: Stores,
}

impl Site {
    /// A server on a home with this config.toml.
    async fn new(text: &str, api_key: Option<&str>) -> Self {
        let home = TestHome::new();
        home.write("config.toml", text);
        let read = config_file::load(&home.home().config(), &[]).unwrap();
        let config = Config {
            api_listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            api_key: api_key.map(|key| Secret::new(key.to_owned())),
            ..read
        };
        let stores = Stores::in_memory();
        let kernel = home
            .boot_with(config)
            .helper(env!("CARGO_BIN_EXE_openfang").into())
            .stores(stores.clone())
            .start()
            .unwrap();
        Self { server: TestServer::start(kernel).await, home, stores }
    }

    fn nobody(&self) -> Client {
        self.server.client()
    }

    fn with_key(&self) -> Client {
        self.server.client().bearer(KEY)
    }

    fn with_token(&self) -> Client {
        self.server.client().bearer(self.server.kernel.daemon_token().expose())
    }

    fn file(&self) -> String {
        std::fs::read_to_string(self.home.home().config()).unwrap()
    }

    async fn audit(&self) -> Vec<(String, AuditOutcome)> {
        let rows = self.stores.audit.recent(100).await.unwrap();
        rows.into_iter().map(|row| (row.subject.to_string(), row.outcome)).collect()
    }
}

fn program(name: &str) -> Value {
    json!({ "name": name, "transport": { "type": "stdio", "command": "/nowhere/server" } })
}

fn far(name: &str) -> Value {
    json!({ "name": name, "transport": { "type": "http", "url": "http://127.0.0.1:9/mcp" } })
}

#[tokio::test]
async fn the_guides_list_of_servers_is_answered() {
    let text = "\
[[mcp_servers]]
name = \"github\"
timeout_secs = 30
env = [\"GITHUB_PERSONAL_ACCESS_TOKEN\"]

[mcp_servers.transport]
type = \"stdio\"
command = \"/nowhere/npx\"
args = [\"-y\", \"@modelcontextprotocol/server-github\"]
";
    let site = Site::new(text, None).await;

    let answer = site.nobody().get(SERVERS).await.json();

    let configured = &answer["configured"][0];
    assert_eq!(configured["name"], "github");
    let args = json!(["-y", "@modelcontextprotocol/server-github"]);
    assert_eq!(configured["transport"], json!({ "type": "stdio", "command": "/nowhere/npx", "args": args }));
    assert_eq!(configured["timeout_secs"], 30);
    assert_eq!(configured["env"], json!(["GITHUB_PERSONAL_ACCESS_TOKEN"]));
    let connected = &answer["connected"][0];
    assert_eq!(
        (&connected["name"], &connected["tools_count"], &connected["tools"]),
        (&json!("github"), &json!(0), &json!([]))
    );
    assert_eq!(connected["connected"], false, "there is no such program");
    assert!(connected["state"].is_string());
}

#[tokio::test]
async fn only_the_admin_changes_and_only_this_machines_operator_adds_programs() {
    let site = Site::new("", Some(KEY)).await;
    let refused = async |client: &Client, body: &Value| {
        let answer = client.post(SERVERS, body).await;
        (answer.status, answer.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    let forbidden = (403, "not_permitted".to_owned());

    assert_eq!(refused(&site.nobody(), &far("a")).await.0, 401);
    assert_eq!(refused(&site.with_key(), &program("a")).await, forbidden, "a key that leaks is no shell");
    assert_eq!(site.with_key().post(SERVERS, &far("a")).await.status, 200);
    assert_eq!(site.with_token().post(SERVERS, &program("b")).await.status, 200);
    let replaced = site.with_key().post(&format!("{SERVERS}?replace=true"), &far("b")).await;
    assert_eq!(replaced.status, 403, "what runs as a program is the operator's");
    assert_eq!(refused(&site.with_key(), &far("a")).await, (409, "server_exists".to_owned()));
    assert_eq!(site.with_key().post(&format!("{SERVERS}?replace=true"), &far("a")).await.status, 200);
    assert_eq!(site.with_key().send("DELETE", &format!("{SERVERS}/b"), None).await.status, 200);

    let open = Site::new("", None).await;
    assert_eq!(open.nobody().get(SERVERS).await.status, 200, "whoever is on this machine may look");
    assert_eq!(refused(&open.nobody(), &far("a")).await, forbidden);
    for path in ["restart", "test", "approve"] {
        let answer = open.nobody().post(&format!("{SERVERS}/a/{path}"), &json!({})).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    let user = callers::user(&open.server.kernel, "ada", &["*"]);
    assert!(open.server.kernel.mcp_servers(&user).is_err());
    let entry: McpServerConfigEntry = serde_json::from_value(far("a")).unwrap();
    assert!(open.server.kernel.add_mcp_server(&user, entry, Existing::Keep).await.is_err());
    assert_eq!(open.file(), "");
}

#[tokio::test]
async fn a_change_is_in_the_file_and_in_force_at_once_and_going_leaves_no_trace() {
    let text = "# mine\napi_listen = \"127.0.0.1:0\" # here\n\n[log]\nlevel = \"warn\"\n";
    let site = Site::new(text, Some(KEY)).await;

    let added = site.with_key().post(SERVERS, &far("docs")).await;

    assert_eq!(added.json()["configured"]["name"], "docs", "{}", added.body);
    assert!(site.file().starts_with(text) && site.file().contains("name = \"docs\""), "{}", site.file());
    assert_eq!(site.with_key().get(SERVERS).await.json()["configured"][0]["name"], "docs");
    assert_eq!(site.with_key().get(&format!("{SERVERS}/docs/log")).await.status, 200);
    let tested = site.with_key().post(&format!("{SERVERS}/docs/test"), &json!({})).await.json();
    assert_eq!((&tested["ok"], &tested["server"]["name"]), (&json!(false), &json!("docs")), "nobody listens there");
    assert!(tested["tookMs"].is_u64());
    let removed = site.with_key().send("DELETE", &format!("{SERVERS}/docs"), None).await;
    assert_eq!(removed.json(), json!({ "removed": "docs" }));
    assert_eq!(site.file(), text);
    assert_eq!(site.with_key().get(SERVERS).await.json(), json!({ "configured": [], "connected": [] }));
}

#[tokio::test]
async fn every_change_leaves_its_rows_in_the_audit_log() {
    let site = Site::new("", Some(KEY)).await;

    site.with_key().post(SERVERS, &program("a")).await;
    site.with_key().post(SERVERS, &far("a")).await;
    site.with_key().send("DELETE", &format!("{SERVERS}/a"), None).await;
    site.with_key().send("DELETE", &format!("{SERVERS}/a"), None).await;

    let row = |what: &str, outcome| (format!("{what} MCP server a"), outcome);
    let expected = [
        row("add", AuditOutcome::Refused("not_permitted".to_owned())),
        row("add", AuditOutcome::Started),
        row("add", AuditOutcome::Succeeded),
        row("remove", AuditOutcome::Started),
        row("remove", AuditOutcome::Succeeded),
        row("remove", AuditOutcome::Started),
        row("remove", AuditOutcome::Refused("unknown_server".to_owned())),
    ];
    assert_eq!(site.audit().await, expected);
}

#[tokio::test]
async fn what_a_server_is_told_is_never_told_again() {
    const SECRET: &str = "hunter2-hunter2-hunter2";
    let site = Site::new("", Some(KEY)).await;
    let url = format!("http://u:{SECRET}@127.0.0.1:9/mcp?key={SECRET}");
    let headers = json!({ "Authorization": format!("Bearer {SECRET}") });
    let remote = json!({ "name": "far", "transport": { "type": "http", "url": url, "headers": headers } });
    let args = ["--token", SECRET, &format!("--key={SECRET}")];
    let local = json!({
        "name": "near", "env": [format!("TOKEN={SECRET}")],
        "transport": { "type": "stdio", "command": "/nowhere/x", "args": args },
    });
    let client = site.with_token();
    let mut said = Vec::new();
    for body in [&remote, &local] {
        said.push(client.post(SERVERS, body).await.body);
        said.push(client.post(SERVERS, body).await.body);
        let name = body["name"].as_str().unwrap();
        for path in ["", "/log"] {
            said.push(client.get(&format!("{SERVERS}/{name}{path}")).await.body);
        }
        for path in ["test", "restart"] {
            said.push(client.post(&format!("{SERVERS}/{name}/{path}"), &json!({})).await.body);
        }
    }
    said.push(client.get(SERVERS).await.body);
    let mut wrong = local.clone();
    wrong["timeout_secs"] = json!(0);
    wrong["name"] = json!("other");
    said.push(client.post(SERVERS, &wrong).await.body);
    wrong["env"] = json!(SECRET);
    said.push(client.post(SERVERS, &wrong).await.body);
    said.push(client.send("POST", SERVERS, Some(&format!("{{\"name\": {SECRET}"))).await.body);

    assert_eq!(site.file().matches(SECRET).count(), 6, "the file has it all");
    for body in &said {
        assert!(!body.contains(SECRET), "{body}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_missed_with_the_nearest_name() {
    let site = Site::new("", Some(KEY)).await;
    site.with_key().post(SERVERS, &far("github")).await;

    let answer = site.with_key().get(&format!("{SERVERS}/gihtub")).await;

    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("did you mean github?"), "{}", answer.body);
}

#[tokio::test]
async fn a_file_that_somebody_broke_meanwhile_is_left_alone() {
    let site = Site::new("", Some(KEY)).await;
    site.home.write("config.toml", "api_key = \"hunter2\n");

    let answer = site.with_key().post(SERVERS, &far("docs")).await;

    assert_eq!((answer.status, &answer.json()["error"]["code"]), (422, &json!("config_refused")));
    assert!(!answer.body.contains("hunter2"), "{}", answer.body);
    assert_eq!(site.file(), "api_key = \"hunter2\n");
    assert_eq!(site.with_key().get(SERVERS).await.json()["configured"], json!([]));
}

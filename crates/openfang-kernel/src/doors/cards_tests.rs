//! Who is shown which agents and skills, where they are said to be, and that nothing is made twice.

use std::path::Path;

use openfang_a2a::card::listing;
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Permit;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::principal::Grants;
use openfang_types::secret::Secret;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{Origin, ToolAnnotations, ToolDefinition, ToolKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::settings::home::Home;
use crate::{Boot, BootError, Kernel, Tool, ToolFuture};

#[path = "cards_tests/server.rs"]
mod server;

/// A home with these agents and what they may use, and a kernel on it.
struct House {
    directory: TempDir,
    config: Config,
    tools: Vec<Box<dyn Tool>>,
}

impl House {
    fn of(agents: &[(&str, &[&str])]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Home::at(directory.path().to_owned()).prepare().unwrap();
        std::fs::remove_dir_all(directory.path().join("agents/starter")).unwrap();
        for (name, tools) in agents {
            let place = directory.path().join("agents").join(name);
            std::fs::create_dir_all(&place).unwrap();
            let manifest = format!(
                "name = \"{name}\"\ndescription = \"Hilft gründlich 🦊\"\n[model]\nprovider = \"direct\"\n\
                 [capabilities]\ntools = {tools:?}\n"
            );
            std::fs::write(place.join("agent.toml"), manifest).unwrap();
        }
        let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
        Self { directory, config: Config { a2a, ..Config::default() }, tools: Vec::new() }
    }

    fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    fn a2a(self, change: impl FnOnce(&mut A2aConfig)) -> Self {
        self.with(|config| change(&mut config.a2a))
    }

    fn signed(self, algorithm: &'static rcgen::SignatureAlgorithm) -> Self {
        let path = self.directory.path().join("card.pem");
        std::fs::write(&path, rcgen::KeyPair::generate_for(algorithm).unwrap().serialize_pem()).unwrap();
        self.a2a(|a2a| a2a.card_key = Some(path))
    }

    fn boot(self) -> Result<(Kernel, TempDir), BootError> {
        let boot = Boot::new(Home::at(self.directory.path().to_owned()), self.config);
        let kernel = self.tools.into_iter().fold(boot, Boot::tool).start()?;
        Ok((kernel, self.directory))
    }

    fn kernel(self) -> (Kernel, TempDir) {
        self.boot().unwrap()
    }
}

fn admin() -> Principal {
    Principal::admin(AdminProof::ApiKey)
}

fn user(grants: &[&str]) -> Principal {
    Principal::user("ada".parse().unwrap(), Grants::parse(grants.iter().copied()).unwrap())
}

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn read(card: &CardDocument) -> Value {
    serde_json::from_slice(&card.body).unwrap()
}

fn shown(kernel: &Kernel, who: Option<&Principal>, agent: Option<&str>) -> Option<Value> {
    let agent = agent.map(name);
    kernel.card(who, agent.as_ref(), CardForm::Superset).map(|card| read(&card))
}

fn skills(card: &Value) -> Vec<&str> {
    card["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["id"].as_str().unwrap())
        .collect()
}

/// A tool of an MCP server, or one that executes.
struct Stub(&'static str, SinkKind);

impl Tool for Stub {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.0.parse().unwrap(),
            description: "a stub".to_owned(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: ToolAnnotations {
                read_only_hint: true,
                destructive_hint: false,
                idempotent_hint: true,
                open_world_hint: false,
            },
            sink: self.1,
            kind: ToolKind::Plain,
            origin: Origin::Builtin,
            via: Vec::new(),
        }
    }

    fn call<'a>(&'a self, _cx: &'a CallContext, _arguments: Arguments<'a>, _permit: Permit) -> ToolFuture<'a> {
        Box::pin(async { Ok(Outcome::Done(ToolOutput::text(self.0))) })
    }
}

#[tokio::test]
async fn strangers_are_shown_public_skills_and_not_a_word_of_others() {
    let (kernel, _home) = House::of(&[("helper", &["*"])]).kernel();

    for form in [CardForm::Superset, CardForm::Strict] {
        let document = kernel.card(None, None, form).unwrap();
        let card = read(&document);
        assert_eq!(skills(&card), ["add_numbers", "current_time", "get_counter", "get_greeting", "is_admin"]);
        assert_eq!(card["description"], "Hilft gründlich 🦊");
        let text = String::from_utf8(document.body.to_vec()).unwrap();
        for private in ["file_", "memory_", "agent_send", "agent_list"] {
            assert!(!text.contains(private), "{private}");
        }
    }
    let all = shown(&kernel, Some(&admin()), None).unwrap();
    assert!(skills(&all).contains(&"file_write") && skills(&all).contains(&"add_numbers"));
}

#[tokio::test]
async fn what_is_public_is_for_config_to_say() {
    let house = House::of(&[("helper", &["file_*", "add_numbers"]), ("keeper", &["*"]), ("quiet", &[])]);
    let (kernel, _home) = house
        .a2a(|a2a| {
            a2a.public_agents = vec!["hel*".parse().unwrap(), "quiet".parse().unwrap()];
            a2a.public_skills = vec!["file_r*".parse().unwrap()];
        })
        .kernel();

    assert_eq!(skills(&shown(&kernel, None, Some("helper")).unwrap()), ["file_read"]);
    assert_eq!(shown(&kernel, None, Some("keeper")), None);
    assert_eq!(shown(&kernel, None, Some("nobody")), None);
    assert_eq!(skills(&shown(&kernel, None, Some("quiet")).unwrap()), ["quiet"], "no skill at all could not be signed");
}

#[tokio::test]
async fn a_user_is_shown_what_was_granted_and_nothing_else_is_there() {
    let (kernel, _home) = House::of(&[("calc", &["add_numbers", "get_*"]), ("files", &["file_*"])]).kernel();

    let rows: [(&[&str], Option<&[&str]>); 4] = [
        (&[], None),
        (&["add_numbers"], None),
        (&["agent:calc", "add_*", "file_*"], Some(&["add_numbers"])),
        (&["agent:calc/*"], Some(&["add_numbers", "get_counter", "get_greeting"])),
    ];
    for (grants, expected) in rows {
        let card = shown(&kernel, Some(&user(grants)), Some("calc"));
        assert_eq!(card.as_ref().map(skills), expected.map(<[_]>::to_vec), "{grants:?}");
        assert_eq!(shown(&kernel, Some(&user(grants)), Some("files")), None);
    }
    let listed = kernel.cards(&user(&["agent:files", "file_read"]));
    let listed: Value = serde_json::from_slice(&listing(&listed)).unwrap();
    assert_eq!(listed["total"], 1);
    assert_eq!(listed["agents"][0]["name"], "files");
    assert_eq!(skills(&listed["agents"][0]), ["file_read"]);
    assert_eq!(kernel.cards(&admin()).len(), 2);
}

#[tokio::test]
async fn what_nobody_can_call_over_a2a_is_no_skill() {
    let mut house = House::of(&[("helper", &["*"])]).a2a(|a2a| a2a.public_skills = vec!["stub_*".parse().unwrap()]);
    house.tools = vec![Box::new(Stub("stub_shell", SinkKind::Executes)), Box::new(Stub("stub_read", SinkKind::Reads))];
    let (kernel, _home) = house.kernel();

    assert_eq!(skills(&shown(&kernel, None, None).unwrap()), ["stub_read"]);
    for principal in [admin(), Principal::local()] {
        let card = shown(&kernel, Some(&principal), None).unwrap();
        assert!(skills(&card).contains(&"stub_read") && !skills(&card).contains(&"stub_shell"));
    }
}

#[tokio::test]
async fn without_agents_there_is_a_placeholder_and_it_tells_nothing() {
    let (empty, _home) = House::of(&[]).signed(&rcgen::PKCS_ED25519).kernel();
    let (hidden, _other) = House::of(&[("secret", &["*"])]).a2a(|a2a| a2a.public_agents = Vec::new()).kernel();

    let card = empty.card(None, None, CardForm::Superset).unwrap();

    assert_eq!(read(&card)["name"], "openfang");
    assert_eq!(read(&card)["skills"], json!([]));
    assert_eq!(read(&card).get("signatures"), None);
    assert_eq!(hidden.card(None, None, CardForm::Superset).unwrap().body, card.body);
    assert_eq!(hidden.card(Some(&user(&["*"])), None, CardForm::Superset).unwrap().body, card.body);
    assert_eq!(empty.default_agent(Some(&admin())), None);
    assert!(empty.cards(&admin()).is_empty());
}

#[tokio::test]
async fn the_default_agent_is_the_configured_one_else_the_first_that_is_there() {
    let agents: [(&str, &[&str]); 3] = [("a", &[]), ("b", &[]), ("c", &[])];
    let (first, _home) = House::of(&agents).kernel();
    let (configured, _other) = House::of(&agents).with(|config| config.default_agent = Some(name("b"))).kernel();

    assert_eq!(first.default_agent(Some(&admin())), Some(name("a")));
    assert_eq!(first.default_agent(None), Some(name("a")));
    assert_eq!(configured.default_agent(Some(&admin())), Some(name("b")));
    assert_eq!(configured.default_agent(Some(&user(&["agent:c"]))), Some(name("c")));
    assert_eq!(configured.default_agent(Some(&user(&[]))), None);
    assert_eq!(shown(&configured, None, None).unwrap()["name"], "b");
}

#[tokio::test]
async fn a_default_agent_that_is_not_there_ends_the_start() {
    let house = House::of(&[("a", &[]), ("b", &[])]).with(|config| config.default_agent = Some(name("z")));
    let agents = house.directory.path().join("agents");

    let said = house.boot().err().unwrap().to_string();

    assert_eq!(said, format!("default_agent: there is no agent z below {}; there are a, b", agents.display()));
}

#[tokio::test]
async fn addresses_come_from_config() {
    let house = House::of(&[("a", &[]), ("b", &[])]).a2a(|a2a| a2a.listen_path = "/agents/x".to_owned());
    let (kernel, _home) = house
        .with(|config| config.public_url = Some("https://example.org/of".to_owned()))
        .kernel();

    let default = shown(&kernel, Some(&admin()), None).unwrap();
    let own = shown(&kernel, Some(&admin()), Some("a")).unwrap();

    assert_eq!(default["url"], "https://example.org/of/agents/x");
    assert_eq!(default["supportedInterfaces"][1]["url"], "https://example.org/of/agents/x/rest");
    assert_eq!(own["url"], "https://example.org/of/agents/x/agents/a");
    assert_eq!(own["supportedInterfaces"][1]["url"], own["url"]);
}

#[tokio::test]
async fn a_card_names_the_port_that_was_found() {
    let (kernel, _home) = House::of(&[("a", &[])]).with(|config| config.api_listen.set_port(0)).kernel();

    let before = shown(&kernel, None, None).unwrap();
    kernel.listens_on("127.0.0.1:4711".parse().unwrap());

    assert_eq!(before["url"], "http://127.0.0.1:0/a2a");
    assert_eq!(shown(&kernel, None, None).unwrap()["url"], "http://127.0.0.1:4711/a2a");
}

#[tokio::test]
async fn strangers_are_not_sent_to_an_endpoint_at_which_another_agent_answers() {
    let house = House::of(&[("a", &[]), ("b", &[])]).a2a(|a2a| a2a.public_agents = vec!["b".parse().unwrap()]);
    let (kernel, _home) = house.kernel();

    let card = shown(&kernel, None, None).unwrap();

    assert_eq!(card["name"], "b");
    assert_eq!(card["url"], "http://127.0.0.1:50051/a2a/agents/b");
    assert_eq!(shown(&kernel, Some(&admin()), None).unwrap()["url"], "http://127.0.0.1:50051/a2a");
}

#[tokio::test]
async fn a_card_says_what_it_takes_to_be_let_in() {
    let key = || Some(Secret::new("0123456789abcdef".to_owned()));
    let (open, _a) = House::of(&[("a", &[])]).kernel();
    let (guarded, _b) = House::of(&[("a", &[])]).with(|config| config.api_key = key()).kernel();
    let https = House::of(&[("a", &[])]).with(|config| config.api_key = key());
    let (https, _c) = https.with(|config| config.public_url = Some("https://example.org".to_owned())).kernel();
    let cookie = |kernel: &Kernel| shown(kernel, None, None).unwrap()["securitySchemes"]["cookie"]["name"].clone();

    assert_eq!(shown(&open, None, None).unwrap().get("securitySchemes"), None);
    assert_eq!(shown(&guarded, None, None).unwrap()["authentication"]["schemes"], json!(["bearer", "cookie"]));
    assert_eq!(cookie(&guarded), "openfang_session");
    assert_eq!(cookie(&https), "__Host-openfang_session");
}

#[tokio::test]
async fn a_card_says_what_the_server_offers() {
    let (all, _home) = House::of(&[("a", &[])]).kernel();
    let house = House::of(&[("a", &[])]).a2a(|a2a| {
        a2a.streaming = false;
        a2a.push_notifications = false;
        a2a.extended_card = false;
        a2a.required_extensions = vec!["urn:example:x".to_owned()];
    });
    let (none, _other) = house.kernel();

    let capabilities = |kernel: &Kernel| {
        let card = kernel.card(None, None, CardForm::Strict).unwrap();
        read(&card)["capabilities"].clone()
    };

    assert_eq!(capabilities(&all), json!({ "streaming": true, "pushNotifications": true, "extendedAgentCard": true }));
    let expected = json!({
        "streaming": false, "pushNotifications": false, "extendedAgentCard": false,
        "extensions": [{ "uri": "urn:example:x", "required": true }],
    });
    assert_eq!(capabilities(&none), expected);
}

#[tokio::test]
async fn a_card_is_made_and_signed_once_for_all_who_are_shown_the_same() {
    let house = House::of(&[("calc", &["add_numbers"]), ("wide", &["*"])]).signed(&rcgen::PKCS_ECDSA_P256_SHA256);
    let (kernel, _home) = house.kernel();
    let card = |agent: &str, who: &Principal| kernel.card(Some(who), Some(&name(agent)), CardForm::Superset).unwrap();

    let (calc, wide) = (card("calc", &admin()), card("wide", &admin()));
    let others = Principal::user("bob".parse().unwrap(), Grants::parse(["agent:calc/*"]).unwrap());
    assert!(Arc::ptr_eq(&calc, &card("calc", &admin())));
    assert!(Arc::ptr_eq(&card("calc", &others), &card("calc", &user(&["agent:calc/*"]))));

    kernel
        .doors()
        .inner
        .pipeline
        .catalog()
        .replace(|_| true, vec![server::with_tool("mcp_x_y")]);

    assert!(Arc::ptr_eq(&calc, &card("calc", &admin())), "it says the same, so it is the same");
    let changed = card("wide", &admin());
    assert_ne!(changed.etag, wide.etag);
    assert!(skills(&read(&changed)).contains(&"mcp_x_y"));
    assert!(changed.last_modified >= wide.last_modified);
}

#[tokio::test]
async fn signed_cards_name_a_key_that_is_published() {
    for algorithm in [&rcgen::PKCS_ED25519, &rcgen::PKCS_ECDSA_P256_SHA256] {
        let (kernel, _home) = House::of(&[("a", &[])]).signed(algorithm).kernel();

        let jwks = kernel.card_jwks().unwrap();
        let signatures = shown(&kernel, None, None).unwrap()["signatures"].clone();
        let protected = signatures[0]["protected"].as_str().unwrap();
        let header = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, protected).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();

        assert_eq!(header["jku"], "http://127.0.0.1:50051/.well-known/jwks.json");
        assert_eq!(header["kid"], read(&jwks)["keys"][0]["kid"]);
        assert_eq!(header["alg"], read(&jwks)["keys"][0]["alg"]);
        assert!(Arc::ptr_eq(&jwks, &kernel.card_jwks().unwrap()));
    }
    assert!(House::of(&[("a", &[])]).kernel().0.card_jwks().is_none());
}

#[test]
fn a_key_that_cannot_be_used_is_refused_with_its_file_and_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let said = |path: &Path| {
        let a2a = A2aConfig { enabled: true, card_key: Some(path.to_owned()), ..A2aConfig::default() };
        let problem = card_key::read(&Config { a2a, ..Config::default() }).err().unwrap();
        assert_eq!(problem.key, "a2a.card_key");
        problem.why.replace(&path.display().to_string(), "FILE")
    };
    let path = directory.path().join("card.pem");
    let p384 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem();

    assert!(said(&path).starts_with("FILE cannot be read: "));
    std::fs::write(&path, "nothing").unwrap();
    assert!(said(&path).starts_with("FILE holds no private key"));
    std::fs::write(&path, p384).unwrap();
    assert!(said(&path).starts_with("FILE holds a private key that is neither P-256 nor Ed25519"));
}

#[tokio::test]
async fn without_a2a_there_are_no_cards() {
    let (kernel, _home) = House::of(&[("a", &[])]).a2a(|a2a| a2a.enabled = false).kernel();

    assert_eq!(shown(&kernel, Some(&admin()), None), None);
    assert_eq!(shown(&kernel, None, None), None);
    assert!(kernel.cards(&admin()).is_empty());
}

//! Skills of MCP servers: shown under URIs of this server, held against the list whenever they are read, and installed.

use std::path::Path;

use openfang_kernel::skill_control::{SkillError, SkillSource};
use openfang_kernel::{Kernel, KernelError};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{Config, McpServerConfigEntry, McpTransportEntry};
use openfang_types::skills::{SkillDetails, SkillState};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::fixture::{Stage, settings};
use crate::mcp::wire::ask_modern;

const TEXT: &str =
    "---\nname: borrowed\ndescription: Of another server\nallowed-tools: probe_shell\n---\nRun everything.\n";
const URI: &str = "skill://shelf/tools/borrowed/SKILL.md";
const HERE: &str = "skill://lib/shelf/tools/borrowed/SKILL.md";

fn digest(text: &str) -> String {
    let hex: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// What the server has, in order.
fn shelf() -> Value {
    let more = "skill://shelf/tools/borrowed/more.md";
    let resources = json!([
        { "uri": URI, "digest": digest(TEXT), "size": TEXT.len() },
        { "uri": more, "digest": digest("more"), "size": 4 },
    ]);
    let frontmatter = json!({ "name": "borrowed", "description": "Of another server", "allowed-tools": "probe_shell" });
    json!({
        "skills": [{ "uri": URI, "frontmatter": frontmatter, "resources": resources }],
        "resources": { URI: TEXT, more: "more" },
    })
}

fn write(path: &Path, shelf: &Value) {
    std::fs::write(path, shelf.to_string()).unwrap();
}

fn entry(name: &str, path: &Path) -> McpServerConfigEntry {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/skills/server.py")
        .canonicalize()
        .unwrap();
    let args = vec!["-B".to_owned(), script.display().to_string(), path.display().to_string()];
    let transport = McpTransportEntry::Stdio { command: "/usr/bin/python3".to_owned(), args };
    McpServerConfigEntry::new(name.parse().unwrap(), transport)
}

/// A house that is connected to a server with skills.
struct Lent {
    home: TestHome,
    server: TestServer,
}

impl Lent {
    async fn new(shelf: &Value) -> Self {
        Self::by_names(shelf, &["lib"]).await
    }

    /// The same server under several names.
    async fn by_names(shelf: &Value, names: &[&str]) -> Self {
        let home = TestHome::new();
        let path = home.path().join("shelf.json");
        write(&path, shelf);
        let mcp_servers = names.iter().map(|name| entry(name, &path)).collect();
        let config = Config { mcp_servers, ..settings("http://127.0.0.1:9") };
        let kernel = home.boot_with(config).helper(env!("CARGO_BIN_EXE_openfang").into()).start().unwrap();
        kernel.acquaint_mcp_servers().await;
        Self { home, server: TestServer::start(kernel).await }
    }

    fn kernel(&self) -> &Kernel {
        &self.server.kernel
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        ask_modern(&self.server.client(), method, params).await.json()
    }

    /// The URIs of the skills that are listed.
    async fn listed(&self) -> Vec<String> {
        let listed = self.ask("skills/list", json!({})).await;
        let skills = listed["result"]["skills"].as_array().cloned().unwrap_or_default();
        skills.iter().map(|skill| skill["uri"].as_str().unwrap().to_owned()).collect()
    }

    async fn install(&self, uri: &str) -> Result<SkillDetails, KernelError> {
        let source = SkillSource::parse(&format!("mcp:lib/{uri}"))?;
        self.kernel().install_skill(&callers::operator(self.kernel()), source, None).await
    }

    fn write(&self, shelf: &Value) {
        write(&self.home.path().join("shelf.json"), shelf);
    }

    async fn reconnect(&self) {
        let operator = callers::operator(self.kernel());
        self.kernel().restart_mcp_server(&operator, &"lib".parse().unwrap()).await.unwrap();
    }
}

/// Installs the skill of a server into a stage, as the operator would.
pub(super) async fn install_untrusted(stage: &Stage) {
    let lent = Lent::new(&shelf()).await;
    let installed = lent.install(URI).await.unwrap();
    assert_eq!(
        (installed.skill.state, installed.skill.server.as_ref().map(ToString::to_string)),
        (SkillState::Installed, Some("lib".to_owned()))
    );
    // The stage takes over what the other house remembers.
    let (from, to) = (lent.home.path().join("data/skill_trust"), stage.home.path().join("data/skill_trust"));
    copy(&from, &to);
    stage.kernel.follow_skills().await;
    lent.server.stop().await;
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn skills_of_a_server_are_listed_and_read_under_uris_of_this_server() {
    let lent = Lent::new(&shelf()).await;
    let listed = lent.ask("skills/list", json!({})).await;
    let skill = &listed["result"]["skills"][0];
    assert_eq!((&skill["uri"], &skill["frontmatter"]["name"]), (&json!(HERE), &json!("borrowed")));
    assert_eq!(skill["resources"][0]["digest"], digest(TEXT));

    let read = lent.ask("resources/read", json!({ "uri": HERE })).await;
    let content = &read["result"]["contents"][0];
    assert_eq!((&content["uri"], &content["text"]), (&json!(HERE), &json!(TEXT)));
    let got = lent.ask("skills/get", json!({ "uri": HERE })).await;
    assert_eq!(got["result"]["skill"], *skill);
    let children = lent
        .ask("resources/directory/read", json!({ "uri": "skill://lib/shelf/tools/borrowed" }))
        .await;
    assert_eq!(children["result"]["resources"].as_array().unwrap().len(), 2, "{children}");
    lent.server.stop().await;
}

#[tokio::test]
async fn other_bytes_than_those_that_are_listed_are_refused_and_the_skill_is_left_out() {
    let lent = Lent::new(&shelf()).await;
    let mut lying = shelf();
    lying["resources"][URI] = json!(TEXT.replace("everything", "something else"));
    lent.write(&lying);

    let read = lent.ask("resources/read", json!({ "uri": HERE })).await;

    assert_eq!(read["error"]["code"], -32602, "{read}");
    assert!(read["error"]["message"].as_str().unwrap().contains("digest"), "{read}");
    assert!(!read.to_string().contains("something else"));
    assert!(lent.listed().await.is_empty());
    // Also once it tells the truth again: a person looks at it, or the server lists it otherwise.
    lent.write(&shelf());
    assert_eq!(lent.ask("resources/read", json!({ "uri": HERE })).await["error"]["code"], -32602);
    let text = TEXT.replace("everything", "nothing");
    let mut next = shelf();
    next["skills"][0]["resources"][0] = json!({ "uri": URI, "digest": digest(&text), "size": text.len() });
    next["resources"][URI] = json!(text);
    lent.write(&next);
    lent.reconnect().await;
    assert_eq!(lent.listed().await, [HERE]);
    assert_eq!(lent.ask("resources/read", json!({ "uri": HERE })).await["result"]["contents"][0]["text"], text);
    lent.server.stop().await;
}

#[tokio::test]
async fn an_installed_skill_is_the_one_that_was_listed() {
    let lent = Lent::new(&shelf()).await;
    let installed = lent.install(URI).await.unwrap();
    assert_eq!(installed.skill.source, format!("mcp:lib/{URI}"));
    assert_eq!(installed.files.len(), 2);
    let operator = callers::operator(lent.kernel());
    lent.kernel().remove_skill(&operator, &"borrowed".parse().unwrap()).await.unwrap();

    let mut other_frontmatter = shelf();
    other_frontmatter["skills"][0]["frontmatter"]["description"] = json!("Harmless");
    lent.write(&other_frontmatter);
    lent.reconnect().await;
    let error = lent.install(URI).await.unwrap_err().to_string();
    assert!(error.contains("frontmatter"), "{error}");

    let mut other_bytes = shelf();
    other_bytes["resources"]["skill://shelf/tools/borrowed/more.md"] = json!("evil");
    lent.write(&other_bytes);
    lent.reconnect().await;
    let error = lent.install(URI).await.unwrap_err().to_string();
    assert!(error.contains("digest"), "{error}");
    assert!(lent.kernel().skills(&operator).await.unwrap().skills.is_empty());
    lent.server.stop().await;
}

#[tokio::test]
async fn two_servers_with_one_skill_keep_it_apart() {
    let lent = Lent::by_names(&shelf(), &["lib", "other", "openfang"]).await;
    let there = HERE.replace("skill://lib/", "skill://other/");
    assert_eq!(lent.listed().await, [HERE.to_owned(), there.clone()]);
    let read = lent.ask("resources/read", json!({ "uri": there })).await;
    assert_eq!(read["result"]["contents"][0]["uri"], there);
    lent.server.stop().await;
}

#[tokio::test]
async fn what_breaks_the_rules_of_the_extension_is_not_shown() {
    let good = shelf()["skills"][0].clone();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut entry = good.clone();
        change(&mut entry);
        entry
    };
    let odd = [
        with(&|entry| entry["uri"] = json!("skill://shelf/%2e%2e/borrowed/SKILL.md")),
        with(&|entry| entry["uri"] = json!("skill://shelf/../borrowed/SKILL.md")),
        with(&|entry| entry["uri"] = json!("file:///etc/borrowed/SKILL.md")),
        with(&|entry| entry["uri"] = json!("skill://shelf/other/SKILL.md")),
        with(&|entry| entry["frontmatter"]["name"] = json!("../borrowed")),
        with(&|entry| entry["resources"] = json!([])),
        with(&|entry| entry["resources"][1]["uri"] = json!("skill://shelf/elsewhere/more.md")),
        with(&|entry| entry["resources"][1]["digest"] = json!("md5:0")),
        with(&|entry| entry["resources"][1]["size"] = json!(u32::MAX)),
        with(&|entry| entry["resources"] = json!("all of them")),
    ];
    for entry in odd {
        let mut shelf = shelf();
        shelf["skills"] = json!([entry]);
        let lent = Lent::new(&shelf).await;
        assert!(lent.listed().await.is_empty(), "{entry}");
        lent.server.stop().await;
    }
}

#[tokio::test]
async fn files_that_a_server_makes_up_as_they_are_read_are_listed_and_never_installed() {
    let mut dynamic = shelf();
    dynamic["skills"][0]["resources"] = json!("dynamic");
    let lent = Lent::new(&dynamic).await;
    assert_eq!(lent.listed().await, [HERE]);
    let read = lent.ask("resources/read", json!({ "uri": HERE })).await;
    assert_eq!(read["result"]["contents"][0]["text"], TEXT);

    let refused = lent.install(URI).await.unwrap_err();

    assert!(matches!(&refused, KernelError::Skill(SkillError::Server { .. })), "{refused}");
    lent.server.stop().await;
}

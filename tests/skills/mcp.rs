//! Skills over MCP: the extension, resources, prompts and the tool, for whoever was granted them.

use openfang_testkit::{TestServer, callers};
use openfang_types::principal::{Grants, Principal};
use serde_json::{Value, json};

use super::fixture::{PDF, Stage, trust_and_enable};
use crate::mcp::wire::{ask_modern, request, session};
use crate::support::peers;

const URI: &str = "skill://openfang/pdf-forms/SKILL.md";

/// A server with the skill in force.
async fn serving() -> (Stage, TestServer) {
    let stage = Stage::ready(&[]).await;
    let server = TestServer::start(stage.kernel.clone()).await;
    (stage, server)
}

#[tokio::test]
async fn the_official_suite_finds_nothing_wrong_with_our_skills() {
    const SCENARIOS: [&str; 3] =
        ["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"];
    let (_stage, server) = serving().await;
    let url = format!("http://{}/mcp", server.address);
    for revision in ["2026-07-28", "2025-11-25"] {
        for scenario in SCENARIOS {
            let url = url.clone();
            let found = tokio::task::spawn_blocking(move || {
                peers::conformance(&url, &["--scenario", scenario, "--force", "--spec-version", revision])
            });
            // What the older revision does not have is skipped.
            let not_there = ["sep-2640-skills-list-cache-attributes", "sep-2640-skills-get-cache-attributes"];
            let skipped: &[&str] = if revision == "2025-11-25" { &not_there } else { &[] };
            let found = found.await.unwrap().recorded(&format!("skills, {scenario}, {revision}"));
            found.without_skipped(skipped).assert_passed(&[&[scenario]]);
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn the_extension_is_declared_where_there_are_skills_and_nowhere_else() {
    let stage = Stage::new(&["*"], &[]).await;
    let server = TestServer::start(stage.kernel.clone()).await;
    let client = server.client();
    let declared = async || {
        let discovered = ask_modern(&client, "server/discover", json!({})).await.json();
        discovered["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/skills"].clone()
    };
    assert_eq!(declared().await, Value::Null);
    let refused = ask_modern(&client, "skills/list", json!({})).await.json();
    assert_eq!(refused["error"]["code"], -32601, "{refused}");

    trust_and_enable(&stage.kernel, "pdf-forms").await;

    assert_eq!(declared().await, json!({ "directoryRead": true }));
    server.stop().await;
}

#[tokio::test]
async fn an_older_client_reads_skills_as_resources_prompts_and_with_a_tool() {
    let (_stage, server) = serving().await;
    let client = session(&server.client(), "2025-06-18", json!({})).await;
    let ask = async |method: &str, params: Value| {
        client.post("/mcp", &request(1, method, params)).await.json()["result"].clone()
    };

    let resources = ask("resources/list", json!({})).await["resources"].clone();
    let manifest = resources.as_array().unwrap().iter().find(|resource| resource["uri"] == URI).unwrap();
    assert_eq!((&manifest["name"], &manifest["mimeType"]), (&json!("pdf-forms"), &json!("text/markdown")));
    assert_eq!(ask("resources/read", json!({ "uri": URI })).await["contents"][0]["text"], PDF);

    let prompts = ask("prompts/list", json!({})).await["prompts"].to_string();
    assert!(prompts.contains("skill-pdf-forms"), "{prompts}");
    let filled = ask("prompts/get", json!({ "name": "skill-pdf-forms", "arguments": { "input": "Fill it" } })).await;
    let text = filled["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("okapi") && text.ends_with("Fill it"), "{text}");

    let call =
        async |arguments: Value| ask("tools/call", json!({ "name": "skill_read", "arguments": arguments })).await;
    let read = call(json!({ "name": "pdf-forms" })).await;
    assert!(read["content"][0]["text"].as_str().unwrap().contains("okapi"), "{read}");
    let file = call(json!({ "name": "pdf-forms", "file": "references/fields.md" })).await;
    assert_eq!(file["content"][0]["text"], "The first field is the name.\n");
    for wrong in [json!({}), json!({ "name": "x" }), json!({ "name": "pdf-forms", "file": "../../secret.key" })] {
        assert_eq!(call(wrong).await["isError"], true);
    }
    server.stop().await;
}

#[tokio::test]
async fn every_file_has_one_uri_and_no_other_spelling_leads_to_it() {
    let (_stage, server) = serving().await;
    let client = server.client();
    for uri in [
        "skill://openfang/pdf-forms/%53KILL.md",
        "skill://openfang/pdf-forms/references/../SKILL.md",
        "skill://openfang/pdf-forms/%2e%2e/%2e%2e/secret.key",
        "skill://openfang/pdf-forms//SKILL.md",
        "skill://openfang/pdf-forms/SKILL.md?x",
        "skill://OPENFANG/pdf-forms/SKILL.md",
        "skill://openfang/pdf-forms",
        "skill://openfang/",
        "skill://",
        "skill://nobody/x/SKILL.md",
    ] {
        let read = ask_modern(&client, "resources/read", json!({ "uri": uri })).await.json();
        assert_eq!(read["error"]["code"], -32602, "{uri} {read}");
    }
    server.stop().await;
}

#[tokio::test]
async fn whoever_was_not_granted_a_skill_sees_none_of_it() {
    let stage = Stage::ready(&[]).await;
    let kernel = &stage.kernel;
    let sees = |grants: &[&str]| {
        let grants = Grants::parse(grants.iter().copied()).unwrap();
        let principal = Principal::user("ada".parse().unwrap(), grants);
        let caller = openfang_kernel::Caller { principal: principal.into(), ..callers::local(kernel) };
        let tools = kernel.available_tools(&caller, None).unwrap().len();
        (caller, tools)
    };
    let server = kernel.mcp_server(openfang_kernel::mcp::View::Everything);
    for (grants, is_shown) in [
        (&["skill:pdf-forms"][..], true),
        (&["skill:pdf-*"][..], true),
        (&["*"][..], false),
        (&["skill:other"][..], false),
        (&["agent:thinker/*"][..], false),
    ] {
        let (caller, _) = sees(grants);
        let host = server.host();
        let skills = openfang_mcp::Host::skills(host, &caller).await.unwrap();
        let prompts = openfang_mcp::Host::prompts(host, &caller).await.unwrap();
        let tools = openfang_mcp::Host::tools(host, &caller).await.unwrap();
        assert_eq!(skills.get(URI).is_some(), is_shown, "{grants:?}");
        assert_eq!(prompts.get("skill-pdf-forms").is_some(), is_shown, "{grants:?}");
        assert_eq!(tools.get("skill_read").is_some(), is_shown, "{grants:?}");
    }
    // Through an agent whose tools are shown, its skills are too.
    let view = openfang_kernel::mcp::View::Agent { name: "thinker".parse().unwrap(), tools: true };
    let (caller, _) = sees(&["agent:thinker"]);
    let skills = kernel.mcp_server(view);
    let skills = openfang_mcp::Host::skills(skills.host(), &caller).await.unwrap();
    assert!(skills.get(URI).is_some());
}

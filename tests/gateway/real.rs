//! Real servers, on every transport they have: their tools are found and called through every door.

use openfang_types::config::McpServerConfigEntry;
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{House, program, real, site};
use crate::support::peers::PeerServer;
use crate::support::{assert_state, send};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// A call, and a text that its answer has.
struct Job {
    tool: &'static str,
    listed_as: &'static str,
    arguments: Value,
    says: &'static str,
}

const fn job(tool: &'static str, listed_as: &'static str, arguments: Value, says: &'static str) -> Job {
    Job { tool, listed_as, arguments, says }
}

/// Lists and calls through an agent, through `/mcp`, and through the server's own door.
async fn works_through_every_door(entry: McpServerConfigEntry, revision: &str, job: Job) -> House {
    let name = entry.name.to_string();
    let own = format!("/mcp/servers/{name}");
    let house = House::with([entry]).await;
    let status = house.ready(&name).await;
    assert_eq!(status.protocol.as_deref(), Some(revision), "{status:?}");
    assert_eq!(status.left_out, []);

    let task = send(house.kernel(), &house.operator(), "hand", &format!("/{} {}", job.listed_as, job.arguments)).await;
    assert_state(&task, TaskState::Completed);
    assert!(serde_json::to_string(&task.artifacts).unwrap().contains(job.says), "{task:?}");

    assert!(house.names_at("/mcp").await.contains(&job.listed_as.to_owned()));
    let result = house.call_at("/mcp", job.listed_as, job.arguments.clone()).await;
    assert!(result.to_string().contains(job.says), "{result}");

    assert!(house.names_at(&own).await.contains(&job.tool.to_owned()));
    let result = house.call_at(&own, job.tool, job.arguments).await;
    assert!(result.to_string().contains(job.says), "{result}");
    house
}

fn sum(tool: &'static str, listed_as: &'static str) -> Job {
    job(tool, listed_as, json!({"a": 19, "b": 23}), "42")
}

#[tokio::test]
async fn the_reference_server_works_on_stdio() {
    let entry = real("everything", PeerServer::Everything);
    let house = works_through_every_door(entry, LEGACY, sum("get-sum", "mcp_everything_get_sum")).await;

    for path in ["/mcp", "/mcp/servers/everything"] {
        let tool = |name: &str| match path {
            "/mcp" => format!("mcp_everything_{}", name.replace('-', "_")),
            _ => name.to_owned(),
        };
        let image = house.call_at(path, &tool("get-tiny-image"), json!({})).await;
        let image = image["content"]
            .as_array()
            .unwrap()
            .iter()
            .find(|block| block["type"] == "image")
            .unwrap();
        assert_eq!(image["mimeType"], "image/png", "{path}");
        assert!(image["data"].as_str().unwrap().len() > 1_000, "{path}");
        let links = house.call_at(path, &tool("get-resource-links"), json!({"count": 2})).await;
        let links = links["content"].as_array().unwrap();
        assert_eq!(links.iter().filter(|block| block["type"] == "resource_link").count(), 2, "{path} {links:?}");
        let structured = house.call_at(path, &tool("get-structured-content"), json!({"location": "Chicago"})).await;
        assert!(structured["structuredContent"]["temperature"].is_number(), "{path} {structured}");
        let embedded = house
            .call_at(path, &tool("get-resource-reference"), json!({"resourceType": "Text", "resourceId": 1}))
            .await;
        let embedded = embedded["content"].as_array().unwrap();
        assert!(embedded.iter().any(|block| block["type"] == "resource"), "{path} {embedded:?}");
    }
    house.close().await;
}

#[tokio::test]
async fn the_reference_server_works_over_streamable_http() {
    let server = PeerServer::Everything.http();
    let house = works_through_every_door(site("web", server.url()), LEGACY, sum("get-sum", "mcp_web_get_sum")).await;
    house.close().await;
}

#[tokio::test]
async fn the_reference_server_works_on_the_old_transport() {
    let server = PeerServer::EverythingSse.http();
    let house = works_through_every_door(site("old", server.url()), LEGACY, sum("get-sum", "mcp_old_get_sum")).await;
    house.close().await;
}

#[tokio::test]
async fn the_filesystem_server_reads_files() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    std::fs::write(directory.join("note.txt"), "written here").unwrap();
    let mut command = PeerServer::Filesystem.stdio();
    command.push(directory.to_str().unwrap().to_owned());
    let arguments = json!({"path": directory.join("note.txt")});

    let job = job("read_text_file", "mcp_files_read_text_file", arguments, "written here");
    works_through_every_door(program("files", &command), LEGACY, job).await.close().await;
}

#[tokio::test]
async fn the_memory_server_remembers() {
    let directory = tempfile::tempdir().unwrap();
    let mut entry = real("graph", PeerServer::Memory);
    let file = directory.path().join("memory.jsonl");
    entry.env = vec![openfang_types::config::EnvEntry::new(format!("MEMORY_FILE_PATH={}", file.display()))];
    let ada = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["wrote notes"]}]});

    let job = job("read_graph", "mcp_graph_read_graph", json!({}), "entities");
    let house = works_through_every_door(entry, LEGACY, job).await;
    house.call("mcp_graph_create_entities", ada).await.unwrap();

    assert!(house.says("mcp_graph_read_graph", json!({})).await.contains("wrote notes"));
    house.close().await;
}

#[tokio::test]
async fn the_smallest_rust_server_works_over_http() {
    let server = PeerServer::Rmcp.http();
    let job = sum("add_numbers", "mcp_rust_add_numbers");
    works_through_every_door(site("rust", server.url()), MODERN, job).await.close().await;
}

/// Everything that a server on a Python SDK can say.
async fn a_python_server_says_everything(entry: McpServerConfigEntry) {
    let name = entry.name.to_string();
    let job = sum("add_numbers", if name == "mcp" { "mcp_mcp_add_numbers" } else { "mcp_fast_add_numbers" });
    let house = works_through_every_door(entry, MODERN, job).await;
    let own = format!("/mcp/servers/{name}");
    for (path, prefix) in [("/mcp", format!("mcp_{name}_")), (own.as_str(), String::new())] {
        let sum = house.call_at(path, &format!("{prefix}add_numbers"), json!({"a": 1, "b": 2})).await;
        assert_eq!(sum["structuredContent"]["sum"], 3, "{path} {sum}");
        for (tool, kind) in [("pixel", "image"), ("beep", "audio"), ("where", "resource_link")] {
            let result = house.call_at(path, &format!("{prefix}{tool}"), json!({})).await;
            assert_eq!(result["content"][0]["type"], kind, "{path} {result}");
        }
        let failed = house.call_at(path, &format!("{prefix}fail"), json!({"reason": "out of ink"})).await;
        assert_eq!(failed["isError"], true, "{path} {failed}");
        assert!(failed.to_string().contains("out of ink"), "{path} {failed}");
        let slow = house.call_at(path, &format!("{prefix}slow"), json!({"steps": 3})).await;
        assert!(slow.to_string().contains("3 steps"), "{path} {slow}");
    }
    let fail = format!("/mcp_{name}_fail {{\"reason\": \"no ink\"}}");
    assert_state(&send(house.kernel(), &house.operator(), "hand", &fail).await, TaskState::Failed);
    house.close().await;
}

#[tokio::test]
async fn a_server_on_the_python_sdk_says_everything_on_stdio() {
    a_python_server_says_everything(real("mcp", PeerServer::PythonMcp)).await;
}

#[tokio::test]
async fn a_server_on_the_python_sdk_says_everything_over_http() {
    let server = PeerServer::PythonMcp.http();
    a_python_server_says_everything(site("mcp", server.url())).await;
}

#[tokio::test]
async fn a_server_on_fastmcp_says_everything_on_stdio() {
    a_python_server_says_everything(real("fast", PeerServer::FastMcp)).await;
}

#[tokio::test]
async fn a_server_on_fastmcp_says_everything_over_http() {
    let server = PeerServer::FastMcp.http();
    a_python_server_says_everything(site("fast", server.url())).await;
}

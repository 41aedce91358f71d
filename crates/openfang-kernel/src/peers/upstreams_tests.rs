//! What is remembered of servers, while they come and go.

use openfang_mcp::client::Manifest;
use openfang_store::Stores;
use openfang_types::config::{Config, McpTransportEntry, OnChange};
use openfang_types::redact::Redactor;
use serde_json::json;

use super::*;
use crate::Boot;
use crate::settings::home::Home;

fn manifest(says: &str) -> Manifest {
    let tool = json!({ "name": "a", "description": says, "inputSchema": { "type": "object" } });
    let kept = json!({ "tools": [tool], "prompts": [], "templates": [] }).to_string();
    Manifest::of(serde_json::from_str(&kept).unwrap())
}

fn entry() -> McpServerConfigEntry {
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    McpServerConfigEntry {
        on_change: OnChange::Quarantine,
        ..McpServerConfigEntry::new("s".parse().unwrap(), transport)
    }
}

/// A home in which a server is remembered whose tool is not what it was.
fn changed(entry: &McpServerConfigEntry) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let directory = at(&home).mcp();
    let (mut kept, _) = ServerMemory::read(&directory, entry, &Redactor::default());
    kept.look(entry, &manifest("one"));
    kept.write(&directory, &entry.name, &manifest("two")).unwrap();
    home
}

fn at(home: &tempfile::TempDir) -> Home {
    Home::at(home.path().to_owned())
}

fn upstreams(home: &tempfile::TempDir) -> Arc<Upstreams> {
    at(home).prepare().unwrap();
    let boot = Boot::new(at(home), Config::default()).stores(Stores::in_memory());
    Arc::clone(boot.start().unwrap().peer_room())
}

fn quarantined(upstreams: &Upstreams) -> usize {
    let status = upstreams.status(&entry().name).unwrap();
    status.tools.iter().filter(|tool| tool.quarantined).count()
}

#[test]
fn what_was_approved_and_is_not_written_yet_holds_for_a_server_in_the_place_of_the_other() {
    let entry = entry();
    let home = changed(&entry);
    let upstreams = upstreams(&home);
    upstreams.put(entry.clone());
    assert_eq!(quarantined(&upstreams), 1);

    let server = upstreams.get(&entry.name).unwrap();
    server.approve(None);
    server.note_news();
    upstreams.put(entry);

    assert_eq!(quarantined(&upstreams), 0);
}

#[test]
fn what_is_to_be_written_of_a_server_that_is_gone_is_not_written() {
    let entry = entry();
    let home = changed(&entry);
    let upstreams = upstreams(&home);
    upstreams.put(entry.clone());
    let server = upstreams.get(&entry.name).unwrap();
    server.note_news();

    assert!(upstreams.remove(&entry.name));
    upstreams.write_down(&server);

    assert_eq!(std::fs::read_dir(at(&home).mcp()).unwrap().count(), 0);
}

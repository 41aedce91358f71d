//! The tools of a server, made when they are needed.

use std::time::Duration;

use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Endpoint, Manifest, Observer, Place, Upstream, UpstreamParts};
use openfang_types::config::McpTransportEntry;
use openfang_types::taint::SinkKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::catalog::Catalog;

struct Nowhere;

impl Place for Nowhere {
    fn endpoint(&self) -> Result<Endpoint, String> {
        Err("nowhere".to_owned())
    }
}

impl Observer for Nowhere {
    fn changed(&self) {}
}

fn relay() -> Arc<Relay> {
    let parts = UpstreamParts {
        conversations: 8,
        counts: Arc::default(),
        name: "s".to_owned(),
        place: Arc::new(Nowhere),
        timeout: Duration::ZERO,
        startup: Duration::ZERO,
        declared: ClientCapabilities::NONE,
        only: None,
        known: None,
        manifest: None,
        observer: Arc::new(Nowhere),
        tracker: TaskTracker::new(),
        stop: CancellationToken::new(),
    };
    Arc::new(Relay::new(Upstream::new(parts), false))
}

fn listing(tools: &[&str]) -> Arc<Listing> {
    let definition = |name: &&str| {
        json!({
            "name": name, "description": format!("does {name}"), "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": *name == "look" },
        })
    };
    let tools: Vec<_> = tools.iter().map(definition).collect();
    let kept = json!({ "tools": tools, "prompts": [], "templates": [] }).to_string();
    Manifest::of(serde_json::from_str(&kept).unwrap()).tools
}

fn server() -> McpServerConfigEntry {
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    McpServerConfigEntry { trusted: true, ..McpServerConfigEntry::new("s".parse().unwrap(), transport) }
}

#[test]
fn a_tool_that_was_made_stays_the_same_as_long_as_its_list_and_its_name_do() {
    let (server, relay, listing) = (server(), relay(), listing(&["look", "take"]));
    let names = |names: [&str; 2]| names.into_iter().collect::<Names>();
    let first = ServerTools::new(&server, &relay, &listing, names(["mcp_s_look", "mcp_s_take"]), None);
    let (look, take) = (first.get(0).unwrap(), first.get(1).unwrap());
    assert!(Arc::ptr_eq(&look, &first.get(0).unwrap()));

    let same = ServerTools::new(&server, &relay, &listing, names(["mcp_s_look", "mcp_s_take"]), Some(&first));
    assert!(Arc::ptr_eq(&first, &same));

    let renamed = ServerTools::new(&server, &relay, &listing, names(["mcp_s_look", "mcp_s_take_1"]), Some(&first));
    assert!(Arc::ptr_eq(&look, &renamed.get(0).unwrap()));
    assert!(!Arc::ptr_eq(&take, &renamed.get(1).unwrap()));
    assert_eq!(renamed.get(1).unwrap().traits.name.as_str(), "mcp_s_take_1");

    let relisted = self::listing(&["look", "take"]);
    let other = ServerTools::new(&server, &relay, &relisted, names(["mcp_s_look", "mcp_s_take"]), Some(&first));
    assert!(!Arc::ptr_eq(&look, &other.get(0).unwrap()));
}

#[test]
fn a_place_without_a_name_has_no_tool_and_the_catalogue_finds_the_others_by_theirs() {
    let (server, relay, listing) = (server(), relay(), listing(&["look", "odd", "take"]));
    let tools = |names: [&str; 3]| {
        let names = names.into_iter().collect();
        ServerTools::new(&server, &relay, &listing, names, None)
    };
    let (first, second) = (tools(["mcp_s_z", "", "mcp_s_b"]), tools(["mcp_t_y", "mcp_a", ""]));
    let catalog = Catalog::default();
    catalog.connect(vec![Arc::clone(&first), second]);

    assert_eq!(first.places().collect::<Vec<_>>(), [0, 2]);
    assert!(first.get(1).is_none() && first.traits(1).is_none() && first.get(3).is_none());
    assert!(first.traits_by_own_name("odd").is_none() && first.traits_by_own_name("none").is_none());
    let sorted = catalog.sorted();
    assert_eq!(sorted.iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["mcp_a", "mcp_s_b", "mcp_s_z", "mcp_t_y"]);
    for known in &sorted {
        let found = catalog.get(&known.name().parse().unwrap()).unwrap();
        assert_eq!(Some(&found.traits), known.traits().as_ref());
        assert_eq!(*found.definition(), known.definition().unwrap());
    }
    assert!(catalog.get(&"mcp_s_odd".parse().unwrap()).is_none());
}

#[test]
fn what_is_known_of_a_tool_that_is_not_made_is_what_its_server_says() {
    let (server, relay, listing) = (server(), relay(), listing(&["look", "take"]));
    let names = ["mcp_s_look", "mcp_s_take"].into_iter().collect();
    let tools = ServerTools::new(&server, &relay, &listing, names, None);

    let (look, take) = (tools.traits_by_own_name("look").unwrap(), tools.traits(1).unwrap());
    assert_eq!((look.sink, take.sink), (SinkKind::Reads, SinkKind::Writes));
    assert_eq!(tools.definition(1).unwrap().description, "[MCP:s] does take");
    assert!(tools.made().is_empty());
}

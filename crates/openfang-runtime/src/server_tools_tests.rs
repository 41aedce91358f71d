//! The tools of a server, made when they are needed.

use std::time::Duration;

use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Endpoint, Locator, Manifest, NoEndpoint, Observer, Relay, Upstream, UpstreamParts};
use openfang_types::capability::Glob;
use openfang_types::config::McpTransportEntry;
use openfang_types::taint::SinkKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::catalog::Catalog;

struct Nowhere;

impl Locator for Nowhere {
    fn endpoint(&self) -> Result<Endpoint, NoEndpoint> {
        Err(NoEndpoint::for_now("nowhere"))
    }
}

impl Observer for Nowhere {
    fn changed(&self) {}
}

fn relay() -> Arc<GuardedRelay> {
    let parts = UpstreamParts {
        conversations: 8,
        counts: Arc::default(),
        name: "s".to_owned(),
        place: Arc::new(Nowhere),
        timeout: Duration::ZERO,
        startup: Duration::ZERO,
        declared: ClientCapabilities::NONE,
        instance: None,
        only: None,
        known: None,
        manifest: None,
        observer: Arc::new(Nowhere),
        tracker: TaskTracker::new(),
        stop: CancellationToken::new(),
    };
    Arc::new(GuardedRelay::new(Relay::new(Upstream::new(parts), false)))
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

fn alone() -> ServerNames {
    names_of(&"s".parse().unwrap(), [])
}

fn server() -> McpServerConfigEntry {
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    McpServerConfigEntry { trusted: true, ..McpServerConfigEntry::new("s".parse().unwrap(), transport) }
}

#[test]
fn a_tool_that_was_made_stays_the_same_as_long_as_its_list_and_its_name_do() {
    let (server, relay, listing) = (server(), relay(), listing(&["look", "take"]));
    let names = |names: [&str; 2]| (names.into_iter().collect::<Names>(), alone());
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
        let names = (names.into_iter().collect(), alone());
        ServerTools::new(&server, &relay, &listing, names, None)
    };
    let (first, second) = (tools(["mcp_s_z", "", "mcp_s_b"]), tools(["mcp_t_y", "mcp_a", ""]));
    let catalog = Catalog::default();
    catalog.replace(|_| true, vec![Arc::clone(&first) as _, second]);

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
    let names = (["mcp_s_look", "mcp_s_take"].into_iter().collect(), alone());
    let tools = ServerTools::new(&server, &relay, &listing, names, None);

    let (look, take) = (tools.traits_by_own_name("look").unwrap(), tools.traits(1).unwrap());
    assert_eq!((look.sink, take.sink), (SinkKind::Queries, SinkKind::SendsOut));
    assert_eq!(tools.definition(1).unwrap().description, "[MCP:s] does take");
    assert!(tools.made().is_empty());
}

#[test]
fn a_tool_is_covered_by_patterns_for_its_own_server_and_not_by_those_for_another() {
    let servers: Vec<ServerName> = ["a", "a_b", "c-d", "c_d"].map(|name| name.parse().unwrap()).to_vec();
    let covers = |pattern: &str, server: usize, tool: &str| {
        let entry = McpServerConfigEntry { name: servers[server].clone(), ..self::server() };
        let namespace = Namespace::Server(Arc::new(names_of(&entry.name, &servers)));
        let traits = traits_of(&entry, tool.parse().unwrap(), namespace, ToolAnnotations::ANYTHING);
        pattern.parse::<Glob>().unwrap().covers(&traits)
    };
    let rows = [
        ("mcp_a_*", 0, "mcp_a_x", true),
        ("mcp_a_*", 1, "mcp_a_b_x", false),
        ("mcp_a_b_*", 1, "mcp_a_b_x", true),
        ("mcp_a_b_*", 0, "mcp_a_b_x", false),
        ("mcp_a_*", 0, "mcp_a_b_x", true),
        ("mcp_a_b_x", 0, "mcp_a_b_x", false),
        ("mcp_a_b_x", 1, "mcp_a_b_x", true),
        ("mcp_a*", 0, "mcp_a_x", false),
        ("mcp_a_g*t", 0, "mcp_a_get", true),
        ("mcp_c_d_*", 2, "mcp_c_d_x", false),
        ("server:c-d", 2, "mcp_c_d_x", true),
        ("server:c-d", 3, "mcp_c_d_x", false),
        ("server:a", 0, "mcp_a_b_x", true),
        ("server:a", 1, "mcp_a_b_x", false),
    ];
    for (pattern, server, tool, expected) in rows {
        assert_eq!(covers(pattern, server, tool), expected, "{pattern}: {tool} of {}", servers[server]);
    }
    for pattern in ["*", "mcp_*", "*_x", "mcp_*_x", "m*"] {
        assert!((0..4).all(|server| covers(pattern, server, "mcp_a_b_x")), "{pattern} is for all servers");
    }
    assert!(covers("mcp_cut_0123ab", 0, "mcp_cut_0123ab"), "a name that was cut is still a name");
}

#[test]
fn prompts_and_resources_are_covered_by_what_covers_the_whole_server() {
    let servers: Vec<ServerName> = ["a", "a_b"].map(|name| name.parse().unwrap()).to_vec();
    let whole = Namespace::Whole(Arc::new(names_of(&servers[0], &servers)));
    let entry = McpServerConfigEntry { name: servers[0].clone(), ..server() };
    let name = "mcp_a_resources_read".parse().unwrap();
    let traits = traits_of(&entry, name, whole, ToolAnnotations::READ_ONLY);

    for pattern in ["*", "mcp_*", "mcp_a_*", "server:a"] {
        assert!(pattern.parse::<Glob>().unwrap().covers(&traits), "{pattern}");
    }
    for pattern in
        ["mcp_a_resources_read", "mcp_a_resources_*", "mcp_a_r*", "*_read", "mcp_*_read", "mcp_a_b_*", "server:a_b"]
    {
        assert!(!pattern.parse::<Glob>().unwrap().covers(&traits), "{pattern}");
    }
}

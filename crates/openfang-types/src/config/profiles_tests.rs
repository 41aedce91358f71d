//! What a profile has, and that it never grants.

use std::sync::Arc;

use super::*;
use crate::capability::{Namespace, ServerNames};
use crate::principal::{AdminProof, Grants, Principal};
use crate::taint::SinkKind;
use crate::tool::{Recorded, ToolAnnotations, ToolKind};

fn profile(text: &str) -> Profile {
    toml::from_str(text).unwrap()
}

fn tool(name: &str) -> ToolTraits {
    let (origin, namespace) = match name.split('_').collect::<Vec<_>>()[..] {
        ["mcp", server, _] => {
            let names = ServerNames { prefix: format!("mcp_{server}_").into(), others: Vec::new() };
            (Origin::McpServer(server.parse().unwrap()), Namespace::Server(Arc::new(names)))
        }
        ["a2a", agent] => (Origin::A2aAgent(agent.parse().unwrap()), Namespace::Own),
        _ => (Origin::Builtin, Namespace::Own),
    };
    ToolTraits {
        name: name.parse().unwrap(),
        annotations: ToolAnnotations::READ_ONLY,
        sink: SinkKind::Reads,
        kind: ToolKind::Plain,
        origin,
        namespace,
        recorded: Recorded::After,
    }
}

#[test]
fn a_profile_has_the_tools_that_each_of_its_lists_leaves() {
    let all = ["mcp_git_log", "mcp_files_read", "clock_now", "a2a_bob"];
    let rows: [(&str, &[&str]); 8] = [
        ("tools = \"search\"", &all),
        ("servers = []\ntools = \"search\"", &["clock_now", "a2a_bob"]),
        ("", &all),
        ("servers = [\"git\"]", &["mcp_git_log", "clock_now", "a2a_bob"]),
        ("tools = [\"mcp_git_*\", \"clock_*\"]", &["mcp_git_log", "clock_now"]),
        ("servers = [\"files\"]\ntools = [\"mcp_git_*\", \"clock_*\"]", &["clock_now"]),
        ("tools = []\nagents = [\"bob\"]", &["a2a_bob"]),
        ("agents = []", &["mcp_git_log", "mcp_files_read", "clock_now"]),
    ];
    for (text, expected) in rows {
        let profile = profile(text);
        let found: Vec<&str> = all.into_iter().filter(|name| profile.has_tool(&tool(name))).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn profiles_narrow_and_never_grant() {
    let named = |text: &str| Arc::new(NamedProfile { name: "x".parse().unwrap(), profile: profile(text) });
    let everything = named("servers = [\"git\", \"files\"]\ntools = [\"*\"]\nagents = [\"ada\", \"bob\"]");
    let user = Principal::user("eve".parse().unwrap(), Grants::parse(["mcp_git_*", "agent:ada"]).unwrap());
    let user = user.narrowed_by(everything);
    assert!(user.may_use(&tool("mcp_git_log"), None) && user.may_talk_to(&"ada".parse().unwrap()));
    assert!(!user.may_use(&tool("mcp_files_read"), None) && !user.may_talk_to(&"bob".parse().unwrap()));

    let admin = Principal::admin(AdminProof::InProcess).narrowed_by(named("tools = [\"mcp_git_*\"]"));
    assert!(admin.may_use(&tool("mcp_git_log"), None));
    let further = admin.narrowed_by(named("servers = [\"files\"]"));
    assert!(!further.may_use(&tool("mcp_git_log"), None) && !further.may_use(&tool("mcp_files_read"), None));
}

#[test]
fn an_unknown_key_of_a_profile_is_refused() {
    assert!(toml::from_str::<Profile>("tool = [\"x\"]").is_err());
    assert!(toml::from_str::<Profile>("tools = [\"a b\"]").is_err());
    for wrong in ["tools = \"all\"", "tools = true", "tools = { search = true }"] {
        let why = toml::from_str::<Profile>(wrong).unwrap_err().to_string();
        assert!(why.contains("a list of patterns, or \"search\""), "{why}");
    }
}

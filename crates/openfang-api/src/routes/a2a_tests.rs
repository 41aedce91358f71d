//! Which path is which door.

use super::*;

fn door(path: &'static str) -> Option<(A2aBinding, Option<&'static str>, &'static str)> {
    let place = A2aPath::of("/a2a", &Method::POST, path)?;
    let A2aDoor::Binding(door) = place.door else { return None };
    Some((door, place.agent, place.below))
}

#[test]
fn every_path_of_the_table_leads_to_its_door() {
    for route in rows() {
        let path = route.path.replace(['{', '}'], "").replace("/path", "/tasks/1");
        let Handler::A2a(expected) = route.handler else { panic!("{path} is not one of A2A's") };
        let place = A2aPath::of("/a2a", &Method::POST, &path).map(|place| place.door);
        assert_eq!(place, Some(expected), "{path}");
    }
}

#[test]
fn paths_say_who_and_what() {
    use A2aBinding::{AgentRest, AgentRpc, OpenFangCancel, OpenFangTask, Rest, Rpc};
    assert_eq!(door("/"), Some((Rpc, None, "")));
    assert_eq!(door("/a2a/"), Some((Rpc, None, "")));
    assert_eq!(door("/a2a/rest/tasks/1:cancel"), Some((Rest, None, "tasks/1:cancel")));
    assert_eq!(door("/a2a/agents/starter"), Some((AgentRpc, Some("starter"), "")));
    assert_eq!(door("/a2a/agents/starter/"), Some((AgentRpc, Some("starter"), "")));
    assert_eq!(door("/a2a/agents/starter/v1/tasks"), Some((AgentRest, Some("starter"), "v1/tasks")));
    assert_eq!(door("/a2a/tasks/1"), Some((OpenFangTask, None, "1")));
    assert_eq!(door("/a2a/tasks/1/cancel"), Some((OpenFangCancel, None, "1")));
    for path in ["/a2ax", "/a2a/agents/", "/a2a/tasks/", "/a2a/tasks/1/x", "/a2a/x"] {
        assert_eq!(door(path), None, "{path}");
    }
    assert_eq!(A2aPath::of("/a2a", &Method::GET, "/"), None, "it is free for pages");
    let moved = A2aPath::of("/agents/here", &Method::POST, "/agents/here/tasks/send").map(|place| place.door);
    assert_eq!(moved, Some(A2aDoor::Binding(A2aBinding::OpenFangSend)));
}

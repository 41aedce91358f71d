//! The path of an endpoint.

use super::*;

#[test]
fn an_endpoint_has_the_path_that_serves_the_same() {
    let work = || Some("work".parse().unwrap());
    let agent = View::Agent { name: "ada".parse().unwrap(), tools: true };
    let rows = [
        (Content::Home(View::Everything), None, "/mcp"),
        (Content::Home(View::Everything), work(), "/mcp?profile=work"),
        (Content::Home(View::Agents), work(), "/mcp?tools=false&profile=work"),
        (Content::Home(View::Lazy(Box::new(agent.clone()))), None, "/mcp?agent=ada&tools=true&lazy=true"),
        (Content::Home(View::Lazy(Box::new(View::Everything))), work(), "/mcp?lazy=true&profile=work"),
        (Content::Home(agent), None, "/mcp?agent=ada&tools=true"),
        (Content::Server("files".parse().unwrap()), None, "/mcp/servers/files"),
        (Content::Server("files".parse().unwrap()), work(), "/mcp/servers/files?profile=work"),
    ];
    for (content, profile, path) in rows {
        assert_eq!(Endpoint { content, profile }.path(), path);
    }
}

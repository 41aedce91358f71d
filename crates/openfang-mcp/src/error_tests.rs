//! Errors as each era says them.

use super::*;

fn all() -> Vec<McpError> {
    vec![
        McpError::UnknownMethod("x".to_owned()),
        McpError::InvalidParams("x".to_owned()),
        McpError::unknown_tool("x"),
        McpError::unknown_resource("file:///x"),
        McpError::BadCursor,
        McpError::BadMeta("x".to_owned()),
        McpError::HeaderMismatch("x".to_owned()),
        McpError::MissingCapability(Capability::Sampling),
        McpError::UnsupportedVersion("1".to_owned()),
        McpError::NoAnswer("x".to_owned()),
        McpError::Canceled,
        McpError::Busy("x".to_owned()),
        McpError::Internal,
    ]
}

#[test]
fn a_legacy_peer_never_sees_a_modern_code_and_the_reverse() {
    for error in all() {
        for revision in Revision::all() {
            let code = error.to_object(revision).code;
            match revision.era() {
                Era::Legacy => assert!(!(-32_022..=-32_020).contains(&code), "{error:?} {revision} {code}"),
                Era::Modern => assert_ne!(code, RESOURCE_NOT_FOUND, "{error:?}"),
            }
        }
    }
}

#[test]
fn the_modern_statuses_are_those_of_the_specification() {
    let status = |error: McpError| error.status(Era::Modern);
    assert_eq!(status(McpError::UnknownMethod("x".to_owned())), 404);
    assert_eq!(status(McpError::BadMeta("x".to_owned())), 400);
    assert_eq!(status(McpError::HeaderMismatch("x".to_owned())), 400);
    assert_eq!(status(McpError::MissingCapability(Capability::Roots)), 400);
    assert_eq!(status(McpError::UnsupportedVersion("1".to_owned())), 400);
    assert_eq!(status(McpError::unknown_tool("x")), 200);
}

#[test]
fn names_that_peers_invent_are_not_repeated_whole() {
    let error = McpError::unknown_tool(&"x".repeat(100_000));

    assert!(error.to_string().len() < 200);
}

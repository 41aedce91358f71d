//! A2A 0.3 on HTTP+JSON: the JSON form of its protocol buffers, as the SDKs of 0.3 send and read it.
//!
//! Resources have names, `tasks/ID` and `tasks/ID/pushNotificationConfigs/ID`. Where the path has the same information,
//! plain ids are accepted too.
//!
//! Bytes are base64-encoded once, as in protocol buffers and the JS SDK. The Python SDKs encode the base64 text again
//! and expect the same. The wire format does not distinguish the two, so a file from a Python SDK arrives as its
//! base64.

pub(super) use super::write::is_news as can_write;
pub(super) use decode::decode;
pub(super) use encode::{answer, shown};
pub(super) use request::http_call;

mod decode;
mod encode;
mod request;
mod task;

/// Separates a task id from the id of its push configuration in a resource name.
pub(super) const CONFIGS: &str = "/pushNotificationConfigs/";

#[cfg(test)]
#[path = "v03_proto_tests.rs"]
mod tests;

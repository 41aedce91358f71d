//! A2A 0.3 on HTTP+JSON: the JSON of its protocol buffers, as the SDKs of that time send and read it.
//!
//! Things are called by resource names, `tasks/ID` and `tasks/ID/pushNotificationConfigs/ID`; where a path says the
//! same, plain ids are taken as well.
//!
//! Bytes are base64 once, as protocol buffers and the JS SDK have it. The python SDKs encode the text of the base64 again
//! and expect the same; nothing on the wire tells the two apart, so a file of theirs arrives as its base64.

pub(super) use super::write::is_news as shows;
pub(super) use decode::decode;
pub(super) use encode::{answer, shown};
pub(super) use request::http_call;

mod decode;
mod encode;
mod request;
mod task;

/// Between the name of a task and the name of one of its push configurations.
pub(super) const CONFIGS: &str = "/pushNotificationConfigs/";

#[cfg(test)]
#[path = "v03_proto_tests.rs"]
mod tests;

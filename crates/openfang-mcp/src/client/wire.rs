//! How messages travel to a server.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::ClientError;
use crate::revision::Revision;

/// A message on its way.
pub(super) type Carried = Pin<Box<dyn Future<Output = Result<(), ClientError>> + Send>>;

/// A way to a server. What comes from there goes to the inbox that the wire was made with.
pub(super) trait Wire: Send + Sync {
    /// Carries a request. On a pipe this ends when the pipe does; over HTTP when its answer is in the inbox, which is
    /// always so when it ends well.
    fn request(self: Arc<Self>, request: Outgoing) -> Carried;

    /// Carries a notification, or an answer to a question of the server.
    fn tell(self: Arc<Self>, message: Bytes) -> Carried;

    /// The revision is settled; every message from now on is of it.
    fn settle(&self, revision: Revision);

    /// Whether dropping [`Wire::request`] tells the server to stop.
    fn stops_when_dropped(&self) -> bool;

    /// Listens for what the server says of its own accord, where the transport needs a stream of its own for that. Ends
    /// when it listens, and soon even if it does not.
    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// The last lines of the server's stderr.
    fn last_words(&self) -> Vec<String>;

    /// Ends the conversation, and with it the process where there is one.
    fn close(&self);
}

pub(super) struct Outgoing {
    pub(super) id: i64,
    pub(super) method: Box<str>,
    /// What it names: a tool, a prompt or a resource.
    pub(super) named: Option<Box<str>>,
    /// Headers that repeat arguments.
    pub(super) mirrored: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Bytes,
}

//! The service parameters of A2A, which a caller sends next to its request. Each binding fills them from its own
//! source, such as headers or metadata.

/// The service parameters of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServiceParameters {
    /// The version the caller states.
    pub version: Option<String>,
    /// The extensions the caller activates, by URI.
    pub extensions: Vec<String>,
    /// The last event of the stream that the caller received.
    pub last_event_id: Option<String>,
}

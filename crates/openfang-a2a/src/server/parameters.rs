//! What a caller says beside its request: the service parameters of A2A. Each binding fills them in from what it has for
//! that, such as headers or metadata.

/// The service parameters of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServiceParameters {
    /// The version that the caller says it speaks.
    pub version: Option<String>,
    /// The extensions that the caller makes use of, by URI.
    pub extensions: Vec<String>,
    /// The last event that the caller has seen of a stream.
    pub last_event_id: Option<String>,
}

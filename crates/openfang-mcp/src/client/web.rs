//! Servers behind a URL: Streamable HTTP in both eras, and the HTTP+SSE of 2024-11-05.

use http::{HeaderName, HeaderValue};
use openfang_egress::http::HttpDoor;
use openfang_egress::url::OperatorUrl;

use super::{ClientError, Connecting, Connection};

/// Begins a conversation with whatever speaks at the URL.
pub(super) async fn connect(
    _door: &HttpDoor,
    _url: &OperatorUrl,
    _headers: &[(HeaderName, HeaderValue)],
    _how: &Connecting,
) -> Result<Connection, ClientError> {
    Err(ClientError::NotMcp("not yet".to_owned()))
}

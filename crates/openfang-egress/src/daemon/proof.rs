//! Before the token is sent, the listener must prove that it knows the token. It gets a fresh challenge and answers
//! with the HMAC of the challenge under the token.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Method, Request, StatusCode, header};
use openfang_types::limits::DAEMON_PROOF_MAX_BYTES;
use serde::Deserialize;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::connection::{AnswerTimeout, Connection};
use super::{DaemonError, DaemonFile};

const CHALLENGE_BYTES: usize = 32;
/// Separates the proof from any other use of the same MAC.
const PURPOSE: &[u8] = b"openfang daemon proof\0";

#[derive(Deserialize)]
struct HealthJson {
    proof: String,
}

/// Asks for the proof on this connection.
pub(super) async fn demand(connection: &mut Connection, file: &DaemonFile) -> Result<(), DaemonError> {
    let challenge = challenge()?;
    let request = Request::builder()
        .method(Method::GET)
        .uri(format!("/health?challenge={challenge}"))
        .header(header::HOST, file.dial_address().to_string())
        .header(header::ACCEPT, "application/json")
        .body(Bytes::new())?;
    let response = connection.send(request, AnswerTimeout::Brief).await?;
    let unproved = || DaemonError::Unproved { address: file.address };
    let status = response.status();
    match status {
        // A daemon whose store fails answers like this. It can still be queried and stopped.
        StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE => {}
        // A busy daemon is still our daemon.
        StatusCode::TOO_MANY_REQUESTS => return Err(file.silent()),
        _ => return Err(unproved()),
    }
    let body = connection.body(response.into_body(), DAEMON_PROOF_MAX_BYTES, AnswerTimeout::Brief).await;
    let body = match body {
        Err(DaemonError::TooLarge { .. }) => return Err(unproved()),
        outcome => outcome?,
    };
    let Ok(health) = serde_json::from_slice::<HealthJson>(&body) else {
        return Err(if status == StatusCode::OK { unproved() } else { file.silent() });
    };
    let expected = proof(file.token.expose(), &challenge);
    if bool::from(expected.as_bytes().ct_eq(health.proof.as_bytes())) { Ok(()) } else { Err(unproved()) }
}

fn challenge() -> Result<String, getrandom::Error> {
    let mut bytes = [0; CHALLENGE_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// The answer of a listener that knows the token.
#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
pub(super) fn proof(token: &str, challenge: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(PURPOSE);
    mac.update(challenge.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

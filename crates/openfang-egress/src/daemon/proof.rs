//! Before the token is sent, whoever listens must prove that they know it: they get a challenge nobody has seen and
//! answer with its HMAC under the token.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Method, Request, StatusCode, header};
use openfang_types::limits::DAEMON_PROOF_MAX_BYTES;
use serde::Deserialize;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::connection::{Connection, Patience};
use super::{DaemonError, DaemonFile};

const CHALLENGE_BYTES: usize = 32;
/// Keeps a proof from being of use as a MAC of anything else.
const PURPOSE: &[u8] = b"openfang daemon proof\0";

#[derive(Deserialize)]
struct Health {
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
    let response = connection.send(request, Patience::Brief).await?;
    let unproved = || DaemonError::Unproved { address: file.address };
    let status = response.status();
    match status {
        // A daemon whose store fails says so here, and can still be asked and stopped.
        StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE => {}
        // Somebody who is only busy is not somebody else.
        StatusCode::TOO_MANY_REQUESTS => return Err(file.silent()),
        _ => return Err(unproved()),
    }
    let body = connection.body(response.into_body(), DAEMON_PROOF_MAX_BYTES, Patience::Brief).await;
    let body = match body {
        Err(DaemonError::TooLarge { .. }) => return Err(unproved()),
        outcome => outcome?,
    };
    let Ok(health) = serde_json::from_slice::<Health>(&body) else {
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

/// What somebody who knows the token answers to the challenge.
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

//! `openfang login` and `logout`: the key for a server on another machine.

use http::{Method, StatusCode};
use openfang_kernel::users::Me;
use openfang_types::secret::Secret;
use serde_json::json;

use super::argument_or_stdin;
use crate::backend::typed;
use crate::error::{CliError, Exit};
use crate::prompt;
use crate::remote::{RemoteServer, ServerOrigin, StoredKeys};
use crate::session::Session;

/// Asks for a key, tries it, and stores it.
pub(super) async fn log_in(session: &Session, url: &str) -> Result<Exit, CliError> {
    let origin = ServerOrigin::parse(url)?;
    let key = if prompt::can_ask() {
        prompt::secret(&session.output, &format!("the key for {}: ", origin.as_str()))?
    } else {
        argument_or_stdin("-".to_owned())?
    };
    let key = Secret::new(key.trim().to_owned());
    if key.expose().is_empty() {
        return Err(CliError::Usage("there is no key on standard input; nothing was stored".to_owned()));
    }
    let server = RemoteServer::with_key(session, origin.clone(), Some(key.clone()))?;
    let answer = server.request(Method::GET, "/api/me", None).await?;
    if answer.status != StatusCode::OK {
        return Err(crate::backend::refusal(&answer));
    }
    let me: Me = typed(&answer)?;
    StoredKeys::of(&session.home).set(&origin, &key)?;
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "url": origin.as_str(), "user": me.user, "standing": me.standing }))?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("stored the key of {} for {}", me.user, origin.as_str()))?;
    let list = session.command(&format!("--url {} agent list", origin.as_str()));
    session.output.note(&format!("use it with `{list}`, or set OPENFANG_URL"));
    Ok(Exit::Ok)
}

/// Forgets the key for a server. The server still accepts it.
pub(super) fn log_out(session: &Session, url: &str) -> Result<Exit, CliError> {
    let origin = ServerOrigin::parse(url)?;
    let had_one = StoredKeys::of(&session.home).remove(&origin)?;
    if session.output.is_json() {
        session.output.document(&json!({ "url": origin.as_str(), "removed": had_one }))?;
    } else if had_one {
        session.output.text(&format!("removed the key for {}", origin.as_str()))?;
        session
            .output
            .note("the server still accepts the key; its operator revokes it with `openfang key revoke`");
    } else {
        session.output.text(&format!("there is no stored key for {}", origin.as_str()))?;
    }
    Ok(Exit::Ok)
}

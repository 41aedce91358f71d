//! `openfang key`: the keys of users. A key is printed once, when it is created.

use jiff::Timestamp;
use openfang_kernel::SystemClock;
use openfang_kernel::users::{KeyView, KeyWanted};
use openfang_types::clock::Clock as _;
use openfang_types::ids::{KeyId, Owner, ProfileName};
use openfang_types::taint::Label;
use serde_json::json;

use crate::args::{KeyCommand, KeyCreateArgs};
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table, Tone};
use crate::session::Session;
use crate::times::ago;

pub(super) async fn run(session: &Session, command: KeyCommand) -> Result<Exit, CliError> {
    match command {
        KeyCommand::Create(args) => create(session, args).await,
        KeyCommand::List { name } => list(session, name.as_ref()).await,
        KeyCommand::Revoke { id } => revoke(session, &id).await,
    }
}

/// Only the key goes to standard output, so that a script can take it.
async fn create(session: &Session, args: KeyCreateArgs) -> Result<Exit, CliError> {
    let KeyCreateArgs { name, label, trust, profile, expires } = args;
    let expires_at = expires.and_then(|time| SystemClock.now().checked_add(time).ok());
    let wanted = KeyWanted { user: name, label, entry_label: trust, profile, expires_at };
    let made = Backend::open(session).await?.create_key(wanted).await?;
    if session.output.is_json() {
        session.output.document(&made)?;
        return Ok(Exit::Ok);
    }
    session.output.text(made.key.expose())?;
    let revoke = session.command(&format!("key revoke {}", made.details.id));
    session.output.announce(&format!(
        "this is the only time the key is shown. Send it as `Authorization: Bearer <key>`; {}, or revoke it with `{revoke}`",
        match made.details.expires_at {
            Some(until) => format!("it is valid until {until:.0}"),
            None => "it does not expire; choose a time with --expires".to_owned(),
        }
    ));
    Ok(Exit::Ok)
}

async fn list(session: &Session, name: Option<&Owner>) -> Result<Exit, CliError> {
    let keys = Backend::open(session).await?.keys(name).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "keys": keys }))?;
        return Ok(Exit::Ok);
    }
    let mut table =
        Table::new(&["ID", "USER", "STATE", "TRUST", "PROFILE", "CREATED", "LAST USED", "EXPIRES", "LABEL"]);
    let now = SystemClock.now();
    for key in &keys {
        let made = ago(key.created_at, now);
        let used = key.last_used.map_or_else(|| "never".to_owned(), |at| ago(at, now));
        let until = key.expires_at.map_or_else(|| "never".to_owned(), |at| format!("{at:.0}"));
        let trust = key.entry_label.map_or("by endpoint", Label::as_str);
        let profile = key.profile.as_ref().map_or("-", ProfileName::as_str);
        table.row([
            (&key.id).into(),
            (&key.user).into(),
            state(key, now),
            trust.into(),
            profile.into(),
            made.into(),
            used.into(),
            until.into(),
            key.label.as_str().into(),
        ]);
    }
    session.output.table(&table)?;
    if keys.is_empty() {
        let create = session.command("key create USER");
        session.output.note(&format!("no keys; create one with `{create}`"));
    }
    Ok(Exit::Ok)
}

async fn revoke(session: &Session, id: &KeyId) -> Result<Exit, CliError> {
    let key = Backend::open(session).await?.revoke_key(id).await?;
    if session.output.is_json() {
        session.output.document(&key)?;
    } else {
        session.output.text(&format!("revoked {} of {}", key.id, key.user))?;
    }
    Ok(Exit::Ok)
}

fn state(key: &KeyView, now: Timestamp) -> Cell {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => Cell::toned("revoked", Tone::Faint),
        (None, Some(until)) if until <= now => Cell::toned("expired", Tone::Faint),
        (None, _) => Cell::toned("active", Tone::Good),
    }
}

//! `openfang key`: the keys of users. A key is printed once, when it is created.

use openfang_kernel::SystemClock;
use openfang_kernel::users::{KeyView, KeyWanted};
use openfang_types::clock::Clock as _;
use openfang_types::ids::{KeyId, Owner};
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
    let KeyCreateArgs { name, label, trust } = args;
    let wanted = KeyWanted { user: name, label, entry_label: trust };
    let made = Backend::open(session).await?.create_key(wanted).await?;
    if session.output.is_json() {
        session.output.document(&made)?;
        return Ok(Exit::Ok);
    }
    session.output.text(made.key.expose())?;
    let revoke = session.command(&format!("key revoke {}", made.details.id));
    session.output.announce(&format!(
        "this is the only time the key is shown. Send it as `Authorization: Bearer <key>`; revoke it with `{revoke}`"
    ));
    Ok(Exit::Ok)
}

async fn list(session: &Session, name: Option<&Owner>) -> Result<Exit, CliError> {
    let keys = Backend::open(session).await?.keys(name).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "keys": keys }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["ID", "USER", "STATE", "CREATED", "LAST USED", "LABEL"]);
    let now = SystemClock.now();
    for key in &keys {
        let made = ago(key.created_at, now);
        let used = key.last_used.map_or_else(|| "never".to_owned(), |at| ago(at, now));
        let label = key.label.as_str();
        table.row([(&key.id).into(), (&key.user).into(), state(key), made.into(), used.into(), label.into()]);
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

fn state(key: &KeyView) -> Cell {
    match (key.revoked_at, key.entry_label) {
        (Some(_), _) => Cell::toned("revoked", Tone::Faint),
        (None, Some(label)) => Cell::toned(label.as_str(), Tone::Plain),
        (None, None) => Cell::toned("active", Tone::Good),
    }
}

//! Taking entries out again. A file that nobody changed since gets back every byte.

use std::path::Path;

use super::{Outcome, State, finish};
use crate::args::ConnectArgs;
use crate::backend::Backend;
use crate::clients::{Client, ClientRow, Target};
use crate::connect::edit::Slot;
use crate::connect::{Ledger, Record, SettingsFile, digest, is_ours};
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) async fn run(session: &Session, args: &ConnectArgs) -> Result<Exit, CliError> {
    let mut ledger = Ledger::open(&session.home)?;
    let here = std::env::current_dir().ok();
    let is_meant = |record: &&Record| {
        let is_named = args.all || args.clients.iter().any(|client| client.word() == record.client);
        let is_here = !args.project || here.as_ref().is_some_and(|here| record.path.starts_with(here));
        is_named && is_here && record.name == args.name
    };
    if args.clients.is_empty() && !args.all {
        let list = session.command("connect --list");
        return Err(CliError::Usage(format!("name the programs to disconnect, or use --all; `{list}` lists them")));
    }
    let records: Vec<Record> = ledger.records.iter().rev().filter(is_meant).cloned().collect();
    let mut outcomes = Vec::new();
    for record in &records {
        let Some(row) = Client::from_word(&record.client).and_then(Client::row) else { continue };
        let target = Target { row, path: record.path.clone() };
        let outcome = match undone(row, record, args.dry_run) {
            Ok(state) => Outcome::new(&target, state),
            Err(why) => Outcome::failed(&target, why),
        };
        if matches!(outcome.state, State::Restored | State::Removed) && !args.dry_run {
            revoke_key(session, record.key.as_deref()).await;
            ledger.remove(record)?;
        }
        print(session, &target, &outcome, args.dry_run)?;
        outcomes.push(outcome);
    }
    if records.is_empty() && !session.output.is_json() {
        session
            .output
            .text("nothing to undo: no entry of this name was written to these programs")?;
    }
    finish(session, &outcomes)
}

/// Restores the file or removes the entry. Fails if the entry is somebody else's by now.
fn undone(row: &'static ClientRow, record: &Record, is_dry_run: bool) -> Result<State, String> {
    let file = SettingsFile::read(&record.path)?;
    let Some(text) = &file.text else { return Ok(State::Removed) };
    if record.is_restorable && digest(text) == record.after {
        if !is_dry_run {
            restore(record, &file)?;
        }
        return Ok(State::Restored);
    }
    let keys: Vec<&str> = record.keys.iter().map(String::as_str).collect();
    let slot = Slot { form: row.form, keys: &keys, name: &record.name };
    let Some(held) = slot.get(text).map_err(|fault| fault.to_string())? else { return Ok(State::Removed) };
    if digest(&held.to_string()) != record.entry && !is_ours(&held) {
        return Err(format!("its entry {} is not OpenFang's any more; remove it by hand", record.name));
    }
    if !is_dry_run {
        let without = slot.remove(text, record.created).map_err(|fault| fault.to_string())?;
        file.replace(&without).map_err(|error| error.to_string())?;
    }
    Ok(State::Removed)
}

fn restore(record: &Record, file: &SettingsFile) -> Result<(), String> {
    match &record.backup {
        Some(backup) => {
            let unreadable = |cause| format!("its backup {} cannot be read: {cause}", backup.display());
            let before = std::fs::read_to_string(backup).map_err(unreadable)?;
            file.replace(&before).map_err(|error| error.to_string())?;
        }
        None => {
            let target = std::fs::canonicalize(&record.path).unwrap_or_else(|_| record.path.clone());
            std::fs::remove_file(target).map_err(|cause| format!("it cannot be removed: {cause}"))?;
            // A directory that something else is in by now stays.
            record
                .made
                .iter()
                .map(Path::new)
                .for_each(|directory| drop(std::fs::remove_dir(directory)));
        }
    }
    Ok(())
}

/// Revokes a key that was created for a client. A key that is gone already is no reason to complain.
pub(super) async fn revoke_key(session: &Session, id: Option<&str>) {
    let Some(id) = id.and_then(|id| id.parse().ok()) else { return };
    if let Ok(backend) = Backend::open(session).await {
        let _ = backend.revoke_key(&id).await;
    }
}

fn print(session: &Session, target: &Target, outcome: &Outcome, is_dry_run: bool) -> Result<(), CliError> {
    if session.output.is_json() {
        return Ok(());
    }
    let (title, path) = (target.row.title, target.path.display());
    let would = if is_dry_run { "would have " } else { "" };
    match outcome.state {
        State::Restored => session.output.text(&format!("{title}: {would}restored {path} as it was")),
        State::Removed => session.output.text(&format!("{title}: {would}removed the entry from {path}")),
        _ => {
            let problem = outcome.problem.as_deref().unwrap_or_default();
            session.output.complaint(&format!("{title}: {path}: {problem}"));
            Ok(())
        }
    }
}

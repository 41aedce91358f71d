//! The programs that are known, which of them are installed, and which are connected.

use std::path::PathBuf;

use openfang_kernel::config_file::Directories;
use serde_json::{Value, json};

use crate::clients::{Client, ClientRow, Form, is_installed, targets};
use crate::connect::edit::Slot;
use crate::connect::{SettingsFile, is_ours};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table, Tone};
use crate::session::Session;

/// An entry of ours in the settings of a program.
pub(in crate::commands) struct ConnectedClient {
    pub(in crate::commands) row: &'static ClientRow,
    pub(in crate::commands) path: PathBuf,
    /// The entry, or the reason why the file cannot be read.
    pub(in crate::commands) entry: Result<Value, String>,
}

/// The files of the user that have an entry of ours under the usual name, and those that cannot be read.
pub(in crate::commands) fn connected(directories: &Directories) -> Vec<ConnectedClient> {
    let mut found = Vec::new();
    let rows = Client::rows().iter().filter(|row| !matches!(row.form, Form::Print(_)));
    for target in rows.flat_map(|row| targets(row, directories)).filter(|target| target.path.exists()) {
        let slot = Slot { form: target.row.form, keys: target.row.form.keys(), name: "openfang" };
        let entry =
            SettingsFile::read(&target.path).and_then(|file| slot.get(file.text()).map_err(|fault| fault.to_string()));
        let entry = match entry {
            Ok(None) => continue,
            Ok(Some(entry)) if !is_ours(&entry) => continue,
            Ok(Some(entry)) => Ok(entry),
            Err(why) => Err(why),
        };
        found.push(ConnectedClient { row: target.row, path: target.path, entry });
    }
    found
}

pub(super) fn run(session: &Session, directories: &Directories) -> Result<Exit, CliError> {
    let connected = connected(directories);
    let mut table = Table::new(&["CLIENT", "INSTALLED", "CONNECTED", "FILE"]);
    let mut documents = Vec::new();
    for row in Client::rows() {
        let installed = is_installed(row, directories);
        for target in targets(row, directories) {
            let held = connected.iter().find(|held| held.path == target.path && held.row.client == row.client);
            let state = match held.map(|held| &held.entry) {
                None if matches!(row.form, Form::Print(_)) => Cell::toned("by hand", Tone::Faint),
                None => Cell::toned("no", Tone::Plain),
                Some(Ok(_)) => Cell::toned("yes", Tone::Good),
                Some(Err(_)) => Cell::toned("unreadable", Tone::Bad),
            };
            let problem = held.and_then(|held| held.entry.as_ref().err());
            documents.push(json!({
                "client": row.word, "title": row.title, "installed": installed, "path": target.path,
                "connected": held.is_some_and(|held| held.entry.is_ok()), "problem": problem,
            }));
            let found = if installed { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Faint) };
            table.row([row.word.into(), found, state, target.path.display().into()]);
        }
    }
    if session.output.is_json() {
        session.output.document(&json!({ "clients": documents }))?;
    } else {
        session.output.table(&table)?;
        session.output.note(&format!("connect one with `{}`", session.command("connect CLIENT")));
    }
    Ok(Exit::Ok)
}

//! Programs that are connected: whether their settings can be read, and whether the entry starts.

use std::path::Path;

use openfang_kernel::config_file;
use openfang_types::limits::DOCTOR_CHECK;
use serde_json::Value;
use tokio::time::timeout;

use super::{Check, Scope};
use crate::commands::connect::{connected, program};
use crate::connect::verify;
use crate::session::Session;

pub(super) async fn checks(session: &Session, scope: Scope) -> Vec<Check> {
    let directories = config_file::directories();
    let mut found = Vec::new();
    for client in connected(&directories) {
        let (title, path) = (client.row.title, client.path.display());
        let again = session.command(&format!("connect {}", client.row.word));
        let entry = match client.entry {
            Ok(entry) => entry,
            Err(why) => {
                found.push(Check::warn("client", format!("{title}: {path}: {why}"), format!("correct {path}")));
                continue;
            }
        };
        let Some((command, args)) = words(&entry) else {
            found.push(Check::ok("client", format!("{title} uses the URL of the daemon")));
            continue;
        };
        if Path::new(&command).is_absolute() && !Path::new(&command).exists() {
            found.push(Check::fail("client", format!("{title} starts {command}, which does not exist"), again));
            continue;
        }
        let remark = match program() {
            Ok(ours) if ours == Path::new(&command) => "",
            _ => ", another binary than this one",
        };
        if scope == Scope::Offline {
            found.push(Check::ok("client", format!("{title} starts {command}{remark}")));
            continue;
        }
        found.push(match timeout(DOCTOR_CHECK, verify(&command, &args, directories.home.as_deref())).await {
            Ok(Ok(verified)) => {
                let (tools, took) = (verified.tools, verified.took.as_millis());
                Check::ok("client", format!("{title} starts {command}{remark}: {tools} tools in {took} ms"))
            }
            Ok(Err(why)) => Check::fail("client", format!("{title} cannot start {command}: {why}"), again),
            Err(_) => Check::warn("client", format!("{title} waits long for {command}"), again),
        });
    }
    found
}

/// The program and the arguments of an entry.
fn words(entry: &Value) -> Option<(String, Vec<String>)> {
    let texts = |list: &Value| {
        list.as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    match entry.get("command")? {
        Value::String(command) => Some((command.clone(), entry.get("args").map(texts).unwrap_or_default())),
        list => {
            let words: Vec<String> = texts(list);
            let (command, args) = words.split_first()?;
            Some((command.clone(), args.to_vec()))
        }
    }
}

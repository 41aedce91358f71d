//! What is to be written to a file, decided before anything is.

use openfang_kernel::config_edit::EditError;
use serde_json::Value;

use super::edit::{Edited, Slot};
use super::{EditFault, SettingsFile};
use crate::clients::{Client, Entry, Target};

/// The keys of opencode's second version, which refuses the first one's.
const OPENCODE_2: [&str; 2] = ["mcp", "servers"];

/// The entry for one file.
pub(crate) struct Plan<'a> {
    pub(crate) target: &'a Target,
    pub(crate) name: &'a str,
    keys: Vec<&'static str>,
    pub(crate) value: Value,
}

/// What has to happen to a file.
pub(crate) enum Step {
    /// The entry is there already.
    Nothing,
    /// The entry is written. `is_foreign`: in the place of one that is not ours.
    Write { edited: Edited, is_foreign: bool },
}

impl<'a> Plan<'a> {
    /// Decides on keys and members of the entry; they may depend on what the file says already.
    pub(crate) fn new(target: &'a Target, name: &'a str, entry: &Entry, text: &str) -> Result<Self, String> {
        let form = target.row.form;
        let mut value = form.entry(entry)?;
        let mut keys = form.keys().to_vec();
        if target.row.client == Client::OpenCode {
            let second = Slot { form, keys: &OPENCODE_2[..1], name: OPENCODE_2[1] };
            if second
                .get(text)
                .map_err(|fault| fault.to_string())?
                .is_some_and(|servers| servers.get("command").is_none())
            {
                keys = OPENCODE_2.to_vec();
                value.as_object_mut().map(|members| members.remove("enabled"));
            }
        }
        Ok(Self { target, name, keys, value })
    }

    pub(crate) fn slot(&self) -> Slot<'_> {
        Slot { form: self.target.row.form, keys: &self.keys, name: self.name }
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.keys.iter().map(|key| (*key).to_owned()).collect()
    }

    /// Compares the file with the entry.
    pub(crate) fn step(&self, file: &SettingsFile) -> Result<Step, EditFault> {
        let held = self.slot().get(file.text())?;
        if held.as_ref() == Some(&self.value) {
            return Ok(Step::Nothing);
        }
        let is_foreign = held.is_some_and(|held| !is_ours(&held));
        Ok(Step::Write { edited: self.slot().put(file.text(), &self.value)?, is_foreign })
    }

    /// Writes the entry. If somebody else writes the file meanwhile, it is edited anew, once.
    pub(crate) fn write(
        &self,
        file: &mut SettingsFile,
        edited: &mut Edited,
    ) -> Result<Vec<std::path::PathBuf>, String> {
        match file.replace(&edited.text) {
            Err(EditError::Changed) => {
                *file = SettingsFile::read(&file.path)?;
                *edited = self.slot().put(file.text(), &self.value).map_err(|fault| fault.to_string())?;
                file.replace(&edited.text).map_err(|error| error.to_string())
            }
            outcome => outcome.map_err(|error| error.to_string()),
        }
    }
}

/// Whether an entry of another program's settings runs `openfang mcp`, or names an address of this machine with `/mcp`.
pub(crate) fn is_ours(entry: &Value) -> bool {
    let words: Vec<&str> = match entry.get("command") {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(command)) => {
            let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            std::iter::once(command.as_str()).chain(args.filter_map(Value::as_str)).collect()
        }
        _ => Vec::new(),
    };
    let program = words.first().map(|word| word.rsplit(['/', '\\']).next().unwrap_or(word));
    if matches!(program, Some("openfang" | "openfang.exe")) {
        return words.iter().skip(1).any(|word| *word == "mcp");
    }
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(key)?.as_str());
    let url = url.and_then(|url| url.strip_prefix("http://")).unwrap_or_default();
    ["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|host| url.starts_with(host)) && url.ends_with("/mcp")
}

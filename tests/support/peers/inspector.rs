//! The inspector's command line, which needs no driver. `--format json` gives `{"result": ...}` on stdout, and on a bad
//! end `{"error": {"code", "message"}}` on stderr. The target comes first, then the options:
//!
//! ```text
//! --cli URL --transport http --method tools/list                                       legacy: the default
//! --cli URL --transport http --protocol-era modern --method tools/list                 2026-07-28, no fallback
//! --cli URL --transport http --protocol-era auto --method tools/list                   asks, falls back
//! --cli URL --transport http --method tools/list --strict                              judges the schemas
//! --cli URL --transport http --header 'Authorization: Bearer X' --method tools/list
//! --cli CMD ARGS... --method tools/list                                                stdio; `-e K=V` for its env
//! --cli URL --transport http --method tools/call --tool-name N --tool-args-json JSON
//! --cli URL --transport http --method prompts/get --prompt-name N --prompt-args k=v
//! --cli URL --transport http --method resources/read --uri URI
//! ```
//!
//! It ends with 0; 1 on any error of the protocol, such as a version that is not offered; 3 when the server wants
//! authorization; 4 when the server cannot be reached; 5 when a tool answers `isError` or is not on the list (it
//! looks there first); 6 when `--strict` finds an error in a schema.

use super::process;
use crate::support::binary::Ran;

/// Runs the inspector on a URL or on a command, with options such as those above, and `--format json`.
pub(crate) fn inspector(target: &[&str], options: &[&str]) -> Ran {
    let launcher = "node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let mut command = process::node(&process::installed(launcher));
    command.arg("--cli").args(target).args(options).args(["--format", "json"]);
    process::run(command)
}

//! What a command of `shell_exec` means here: which file it runs, and what the rules of `[exec]` say about it.
//!
//! The rules of `config.toml` and those of the agent are both asked. A denial of either counts, and a command is allowed if
//! both allow it. Every other command is for a person to decide on. All of it looks at files and blocks.

mod plan;
mod rules;

pub(crate) use plan::{ExecRequest, Plan};
pub(crate) use rules::Rules;

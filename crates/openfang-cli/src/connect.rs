//! The entry for OpenFang in the settings of other programs: made, verified and taken out again.
//!
//! `edit` changes a text and keeps every other byte, `ledger` records what was written so that it can be undone, `settings`
//! reads and replaces files, and `verify` starts an entry as the program would. A file that does not parse is never written.

pub(crate) use edit::EditFault;
pub(crate) use ledger::{Ledger, Record};
pub(crate) use plan::{Plan, Step, is_ours};
pub(crate) use settings::{SettingsFile, digest};
pub(crate) use verify::verify;

pub(crate) mod edit;
mod ledger;
mod plan;
mod settings;
mod verify;

//! `openfang backup`: copies a consistent snapshot of the database while other processes use it.

use std::path::Path;

use openfang_kernel::maintenance;
use serde_json::json;

use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) fn run(session: &Session, file: &Path) -> Result<Exit, CliError> {
    let bytes = maintenance::backup(&session.home, file)?;
    let output = &session.output;
    if output.is_json() {
        output.document(&json!({ "path": file, "bytes": bytes }))?;
        return Ok(Exit::Ok);
    }
    output.text(&format!("wrote {} ({bytes} bytes)", file.display()))?;
    let database = session.home.database();
    let database = database.display();
    output.note(&format!(
        "config.toml, agents and data/secret.key are not included. To restore: stop openfang, remove {database}-wal and {database}-shm, and copy the backup to {database}"
    ));
    Ok(Exit::Ok)
}

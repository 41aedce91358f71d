//! `openfang task list --all`: the tasks of the operator and of every user, latest change first.

use openfang_kernel::SystemClock;
use openfang_types::clock::Clock as _;
use openfang_types::ids::Owner;
use openfang_types::task::Task;
use serde::Serialize;
use serde_json::json;

use super::{query_of, state_cell};
use crate::args::TaskListArgs;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::Table;
use crate::session::Session;
use crate::times::ago;
use crate::view::status_text;

/// The tasks of one user.
#[derive(Serialize)]
struct UserTasks {
    user: Owner,
    tasks: Vec<Task>,
    total: usize,
}

pub(super) async fn list(session: &Session, args: &TaskListArgs) -> Result<Exit, CliError> {
    let mut backend = Backend::open(session).await?;
    let users = backend.users().await?.into_iter().map(|user| user.name);
    let owners: Vec<Owner> = std::iter::once(Owner::admin()).chain(users).collect();
    let wanted = query_of(args);
    let mut all = Vec::new();
    for user in owners {
        backend.in_place_of(Some(&user)).await?;
        let listing = backend.tasks(&wanted).await?;
        if listing.total > 0 {
            all.push(UserTasks { user, tasks: listing.tasks, total: listing.total });
        }
    }
    if session.output.is_json() {
        session.output.document(&json!({ "users": all }))?;
        return Ok(Exit::Ok);
    }
    let total: usize = all.iter().map(|one| one.total).sum();
    let mut rows: Vec<(&Owner, &Task)> =
        all.iter().flat_map(|one| one.tasks.iter().map(move |task| (&one.user, task))).collect();
    rows.sort_by_key(|(_, task)| std::cmp::Reverse(task.status.timestamp));
    rows.truncate(wanted.limit);
    let mut table = Table::new(&["USER", "ID", "STATE", "AGENT", "CHANGED", "MESSAGE"]);
    let now = SystemClock.now();
    for (user, task) in &rows {
        table.row([
            (*user).into(),
            task.id.into(),
            state_cell(task.status.state),
            (&task.agent).into(),
            ago(task.status.timestamp, now).into(),
            status_text(task).unwrap_or_default().into(),
        ]);
    }
    session.output.table(&table)?;
    match (total, rows.len()) {
        (0, _) => session.output.note("no matching tasks"),
        (total, shown) if shown < total => {
            session.output.note(&format!("showing {shown} of {total}; use --limit {total} for all"));
        }
        _ => session.output.note("show or cancel one with --user USER"),
    }
    Ok(Exit::Ok)
}

//! `openfang usage`: what models were used for, and what it cost.

use openfang_kernel::UsageWanted;
use openfang_types::api::{UsageBy, UsageRow, UsageView};

use crate::args::UsageArgs;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table};
use crate::session::Session;

pub(super) async fn run(session: &Session, args: &UsageArgs) -> Result<Exit, CliError> {
    let by = UsageBy::from(args.by);
    let wanted = UsageWanted { by, days: args.days, is_of_all: args.all };
    let usage = Backend::open(session).await?.usage(wanted).await?;
    if session.output.is_json() {
        session.output.document(&usage)?;
    } else {
        print(session, &usage, by)?;
    }
    Ok(Exit::Ok)
}

fn print(session: &Session, usage: &UsageView, by: UsageBy) -> Result<(), CliError> {
    if usage.rows.is_empty() {
        session.output.note("no model was used in these days");
        return Ok(());
    }
    let heading = match by {
        UsageBy::Agent => "AGENT",
        UsageBy::Model => "MODEL",
        UsageBy::Day => "DAY",
    };
    let mut table = Table::new(&[heading, "ANSWERS", "QUESTIONS", "TOKENS IN", "CACHED", "TOKENS OUT", "COST"]);
    for row in usage.rows.iter().chain((usage.rows.len() > 1).then_some(&usage.total)) {
        table.row(cells(row));
    }
    session.output.table(&table)?;
    if usage.total.reserved_usd > 0.0 {
        session.output.note(&format!(
            "{} is reserved for requests that have not ended; it counts against budgets",
            dollars(usage.total.reserved_usd)
        ));
    }
    Ok(())
}

fn cells(row: &UsageRow) -> [Cell; 7] {
    [
        (&row.key).into(),
        row.answers.into(),
        row.questions.into(),
        row.input_tokens.into(),
        row.cached_tokens.into(),
        row.output_tokens.into(),
        dollars(row.cost_usd).into(),
    ]
}

/// An amount; a small one to the millionth.
fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.6}") } else { format!("${amount:.2}") }
}

//! The final table: a row, its value, the spread of its rounds, its ratio to the floor, its budget and whether it is
//! met. The same rows as JSON for programs.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use crate::load::Round;
use crate::measure::{Plan, median};
use crate::ratio::{Ratio, spread};
use crate::scenarios::{RAISED_LIMITS, RAISED_STORAGE};

const COLUMNS: [&str; WIDTH] = ["row", "conns", "value", "spread", "ratio", "budget", "", "req/s", "p50", "p99"];
const WIDTH: usize = 10;

/// All rows of one run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<Row>,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The spread of the rounds as a fraction of the value: the largest minus the smallest. None if it was measured
    /// once.
    pub(crate) spread: Option<f64>,
    pub(crate) ratio: Option<Ratio>,
    pub(crate) budget: Option<Budget>,
    pub(crate) load: Option<(usize, Round)>,
}

/// The budget of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// At most this multiple of the floor.
    Ratio(f64),
    /// At most this value, in the row's own unit.
    Value(f64),
    /// At least this value, in the row's own unit.
    AtLeast(f64),
}

impl Row {
    /// A row with a value alone.
    pub(crate) fn plain(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, unit, spread: None, ratio: None, budget: None, load: None }
    }

    /// A row whose value is the median of rounds.
    pub(crate) fn of_rounds(name: &'static str, rounds: &[f64], unit: &'static str) -> Self {
        Self { spread: spread(rounds), ..Self::plain(name, median(rounds.iter().copied()), unit) }
    }

    /// A row of a server under load; its value is the CPU that one request costs.
    pub(crate) fn of_load(name: &'static str, connections: usize, round: Round) -> Self {
        let spread = round.cpu_spread;
        Self { spread, load: Some((connections, round)), ..Self::plain(name, round.cpu_micros, "us CPU") }
    }

    /// Whether the budget is exceeded; a row without one never is.
    fn is_over(&self) -> bool {
        match self.budget {
            None => false,
            Some(Budget::Ratio(most)) => match self.ratio {
                Some(Ratio::Measured(ratio)) => ratio.is_nan() || ratio > most,
                // Even the smallest ratio that counts exceeds the budget.
                Some(Ratio::Unsteady { least, .. }) => least > most,
                None => true,
            },
            Some(Budget::Value(most)) => self.value > most,
            Some(Budget::AtLeast(least)) => self.value.is_nan() || self.value < least,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.budget {
            None => "",
            Some(_) if self.is_over() => "over",
            Some(Budget::Ratio(_)) if matches!(self.ratio, Some(Ratio::Unsteady { .. })) => "?",
            Some(_) => "ok",
        }
    }

    fn cells(&self) -> [String; WIDTH] {
        let load =
            |show: fn(usize, &Round) -> String| self.load.as_ref().map_or(String::new(), |(n, round)| show(*n, round));
        let budget = match self.budget {
            None => String::new(),
            Some(Budget::Ratio(most)) => format!("{most:.2}x"),
            Some(Budget::Value(most)) => format!("{most:.0} {}", self.unit),
            Some(Budget::AtLeast(least)) => format!(">= {least:.0}"),
        };
        [
            self.name.to_owned(),
            load(|connections, _| connections.to_string()),
            format!("{:.1} {}", self.value, self.unit),
            self.spread.map_or(String::new(), |spread| format!("{:.0} %", spread * 100.0)),
            self.ratio.map_or(String::new(), |ratio| ratio.to_string()),
            budget,
            self.verdict().to_owned(),
            load(|_, round| format!("{:.0}", round.requests_per_second)),
            load(|_, round| format!("{:.2} ms", round.p50_ms)),
            load(|_, round| format!("{:.2} ms", round.p99_ms)),
        ]
    }

    fn json(&self) -> Value {
        let budget = self.budget.map(|budget| match budget {
            Budget::Ratio(most) => json!({"ratio": most}),
            Budget::Value(most) => json!({"value": most}),
            Budget::AtLeast(least) => json!({"at_least": least}),
        });
        let load = self.load.map(|(connections, round)| {
            json!({
                "connections": connections, "requests_per_second": round.requests_per_second,
                "p50_ms": round.p50_ms, "p99_ms": round.p99_ms,
            })
        });
        json!({
            "row": self.name, "value": self.value, "unit": self.unit, "spread": self.spread,
            "ratio": self.ratio.map(Ratio::json),
            "budget": budget, "over": self.is_over(), "load": load,
        })
    }
}

impl Report {
    /// Whether any row is over its budget.
    pub(crate) fn is_over(&self) -> bool {
        self.rows.iter().any(Row::is_over)
    }

    pub(crate) fn table(&self) -> String {
        let cells: Vec<[String; WIDTH]> = self.rows.iter().map(Row::cells).collect();
        let width = |column: usize| {
            cells
                .iter()
                .map(|row| row[column].len())
                .chain([COLUMNS[column].len()])
                .max()
                .unwrap_or(0)
        };
        let widths: [usize; WIDTH] = std::array::from_fn(width);
        let mut table = self.preamble();
        for row in std::iter::once(COLUMNS.map(str::to_owned)).chain(cells) {
            let padded = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            let line = padded.collect::<Vec<_>>().join("  ");
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table
    }

    fn preamble(&self) -> String {
        let Plan { rounds, requests, starts, .. } = self.plan;
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let mut text = format!(
            "median of {rounds} rounds of {requests} requests, floor and product in turn; median of {starts} starts; \
             {cores} cores, one of them busy with the load generator\n\
             spread: the largest round less the smallest, in parts of the median; a ratio is the median of the rounds' \
             ratios, and `a-b?` where they lie so far apart that it could not be measured\n"
        );
        for (key, value) in RAISED_LIMITS.iter().chain(RAISED_STORAGE) {
            let _ = writeln!(text, "raised limit: {key} = {value}");
        }
        text.push('\n');
        text
    }

    pub(crate) fn json(&self) -> Result<String> {
        let limits: serde_json::Map<String, Value> = RAISED_LIMITS
            .iter()
            .chain(RAISED_STORAGE)
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect();
        let report = json!({
            "rounds": self.plan.rounds, "requests": self.plan.requests, "starts": self.plan.starts,
            "raised_limits": limits, "over": self.is_over(), "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        });
        Ok(format!("{}\n", serde_json::to_string_pretty(&report)?))
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

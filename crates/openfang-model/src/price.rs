//! What an answer costs. Prices are dollars for a million tokens; money is counted in whole billionths of a dollar, so
//! sums are exact.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::answer::{Usage, family};

/// The prices of one model, in dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input from the cache; as other input if the provider has no such price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input that is written to the cache; as other input if the provider has no such price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<f64>,
}

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Billionths of a dollar.
    pub nano_dollars: u64,
}

impl Cost {
    /// The amount in dollars, for showing.
    pub fn dollars(self) -> f64 {
        // Amounts are far below the numbers that a float cannot hold exactly.
        self.nano_dollars as f64 / 1e9
    }

    /// An amount in dollars. Anything that is no amount is nothing.
    pub fn of_dollars(dollars: f64) -> Self {
        Self { nano_dollars: whole(dollars * 1e9) }
    }

    #[must_use]
    pub const fn saturating_add(self, more: Self) -> Self {
        Self { nano_dollars: self.nano_dollars.saturating_add(more.nano_dollars) }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::saturating_add)
    }
}

impl Price {
    /// What an answer costs. Tokens that the provider did not count cost nothing here: the caller keeps its estimate then.
    pub fn of(&self, usage: &Usage) -> Cost {
        let cached = usage.cached.unwrap_or(0);
        let written = usage.cache_written.unwrap_or(0);
        let fresh = usage.input.unwrap_or(0).saturating_sub(cached).saturating_sub(written);
        let parts = [
            (fresh, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_written.unwrap_or(self.input)),
            (usage.output.unwrap_or(0), self.output),
        ];
        parts.into_iter().map(|(tokens, price)| priced(tokens, price)).sum()
    }
}

fn priced(tokens: u64, per_million: f64) -> Cost {
    // A dollar for a million tokens is a thousand billionths for each.
    let each = whole(per_million * 1e6);
    let total = u128::from(tokens) * u128::from(each) / 1_000;
    Cost { nano_dollars: u64::try_from(total).unwrap_or(u64::MAX) }
}

/// The nearest whole number. Negative numbers and what is no number are zero; what is too large is the largest.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// What is known about one model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// The context window in tokens.
    pub window: u64,
    /// The longest answer in tokens.
    pub max_output: u64,
    /// None for a model whose price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Prices and windows by the name of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelTable {
    rows: BTreeMap<String, ModelFacts>,
}

/// The table that comes with this crate.
const BUILTIN: &str = include_str!("../models.toml");

impl ModelTable {
    /// The table that comes with this crate. It is parsed when it is first used.
    pub fn builtin() -> &'static Self {
        static TABLE: LazyLock<ModelTable> = LazyLock::new(|| toml::from_str(BUILTIN).unwrap_or_default());
        &TABLE
    }

    /// All rows, by name.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &ModelFacts)> {
        self.rows.iter().map(|(name, facts)| (name.as_str(), facts))
    }

    /// The row of a model. A name with a date or behind a vendor's name, such as `openai/gpt-5`, finds the row without.
    pub fn get(&self, model: &str) -> Option<&ModelFacts> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let names = [model, bare, family(model), family(bare)];
        names.iter().find_map(|name| self.rows.get(*name))
    }

    /// Adds or replaces a row.
    pub fn insert(&mut self, model: &str, facts: ModelFacts) {
        self.rows.insert(model.to_owned(), facts);
    }
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;

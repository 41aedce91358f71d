//! Money in configurations: dollars as a number, kept in whole billionths so that sums are exact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Billionths of a dollar in one dollar.
const NANO: f64 = 1e9;
/// More than anybody configures; beyond it, a float is not exact any more.
const MOST: f64 = 1e6;

/// An amount of dollars, at least 0 and at most a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, JsonSchema)]
#[schemars(with = "f64")]
pub struct Dollars {
    nano: u64,
}

impl Dollars {
    /// An amount, if it is one.
    pub fn new(dollars: f64) -> Option<Self> {
        // The range leaves out what is no number.
        (0.0..=MOST).contains(&dollars).then(|| Self { nano: (dollars * NANO).round() as u64 })
    }

    pub const fn of_nano(nano: u64) -> Self {
        Self { nano }
    }

    /// Billionths of a dollar.
    pub const fn nano(self) -> u64 {
        self.nano
    }

    pub fn as_f64(self) -> f64 {
        self.nano as f64 / NANO
    }
}

impl Serialize for Dollars {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(from)?;
        Self::new(dollars)
            .ok_or_else(|| serde::de::Error::custom("must be an amount of dollars between 0 and 1,000,000"))
    }
}

#[cfg(test)]
#[path = "dollars_tests.rs"]
mod tests;

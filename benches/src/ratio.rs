//! Compares two sides that were measured alternately, by the median of the ratios of their rounds, so that one lucky
//! round changes nothing. If the rounds disagree there is no ratio.

use std::fmt;

use serde_json::{Value, json};

use crate::measure::median;

/// How far the ratios of the rounds may differ, without the largest and the smallest.
const STEADY: f64 = 2.0;
/// With fewer rounds, none is dropped.
const ENOUGH: usize = 5;

/// One side as a multiple of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ratio {
    /// The median of the rounds.
    Measured(f64),
    /// The rounds differ too much.
    Unsteady {
        /// The smallest that counts.
        least: f64,
        /// The largest that counts.
        most: f64,
    },
}

impl Ratio {
    /// Computed from the rounds of both sides, in the order in which they were measured.
    pub(crate) fn of(base: &[f64], side: &[f64]) -> Self {
        let mut ratios: Vec<f64> = base.iter().zip(side).map(|(base, side)| side / base).collect();
        ratios.sort_by(f64::total_cmp);
        let counted = if ratios.len() >= ENOUGH { &ratios[1..ratios.len() - 1] } else { &ratios[..] };
        let (least, most) = (counted.first().copied(), counted.last().copied());
        match (least, most) {
            (Some(least), Some(most)) if least > 0.0 && most / least <= STEADY => {
                Self::Measured(median(ratios.iter().copied()))
            }
            (least, most) => Self::Unsteady { least: least.unwrap_or(f64::NAN), most: most.unwrap_or(f64::NAN) },
        }
    }

    pub(crate) fn json(self) -> Value {
        match self {
            Self::Measured(ratio) => json!(ratio),
            Self::Unsteady { least, most } => json!({"least": least, "most": most}),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(ratio) => write!(f, "{ratio:.2}x"),
            Self::Unsteady { least, most } => write!(f, "{least:.1}-{most:.1}x?"),
        }
    }
}

/// The difference of the largest and the smallest round as a fraction of the median; none for a single round.
pub(crate) fn spread(rounds: &[f64]) -> Option<f64> {
    let (least, most) = rounds
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), round| (least.min(*round), most.max(*round)));
    (rounds.len() > 1).then(|| (most - least) / median(rounds.iter().copied()))
}

#[cfg(test)]
#[path = "ratio_tests.rs"]
mod tests;

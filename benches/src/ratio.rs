//! How two sides compare that were measured in turn: by the median of their rounds' ratios, so that one round in which one
//! side was lucky changes nothing. Where the rounds disagree there is no ratio.

use std::fmt;

use serde_json::{Value, json};

use crate::measure::median;

/// How far the ratios of rounds may lie apart, without the largest and the smallest one.
const STEADY: f64 = 2.0;
/// With fewer rounds none is left out.
const ENOUGH: usize = 5;

/// One side in multiples of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ratio {
    /// The median of the rounds.
    Measured(f64),
    /// The rounds say too different things.
    Unsteady {
        /// The smallest that counts.
        least: f64,
        /// The largest that counts.
        most: f64,
    },
}

impl Ratio {
    /// From the rounds of both sides, in the order in which they were measured.
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

    /// For a machine.
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

/// The largest less the smallest, in parts of the median; of one round nothing can be said.
pub(crate) fn spread(rounds: &[f64]) -> Option<f64> {
    let (least, most) = rounds
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), round| (least.min(*round), most.max(*round)));
    (rounds.len() > 1).then(|| (most - least) / median(rounds.iter().copied()))
}

#[cfg(test)]
#[path = "ratio_tests.rs"]
mod tests;

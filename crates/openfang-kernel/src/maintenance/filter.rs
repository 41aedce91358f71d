//! Which rows of the audit log somebody wants to see.

use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use openfang_store::{AuditEntry, AuditRow, SubjectKind};
use openfang_types::capability::text_matches;

/// Rows that fit everything that is set here.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub owner: Option<String>,
    pub kind: Option<SubjectKind>,
    /// How it went: the word of an outcome, or the reason of a refusal.
    pub outcome: Option<String>,
    /// A pattern of subjects, as they are shown; `*` stands for any run of characters.
    pub subject: Option<String>,
    pub since: Option<Since>,
}

/// A moment: a timestamp, or how long ago it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since(pub Timestamp);

/// A text that is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a timestamp such as 2026-01-02T03:04:05Z or a duration such as 90s, 15m, 2h or 7d")]
pub struct SinceError;

impl AuditFilter {
    /// Whether every row fits.
    pub const fn is_empty(&self) -> bool {
        let Self { owner, kind, outcome, subject, since } = self;
        owner.is_none() && kind.is_none() && outcome.is_none() && subject.is_none() && since.is_none()
    }

    /// Whether a row fits. One that is not ours fits only if every row does.
    pub fn fits(&self, entry: &AuditEntry) -> bool {
        self.is_empty() || entry.row().is_ok_and(|row| self.fits_row(&row))
    }

    fn fits_row(&self, row: &AuditRow) -> bool {
        let is_outcome = |wanted: &String| {
            // As it is shown, or as it is in the row.
            let word = wanted.replace([' ', '_'], "-").replace("canceled", "cancelled");
            word == row.outcome.as_str() || row.outcome.reason().is_some_and(|reason| wanted == reason)
        };
        self.owner.as_ref().is_none_or(|owner| owner == row.owner.as_str())
            && self.kind.is_none_or(|kind| kind == row.subject.kind())
            && self.outcome.as_ref().is_none_or(is_outcome)
            && self
                .subject
                .as_ref()
                .is_none_or(|pattern| text_matches(pattern, &row.subject.to_string()))
            && self.since.is_none_or(|since| row.at >= since.0)
    }
}

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        if let Ok(at) = text.parse() {
            return Ok(Self(at));
        }
        let ago: Span = text.parse().map_err(|_| SinceError)?;
        let then = Timestamp::now().to_zoned(TimeZone::UTC).checked_sub(ago.abs());
        then.map(|then| Self(then.timestamp())).map_err(|_| SinceError)
    }
}

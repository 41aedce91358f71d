//! Reads scalars in all their spellings.

use std::borrow::Cow;
use std::fmt;

use openfang_types::task::{Role, TaskState};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Naming, ReadResult};
use crate::error::A2aError;

/// The value of an enum, as a word or a number.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Word {
    Text(String),
    Number(u64),
}

/// A count. Protocol buffers also allow a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) struct Count(pub(in crate::dialect) usize);

/// A boolean. In a query it is a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) struct Flag(pub(in crate::dialect) bool);

/// A name. Clients of 0.1 also send a number.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dialect) struct Name(pub(in crate::dialect) String);

impl Word {
    /// The word in lower case, without separators and without the name of its enum.
    fn folded(text: &str, of: &str) -> String {
        let letters: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        letters.strip_prefix(of).map(str::to_owned).unwrap_or(letters)
    }

    /// The state; the inner none means unspecified.
    pub(in crate::dialect) fn state(&self) -> Option<Option<TaskState>> {
        let state = match self {
            Self::Number(0) => return Some(None),
            Self::Number(number) => match number {
                1 => TaskState::Submitted,
                2 => TaskState::Working,
                3 => TaskState::Completed,
                4 => TaskState::Failed,
                5 => TaskState::Canceled,
                6 => TaskState::InputRequired,
                7 => TaskState::Rejected,
                8 => TaskState::AuthRequired,
                _ => return None,
            },
            Self::Text(text) => match Self::folded(text, "taskstate").as_str() {
                "" | "unspecified" => return Some(None),
                "submitted" => TaskState::Submitted,
                "working" => TaskState::Working,
                "completed" => TaskState::Completed,
                "failed" => TaskState::Failed,
                "canceled" | "cancelled" => TaskState::Canceled,
                "inputrequired" => TaskState::InputRequired,
                "rejected" => TaskState::Rejected,
                "authrequired" => TaskState::AuthRequired,
                _ => return None,
            },
        };
        Some(Some(state))
    }

    /// Checks the role of an incoming message, which must be the user. From 0.2 on it is required.
    pub(in crate::dialect) fn incoming_role(word: Option<&Self>, naming: Naming) -> ReadResult<Role> {
        let role = match word {
            None | Some(Self::Number(0)) => Cow::Borrowed(""),
            Some(Self::Number(1)) => Cow::Borrowed("user"),
            Some(Self::Number(2)) => Cow::Borrowed("agent"),
            Some(Self::Number(_)) => Cow::Borrowed("unknown"),
            Some(Self::Text(text)) => Cow::Owned(Self::folded(text, "role")),
        };
        match (&*role, naming) {
            ("user", _) | ("" | "unspecified", Naming::ByUs) => Ok(Role::User),
            ("" | "unspecified", Naming::BySender) => {
                Err(A2aError::invalid("role", "`role` is missing; a message to an agent has the role user"))
            }
            ("agent", _) => Err(A2aError::invalid("role", "a message to an agent has the role user")),
            _ => Err(A2aError::invalid("role", "unknown role; a message to an agent has the role user")),
        }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl Visitor<'_> for WordVisitor {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or its number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word, E> {
        Ok(Word::Text(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Word, E> {
        Ok(Word::Number(number))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        Ok(Count(usize::try_from(number).unwrap_or(usize::MAX)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Count, E> {
        // JavaScript clients may write 5.0. A larger number is not a count.
        let whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        let digits = if whole { format!("{number:.0}") } else { String::new() };
        self.visit_str(&digits)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Count, E> {
        match text.parse() {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(super::unexpected("a whole number that is not negative")),
        }
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FlagVisitor)
    }
}

struct FlagVisitor;

impl Visitor<'_> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E: Error>(self, yes: bool) -> Result<Flag, E> {
        Ok(Flag(yes))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Flag, E> {
        text.parse().map(Flag).map_err(|_| super::unexpected("true or false"))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        Ok(Name(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Name, E> {
        Ok(Name(number.to_string()))
    }
}

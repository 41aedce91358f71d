//! How far data of a server or agent may go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Label, Labels};

/// How far the data of a source may go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataClass {
    /// To places that the operator or the user chose.
    #[default]
    Internal,
    /// To nobody else, unless a person approves it.
    Private,
    /// It may go anywhere.
    Public,
}

impl DataClass {
    /// The labels of data of this class.
    pub fn labels(self, source: &str) -> Labels {
        match self {
            Self::Internal => Labels::one(Label::Internal, source),
            Self::Private => Labels::one(Label::Private, source),
            Self::Public => Labels::none(),
        }
    }
}

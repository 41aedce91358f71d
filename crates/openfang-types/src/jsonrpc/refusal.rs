//! Why a frame is no message, and what the peer is told.

use thiserror::Error;

use super::{ErrorObject, Id};
use crate::scan::ScanError;

/// A frame that was refused, and to whom that matters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RpcError {
    #[error(transparent)]
    NotJson(#[from] ScanError),
    /// No request and no notification. Whoever answers uses the id; without one the answer carries `null`.
    #[error("{fault}")]
    BadRequest {
        /// If there was one that could be read.
        id: Option<Id>,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A response to us, so it is never answered; a call that waits under the id has failed.
    #[error("{fault}")]
    BadResponse {
        /// If there was one that could be read.
        id: Option<Id>,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// Some other JSON value.
    #[error("a message must be an object")]
    NotAnObject,
    /// An array where one message was expected.
    #[error("a batch is not accepted here")]
    UnexpectedBatch,
    /// Something else where a batch was expected.
    #[error("a batch must be an array")]
    NotABatch,
    #[error("a batch must not be empty")]
    EmptyBatch,
    #[error("a batch may have at most {max} messages")]
    LongBatch {
        /// How many it may have.
        max: usize,
    },
    /// `jsonrpc` is missing or something else.
    #[error("jsonrpc must be \"2.0\"")]
    Version,
    /// An id that the protocol does not allow, or a result without one.
    #[error("id must be a string or an integer")]
    Id,
    /// `method` is missing or no string.
    #[error("method must be a string")]
    Method,
    /// Some other JSON value.
    #[error("params must be an object or an array")]
    Params,
    /// Two of `method`, `result` and `error`.
    #[error("a message has one of method, result and error")]
    Mixed,
    /// `error` is not what the specification says.
    #[error("error must have an integer code and a message")]
    ErrorObject,
}

impl RpcError {
    /// The refused message's own id.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::NotJson(_) => None,
            Self::BadRequest { id, .. } | Self::BadResponse { id, .. } => id.as_ref(),
        }
    }

    /// What the peer is told.
    pub fn to_error_object(&self) -> ErrorObject {
        match self {
            Self::NotJson(error) => ErrorObject::parse_error(error),
            Self::BadRequest { fault, .. } | Self::BadResponse { fault, .. } => match fault {
                // A2A's compliance kit asks for this code; JSON-RPC leaves it open.
                Fault::Params => ErrorObject::invalid_params(fault),
                Fault::NotAnObject
                | Fault::UnexpectedBatch
                | Fault::NotABatch
                | Fault::EmptyBatch
                | Fault::LongBatch { .. }
                | Fault::Version
                | Fault::Id
                | Fault::Method
                | Fault::Mixed
                | Fault::ErrorObject => ErrorObject::invalid_request(fault),
            },
        }
    }
}

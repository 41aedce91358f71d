//! The wire of OpenAI Responses.

pub(super) mod decode;
pub(super) mod encode;

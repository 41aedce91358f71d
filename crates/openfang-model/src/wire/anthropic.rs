//! The wire of Anthropic Messages.

pub(super) mod decode;
pub(super) mod encode;

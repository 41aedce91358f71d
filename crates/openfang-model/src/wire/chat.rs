//! The wire of OpenAI Chat Completions, and the many servers that imitate it.

pub(super) mod decode;
pub(super) mod encode;

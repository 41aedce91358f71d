//! The wire of Gemini `streamGenerateContent`.

pub(super) mod decode;
pub(super) mod encode;

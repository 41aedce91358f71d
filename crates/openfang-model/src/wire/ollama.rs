//! The wire of Ollama, by its own protocol: its imitation of OpenAI ignores the context window and cuts prompts without a word.

pub(super) mod decode;
pub(super) mod encode;

//! The wires of model providers.
//!
//! A [`ModelRequest`] is what a model is asked: instructions, tools, the conversation so far, options. A [`ModelAnswer`]
//! is what it said. Five [`WireKind`]s translate between the two and a provider's bytes: Anthropic Messages, OpenAI
//! Responses, OpenAI Chat with its many lookalikes, Gemini, and Ollama. The wires are pure: [`encode`] makes the bytes of
//! a request, and an [`AnswerReader`] takes the bytes of an answer in chunks of any size. A `ModelAnswer` comes into
//! being only when the wire's own end mark arrived, so a stream that broke off can never be taken for a whole answer.
//!
//! [`ModelClient`] sends requests through the HTTP client of `openfang-egress`. It sends each request once: the
//! [`Verdict`] of a [`ModelError`] tells the caller whether to retry, to change the request, to take another model, or
//! to give up.
//!
//! ```no_run
//! # async fn ask(door: openfang_egress::http::HttpDoor) -> Result<(), openfang_model::ModelError> {
//! use openfang_model::{Delta, Endpoint, Item, ModelClient, ModelRequest, Provider};
//!
//! let endpoint = Endpoint::of(Provider::Ollama);
//! let client = ModelClient::new(door, endpoint)?;
//! let request = ModelRequest::new("qwen3:8b", vec![Item::user("What is the capital of Peru?").into()]);
//! let answer = client.answer(&request, &mut |delta| if let Delta::Text(text) = delta { drop(text) }).await?;
//! assert!(answer.runnable_calls().next().is_none());
//! # Ok(())
//! # }
//! ```
//!
//! The crate knows neither agents nor the tools behind the definitions: a [`ToolSpec`] is a name, a description and a
//! schema.

pub use answer::{Block, Call, CallArguments, Delta, ModelAnswer, NativeItems, Stop, Usage};
pub use capabilities::{Capabilities, ReasoningStyle};
pub use client::ModelClient;
pub use endpoint::{Endpoint, Provider, Quirks};
pub use error::{ModelError, Verdict, backoff};
pub use price::{Cost, ModelFacts, ModelTable, Price};
pub use reader::AnswerReader;
pub use refusal::{Refusal, RefusalKind};
pub use request::{CallResult, Item, Media, ModelRequest, OutputSchema, Part, Reasoning, RequestOptions, ToolChoice};
pub use tools::{ToolSpec, Toolbox};
pub use validity::Unencodable;
pub use wire::{Encoded, Framing, WireFault, WireKind, encode};

mod answer;
mod capabilities;
mod client;
mod endpoint;
mod error;
mod frame;
mod json;
mod price;
mod reader;
mod refusal;
mod request;
mod retry_after;
mod schema;
mod tools;
mod validity;
mod wire;

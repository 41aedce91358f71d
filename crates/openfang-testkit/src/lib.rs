//! Shared by the tests: temporary homes, callers of every kind, tools that misbehave on purpose, a server on a free
//! port, a full MCP server, a receiver of pushes, a model provider, an A2A agent that says what a test wants, a clock that
//! can be moved, and HTTP as raw bytes.
//!
//! This crate panics where a test should stop. It is never part of the product.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed arrangement fails its test")]

pub mod callers;
pub mod clock;
pub mod fake_provider;
pub mod home;
pub mod http;
pub mod mcp_fixture;
pub mod probes;
pub mod raw_agent;
pub mod receiver;
pub mod server;

pub use clock::HandClock;
pub use fake_provider::FakeProvider;
pub use home::TestHome;
pub use raw_agent::RawAgent;
pub use receiver::Receiver;
pub use server::TestServer;

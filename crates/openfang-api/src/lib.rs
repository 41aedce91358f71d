//! The HTTP server: sockets, layers, routes and error mapping. The only crate that uses axum.
//!
//! [`Server`] is the entry point for the binary. The kernel decides what a request means; nothing here names a tool, a
//! stage of the pipeline or a store.

mod app;
mod error;
mod extract;
mod layers;
mod openapi;
mod routes;
pub mod server;

pub use openapi::document as openapi_document;
pub use server::{Server, Stopped};

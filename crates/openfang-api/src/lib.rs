//! The HTTP shell: sockets, layers, routes and the mapping of errors. Sole owner of axum.
//!
//! [`Server`] is the way in for the binary. What a request means is the kernel's business; nothing here names a tool,
//! a stage of the pipeline or a store.

mod app;
mod error;
mod extract;
mod layers;
mod routes;
pub mod server;

pub use server::{Server, Stopped};

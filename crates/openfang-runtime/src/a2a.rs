//! The A2A wire under the path that others know it by.

pub use openfang_a2a::*;

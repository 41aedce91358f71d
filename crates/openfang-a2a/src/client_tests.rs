//! The client against servers on real sockets.

#[path = "client_tests/peer.rs"]
mod peer;
#[path = "client_tests/sending.rs"]
mod sending;

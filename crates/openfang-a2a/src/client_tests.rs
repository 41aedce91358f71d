//! The client against servers on real sockets.

#[path = "client_tests/credentials.rs"]
mod credentials;
#[path = "client_tests/discovery.rs"]
mod discovery;
#[path = "client_tests/following.rs"]
mod following;
#[path = "client_tests/hostile.rs"]
mod hostile;
#[path = "client_tests/peer.rs"]
mod peer;
#[path = "client_tests/sending.rs"]
mod sending;
#[path = "client_tests/signed_cards.rs"]
mod signed_cards;
#[path = "client_tests/silent.rs"]
mod silent;
#[path = "client_tests/simple.rs"]
mod simple;

//! Servers on real sockets, good and bad, and what the client makes of them.

#[path = "web_tests/hostile.rs"]
mod hostile;
#[path = "web_tests/ladder.rs"]
mod ladder;
#[path = "web_tests/peer.rs"]
mod peer;
#[path = "web_tests/secrets.rs"]
mod secrets;
#[path = "web_tests/sessions.rs"]
mod sessions;
#[path = "web_tests/streams.rs"]
mod streams;

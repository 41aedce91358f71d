//! The HTTP door against raw sockets: whom it reaches, what it takes, and what it never shows. The ids of the threat
//! list are A2C-01 to A2C-09.

#[path = "http_tests/compressed.rs"]
mod compressed;
#[path = "http_tests/environment.rs"]
mod environment;
#[path = "http_tests/forms.rs"]
mod forms;
#[path = "http_tests/hostile.rs"]
mod hostile;
#[path = "http_tests/http2.rs"]
mod http2;
#[path = "http_tests/ordinary.rs"]
mod ordinary;
#[path = "http_tests/peer.rs"]
mod peer;
#[path = "http_tests/proxy.rs"]
mod proxy;
#[path = "http_tests/reach.rs"]
mod reach;
#[path = "http_tests/redaction.rs"]
mod redaction;
#[path = "http_tests/redirects.rs"]
mod redirects;
#[path = "http_tests/retries.rs"]
mod retries;
#[path = "http_tests/streams.rs"]
mod streams;
#[path = "http_tests/system_calls.rs"]
mod system_calls;
#[path = "http_tests/tls.rs"]
mod tls;

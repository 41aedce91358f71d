//! A server on a free port in this process.

use std::net::SocketAddr;

use openfang_api::{Server, Stopped};
use openfang_kernel::Kernel;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http::Client;

/// A running server. Its kernel must be configured for port 0.
pub struct TestServer {
    /// The kernel behind it.
    pub kernel: Kernel,
    pub address: SocketAddr,
    stop: CancellationToken,
    running: JoinHandle<Stopped>,
}

impl TestServer {
    pub async fn start(kernel: Kernel) -> Self {
        let server = Server::bind(kernel.clone()).await.expect("a free port can be bound");
        let address = server.address();
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "the test waits for it in `stop`")]
        let running = tokio::spawn(server.run(stop.clone()));
        Self { kernel, address, stop, running }
    }

    /// A client of this server, without a credential.
    pub const fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Starts the shutdown without waiting.
    pub fn begin_stop(&self) {
        self.stop.cancel();
    }

    pub async fn stop(self) -> Stopped {
        self.stop.cancel();
        self.running.await.expect("the server does not panic")
    }
}

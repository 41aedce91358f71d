//! A TCP proxy that cuts one stream of events after a number of bytes, and passes everything else on.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A proxy in front of one server.
pub(crate) struct CuttingProxy {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
}

impl CuttingProxy {
    /// Cuts the first stream that answers a message, after this many bytes.
    pub(crate) fn before(server: &str, after: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self { address: listener.local_addr().unwrap(), cuts: Arc::default() };
        let (server, cuts, own) = (server.to_owned(), Arc::clone(&proxy.cuts), proxy.address.to_string());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, cuts, hosts) = (client.unwrap(), Arc::clone(&cuts), [own.clone(), server.clone()]);
                std::thread::spawn(move || pass_on(client, hosts, after, &cuts));
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many streams were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

#[expect(clippy::disallowed_methods, reason = "a proxy of the test's own")]
fn pass_on(mut client: TcpStream, [own, host]: [String; 2], after: usize, cuts: &AtomicUsize) {
    let Ok(mut server) = TcpStream::connect(&host) else { return };
    let (mut requests, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let streams = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&streams);
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(length @ 1..) = requests.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..length]).to_lowercase();
            if text.contains("text/event-stream")
                && (text.contains("message/stream")
                    || text.contains("message:stream")
                    || text.contains("sendstreamingmessage")
                    || text.contains("tasks/sendsubscribe"))
            {
                seen.fetch_add(1, Ordering::SeqCst);
            }
            // Some servers want to be called by their own name.
            let sent = match String::from_utf8(buffer[..length].to_vec()) {
                Ok(text) => text.replacen(&format!("host: {own}"), &format!("host: {host}"), 1).into_bytes(),
                Err(_) => buffer[..length].to_vec(),
            };
            if to_server.write_all(&sent).is_err() {
                break;
            }
        }
        drop(to_server.shutdown(Shutdown::Both));
    });
    let (mut buffer, mut passed) = ([0; 4096], 0);
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        let is_cut = streams.load(Ordering::SeqCst) > 0 && cuts.load(Ordering::SeqCst) == 0;
        let length = if is_cut { length.min(after.saturating_sub(passed)) } else { length };
        if client.write_all(&buffer[..length]).is_err() {
            break;
        }
        passed += length;
        if is_cut && passed >= after {
            cuts.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    drop(client.shutdown(Shutdown::Both));
    drop(server.shutdown(Shutdown::Both));
}

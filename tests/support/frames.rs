//! HTTP/2 as raw frames: a client that does what no library would.

use std::net::SocketAddr;

use openfang_testkit::http::raw;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

pub(crate) const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// A connection whose pings are answered.
pub(crate) struct Http2 {
    address: SocketAddr,
    socket: TcpStream,
}

/// What a reader allows a stream to send at first.
#[derive(Clone, Copy)]
pub(crate) enum Window {
    Shut,
    Usual,
}

impl Http2 {
    pub(crate) async fn open(address: SocketAddr, window: Window) -> Self {
        let settings: &[u8] = match window {
            Window::Shut => &[0, 4, 0, 0, 0, 0],
            Window::Usual => &[],
        };
        let socket = raw(address, &[PREFACE.to_vec(), frame(SETTINGS, 0, 0, settings)].concat()).await;
        Self { address, socket }
    }

    /// Asks, with a body or without.
    pub(crate) async fn ask(&mut self, stream: u32, path: &str, headers: &[(&str, &str)], body: Option<&str>) {
        let authority = self.address.to_string();
        let method = if body.is_some() { "POST" } else { "GET" };
        let first = [(":method", method), (":scheme", "http"), (":path", path), (":authority", &authority)];
        let block = first
            .iter()
            .chain(headers)
            .flat_map(|(name, value)| plain(name, value))
            .collect::<Vec<u8>>();
        let ends = if body.is_some() { 0 } else { END_STREAM };
        let mut bytes = frame(HEADERS, END_HEADERS | ends, stream, &block);
        if let Some(body) = body {
            bytes.extend(frame(DATA, END_STREAM, stream, body.as_bytes()));
        }
        self.socket.write_all(&bytes).await.unwrap();
    }

    /// Lets a stream send so many bytes more.
    pub(crate) async fn give(&mut self, stream: u32, bytes: u32) {
        let _ = self.socket.write_all(&frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())).await;
    }

    /// The next frame that is no ping; none when the connection is closed.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            let mut head = [0; 9];
            self.socket.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.socket.read_exact(&mut payload).await.ok()?;
            let (kind, flags) = (head[3], head[4]);
            if kind != PING {
                return Some(Frame { kind, flags, stream, payload });
            }
            if flags & ACK == 0 {
                let _ = self.socket.write_all(&frame(PING, ACK, 0, &payload)).await;
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A header by itself, in plain text.
fn plain(name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0];
    for text in [name, value] {
        block.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).unwrap());
        block.extend(text.as_bytes());
    }
    block
}

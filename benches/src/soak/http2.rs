//! HTTP/2 as raw frames, for peers that no library supports: they open streams, give no window for responses, and
//! answer pings forever.

use std::net::IpAddr;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client::dial;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const FRAME_HEAD: usize = 9;
/// `SETTINGS_INITIAL_WINDOW_SIZE` = 0: no response body may be sent.
const NO_WINDOW: [u8; 6] = [0, 4, 0, 0, 0, 0];

/// A connection without a window for responses.
pub(super) struct Connection {
    stream: TcpStream,
    next_stream: u32,
}

impl Connection {
    pub(super) async fn open(address: &str, from: IpAddr) -> Result<Self> {
        let mut stream = dial(address, from).await?;
        stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &NO_WINDOW)].concat()).await?;
        Ok(Self { stream, next_stream: 1 })
    }

    /// Sends a request on a new stream.
    pub(super) async fn get(&mut self, headers: &[(&str, &str)]) -> Result<()> {
        let request = frame(HEADERS, END_HEADERS | END_STREAM, self.next_stream, &block(headers));
        self.next_stream += 2;
        Ok(self.stream.write_all(&request).await?)
    }

    /// Acknowledges settings and pings until the server closes the connection, and ignores everything else.
    pub(super) async fn stay(&mut self) -> Result<()> {
        let mut head = [0; FRAME_HEAD];
        let mut payload = Vec::new();
        loop {
            self.stream.read_exact(&mut head).await?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            payload.resize(usize::try_from(length)?, 0);
            self.stream.read_exact(&mut payload).await?;
            let (kind, flags) = (head[3], head[4]);
            match kind {
                SETTINGS if flags & ACK == 0 => self.stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?,
                PING if flags & ACK == 0 => self.stream.write_all(&frame(PING, ACK, 0, &payload)).await?,
                _ => {}
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Each header as plain text: literal, never indexed.
fn block(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(0);
        for text in [name, value] {
            // Lengths below 127 take one byte; nothing here is longer.
            block.push(u8::try_from(text.len()).unwrap_or_default());
            block.extend(text.as_bytes());
        }
    }
    block
}

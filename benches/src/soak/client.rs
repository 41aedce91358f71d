//! A connection that sends one request after the other and reads each response completely. It connects from its own
//! loopback address, so that the server sees honest clients and attackers as different peers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::wire;

/// How long to wait for a response.
const PATIENCE: Duration = Duration::from_secs(10);
/// The status of a rate that is used up.
const TOO_MANY: u16 = 429;
const MOST_REPEATS: u32 = 200;
const BETWEEN_REPEATS: Duration = Duration::from_millis(25);
const READ_BYTES: usize = 16 * 1024;

/// The address of honest clients.
pub(super) const HONEST: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The address of attackers.
pub(super) const HOSTILE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// The address of one of many attacking peers.
pub(super) fn hostile_peer(number: usize) -> IpAddr {
    let [.., second, third, fourth] = number.to_be_bytes();
    // 127.0.0.0/16 is for the others.
    IpAddr::V4(Ipv4Addr::new(127, second.wrapping_add(1).max(1), third, fourth.max(1)))
}

/// A request as it goes over the wire.
pub(super) struct Request<'a> {
    /// Method and path, such as `GET /path`.
    pub(super) what: &'a str,
    /// The credential; may be empty.
    pub(super) key: &'a str,
    /// Further headers, each with its line end.
    pub(super) headers: &'a str,
    pub(super) body: &'a [u8],
}

impl Request<'_> {
    pub(super) fn bytes(&self, address: &str) -> Vec<u8> {
        let Self { what, key, headers, body } = self;
        let credential = if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
        let head = format!(
            "{what} HTTP/1.1\r\nhost: {address}\r\n{credential}content-type: application/json\r\n{headers}\
             content-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }
}

/// Dials the server from an address of this machine.
#[expect(clippy::disallowed_methods, reason = "the soak dials the server that it attacks")]
pub(super) async fn dial(address: &str, from: IpAddr) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::new(from, 0))?;
    let address = address.parse().context("the server has no socket address")?;
    socket.connect(address).await.with_context(|| format!("nobody answers at {address}"))
}

/// A kept-alive connection, opened on demand and again after a failure.
pub(super) struct Client {
    address: String,
    from: IpAddr,
    stream: Option<TcpStream>,
}

impl Client {
    pub(super) fn new(address: &str, from: IpAddr) -> Self {
        Self { address: address.to_owned(), from, stream: None }
    }

    /// Status and body of the answer.
    pub(super) async fn exchange(&mut self, request: &Request<'_>) -> Result<(u16, BytesMut)> {
        let (status, _, body) = self.exchange_headed(request).await?;
        Ok((status, body))
    }

    /// The same for a request that must be taken: it is repeated while the server says that there are too many, or closes the
    /// connection because it has more than it wants to read.
    pub(super) async fn exchange_patiently(&mut self, request: &Request<'_>) -> Result<(u16, BytesMut)> {
        let mut last = String::new();
        for _ in 0..MOST_REPEATS {
            match self.exchange(request).await {
                Ok(answer) if answer.0 != TOO_MANY => return Ok(answer),
                Ok((status, _)) => last = status.to_string(),
                Err(error) => last = error.to_string(),
            }
            tokio::time::sleep(BETWEEN_REPEATS).await;
        }
        bail!("{} was refused every time, at last with: {last}", request.what)
    }

    /// Status, head and body of the answer.
    pub(super) async fn exchange_headed(&mut self, request: &Request<'_>) -> Result<(u16, BytesMut, BytesMut)> {
        let answer = tokio::time::timeout(PATIENCE, self.try_exchange(request)).await;
        let answer = answer.unwrap_or_else(|_| bail!("no answer within {PATIENCE:?}"));
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn try_exchange(&mut self, request: &Request<'_>) -> Result<(u16, BytesMut, BytesMut)> {
        if self.stream.is_none() {
            self.stream = Some(dial(&self.address, self.from).await?);
        }
        let stream = self.stream.as_mut().context("the connection was just opened")?;
        stream.write_all(&request.bytes(&self.address)).await?;
        let mut read = BytesMut::with_capacity(READ_BYTES);
        loop {
            if stream.read_buf(&mut read).await? == 0 {
                bail!("the server closed the connection before its answer was complete");
            }
            if let Some((status, head, length)) = wire::scan(&read)?
                && read.len() >= head + length
            {
                let body = read.split_off(head);
                return Ok((status, read, body));
            }
        }
    }
}

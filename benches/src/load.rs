//! The load generator: keep-alive connections, each with one prepared request in flight. It reads no more of a response
//! than necessary, so that its own cost is small.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::process_stat::CpuTime;
use crate::wire::{self, Head};

const READ_BYTES: usize = 16 * 1024;

/// A server under load: its address, the requests, and the process whose CPU is read.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) pid: u32,
    pub(crate) address: String,
    pub(crate) requests: Vec<Bytes>,
    pub(crate) turns: Turns,
}

/// Which connection sends which request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// A connection repeats one request. Requests are reused if there are more connections.
    Own,
    /// The same, each time with a fresh id in place of [`FRESH`].
    Fresh,
    /// All connections go through all requests.
    All,
}

/// A placeholder in a request for a fresh id.
pub(crate) const FRESH: &str = "00000000-0000-0000-0000-000000000000";

/// What one round showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Round {
    pub(crate) requests_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) cpu_micros: f64,
    /// The spread of the CPU over several rounds, as a fraction.
    pub(crate) cpu_spread: Option<f64>,
}

/// Sends `requests` over `connections` and waits for every answer. Connecting is not measured.
pub(crate) async fn round(target: &Target, connections: usize, requests: usize) -> Result<Round> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(&target.address).await?);
    }
    let each = requests.div_ceil(connections);
    let mut running = JoinSet::new();
    let cpu = CpuTime::of(target.pid)?;
    let start = Instant::now();
    for (number, connection) in open.into_iter().enumerate() {
        running.spawn(connection.repeat(ConnectionRequests::new(target, number), each));
    }
    let mut latencies = Vec::with_capacity(each * connections);
    while let Some(done) = running.join_next().await {
        latencies.extend(done.context("a connection of the generator broke down")??);
    }
    let elapsed = start.elapsed();
    let used = CpuTime::of(target.pid)?.since(&cpu);
    Ok(Round::of(latencies, elapsed, used))
}

impl Round {
    fn of(mut latencies: Vec<Duration>, elapsed: Duration, cpu: Duration) -> Self {
        latencies.sort_unstable();
        let count = latencies.len() as f64;
        let at = |share: f64| {
            let index = ((count * share).ceil() as usize).saturating_sub(1);
            latencies.get(index).map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
        };
        Self {
            requests_per_second: count / elapsed.as_secs_f64(),
            p50_ms: at(0.50),
            p99_ms: at(0.99),
            cpu_micros: cpu.as_secs_f64() * 1e6 / count,
            cpu_spread: None,
        }
    }
}

/// What one connection sends.
struct ConnectionRequests {
    requests: Vec<Bytes>,
    next: usize,
    fresh: Option<RequestTemplate>,
}

/// A request with a placeholder for an id.
struct RequestTemplate {
    request: Vec<u8>,
    place: usize,
    /// The state of the id generator. The ids are as random as those of clients, and cheaper.
    state: u128,
}

impl ConnectionRequests {
    fn new(target: &Target, number: usize) -> Self {
        let own = number % target.requests.len().max(1);
        match target.turns {
            Turns::All => Self { requests: target.requests.clone(), next: number * 7_919, fresh: None },
            Turns::Own => {
                Self { requests: target.requests.get(own).cloned().into_iter().collect(), next: 0, fresh: None }
            }
            Turns::Fresh => {
                let fresh = target.requests.get(own).and_then(|request| RequestTemplate::new(request));
                Self { requests: Vec::new(), next: 0, fresh }
            }
        }
    }

    /// The bytes of the next request.
    fn next(&mut self) -> Option<&[u8]> {
        if let Some(fresh) = &mut self.fresh {
            return Some(fresh.next());
        }
        let index = self.next.checked_rem(self.requests.len())?;
        self.next += 1;
        self.requests.get(index).map(AsRef::as_ref)
    }
}

impl RequestTemplate {
    fn new(request: &[u8]) -> Option<Self> {
        let place = request.windows(FRESH.len()).position(|bytes| bytes == FRESH.as_bytes())?;
        Some(Self { request: request.to_vec(), place, state: Uuid::now_v7().as_u128() | 1 })
    }

    fn next(&mut self) -> &[u8] {
        // A multiplicative generator: its high half looks random, and no state repeats.
        self.state = self.state.wrapping_mul(0x0012_e157_8e3d_0f5b_6d2b_79f5_85eb_ca6b);
        let id = uuid::Builder::from_random_bytes(self.state.rotate_left(61).to_be_bytes()).into_uuid();
        let end = self.place + FRESH.len();
        id.hyphenated().encode_lower(&mut self.request[self.place..end]);
        &self.request
    }
}

/// Sends one request after the other until this is dropped, ignoring the outcome.
pub(crate) async fn pester(address: String, request: Bytes, pause: Duration) {
    loop {
        let _ = once(&address, &request).await;
        tokio::time::sleep(pause).await;
    }
}

/// One request on a connection of its own, with the answer's head and body.
pub(crate) async fn once(address: &str, request: &[u8]) -> Result<(Head, Bytes)> {
    let mut connection = Connection::open(address).await?;
    connection.stream.write_all(request).await?;
    loop {
        connection.read_more().await?;
        let Some(head) = wire::head(&connection.buffer)? else { continue };
        while connection.buffer.len() < head.len + head.content_length {
            connection.read_more().await?;
        }
        let body = connection.buffer.split_off(head.len).freeze();
        return Ok((head, body));
    }
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    #[expect(clippy::disallowed_methods, reason = "the load generator dials the server it measures")]
    async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("nobody answers at {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::with_capacity(READ_BYTES) })
    }

    async fn repeat(mut self, mut sending: ConnectionRequests, times: usize) -> Result<Vec<Duration>> {
        let mut latencies = Vec::with_capacity(times);
        for _ in 0..times {
            let request = sending.next().context("nothing to ask")?;
            let start = Instant::now();
            self.stream.write_all(request).await?;
            self.skip_answer().await?;
            latencies.push(start.elapsed());
        }
        Ok(latencies)
    }

    /// Reads and discards one response. Any status other than 200 aborts the measurement.
    async fn skip_answer(&mut self) -> Result<()> {
        self.buffer.clear();
        let total = loop {
            self.read_more().await?;
            if let Some((status, head, length)) = wire::scan(&self.buffer)? {
                if status != 200 {
                    bail!("answered {status} under load: {}", String::from_utf8_lossy(&self.buffer[head..]));
                }
                break head + length;
            }
        };
        let mut read = self.buffer.len();
        while read < total {
            self.buffer.clear();
            read += self.read_more().await?;
        }
        Ok(())
    }

    async fn read_more(&mut self) -> Result<usize> {
        self.buffer.reserve(1);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => bail!("the server closed the connection before its answer was complete"),
            read => Ok(read),
        }
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

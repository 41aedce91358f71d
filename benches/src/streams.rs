//! Compares many open streams with few, at the same total event rate: their memory, and the latency of an event from
//! before its commit to its client. Both clocks are this machine's.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::{Buf as _, Bytes, BytesMut};
use jiff::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::child::{Home, Server};
use crate::disk;
use crate::measure::Plan;
use crate::process_stat::{CpuTime, resident_mb};
use crate::ratio::Ratio;
use crate::report::{Budget, Row};
use crate::scenarios::{
    A2A_CONFIG, A2A_SEND, STREAM_EVENTS_PER_SECOND, STREAM_LATENCY_BUDGET, STREAM_MEMORY_BUDGET_MB, STREAMS,
};
use crate::wire;

const AGENT: &str = "ticker";
/// The time to open all streams, so that their events do not coincide.
const OPENING: Duration = Duration::from_secs(10);
/// The pause between opening the last stream and the first measurement.
const SETTLING: Duration = Duration::from_secs(2);
const WINDOW: Duration = Duration::from_secs(5);
const READ_BYTES: usize = 1024;

/// The measurements of one window of time.
pub(crate) struct StreamWindow {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) per_second: f64,
    pub(crate) cpu_micros: f64,
    /// The sync time of the disk right before the window: no event is sent before its commit is synced.
    pub(crate) sync_ms: f64,
}

/// All windows, and the memory at their end.
pub(crate) struct Windows {
    seen: Vec<StreamWindow>,
    pub(crate) resident_mb: f64,
}

impl Windows {
    pub(crate) fn row(&self, name: &'static str, figure: fn(&StreamWindow) -> f64, unit: &'static str) -> Row {
        Row::of_rounds(name, &self.of(figure), unit)
    }

    fn of(&self, figure: fn(&StreamWindow) -> f64) -> Vec<f64> {
        self.seen.iter().map(figure).collect()
    }
}

pub(crate) async fn rows(openfang: &Path, plan: Plan) -> Result<Vec<Row>> {
    let [few, many] = STREAMS;
    let few = seen(openfang, few, plan).await?;
    let many = seen(openfang, many, plan).await?;
    let late = many.row("  5,000 streams", |seen| seen.p99_ms, "ms");
    let memory = Row::plain("  memory", many.resident_mb, "MB");
    let ratio = Ratio::of(&few.of(|seen| seen.p99_ms), &many.of(|seen| seen.p99_ms));
    Ok(vec![
        few.row("event to client, p99, 50 streams", |seen| seen.p99_ms, "ms"),
        few.row("  the disk alone, p99 of a sync", |seen| seen.sync_ms, "ms"),
        few.row("  p50", |seen| seen.p50_ms, "ms"),
        few.row("  events", |seen| seen.per_second, "/s"),
        few.row("  an event", |seen| seen.cpu_micros, "us CPU"),
        Row { ratio: Some(ratio), budget: Some(Budget::Ratio(STREAM_LATENCY_BUDGET)), ..late },
        many.row("  the disk alone, p99 of a sync", |seen| seen.sync_ms, "ms"),
        many.row("  p50", |seen| seen.p50_ms, "ms"),
        many.row("  events", |seen| seen.per_second, "/s"),
        many.row("  an event", |seen| seen.cpu_micros, "us CPU"),
        Row { budget: Some(Budget::Value(STREAM_MEMORY_BUDGET_MB)), ..memory },
    ])
}

/// A server whose agent says something in each of so many streams.
async fn seen(openfang: &Path, streams: usize, plan: Plan) -> Result<Windows> {
    let rounds = u32::try_from(plan.rounds).unwrap_or(u32::MAX);
    let home = Home::new(openfang, A2A_CONFIG)?;
    let home = home.with_script(AGENT, &script(streams, OPENING + SETTLING + WINDOW * (rounds + 3)))?;
    let (server, _) = home.start().await?;
    let reader = |_, arrived| read(server.address.clone(), request(&server), arrived, status_time);
    windows((&home, &server), streams, plan, reader).await
}

/// Opens the streams of a server one after the other, then measures several windows.
pub(crate) async fn windows<R>(
    (home, server): (&Home, &Server),
    streams: usize,
    plan: Plan,
    mut reader: impl FnMut(usize, Arc<Arrivals>) -> R,
) -> Result<Windows>
where
    R: Future<Output = Result<()>> + Send + 'static,
{
    let arrived = Arc::new(Arrivals::default());
    let mut readers = JoinSet::new();
    let opening = Instant::now();
    for number in 0..streams {
        let share = number as f64 / streams as f64;
        tokio::time::sleep_until(opening + OPENING.mul_f64(share)).await;
        readers.spawn(reader(number, Arc::clone(&arrived)));
        still_open(&mut readers)?;
    }
    tokio::time::sleep(SETTLING).await;
    let mut windows = Vec::new();
    for _ in 0..plan.rounds {
        let sync_ms = disk::sync_p99_ms(home.path()).await?;
        windows.push(StreamWindow { sync_ms, ..window(server, &arrived).await? });
        still_open(&mut readers)?;
    }
    Ok(Windows { seen: windows, resident_mb: resident_mb(server.pid())? })
}

async fn window(server: &Server, arrived: &Arrivals) -> Result<StreamWindow> {
    arrived.take();
    let (cpu, begun) = (CpuTime::of(server.pid())?, Instant::now());
    tokio::time::sleep(WINDOW).await;
    let (mut latencies, elapsed) = (arrived.take(), begun.elapsed());
    let used = CpuTime::of(server.pid())?.since(&cpu);
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let index = ((latencies.len() as f64 * share).ceil() as usize).saturating_sub(1);
        latencies.get(index).copied().context("no event came")
    };
    Ok(StreamWindow {
        p50_ms: at(0.50)?,
        p99_ms: at(0.99)?,
        per_second: latencies.len() as f64 / elapsed.as_secs_f64(),
        cpu_micros: used.as_secs_f64() * 1e6 / latencies.len() as f64,
        sync_ms: 0.0,
    })
}

/// How long each event took, in milliseconds.
#[derive(Default)]
pub(crate) struct Arrivals(Mutex<Vec<f64>>);

impl Arrivals {
    fn add(&self, latency: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(latency);
    }

    fn take(&self) -> Vec<f64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A stream that ended too early reports its reason.
fn still_open(readers: &mut JoinSet<Result<()>>) -> Result<()> {
    match readers.try_join_next() {
        None => Ok(()),
        Some(ended) => {
            ended??;
            bail!("a stream ended before it was measured")
        }
    }
}

/// Events at a rate that gives the wanted total over all streams.
fn script(streams: usize, lasting: Duration) -> String {
    let pause = Duration::from_secs(1) * u32::try_from(streams).unwrap_or(u32::MAX)
        / u32::try_from(STREAM_EVENTS_PER_SECOND).unwrap_or(u32::MAX);
    let count = lasting.as_millis().div_ceil(pause.as_millis().max(1));
    let step = format!("    {{ status = {{ state = \"working\" }} }}, {{ delay_ms = {} }},\n", pause.as_millis());
    let steps: String = (0..count).map(|_| step.as_str()).collect();
    format!("[[rules]]\nsteps = [\n{steps}]\n")
}

fn request(server: &Server) -> Bytes {
    let id = uuid::Uuid::now_v7();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{{"tenant":"{AGENT}","message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"go"}}]}}}}}}"#
    );
    wire::post("/a2a", A2A_SEND.headers, &body, &server.address).into()
}

/// Reads a stream for as long as it is open. `time_of` is the time at which an event was made; none if it is no news.
#[expect(clippy::disallowed_methods, reason = "the bench dials the server it measures")]
pub(crate) async fn read(
    address: String,
    request: Bytes,
    arrived: Arc<Arrivals>,
    mut time_of: impl FnMut(&[u8]) -> Result<Option<Timestamp>>,
) -> Result<()> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&request).await?;
    let mut buffer = BytesMut::with_capacity(READ_BYTES);
    while stream.read_buf(&mut buffer).await? > 0 {
        let now = Timestamp::now();
        while let Some(end) = buffer.windows(2).position(|two| two == b"\n\n") {
            if let Some(at) = time_of(&buffer[..end])? {
                arrived.add(now.duration_since(at).as_secs_f64() * 1e3);
            }
            buffer.advance(end + 2);
        }
    }
    bail!("a stream was closed; the last of it: {}", String::from_utf8_lossy(&buffer))
}

/// The time of a status change; none for anything else. Chunk boundaries do not matter: their lengths are between
/// events.
fn status_time(event: &[u8]) -> Result<Option<Timestamp>> {
    let text = String::from_utf8_lossy(event);
    if !text.contains("\"statusUpdate\"") {
        return Ok(None);
    }
    let value = text.split("\"timestamp\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let value = value.with_context(|| format!("no time in {text}"))?;
    Ok(Some(value.parse()?))
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;

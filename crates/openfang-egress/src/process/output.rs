//! Runs a child to its end and collects what it writes: the beginning and the end of stdout and of stderr. Memory is
//! bounded however much it writes, and so is the time.
//!
//! Dropping the future ends the child and everything that it started.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use openfang_types::limits::{CHILD_LAST_WORDS, CHILD_OUTPUT_CHUNK_BYTES};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep, timeout};

use super::{Child, Containment, Exit, Stdout};
use crate::pace::Pace;

/// How much of the output is kept, and how long the child may run.
#[derive(Debug, Clone, Copy)]
pub struct OutputLimits {
    /// Bytes that are kept of stdout, and as many of stderr.
    pub bytes: usize,
    /// How long it may run.
    pub time: Duration,
}

/// A child that ran to its end.
#[derive(Debug)]
pub struct CollectedRun {
    pub end: RunEnd,
    pub output: CollectedOutput,
    pub took: Duration,
    /// How much of its sandbox was enforced.
    pub containment: Containment,
}

/// How the run of a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    Exited(Exit),
    /// It was ended, because its time was over.
    TimedOut,
}

/// What a child has written.
#[derive(Debug)]
pub struct CollectedOutput {
    pub stdout: OutputEnds,
    pub stderr: OutputEnds,
}

/// The beginning and the end of an output.
#[derive(Debug)]
pub struct OutputEnds {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes that each of the two may have.
    half: usize,
    written: u64,
}

impl OutputEnds {
    /// An empty output of which at most so many bytes are kept.
    pub fn new(bytes: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: (bytes / 2).max(1), written: 0 }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// The bytes that were written in all.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The bytes between the beginning and the end that are not kept.
    pub fn left_out(&self) -> u64 {
        self.written - (self.head.len() + self.tail.len()) as u64
    }

    /// The output as text, with a marker where something is left out. Bytes that are no text are shown as such.
    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        let left_out = self.left_out();
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Runs a child to its end, with its stdin closed.
pub async fn collect(mut child: Child, limits: OutputLimits) -> CollectedRun {
    let begun = Instant::now();
    child.stdin().close();
    let (stdout, stderr) = (child.take_stdout(), child.take_stderr());
    let mut output = CollectedOutput { stdout: OutputEnds::new(limits.bytes), stderr: OutputEnds::new(limits.bytes) };
    let end = {
        let CollectedOutput { stdout: out, stderr: err } = &mut output;
        let mut reading = pin!(async { tokio::join!(read(stdout, out), read(stderr, err)) });
        let mut is_read = false;
        let mut ending = pin!(async {
            tokio::select! {
                biased;
                exit = child.wait() => RunEnd::Exited(exit),
                () = sleep(limits.time) => {
                    child.shutdown().await;
                    RunEnd::TimedOut
                }
            }
        });
        let end = loop {
            tokio::select! {
                biased;
                _ = reading.as_mut(), if !is_read => is_read = true,
                end = ending.as_mut() => break end,
            }
        };
        if !is_read {
            // What a dead child has written is in the pipes; only what escaped it could hold them open.
            let _ = timeout(CHILD_LAST_WORDS, reading).await;
        }
        end
    };
    CollectedRun { end, output, took: begun.elapsed(), containment: child.containment().clone() }
}

/// Reads an output to its end. A child that writes too fast waits in its own write.
async fn read(pipe: Option<Stdout>, ends: &mut OutputEnds) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = vec![0; CHILD_OUTPUT_CHUNK_BYTES];
    let mut pace = Pace::of_output();
    while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
        ends.push(&chunk[..read]);
        pace.spend(read as u64).await;
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;

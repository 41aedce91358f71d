//! The result of a soak and its verdict: no honest request failed, none was much slower than at rest, and memory and
//! health stayed within bounds.

use std::fmt::Write as _;
use std::time::Duration;

use super::honest::ClientObservations;
use super::stage::Ending;
use super::watch::Process;

/// How much slower the 99th percentile of honest requests may be than at rest.
const MOST_SLOWER: f64 = 5.0;
/// The limit of the server's resident memory.
const MOST_MB: f64 = 400.0;
/// How long stopping may take: the default drain time and a margin.
const LONGEST_STOP: Duration = Duration::from_secs(35);

/// The observations of one phase.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    name: &'static str,
    requests: usize,
    failures: usize,
    p50: Duration,
    p99: Duration,
    process: Process,
    /// Parts of the attacks that did nothing.
    idle_parts: Vec<&'static str>,
}

/// All phases; the first one is at rest.
#[derive(Debug, Default)]
pub(super) struct Report {
    phases: Vec<Phase>,
    pub(super) complaints: Vec<String>,
    pub(super) ending: Option<Ending>,
}

impl Phase {
    pub(super) fn of(name: &'static str, seen: ClientObservations, process: Process) -> Self {
        let ClientObservations { mut latencies, failures } = seen;
        latencies.sort_unstable();
        let at = |share: usize| {
            let index = (latencies.len() * share).div_ceil(100).saturating_sub(1);
            latencies.get(index).copied().unwrap_or_default()
        };
        Self { name, requests: latencies.len(), failures, p50: at(50), p99: at(99), process, idle_parts: Vec::new() }
    }

    /// Sets the parts of the attacks that did nothing.
    pub(super) fn with_idle_parts(self, idle_parts: Vec<&'static str>) -> Self {
        Self { idle_parts, ..self }
    }

    fn ratio(&self, idle: &Self) -> f64 {
        self.p99.as_secs_f64() / idle.p99.as_secs_f64()
    }

    /// The faults of this phase.
    fn faults(&self, idle: &Self) -> Vec<String> {
        let is_slow = self.ratio(idle) > MOST_SLOWER;
        let faults = [
            (self.requests == 0, "no honest request came through"),
            (self.failures > 0, "honest requests failed"),
            (is_slow, "honest requests were slow"),
            (self.process.peak_mb >= MOST_MB, "too much memory"),
            (self.process.unhealthy > 0, "not healthy"),
        ];
        let faults = faults.into_iter().filter(|(is_so, _)| *is_so).map(|(_, fault)| fault.to_owned());
        faults.chain(self.idle_parts.iter().map(|part| format!("no {part}"))).collect()
    }

    fn line(&self, idle: &Self) -> String {
        let faults = self.faults(idle);
        let verdict = if faults.is_empty() { "ok".to_owned() } else { faults.join(", ") };
        format!(
            "{:<16} {:>8} {:>8} {:>9.2} {:>9.2} {:>6.1}x {:>8.0} {:>9}  {verdict}",
            self.name,
            self.requests,
            self.failures,
            self.p50.as_secs_f64() * 1e3,
            self.p99.as_secs_f64() * 1e3,
            self.ratio(idle),
            self.process.peak_mb,
            self.process.unhealthy,
        )
    }
}

impl Report {
    pub(super) fn add(&mut self, phase: Phase) {
        let line = phase.line(self.phases.first().unwrap_or(&phase));
        eprintln!("{line}");
        self.phases.push(phase);
    }

    /// Whether there was no fault in any phase or at the end.
    pub(super) fn is_passed(&self) -> bool {
        let Some(idle) = self.phases.first() else { return false };
        let is_end_good = self
            .ending
            .as_ref()
            .is_some_and(|ending| ending.is_audit_sound && ending.stop <= LONGEST_STOP);
        is_end_good && self.phases.iter().all(|phase| phase.faults(idle).is_empty())
    }

    pub(super) fn table(&self) -> String {
        let mut table = format!(
            "honest clients beside each attack, default limits; at most {MOST_SLOWER:.0}x the p99 at rest and below \
             {MOST_MB:.0} MB\n\n{:<16} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8} {:>9}\n",
            "phase", "requests", "failures", "p50 ms", "p99 ms", "ratio", "peak MB", "unhealthy",
        );
        if let Some(idle) = self.phases.first() {
            for phase in &self.phases {
                let _ = writeln!(table, "{}", phase.line(idle));
            }
        }
        if !self.complaints.is_empty() {
            table.push_str("\nthe first complaints of honest clients:\n");
            for complaint in &self.complaints {
                let _ = writeln!(table, "  {complaint}");
            }
        }
        if let Some(Ending { audit, stop, .. }) = &self.ending {
            let _ = writeln!(table, "\naudit verify: {}\nstop: {:.1} s", audit.trim(), stop.as_secs_f64());
        }
        let _ = writeln!(table, "\nsoak: {}", if self.is_passed() { "passed" } else { "FAILED" });
        table
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

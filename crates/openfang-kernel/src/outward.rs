//! The kernel's two doors outward, as the configuration wants them: HTTP and child processes.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use openfang_egress::http::{HttpConfig, HttpDoor, HttpMetrics};
use openfang_egress::process::{DoorConfig, ProcessDoor, ProcessError, ProcessMetrics};
use openfang_egress::resolve::Resolve;
use openfang_egress::url::Guard;
use openfang_types::config::{Config, ConfigProblem, EgressConfig};
use prometheus_client::registry::Registry;
use tokio_util::task::TaskTracker;

use crate::Kernel;

/// The binary that runs, wherever it lies by now: it is its own helper.
pub(crate) const OURSELVES: &str = "/proc/self/exe";

/// The doors.
pub(crate) struct Outward {
    http: HttpDoor,
    /// Opened with the first child: it has a thread of its own.
    processes: OnceLock<ProcessDoor>,
    helper: PathBuf,
    metrics: ProcessMetrics,
}

impl Outward {
    /// Makes the doors; nothing goes out before somebody asks. A configuration with problems is refused before this.
    pub(crate) fn new(
        config: &Config,
        helper: PathBuf,
        resolver: Arc<dyn Resolve>,
        registry: &mut Registry,
    ) -> Result<Self, ConfigProblem> {
        let http = HttpConfig {
            guard: Guard::allowing(config.egress.allow.iter().map(String::as_str))
                .map_err(|error| problem("allow", error))?,
            extra_roots: roots(&config.egress)?,
            resolver,
            metrics: HttpMetrics::register(registry),
            ..HttpConfig::default()
        };
        let http = HttpDoor::new(http).map_err(|error| problem("ca_files", error))?;
        Ok(Self { http, processes: OnceLock::new(), helper, metrics: ProcessMetrics::register(registry) })
    }

    fn processes(&self, tracker: &TaskTracker) -> Result<&ProcessDoor, ProcessError> {
        if let Some(door) = self.processes.get() {
            return Ok(door);
        }
        let config = DoorConfig { helper: self.helper.clone(), temporary: std::env::temp_dir() };
        let door = ProcessDoor::open(config, tracker.clone(), self.metrics.clone())?;
        Ok(self.processes.get_or_init(|| door))
    }
}

impl Kernel {
    /// The door to URLs.
    pub fn http(&self) -> &HttpDoor {
        &self.inner.outward.http
    }

    /// The door to programs. Whatever it starts ends with this process.
    pub fn processes(&self) -> Result<&ProcessDoor, ProcessError> {
        self.inner.outward.processes(self.inner.upstreams.tracker())
    }
}

/// What of `[egress]` cannot be used.
pub(crate) fn problems(config: &Config) -> Vec<ConfigProblem> {
    let allowed = Guard::allowing(config.egress.allow.iter().map(String::as_str))
        .err()
        .map(|error| problem("allow", error));
    let trusted = match roots(&config.egress) {
        Ok(extra_roots) => {
            let door = HttpDoor::new(HttpConfig { extra_roots, ..HttpConfig::default() });
            door.err().map(|error| problem("ca_files", error))
        }
        Err(problem) => Some(problem),
    };
    allowed.into_iter().chain(trusted).collect()
}

fn roots(config: &EgressConfig) -> Result<Vec<Vec<u8>>, ConfigProblem> {
    let read = |path: &PathBuf| {
        std::fs::read(path)
            .map_err(|cause| problem("ca_files", format_args!("{} cannot be read: {cause}", path.display())))
    };
    config.ca_files.iter().map(read).collect()
}

fn problem(key: &str, why: impl std::fmt::Display) -> ConfigProblem {
    ConfigProblem { key: format!("egress.{key}"), why: why.to_string() }
}

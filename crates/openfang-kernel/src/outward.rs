//! The kernel's two doors outward, as the configuration wants them: HTTP and child processes.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use openfang_egress::http::{HttpConfig, HttpDoor, HttpMetrics, OperatorProxy, ProxyScope};
use openfang_egress::process::{DoorConfig, ProcessDoor, ProcessError, ProcessMetrics};
use openfang_egress::resolve::Resolve;
use openfang_egress::url::Guard;
use openfang_types::config::{ChildIsolation, Config, ConfigProblem, EgressConfig};
use prometheus_client::registry::Registry;
use tokio_util::task::TaskTracker;

use crate::settings::config_file::common_variable;

/// The doors to URLs, as the configuration wants them.
#[derive(Clone)]
pub(crate) struct HttpDoors {
    /// For MCP servers, agents and webhooks.
    pub(crate) own: HttpDoor,
    /// For the tools that reach the web, with an allow-list of their own.
    pub(crate) web: HttpDoor,
}

/// The doors, and what they are made with.
pub(crate) struct Outward {
    resolver: Arc<dyn Resolve>,
    http_metrics: HttpMetrics,
    /// Opened with the first child: it has a thread of its own.
    processes: OnceLock<ProcessDoor>,
    helper: PathBuf,
    isolation: ChildIsolation,
    metrics: ProcessMetrics,
}

impl Outward {
    /// Nothing goes out before somebody asks.
    pub(crate) fn new(
        helper: PathBuf,
        isolation: ChildIsolation,
        resolver: Arc<dyn Resolve>,
        registry: &mut Registry,
    ) -> Self {
        let http_metrics = HttpMetrics::register(registry);
        let metrics = ProcessMetrics::register(registry);
        Self { resolver, http_metrics, processes: OnceLock::new(), helper, isolation, metrics }
    }

    /// A door to URLs. A configuration with problems is refused before this.
    fn http(&self, egress: &EgressConfig) -> Result<HttpDoor, ConfigProblem> {
        let (resolver, metrics) = (Arc::clone(&self.resolver), self.http_metrics.clone());
        let http = HttpConfig { resolver, metrics, ..http_config(egress)? };
        HttpDoor::new(http).map_err(|error| problem("ca_files", error))
    }

    /// The doors to URLs. A configuration with problems is refused before this.
    pub(crate) fn doors(&self, config: &Config) -> Result<HttpDoors, ConfigProblem> {
        Ok(HttpDoors { own: self.http(&config.egress)?, web: self.web(config)? })
    }

    /// A door for the tools that reach the web.
    fn web(&self, config: &Config) -> Result<HttpDoor, ConfigProblem> {
        let (resolver, metrics) = (Arc::clone(&self.resolver), self.http_metrics.clone());
        let (guard, extra_roots) = (web_guard(config)?, roots(&config.egress)?);
        let user_agent = config.web.user_agent.clone();
        let http = HttpConfig { guard, extra_roots, resolver, user_agent, metrics, ..HttpConfig::default() };
        HttpDoor::new(http).map_err(|error| problem("ca_files", error))
    }

    /// The door to programs.
    pub(crate) fn processes(&self, tracker: &TaskTracker) -> Result<&ProcessDoor, ProcessError> {
        if let Some(door) = self.processes.get() {
            return Ok(door);
        }
        let (helper, isolation) = (self.helper.clone(), self.isolation);
        let config = DoorConfig { helper, isolation, temporary: std::env::temp_dir() };
        let door = ProcessDoor::open(config, tracker.clone(), self.metrics.clone())?;
        Ok(self.processes.get_or_init(|| door))
    }
}

/// A door to URLs for a command that needs no kernel.
pub fn http_door(egress: &EgressConfig) -> Result<HttpDoor, ConfigProblem> {
    HttpDoor::new(http_config(egress)?).map_err(|error| problem("ca_files", error))
}

fn http_config(egress: &EgressConfig) -> Result<HttpConfig, ConfigProblem> {
    Ok(HttpConfig {
        guard: Guard::allowing(egress.allow.iter().map(String::as_str)).map_err(|error| problem("allow", error))?,
        extra_roots: roots(egress)?,
        proxy: proxy(egress)?,
        ..HttpConfig::default()
    })
}

fn web_guard(config: &Config) -> Result<Guard, ConfigProblem> {
    let guard = Guard::allowing(config.web.allow.iter().map(String::as_str));
    guard.map_err(|error| ConfigProblem { key: "web.allow".to_owned(), why: error.to_string() })
}

/// What of `[egress]` and `[web]` cannot be used.
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
    let proxied = proxy(&config.egress).err();
    let web = web_guard(config).err();
    let is_elsewhere = config.egress.children == ChildIsolation::Isolated && !cfg!(target_os = "linux");
    let children = is_elsewhere.then(|| problem("children", "\"isolated\" needs Linux; write \"portable\""));
    allowed.into_iter().chain(trusted).chain(proxied).chain(web).chain(children).collect()
}

/// The proxy of the configuration, or else of the environment.
fn proxy(config: &EgressConfig) -> Result<Option<OperatorProxy>, ConfigProblem> {
    let except = match &config.no_proxy {
        Some(hosts) => hosts.join(","),
        None => common_variable("NO_PROXY").unwrap_or_default(),
    };
    let (url, scope) = match &config.proxy {
        Some(url) if url.expose().is_empty() => return Ok(None),
        Some(url) => (url.expose().to_owned(), ProxyScope::All),
        None => match common_variable("HTTPS_PROXY") {
            Some(url) => (url, ProxyScope::Https),
            None => return Ok(None),
        },
    };
    OperatorProxy::new(&url, scope, &except).map(Some).map_err(|error| match scope {
        ProxyScope::All => problem("proxy", error),
        ProxyScope::Https => problem("proxy", format_args!("HTTPS_PROXY: {error}; correct it, or set proxy = \"\"")),
    })
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

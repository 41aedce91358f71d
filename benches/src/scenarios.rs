//! What is measured: the table of requests, each with its budget, and the limits that are raised so that the
//! limiter is measured and not hit. A new row is one entry here.

/// A request that the product and the floor answer with the same bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) body: &'static str,
    /// What a right answer contains; asked once, before anything is measured.
    pub(crate) answer_contains: &'static str,
    pub(crate) connections: &'static [usize],
    /// CPU of the server for one request, in multiples of the floor's.
    pub(crate) cpu_budget: f64,
}

pub(crate) const SCENARIOS: &[Scenario] = &[Scenario {
    name: "POST /api/tools/add_numbers",
    method: "POST",
    path: "/api/tools/add_numbers",
    body: r#"{"arguments":{"a":3,"b":7}}"#,
    answer_contains: "10",
    connections: &[32, 64],
    cpu_budget: 3.0,
}];

/// Resident memory of a server that nobody has talked to.
pub(crate) const IDLE_MEMORY_BUDGET_MB: f64 = 20.0;

/// The credential that every request carries: auth is part of what is measured.
pub(crate) const API_KEY: &str = "bench-key-0123456789abcdef";

/// Keys of `[limits]` that differ from their defaults, shown with every report.
pub(crate) const RAISED_LIMITS: &[(&str, u32)] =
    &[("rate_per_principal", 10_000_000), ("rate_per_principal_burst", 10_000_000)];

/// The `config.toml` of the measured server.
pub(crate) fn config() -> String {
    let limits: String = RAISED_LIMITS.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("api_listen = \"127.0.0.1:0\"\napi_key = \"{API_KEY}\"\n\n[limits]\n{limits}")
}

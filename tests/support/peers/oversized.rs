//! Clients that send more than is taken.

use super::process::{node, python, run};
use super::workspace;

/// The statuses that each client sees: its name and the status.
pub(crate) fn oversized(url: &str) -> Vec<(String, u16)> {
    let script = workspace().join("tests/peers/node/oversized.mjs");
    let clients = [python("python-a2a13", "oversized.py"), node(&script)];
    let seen = clients.into_iter().flat_map(|mut client| {
        client.arg(url);
        let ran = run(client);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let read = |line: String| {
        let (name, status) = line.split_once(' ').unwrap();
        (name.to_owned(), status.parse().unwrap())
    };
    seen.map(read).collect()
}

//! Ports that strangers may name: the two of the web, and the high ones except those where something else than HTTP
//! listens. Below 1024 nothing else is taken, so only the high rows of the fetch standard's block list are repeated.

/// High ports on the block list of the WHATWG fetch standard.
const BLOCKED: &[u16] = &[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Whether a stranger may name the port.
pub(super) fn is_for_the_web(port: u16) -> bool {
    matches!(port, 80 | 443 | 1024..) && !BLOCKED.contains(&port)
}

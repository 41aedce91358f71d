//! Tells the service manager that the daemon listens: `READY=1` to the socket in `NOTIFY_SOCKET`, as systemd wants it.

/// Says that the daemon is ready. Without a service manager nothing happens; one that does not listen is no reason to stop.
#[cfg(target_os = "linux")]
pub(crate) fn ready() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(name) = openfang_kernel::config_file::notify_socket() else { return };
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(hidden) => SocketAddr::from_abstract_name(hidden),
        None => SocketAddr::from_pathname(&name),
    };
    let sent = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot tell the service manager that the daemon is ready");
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) const fn ready() {}

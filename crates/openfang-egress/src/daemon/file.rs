//! `daemon.json`: the address of a home's daemon, and the token that gives its reader the operator's rights.
//!
//! The file is written under a temporary name with mode 0600 and renamed, so that a reader sees all of it or nothing. A
//! file that others could have read, or that another user wrote, is refused. The check uses the open handle, not the
//! name. The file names its directory, so that it is ignored in a copy of the home.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{Method, Request, header};
use openfang_types::limits::DAEMON_FILE_MAX_BYTES;
use openfang_types::principal::Door;
use openfang_types::secret::Secret;
use serde::{Deserialize, Serialize};

use super::DaemonError;

/// What a running daemon publishes about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonFile {
    pub pid: u32,
    /// The listening address, with the actual port.
    pub address: SocketAddr,
    /// The token, new with every start.
    pub token: Secret,
    pub version: String,
}

/// The JSON form; only here is the token plain text. Unknown members come from a newer daemon.
#[derive(Serialize, Deserialize)]
struct DaemonFileJson {
    pid: u32,
    address: SocketAddr,
    token: String,
    version: String,
    /// The directory of the file. Earlier daemons did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    home: Option<String>,
}

impl DaemonFile {
    /// Reads the file; none if it does not exist or was copied from another home.
    pub fn read(path: &Path) -> Result<Option<Self>, DaemonError> {
        let unreadable = |cause| DaemonError::Unreadable { path: path.to_owned(), cause };
        let malformed = |why: &str| DaemonError::Malformed { path: path.to_owned(), why: why.to_owned() };
        let file = match open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            outcome => outcome.map_err(unreadable)?,
        };
        check_owner(path, &file.metadata().map_err(unreadable)?)?;
        let mut bytes = Vec::new();
        file.take(DAEMON_FILE_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > DAEMON_FILE_MAX_BYTES {
            return Err(malformed("it is too large"));
        }
        // The parser's message may quote the file, including the token.
        let members: DaemonFileJson = serde_json::from_slice(&bytes)
            .map_err(|error| malformed(&format!("line {} is not what was expected", error.line())))?;
        if members.token.is_empty() || !members.token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(malformed("its token is not visible ASCII"));
        }
        let DaemonFileJson { pid, address, token, version, home } = members;
        if home.is_some() && home != directory_of(path) {
            tracing::debug!(path = %path.display(), "daemon.json was copied from another home");
            return Ok(None);
        }
        Ok(Some(Self { pid, address, token: Secret::new(token), version }))
    }

    /// Writes the file atomically.
    pub fn write(&self, path: &Path) -> Result<(), DaemonError> {
        let unwritable = |cause| DaemonError::Unwritable { path: path.to_owned(), cause };
        let members = DaemonFileJson {
            pid: self.pid,
            address: self.address,
            token: self.token.expose().to_owned(),
            version: self.version.clone(),
            home: directory_of(path),
        };
        let mut bytes = serde_json::to_vec_pretty(&members).map_err(io::Error::from).map_err(unwritable)?;
        bytes.push(b'\n');
        let beside = beside(path)?;
        let placed = write_private(&beside, &bytes).and_then(|()| std::fs::rename(&beside, path));
        placed.map_err(|cause| {
            let _ = std::fs::remove_file(&beside); // not even half of a token is left lying around
            unwritable(cause)
        })
    }

    /// Removes the file, unless another daemon has written its own meanwhile.
    pub fn remove(&self, path: &Path) -> Result<(), DaemonError> {
        if Self::read(path)?.as_ref() != Some(self) {
            return Ok(());
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(DaemonError::Unwritable { path: path.to_owned(), cause: error })
            }
            _ => Ok(()),
        }
    }

    /// The address to dial: an unspecified address is replaced by loopback.
    pub(super) fn dial_address(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        SocketAddr::new(ip, self.address.port())
    }

    /// A request with the token, only for a connection that has proved its identity.
    pub(super) fn request(
        &self,
        method: Method,
        path_and_query: &str,
        body: Option<Bytes>,
        (accept, door): (&str, Door),
    ) -> Result<Request<Bytes>, DaemonError> {
        let mut request = Request::builder()
            .method(method)
            .uri(path_and_query)
            .header(header::HOST, self.dial_address().to_string())
            .header(header::ACCEPT, accept)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.expose()))
            .header("x-openfang-door", door.as_str());
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        Ok(request.body(body.unwrap_or_default())?)
    }

    pub(super) fn silent(&self) -> DaemonError {
        DaemonError::Silent { address: self.address, pid: self.pid }
    }

    #[cfg(unix)]
    pub(super) fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        // A process that we must not signal exists.
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }

    #[cfg(not(unix))]
    pub(super) fn is_alive(&self) -> bool {
        true
    }
}

/// The real path of the file's directory, which differs in a copy.
fn directory_of(path: &Path) -> Option<String> {
    let directory = path.parent()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = directory.metadata().ok()?;
        Some(format!("{:x}:{:x}", found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    Some(directory.canonicalize().ok()?.display().to_string())
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe in place of the file must not block us.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    options.open(path)
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &Metadata) -> Result<(), DaemonError> {
    use std::os::unix::fs::MetadataExt as _;
    check_is_file(path, found)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(DaemonError::NotOurs { path: path.to_owned() });
    }
    match found.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(DaemonError::NotPrivate { path: path.to_owned(), mode }),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_owner(path: &Path, found: &Metadata) -> Result<(), DaemonError> {
    check_is_file(path, found)
}

fn check_is_file(path: &Path, found: &Metadata) -> Result<(), DaemonError> {
    let why = || "it is not a regular file".to_owned();
    if found.is_file() { Ok(()) } else { Err(DaemonError::Malformed { path: path.to_owned(), why: why() }) }
}

fn beside(path: &Path) -> Result<PathBuf, DaemonError> {
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix)?;
    Ok(path.with_extension(format!("new-{:016x}", u64::from_le_bytes(suffix))))
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

//! The control socket between us and a child that has not become its program yet. We send one [`Order`] with the
//! descriptor of its stdin. The child answers with [`ChildReport`]s. The end of the stream means that the program runs.
//!
//! A message is its length followed by JSON. Nothing of it is ever on a command line. A message above the size limit or
//! without the descriptor is refused.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use openfang_types::config::ChildIsolation;
use openfang_types::limits::CHILD_ORDER_MAX_BYTES;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};

use crate::process::{Containment, Network, ResourceLimits};

/// Everything a child needs to become its program.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    /// Our process id. A child with another parent has lost us.
    pub(super) parent: i32,
    /// Whether the kernel kills it with its parent.
    pub(super) isolation: ChildIsolation,
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) directory: OsString,
    pub(super) limits: ResourceLimits,
    pub(super) sandbox: Option<SandboxRules>,
    /// The inherited umask, if we have set our own.
    pub(super) umask: Option<rustix::fs::RawMode>,
}

/// A sandbox, including everything the program needs to run.
#[derive(Serialize, Deserialize)]
pub(super) struct SandboxRules {
    pub(super) read: Vec<OsString>,
    pub(super) write: Vec<OsString>,
    pub(super) network: Network,
    /// Whether it cannot leave its process group.
    pub(super) stays_in_group: bool,
    /// Whether it does not run where the rules about files are not enforced.
    pub(super) must_hold: bool,
}

/// A report of a child before it becomes its program.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildReport {
    /// The child is about to run the program with this containment.
    Ready(Containment),
    Failed {
        step: Step,
        cause: Cause,
    },
}

/// The part of the order that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Step {
    Order,
    Directory,
    Limits,
    Sandbox,
    Program,
}

/// An error in serializable form.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cause {
    code: Option<i32>,
    text: String,
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self { code: error.raw_os_error(), text: error.to_string() }
    }
}

impl From<Cause> for io::Error {
    fn from(cause: Cause) -> Self {
        cause.code.map_or_else(|| Self::other(cause.text), Self::from_raw_os_error)
    }
}

const LENGTH: usize = size_of::<u32>();
/// Elsewhere Rust ignores SIGPIPE for the whole process.
#[cfg(target_os = "linux")]
const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SEND: SendFlags = SendFlags::empty();
/// Elsewhere the child marks all its descriptors afterwards.
#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

/// Gives a child its order and its stdin.
pub(super) async fn send_order(socket: &mut tokio::net::UnixStream, order: &Order, stdin: OwnedFd) -> io::Result<()> {
    let message = message(order)?;
    let sent = socket.async_io(Interest::WRITABLE, || send_with(&*socket, &message, &stdin)).await?;
    socket.write_all(&message[sent..]).await
}

fn send_with(socket: impl AsFd, message: &[u8], descriptor: &OwnedFd) -> io::Result<usize> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    Ok(sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SEND)?)
}

/// The next report; none when the child has become its program or is gone.
pub(super) async fn hear(socket: &mut tokio::net::UnixStream) -> io::Result<Option<ChildReport>> {
    let mut length = [0; LENGTH];
    match socket.read_exact(&mut length).await {
        Err(error) if is_end(&error) => return Ok(None),
        read => read?,
    };
    let mut body = vec![0; checked(length)?];
    socket.read_exact(&mut body).await?;
    parsed(&body).map(Some)
}

/// Waits for the order, in the child.
pub(super) fn receive_order(socket: impl AsFd) -> io::Result<(Order, OwnedFd)> {
    let mut length = [0; LENGTH];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(&socket, &mut [IoSliceMut::new(&mut length)], &mut ancillary, RECEIVE)?.bytes;
    let stdin = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let mut rest = UnixStream::from(socket.as_fd().try_clone_to_owned()?);
    rest.read_exact(&mut length[received..])?;
    let mut body = vec![0; checked(length)?];
    rest.read_exact(&mut body)?;
    let stdin = stdin.ok_or_else(|| io::Error::other("the order came without a stdin"))?;
    Ok((parsed(&body)?, stdin))
}

/// Says a word, in the child.
pub(super) fn say(mut socket: &UnixStream, word: &ChildReport) -> io::Result<()> {
    socket.write_all(&message(word)?)
}

fn message(content: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; LENGTH];
    serde_json::to_writer(&mut message, content)?;
    let length = message.len() - LENGTH;
    if length > CHILD_ORDER_MAX_BYTES {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::TOOBIG.raw_os_error()));
    }
    let length = u32::try_from(length).map_err(io::Error::other)?;
    message[..LENGTH].copy_from_slice(&length.to_le_bytes());
    Ok(message)
}

fn checked(length: [u8; LENGTH]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    if length > CHILD_ORDER_MAX_BYTES {
        return Err(io::Error::other("a message on the control socket is too long"));
    }
    Ok(length)
}

/// The cause is dropped, because it might quote the content.
fn parsed<T: DeserializeOwned>(body: &[u8]) -> io::Result<T> {
    serde_json::from_slice(body).map_err(|_| io::Error::other("a message on the control socket is not understood"))
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;

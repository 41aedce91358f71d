//! One key on disk, and one derived from it per purpose. Every token names the key it was made with.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use openfang_types::ids::Owner;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::settings::home::record::HomeRecord;
use crate::settings::home::{Home, HomeError, HomeLoss, RecordError, create_private_file};

const KEY_BYTES: usize = 32;
const ID_BYTES: usize = 4;
const TAG_BYTES: usize = 16;

/// What a derived key is for; two purposes never share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Tokens that lead to the next page of a list.
    PageToken,
    /// Ids of legacy MCP sessions.
    McpSession,
    /// What an MCP client brings back with its answers.
    McpRequestState,
    /// What a caller of the API brings back with its answers.
    CallState,
    /// Signatures of push notifications whose receiver has no token.
    PushSignature,
    /// Ids and secrets of pushes that agents of other servers send.
    PushReceiver,
    /// Values of stored secrets.
    StoredSecret,
}

impl Purpose {
    const fn info(self) -> &'static [u8] {
        match self {
            Self::PageToken => b"openfang page token",
            Self::McpSession => b"openfang mcp session",
            Self::McpRequestState => b"openfang mcp request state",
            Self::CallState => b"openfang call state",
            Self::PushSignature => b"openfang push signature",
            Self::PushReceiver => b"openfang push receiver",
            Self::StoredSecret => b"openfang stored secret",
        }
    }
}

pub(crate) struct Keys {
    id: [u8; ID_BYTES],
    root: Hkdf<Sha256>,
}

impl Keys {
    /// Opens the key of a home, or makes one if the home has never had one.
    pub(crate) fn of(home: &Home, record: Option<&HomeRecord>) -> Result<Self, RecordError> {
        let path = home.secret_key();
        if record.is_some_and(|record| record.secret_key.is_some()) && !path.exists() {
            return Err(HomeLoss::SecretKey(path).into());
        }
        if home.has_key_elsewhere() {
            let key = read_key(&path).map_err(|cause| HomeError::new(path, cause))?;
            return Ok(Self::from_key(&key));
        }
        Ok(Self::open(&path)?)
    }

    /// Opens the key file, or makes one that only its owner can read.
    fn open(path: &Path) -> Result<Self, HomeError> {
        let key = match read_key(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(path),
            outcome => outcome,
        };
        key.map(|key| Self::from_key(&key))
            .map_err(|cause| HomeError::new(path.to_owned(), cause))
    }

    fn from_key(key: &[u8; KEY_BYTES]) -> Self {
        let root = Hkdf::<Sha256>::new(None, key);
        let mut id = [0; ID_BYTES];
        expand(&root, b"openfang key id", &mut id);
        Self { id, root }
    }

    /// Seals a payload for an owner: it can be read, but not made or changed, and means nothing to anybody else.
    pub(crate) fn seal(&self, purpose: Purpose, owner: &Owner, payload: &[u8]) -> String {
        let mut token = self.id.to_vec();
        token.extend_from_slice(payload);
        let tag = self.tag(purpose, owner, &token);
        token.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Opens what [`Keys::seal`] made for the same purpose and owner.
    pub(crate) fn open_token(&self, purpose: Purpose, owner: &Owner, token: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        let payload = signed.strip_prefix(&self.id)?;
        let expected = self.tag(purpose, owner, signed);
        bool::from(expected.ct_eq(tag)).then(|| payload.to_vec())
    }

    /// The id of the key, as tokens and signatures name it.
    pub(crate) fn id(&self) -> String {
        hex(&self.id)
    }

    /// Which OpenFang this is: the same for every process of a home, and nothing about its keys.
    pub(crate) fn instance(&self) -> String {
        let mut id = [0; TAG_BYTES];
        expand(&self.root, b"openfang instance id", &mut id);
        hex(&id)
    }

    /// Signs a message with the key of a purpose.
    pub(crate) fn sign(&self, purpose: Purpose, message: &[&[u8]]) -> String {
        sign_with(&self.derive(purpose), message)
    }

    /// The key of a purpose.
    pub(super) fn derive(&self, purpose: Purpose) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        expand(&self.root, purpose.info(), &mut key);
        key
    }

    fn tag(&self, purpose: Purpose, owner: &Owner, signed: &[u8]) -> [u8; TAG_BYTES] {
        let mut mac = keyed(&self.derive(purpose));
        mac.update(owner.as_str().as_bytes());
        mac.update(&[0]); // no owner contains it, so owner and payload cannot run into each other
        mac.update(signed);
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&mac.finalize().into_bytes()[..TAG_BYTES]);
        tag
    }
}

/// The HMAC-SHA256 of a message in pieces, in hexadecimal.
pub(crate) fn sign_with(key: &[u8], message: &[&[u8]]) -> String {
    let mut mac = keyed(key);
    message.iter().for_each(|piece| mac.update(piece));
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length, and HKDF gives up to 8,160 bytes")]
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length, and HKDF gives up to 8,160 bytes")]
fn expand(root: &Hkdf<Sha256>, info: &[u8], out: &mut [u8]) {
    root.expand(info, out).expect("the derived key is short");
}

fn read_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(1024).read_to_end(&mut bytes)?;
    let wrong = || {
        let why = "it is not a key of 32 bytes; restore it from a backup, or move it away and run `openfang home accept` to create a new one";
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    bytes.try_into().map_err(|_| wrong())
}

/// Written beside its place and linked there, so that two processes that start together agree on one key.
fn make_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::from)?;
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix).map_err(io::Error::from)?;
    let beside = path.with_extension(format!("new-{:016x}", u64::from_le_bytes(suffix)));
    let mut file = create_private_file(&beside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    let placed = std::fs::hard_link(&beside, path);
    std::fs::remove_file(&beside)?;
    match placed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read_key(path),
        outcome => outcome.map(|()| key),
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;

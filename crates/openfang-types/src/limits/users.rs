//! Limits of users, their keys and their logins.

use std::time::Duration;

/// Users of one home.
pub const USERS_MAX: usize = 10_000;
/// Keys of one user that are not revoked.
pub const KEYS_PER_USER: usize = 100;
/// Logins of one user; the next one ends the oldest.
pub const LOGINS_PER_USER: usize = 50;
/// Grants of one user.
pub const GRANTS_PER_USER: usize = 1_000;
/// How long a login lasts.
pub const LOGIN_LASTS: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long a revoked key is still listed.
pub const REVOKED_KEY_KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);
/// Characters of a key's id.
pub const KEY_ID_CHARS: usize = 12;
/// What makes a key, or the cookie of a login, unguessable.
pub const KEY_SECRET_BYTES: usize = 32;
/// What a key is for, in words.
pub const KEY_LABEL_MAX_CHARS: usize = 80;
/// The shortest password that is accepted.
pub const PASSWORD_MIN_CHARS: usize = 10;
/// The longest password; hashing a longer one would be work for nothing.
pub const PASSWORD_MAX_BYTES: usize = 1_024;
/// Passwords that are hashed at a time: each takes a core and [`PASSWORD_MEMORY_KIB`].
pub const PASSWORD_HASHES: usize = 2;
/// Logins that wait for their turn to be hashed; with one more, a stranger of the network that has most of them is refused.
pub const PASSWORD_QUEUE: usize = 128;
/// Over this time the attempts to log in that a peer or an account may have come back, one by one.
pub const LOGIN_WINDOW: Duration = Duration::from_secs(600);
/// Attempts within [`LOGIN_WINDOW`] at an account whose own are used up, by peers that have not tried it yet.
pub const LOGIN_RESERVE: u32 = 300;
/// How long a peer that took one of [`LOGIN_RESERVE`] gets no other.
pub const LOGIN_RESERVE_EACH: Duration = Duration::from_secs(3_600);
/// Peers, or accounts, whose attempts to log in are remembered; those with the fewest are forgotten first.
pub const LOGIN_KEYS: usize = 20_000;
/// Networks of one account that are known by a login.
pub const LOGIN_KNOWN_PEERS: usize = 16;
/// Memory of one argon2id hash, in KiB.
pub const PASSWORD_MEMORY_KIB: u32 = 19_456;
/// Passes of one argon2id hash.
pub const PASSWORD_PASSES: u32 = 2;
/// How far threads that hash passwords stand back behind all others: the `nice` value of Linux.
pub const PASSWORD_NICENESS: i32 = 5;
/// How often a server ends logins whose time is over, and looks at users again if it could not before.
pub const ACCOUNTS_ROUND: Duration = Duration::from_secs(1);
/// How often it is written down when keys were used.
pub const KEY_USE_ROUND: Duration = Duration::from_secs(60);
/// The body of somebody who is not known yet: a name and a password.
pub const STRANGERS_BODY_BYTES: usize = 16 * 1024;
/// Secrets that a home stores.
pub const SECRETS_PER_HOME: usize = 1_000;
/// The shortest stored secret: a shorter one would be found by chance in every text.
pub const SECRET_MIN_CHARS: usize = 8;
/// The longest stored secret; a private key fits.
pub const SECRET_MAX_BYTES: usize = 64 * 1024;
/// What is read of the file with the stored secrets.
pub const SECRETS_FILE_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// How many of the tools that a grant names are shown.
pub const GRANT_EXAMPLES: usize = 5;

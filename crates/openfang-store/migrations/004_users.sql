-- The first version made tables of these names and never wrote to them.
DROP TABLE users;
DROP TABLE api_keys;

CREATE TABLE users (
    name TEXT PRIMARY KEY,
    grants TEXT NOT NULL,             -- a JSON array of texts
    password_hash TEXT,               -- argon2id, in the form of a PHC string
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Names that were given once. What their users left is still there, so they are not given again by accident.
CREATE TABLE former_users (name TEXT PRIMARY KEY, removed_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,      -- SHA-256 of the key; the key itself is nowhere
    label TEXT NOT NULL,
    entry_label TEXT,                 -- what its requests are labelled, if not by their door
    created_at INTEGER NOT NULL,
    last_used INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE INDEX api_keys_by_owner ON api_keys (owner);

CREATE TABLE logins (
    id BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,      -- SHA-256 of the cookie's value
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX logins_by_owner ON logins (owner, created_at);

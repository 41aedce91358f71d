CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Rows are longer than a table without rowid can hold well: from a quarter of a page on each would take a page more.
CREATE TABLE a2a_tasks (
    n INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,          -- UUIDv7, as all ids here: they grow in the order of their making
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    status_at INTEGER NOT NULL,       -- nanoseconds since 1970, as all times here
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    origin TEXT NOT NULL,
    message_id TEXT NOT NULL,
    node BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    lease_until INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    labels TEXT NOT NULL,
    trace BLOB NOT NULL,
    folded TEXT                       -- the whole task, once its events are gone
);
-- A list of all states merges their ranges, so that one index serves it and the list of one state.
CREATE INDEX a2a_tasks_by_state ON a2a_tasks (owner, state, status_at DESC, id DESC);
CREATE INDEX a2a_tasks_by_context ON a2a_tasks (owner, context_id);
CREATE UNIQUE INDEX a2a_tasks_by_message ON a2a_tasks (owner, agent, message_id);
CREATE INDEX a2a_tasks_live ON a2a_tasks (state, node, cancel_requested)
    WHERE state IN ('submitted', 'working', 'input-required', 'auth-required');

-- One row per write: a write of several events is one row.
CREATE TABLE a2a_task_events (
    n INTEGER PRIMARY KEY,
    task BLOB NOT NULL,
    seq INTEGER NOT NULL,             -- of the first event in `bodies`
    at INTEGER NOT NULL,
    bodies TEXT NOT NULL,             -- a JSON array
    UNIQUE (task, seq)
);

CREATE TABLE task_counts (owner TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (owner, state)) WITHOUT ROWID;

CREATE TABLE contexts (owner TEXT NOT NULL, id TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;

CREATE TABLE memory (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    labels TEXT NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE TABLE memory_counts (owner TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE users (
    name TEXT PRIMARY KEY,
    password_hash TEXT,
    grants TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER
) WITHOUT ROWID;

CREATE TABLE api_keys (
    hash BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;

-- A chain per process, in segments: each row's hash covers the row before it.
CREATE TABLE audit_segments (
    id BLOB PRIMARY KEY,              -- UUIDv7
    node BLOB NOT NULL,
    previous BLOB NOT NULL,           -- the closing hash of the segment before, or zeroes
    opened_at INTEGER NOT NULL,
    closed_at INTEGER,
    rows INTEGER,                     -- how many, once closed
    closing_hash BLOB
) WITHOUT ROWID;
CREATE INDEX audit_segments_open ON audit_segments (node) WHERE closed_at IS NULL;
CREATE TABLE audit (
    n INTEGER PRIMARY KEY,            -- the order of writing, over all processes
    segment BLOB NOT NULL,
    place INTEGER NOT NULL,           -- within the segment, from 1
    row TEXT NOT NULL,                -- the row as JSON, as it was hashed
    hash BLOB NOT NULL
);
CREATE UNIQUE INDEX audit_by_segment ON audit (segment, place);

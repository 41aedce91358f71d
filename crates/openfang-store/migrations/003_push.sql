-- Where to tell what happens to a task, and how far that has come. A row with something to tell is due at a moment; while
-- somebody holds a claim on it, that is the moment when the claim ends.
CREATE TABLE push_configs (
    n INTEGER PRIMARY KEY,
    task BLOB NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    token TEXT,
    scheme TEXT,
    credentials TEXT,
    origin TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,             -- every event up to here is settled
    attempts INTEGER NOT NULL DEFAULT 0,
    given_up INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    due_at INTEGER,
    node BLOB,                        -- who holds the claim
    version INTEGER NOT NULL DEFAULT 1,
    UNIQUE (task, id)
);
-- Whose turn it is not is passed over without a look at the table.
CREATE INDEX push_configs_due ON push_configs (due_at, host, owner) WHERE due_at IS NOT NULL;
CREATE INDEX push_configs_claimed ON push_configs (node) WHERE node IS NOT NULL;

-- The work queue: what was posted, who holds it, how it ended.
CREATE TABLE queue (
    n INTEGER PRIMARY KEY,            -- the order of posting
    id BLOB NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    assigned_to TEXT NOT NULL,        -- an agent, or empty for anybody
    created_by TEXT NOT NULL,         -- an agent, or empty for a person
    priority INTEGER NOT NULL,
    labels TEXT NOT NULL,
    state TEXT NOT NULL,              -- pending, in_progress, completed, failed, dead
    attempt INTEGER NOT NULL,
    holder TEXT NOT NULL,             -- the agent and the run that hold it, as agent/run, or empty
    lease_until INTEGER,
    result TEXT,
    result_labels TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE INDEX queue_next ON queue (owner, assigned_to, priority DESC, n) WHERE state = 'pending';
CREATE INDEX queue_leases ON queue (owner, lease_until) WHERE state = 'in_progress';
CREATE INDEX queue_ended ON queue (owner, changed_at) WHERE state IN ('completed', 'failed', 'dead');
CREATE INDEX queue_of_owner ON queue (owner, n);
CREATE INDEX queue_of_owner_by_state ON queue (owner, state, n);

-- Calls of tools that wait for a person, and what was decided.
CREATE TABLE approvals (
    id BLOB NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    task BLOB,
    agent TEXT,
    trace BLOB NOT NULL,
    door TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,          -- canonical JSON
    call_digest TEXT NOT NULL,
    definition_digest TEXT NOT NULL,
    labels TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_machine INTEGER NOT NULL,
    made INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,              -- pending, approved, denied or used
    decided TEXT                      -- who decided, as JSON
);
CREATE INDEX approvals_of_owner ON approvals (owner, made);
CREATE INDEX approvals_expire ON approvals (expires);

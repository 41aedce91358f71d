-- Tasks that agents of other servers work on. A row is gone with the end of its task, unless a cancel has to be told.
CREATE TABLE remotes (
    task BLOB NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    dialect TEXT NOT NULL,
    message_id TEXT NOT NULL,
    remote_task TEXT,
    remote_context TEXT,
    phase TEXT NOT NULL,              -- begun, known, asked or canceling
    trace BLOB NOT NULL,
    hops INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX remotes_canceling ON remotes (phase) WHERE phase = 'canceling';

-- The agent's name for the conversation, which outlives the task: the next task of the conversation continues it there.
ALTER TABLE a2a_tasks ADD COLUMN remote_context TEXT;

-- What agents with a model remember of conversations. A conversation belongs to an owner, an agent and a context; its tasks
-- share one transcript. A row here is written and deleted with its items.
CREATE TABLE transcripts (
    n INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    context_id TEXT NOT NULL,
    seq INTEGER NOT NULL,             -- of the last item; the first is 1
    covered INTEGER NOT NULL,         -- the newest summary stands for the items up to here
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (owner, context_id, agent)
);

-- The body is last, because the other columns are read without it.
CREATE TABLE transcript_items (
    n INTEGER PRIMARY KEY,
    transcript INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    task BLOB NOT NULL,
    turn INTEGER NOT NULL,
    kind TEXT NOT NULL,
    covers INTEGER,                   -- a summary stands for the items up to here
    tokens INTEGER,
    at INTEGER NOT NULL,
    labels TEXT NOT NULL,
    body TEXT NOT NULL,               -- JSON
    UNIQUE (transcript, seq)
);

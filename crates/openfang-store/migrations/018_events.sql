-- Events that agents and people publish, and the runs that they led to.
CREATE TABLE published_events (
    n INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order of publishing
    owner TEXT NOT NULL,
    event_type TEXT NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    is_delivered INTEGER NOT NULL,
    node BLOB,                             -- the process that delivers it
    body TEXT NOT NULL
);
CREATE INDEX published_events_of_owner ON published_events (owner, n);
CREATE INDEX published_events_by_type ON published_events (owner, event_type, at);
CREATE INDEX published_events_by_time ON published_events (owner, at);
CREATE INDEX published_events_waiting ON published_events (n) WHERE is_delivered = 0;
CREATE INDEX published_events_open ON published_events (owner) WHERE is_delivered = 0;
CREATE TABLE event_runs (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    trace BLOB NOT NULL,
    chain TEXT NOT NULL                    -- the types of the events that led to the run
);
CREATE INDEX event_runs_by_trace ON event_runs (trace);
CREATE INDEX event_runs_of_owner ON event_runs (owner, n);

-- Schedules: what an agent is to do at certain times. The columns are what is searched for; the body is the schedule.
CREATE TABLE schedules (
    id BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,              -- active, paused, ended, deleted
    created_at INTEGER NOT NULL,
    due_at INTEGER,                   -- null while it is not to be looked at
    node BLOB,                        -- the process that has claimed the run that is under way
    trace BLOB,                       -- of the latest run
    version INTEGER NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedules_of_owner ON schedules (owner, created_at, id);
CREATE INDEX schedules_due ON schedules (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX schedules_running ON schedules (node) WHERE node IS NOT NULL;
CREATE INDEX schedules_by_trace ON schedules (trace) WHERE trace IS NOT NULL;

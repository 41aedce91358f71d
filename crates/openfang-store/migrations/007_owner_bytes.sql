-- What an owner keeps, in bytes: of tasks beside their numbers, of memory and files in rows of their own.
ALTER TABLE task_counts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- Files of workspaces that tools wrote: what their content carries, and how long it is.
CREATE TABLE files (
    owner TEXT NOT NULL,
    path TEXT NOT NULL,               -- below the directory of all workspaces, with links resolved
    bytes INTEGER NOT NULL,
    labels TEXT,                      -- NULL where there are none
    PRIMARY KEY (owner, path)
) WITHOUT ROWID;
CREATE INDEX files_with_labels ON files (owner, path, labels) WHERE labels IS NOT NULL;

-- Labels of files were keys of the house.
INSERT OR IGNORE INTO files (owner, path, bytes, labels)
    SELECT CASE
               WHEN key GLOB 'file:owners/*' THEN substr(key, 13, instr(substr(key, 13), '/') - 1)
               WHEN key GLOB 'file:users/*' THEN substr(key, 12, instr(substr(key, 12), '/') - 1)
               ELSE 'admin'
           END,
           substr(key, 6), 0, labels
    FROM memory WHERE owner = '*house' AND key GLOB 'file:*' AND labels <> '[]';
DELETE FROM memory WHERE owner = '*house' AND key GLOB 'file:*';
UPDATE memory_counts SET n = (SELECT count(*) FROM memory WHERE memory.owner = '*house') WHERE owner = '*house';

INSERT INTO task_counts (owner, state, n, bytes)
    SELECT owner, state, 0,
           sum(coalesce(octet_length(first), 0) + coalesce(octet_length(folded), 0)
               + coalesce((SELECT sum(octet_length(bodies)) FROM a2a_task_events WHERE task = id), 0))
    FROM a2a_tasks WHERE true GROUP BY owner, state
    ON CONFLICT (owner, state) DO UPDATE SET bytes = excluded.bytes;
INSERT INTO task_counts (owner, state, n, bytes)
    SELECT owner, 'memory', count(*), sum(octet_length(key) + octet_length(value) + octet_length(labels))
    FROM memory GROUP BY owner;
INSERT INTO task_counts (owner, state, n, bytes)
    SELECT owner, 'files', count(*), sum(octet_length(path) + bytes + coalesce(octet_length(labels), 0))
    FROM files GROUP BY owner;
DROP TABLE memory_counts;

-- What its maker calls a task, where that is not for us to say (A2A 0.1).
ALTER TABLE a2a_tasks ADD COLUMN peer_name TEXT;
CREATE UNIQUE INDEX a2a_tasks_by_peer_name ON a2a_tasks (owner, peer_name) WHERE peer_name IS NOT NULL;

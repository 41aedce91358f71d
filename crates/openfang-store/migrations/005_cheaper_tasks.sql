-- The events of a task's first write, as a JSON array, unless they are long: most tasks are written once, and are one row then.
ALTER TABLE a2a_tasks ADD COLUMN first TEXT;
-- A digest from now on, because the index of it is the one that grows everywhere at once.
ALTER TABLE a2a_tasks RENAME COLUMN message_id TO resend_key;
-- The same condition in other words: where a list is asked, every write makes a table of it first.
DROP INDEX a2a_tasks_live;
CREATE INDEX a2a_tasks_live ON a2a_tasks (state, node, cancel_requested)
    WHERE state = 'submitted' OR state = 'working' OR state = 'input-required' OR state = 'auth-required';

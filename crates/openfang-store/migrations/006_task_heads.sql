-- What the agent says about the task's state, so that a list need not read the events: JSON of a message, '' if it says
-- nothing, 'first' if it stands in `first`, NULL if it was written before this column was.
ALTER TABLE a2a_tasks ADD COLUMN head TEXT;

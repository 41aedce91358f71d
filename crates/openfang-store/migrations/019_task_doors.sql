-- Through which interface the newest message of a task came. The run is resumed as what came through it; where nothing
-- is known, nobody is taken for a person.
ALTER TABLE a2a_tasks ADD COLUMN `door` TEXT;

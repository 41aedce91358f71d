-- The profile that narrows requests of a key, and until when the key opens anything.
ALTER TABLE api_keys ADD COLUMN profile TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;

-- The profiles that narrowed whoever created a task; its run is resumed with them after a crash.
ALTER TABLE a2a_tasks ADD COLUMN scope TEXT;

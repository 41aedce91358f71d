-- The credential that made a configuration: its token is shown to no other. Null where it was made without a key of a user's.
ALTER TABLE push_configs ADD COLUMN maker TEXT;

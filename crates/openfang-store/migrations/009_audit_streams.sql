-- The rows of each owner and kind have segments of their own; those from before have everybody's, and none here.
ALTER TABLE audit_segments ADD COLUMN owner TEXT;
ALTER TABLE audit_segments ADD COLUMN kind TEXT;

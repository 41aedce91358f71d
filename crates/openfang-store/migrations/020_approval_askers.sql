-- Who made the call: what narrowed the caller, which credential of the owner it was, and whether a person spoke. Nothing
-- is known of older rows: only callers whom nothing narrows see them, and they count as those of nobody in particular.
ALTER TABLE approvals ADD COLUMN asker TEXT;

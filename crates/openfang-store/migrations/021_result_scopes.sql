-- What narrowed the caller whose call left a result. Whoever is narrowed reads what was left so, and nothing else; older
-- results are read by callers whom nothing narrows.
ALTER TABLE kept_results ADD COLUMN scope TEXT;

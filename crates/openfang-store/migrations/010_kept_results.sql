-- What results of tools lost on their way, for their owners, for a while.
CREATE TABLE kept_results (
    id BLOB NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    form TEXT NOT NULL,               -- text or json
    content TEXT NOT NULL,
    labels TEXT NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE INDEX kept_results_of_owner ON kept_results (owner, expires_at);
CREATE INDEX kept_results_expire ON kept_results (expires_at);

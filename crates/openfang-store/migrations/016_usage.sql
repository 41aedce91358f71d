-- What models were asked and what it cost, for each owner, agent, model and hour (hours since 1970, UTC). Money is in billionths
-- of a dollar. `held` is what requests that have not ended may cost; after a crash it stays, and counts as spent.
CREATE TABLE usage (
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    hour INTEGER NOT NULL,
    model TEXT NOT NULL,
    answers INTEGER NOT NULL DEFAULT 0,
    questions INTEGER NOT NULL DEFAULT 0,
    input INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0,
    cost INTEGER NOT NULL DEFAULT 0,
    held_tokens INTEGER NOT NULL DEFAULT 0,
    held_cost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, agent, hour, model)
) WITHOUT ROWID;
CREATE INDEX usage_by_hour ON usage (hour);

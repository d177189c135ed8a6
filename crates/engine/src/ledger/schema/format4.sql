-- Format 4: conditions on an attempt's state spelled out. SQLite makes a table for each list of more than two values, anew for each
-- statement: with a CHECK and two partial indices, five of them for every change of an attempt.

CREATE TABLE attempts_4 (
    id            TEXT PRIMARY KEY,
    run           TEXT NOT NULL REFERENCES runs (id),
    node          TEXT NOT NULL,
    key           TEXT NOT NULL,
    -- The key without the service: the same work, whoever does it. NULL where the work costs nothing.
    work          TEXT,
    model         TEXT NOT NULL,
    seconds       REAL NOT NULL,
    digest        TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (
                  state = 'intended' OR state = 'ambiguous' OR state = 'submitted' OR state = 'completed' OR state = 'failed'
                  OR state = 'refused' OR state = 'expired' OR state = 'abandoned' OR state = 'given-up'),
    task          TEXT,
    intended_at   INTEGER NOT NULL,
    submitted_at  INTEGER,
    ended_at      INTEGER,
    failure       TEXT,
    -- Millionths of the price table's currency: held from the intent on, and what it came to. NULL: no price is known.
    held          INTEGER,
    spent         INTEGER,
    parts         TEXT,
    CHECK (task IS NOT NULL OR (state <> 'submitted' AND state <> 'completed'))
) STRICT;
INSERT INTO attempts_4 (rowid, id, run, node, key, work, model, seconds, digest, state, task, intended_at, submitted_at, ended_at, failure, held, spent, parts)
    SELECT rowid, id, run, node, key, work, model, seconds, digest, state, task, intended_at, submitted_at, ended_at, failure, held, spent, parts FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_4 RENAME TO attempts;

-- Whoever wants to submit a node inserts its attempt first; this index lets one of them through. What was given up holds its place
-- until someone asks for it again. A query uses these two when it has their conditions word for word (`ledger::states`).
CREATE UNIQUE INDEX attempts_live ON attempts (key)
    WHERE (state = 'intended' OR state = 'ambiguous' OR state = 'submitted' OR state = 'completed' OR state = 'given-up');
CREATE INDEX attempts_work ON attempts (work)
    WHERE work IS NOT NULL AND (state = 'intended' OR state = 'ambiguous' OR state = 'submitted');
CREATE UNIQUE INDEX attempts_task ON attempts (task) WHERE task IS NOT NULL;

-- Format 3: what an attempt holds of the budget and what it came to, the same work at other services, an attempt that was given up,
-- salts of shots that were forced, and the time of change of what is on disk.

-- A CHECK cannot be altered in place: the table is made again.
CREATE TABLE attempts_3 (
    id            TEXT PRIMARY KEY,
    run           TEXT NOT NULL REFERENCES runs (id),
    node          TEXT NOT NULL,
    key           TEXT NOT NULL,
    -- The key without the service: the same work, whoever does it. NULL where the work costs nothing.
    work          TEXT,
    model         TEXT NOT NULL,
    seconds       REAL NOT NULL,
    digest        TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN
                  ('intended', 'ambiguous', 'submitted', 'completed', 'failed', 'refused', 'expired', 'abandoned', 'given-up')),
    task          TEXT,
    intended_at   INTEGER NOT NULL,
    submitted_at  INTEGER,
    ended_at      INTEGER,
    failure       TEXT,
    -- Millionths of the price table's currency: held from the intent on, and what it came to. NULL: no price is known.
    held          INTEGER,
    spent         INTEGER,
    parts         TEXT,
    CHECK (task IS NOT NULL OR state NOT IN ('submitted', 'completed'))
) STRICT;
INSERT INTO attempts_3 (id, run, node, key, model, seconds, digest, state, task, intended_at, submitted_at, ended_at, failure, parts)
    SELECT id, run, node, key, model, seconds, digest, state, task, intended_at, submitted_at, ended_at, failure, parts FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_3 RENAME TO attempts;

-- Whoever wants to submit a node inserts its attempt first; this index lets one of them through. What was given up holds its place
-- until someone asks for it again.
CREATE UNIQUE INDEX attempts_live ON attempts (key) WHERE state IN ('intended', 'ambiguous', 'submitted', 'completed', 'given-up');
CREATE UNIQUE INDEX attempts_task ON attempts (task) WHERE task IS NOT NULL;
CREATE INDEX attempts_work ON attempts (work) WHERE work IS NOT NULL AND state IN ('intended', 'ambiguous', 'submitted');

-- Nanoseconds since the epoch, as the file system tells; NULL until the file was hashed once.
ALTER TABLE artifacts ADD COLUMN changed_at INTEGER;

-- The sums over all attempts, kept in the transaction that changes one: what is held, and what is settled. Milliseconds of video.
CREATE TABLE totals (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    held_cost      INTEGER NOT NULL,
    held_tasks     INTEGER NOT NULL,
    held_seconds   INTEGER NOT NULL,
    spent_cost     INTEGER NOT NULL,
    spent_tasks    INTEGER NOT NULL,
    spent_seconds  INTEGER NOT NULL
) STRICT;
INSERT INTO totals
    SELECT 1, 0,
           COALESCE(SUM(state IN ('intended', 'ambiguous', 'submitted')), 0),
           COALESCE(SUM(CASE WHEN state IN ('intended', 'ambiguous', 'submitted') THEN CAST(ROUND(seconds * 1000) AS INTEGER) END), 0),
           0,
           COALESCE(SUM(state IN ('completed', 'failed', 'expired')), 0),
           COALESCE(SUM(CASE WHEN state IN ('completed', 'failed', 'expired') THEN CAST(ROUND(seconds * 1000) AS INTEGER) END), 0)
    FROM attempts;

-- Shots that were asked for anew: the key that the file gives, and the salt that leads to the video that counts now.
CREATE TABLE salts (
    key   TEXT PRIMARY KEY,
    salt  TEXT NOT NULL,
    run   TEXT NOT NULL,
    at    INTEGER NOT NULL
) STRICT;

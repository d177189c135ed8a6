-- Format 1: runs, attempts, artifacts, films and what happened.

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    workflow    TEXT NOT NULL,
    service     TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

CREATE TABLE attempts (
    id            TEXT PRIMARY KEY,
    run           TEXT NOT NULL REFERENCES runs (id),
    node          TEXT NOT NULL,
    key           TEXT NOT NULL,
    model         TEXT NOT NULL,
    seconds       REAL NOT NULL,
    digest        TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN
                  ('intended', 'ambiguous', 'submitted', 'completed', 'failed', 'refused', 'expired', 'abandoned')),
    task          TEXT,
    intended_at   INTEGER NOT NULL,
    submitted_at  INTEGER,
    ended_at      INTEGER,
    failure       TEXT,
    CHECK (task IS NOT NULL OR state NOT IN ('submitted', 'completed'))
) STRICT;

-- Whoever wants to submit a node inserts its attempt first; this index lets one of them through.
CREATE UNIQUE INDEX attempts_live ON attempts (key) WHERE state IN ('intended', 'ambiguous', 'submitted', 'completed');
CREATE UNIQUE INDEX attempts_task ON attempts (task) WHERE task IS NOT NULL;

CREATE TABLE artifacts (
    attempt         TEXT PRIMARY KEY REFERENCES attempts (id),
    path            TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    bytes           INTEGER NOT NULL,
    seconds         REAL NOT NULL,
    width           INTEGER NOT NULL,
    height          INTEGER NOT NULL,
    last_frame_url  TEXT,
    expires_at      INTEGER,
    made_at         INTEGER NOT NULL
) STRICT;

CREATE TABLE films (
    path     TEXT PRIMARY KEY,
    made_of  TEXT NOT NULL,
    bytes    INTEGER NOT NULL,
    seconds  REAL NOT NULL,
    width    INTEGER NOT NULL,
    height   INTEGER NOT NULL,
    audio    INTEGER NOT NULL,
    made_at  INTEGER NOT NULL
) STRICT;

-- What happened, in order and for good. `body` is the event as JSON in format `version`.
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY,
    run      TEXT NOT NULL,
    at       INTEGER NOT NULL,
    node     TEXT,
    version  INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX events_run ON events (run, seq);

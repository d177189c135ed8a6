-- The tables of the ledger. A digest of this text tells a ledger that this program can use: whoever changes the form
-- of stored events raises this number: 1. Times are milliseconds since the epoch.

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    workflow    TEXT NOT NULL,
    -- The service of shots that name none.
    service     TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    -- What determines its plan and keys (`PlanArguments`, as JSON). NULL: not known.
    arguments   TEXT
) STRICT;

-- The services of each run.
CREATE TABLE run_services (
    run      TEXT NOT NULL REFERENCES runs (id),
    service  TEXT NOT NULL,
    -- A digest of the API key: tells accounts apart, and does not give the key away. NULL: not known, or a service without keys.
    account  TEXT,
    PRIMARY KEY (run, service)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    id                       TEXT PRIMARY KEY,
    run                      TEXT NOT NULL REFERENCES runs (id),
    service                  TEXT NOT NULL,
    node                     TEXT NOT NULL,
    key                      TEXT NOT NULL,
    -- The key without the service. NULL where the service is free.
    service_independent_key  TEXT,
    model                    TEXT NOT NULL,
    -- The requested length.
    video_ms                 INTEGER NOT NULL,
    digest                   TEXT NOT NULL,
    state                    TEXT NOT NULL CHECK (
                             state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'failed'
                             OR state = 'refused' OR state = 'expired' OR state = 'missing' OR state = 'not-accepted' OR state = 'abandoned'),
    task                     TEXT,
    intended_at              INTEGER NOT NULL,
    submitted_at             INTEGER,
    ended_at                 INTEGER,
    failure                  TEXT,
    -- Millionths of the price table's currency. NULL: no price is known.
    reserved_cost            INTEGER,
    actual_cost              INTEGER,
    -- The named parts of the key as JSON, for `explain`: hashes and bounded text, nothing secret.
    key_parts                TEXT NOT NULL,
    -- The task that the response to an indeterminate submission named: none of the attempt's until a person adopts it.
    suggested_task           TEXT,
    CHECK (task IS NOT NULL OR (state <> 'submitted' AND state <> 'completed' AND state <> 'missing'))
) STRICT;

-- One attempt at most holds a key: an intent is inserted before its POST, and this index admits one. A query uses the partial indexes
-- only with their conditions word for word (`ledger::attempt_state`).
CREATE UNIQUE INDEX attempts_key ON attempts (key)
    WHERE (state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'missing' OR state = 'abandoned');
CREATE INDEX attempts_in_flight ON attempts (service_independent_key)
    WHERE service_independent_key IS NOT NULL AND (state = 'intended' OR state = 'indeterminate' OR state = 'submitted');
-- Two services may have tasks of the same id.
CREATE UNIQUE INDEX attempts_task ON attempts (task, service) WHERE task IS NOT NULL;
-- Tasks that a retry has given up are found by their key, as long as none has replaced them.
CREATE INDEX attempts_expired ON attempts (key) WHERE state = 'expired';

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
    created_at      INTEGER NOT NULL,
    -- Nanoseconds since the epoch, from the file system. NULL: the content was never hashed.
    modified_ns     INTEGER,
    -- The hash of the file that was downloaded first, where the service has delivered the task's video again with other bytes: keys of shots
    -- that continue it are made of it (`Artifact::identity_sha256`). NULL: that of the file on record.
    first_sha256    TEXT
) STRICT;

CREATE TABLE films (
    path          TEXT PRIMARY KEY,
    -- SHA-256 over the hashes of the clips.
    clips_digest  TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    seconds       REAL NOT NULL,
    width         INTEGER NOT NULL,
    height        INTEGER NOT NULL,
    audio         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

-- What happened, in order and for good. `body` is the event as JSON.
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY,
    run      TEXT NOT NULL,
    time     INTEGER NOT NULL,
    node     TEXT,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX events_run ON events (run, seq);

-- The sums over all attempts, updated in the transaction that changes one: what is reserved, and what is settled.
CREATE TABLE totals (
    id                 INTEGER PRIMARY KEY CHECK (id = 1),
    reserved_cost      INTEGER NOT NULL,
    reserved_tasks     INTEGER NOT NULL,
    reserved_video_ms  INTEGER NOT NULL,
    spent_cost         INTEGER NOT NULL,
    spent_tasks        INTEGER NOT NULL,
    spent_video_ms     INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0, 0);

-- Which instance of a workflow a number of a key belongs to, and which in its list of renders that is.
CREATE TABLE renders (
    workflow  TEXT NOT NULL,
    -- The key of the request, without a number.
    request   TEXT NOT NULL,
    number    INTEGER NOT NULL,
    instance  TEXT NOT NULL,
    render    INTEGER NOT NULL,
    -- The latest event when it was assigned: a run takes no number from a shot that got it since.
    seq       INTEGER NOT NULL,
    PRIMARY KEY (workflow, request, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX renders_instance ON renders (workflow, instance);
CREATE INDEX renders_request ON renders (request);

-- Renders that were asked for with `run --rerun`, by their number in the list of the instance.
CREATE TABLE wishes (
    workflow  TEXT NOT NULL,
    instance  TEXT NOT NULL,
    render    INTEGER NOT NULL,
    asked_at  INTEGER NOT NULL,
    state     TEXT NOT NULL CHECK (state = 'open' OR state = 'done' OR state = 'failed' OR state = 'withdrawn'),
    PRIMARY KEY (workflow, instance, render)
) STRICT, WITHOUT ROWID;
CREATE INDEX wishes_open ON wishes (workflow) WHERE state = 'open';

-- API keys of one account, by their digests: the service showed a task that was submitted with the one to the other.
CREATE TABLE same_accounts (
    service  TEXT NOT NULL,
    account  TEXT NOT NULL,
    same_as  TEXT NOT NULL,
    PRIMARY KEY (service, account, same_as)
) STRICT;

-- Format 6: tasks that the service does not know any more (`missing`), the account of a run, and task ids that are unique per service.

-- A digest of the API key: tells accounts apart, and does not give the key away. NULL: not known, or a service without keys.
ALTER TABLE runs ADD COLUMN account TEXT;

-- A CHECK cannot be altered in place: the table is created again.
CREATE TABLE attempts_6 (
    id                       TEXT PRIMARY KEY,
    run                      TEXT NOT NULL REFERENCES runs (id),
    -- As in `runs`, for the index of tasks.
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
    key_parts                TEXT,
    CHECK (task IS NOT NULL OR (state <> 'submitted' AND state <> 'completed' AND state <> 'missing'))
) STRICT;
INSERT INTO attempts_6 (rowid, id, run, service, node, key, service_independent_key, model, video_ms, digest, state, task, intended_at,
                        submitted_at, ended_at, failure, reserved_cost, actual_cost, key_parts)
    SELECT a.rowid, a.id, a.run, r.service, a.node, a.key, a.service_independent_key, a.model, a.video_ms, a.digest, a.state, a.task,
           a.intended_at, a.submitted_at, a.ended_at, a.failure, a.reserved_cost, a.actual_cost, a.key_parts
    FROM attempts a JOIN runs r ON r.id = a.run;
DROP TABLE attempts;
ALTER TABLE attempts_6 RENAME TO attempts;

-- One attempt at most holds a key: an intent is inserted before its POST, and this index admits one. A query uses the partial indexes
-- only with their conditions word for word (`ledger::attempt_state`).
CREATE UNIQUE INDEX attempts_key ON attempts (key)
    WHERE (state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'missing' OR state = 'abandoned');
CREATE INDEX attempts_in_flight ON attempts (service_independent_key)
    WHERE service_independent_key IS NOT NULL AND (state = 'intended' OR state = 'indeterminate' OR state = 'submitted');
-- Two services may have tasks of the same id.
CREATE UNIQUE INDEX attempts_task ON attempts (task, service) WHERE task IS NOT NULL;

-- Format 5: states, columns and tables by the names of the glossary, lengths of requested video in milliseconds, and stored events of
-- version 2 (`event_bodies`).
--
--   state `ambiguous`  -> `indeterminate`   accepted or not: no usable response came
--   state `abandoned`  -> `not-accepted`    found not to be accepted
--   state `given-up`   -> `abandoned`       a person decided that it cannot be found out

CREATE TABLE attempts_5 (
    id                       TEXT PRIMARY KEY,
    run                      TEXT NOT NULL REFERENCES runs (id),
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
                             OR state = 'refused' OR state = 'expired' OR state = 'not-accepted' OR state = 'abandoned'),
    task                     TEXT,
    intended_at              INTEGER NOT NULL,
    submitted_at             INTEGER,
    ended_at                 INTEGER,
    failure                  TEXT,
    -- Millionths of the price table's currency. NULL: no price is known.
    reserved_cost            INTEGER,
    actual_cost              INTEGER,
    key_parts                TEXT,
    CHECK (task IS NOT NULL OR (state <> 'submitted' AND state <> 'completed'))
) STRICT;
INSERT INTO attempts_5 (rowid, id, run, node, key, service_independent_key, model, video_ms, digest, state, task, intended_at, submitted_at,
                        ended_at, failure, reserved_cost, actual_cost, key_parts)
    SELECT rowid, id, run, node, key, work, model, CAST(ROUND(seconds * 1000) AS INTEGER), digest,
           CASE state WHEN 'ambiguous' THEN 'indeterminate' WHEN 'abandoned' THEN 'not-accepted' WHEN 'given-up' THEN 'abandoned' ELSE state END,
           task, intended_at, submitted_at, ended_at, failure, held, spent, parts
    FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_5 RENAME TO attempts;

-- One attempt at most holds a key: an intent is inserted before its POST, and this index admits one. A query uses the partial indexes
-- only with their conditions word for word (`ledger::attempt_state`).
CREATE UNIQUE INDEX attempts_key ON attempts (key)
    WHERE (state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'abandoned');
CREATE INDEX attempts_in_flight ON attempts (service_independent_key)
    WHERE service_independent_key IS NOT NULL AND (state = 'intended' OR state = 'indeterminate' OR state = 'submitted');
CREATE UNIQUE INDEX attempts_task ON attempts (task) WHERE task IS NOT NULL;

ALTER TABLE artifacts RENAME COLUMN made_at TO created_at;
-- Nanoseconds since the epoch, from the file system. NULL: the content was never hashed.
ALTER TABLE artifacts RENAME COLUMN changed_at TO modified_ns;

-- SHA-256 over the hashes of the clips.
ALTER TABLE films RENAME COLUMN made_of TO clips_digest;
ALTER TABLE films RENAME COLUMN made_at TO created_at;

ALTER TABLE totals RENAME COLUMN held_cost TO reserved_cost;
ALTER TABLE totals RENAME COLUMN held_tasks TO reserved_tasks;
ALTER TABLE totals RENAME COLUMN held_seconds TO reserved_video_ms;
ALTER TABLE totals RENAME COLUMN spent_seconds TO spent_video_ms;

-- Shots that were forced to render again: from the base key to the salt of the video that counts now.
ALTER TABLE salts RENAME TO forced_reruns;
ALTER TABLE forced_reruns RENAME COLUMN key TO base_key;
ALTER TABLE forced_reruns RENAME COLUMN at TO time;

ALTER TABLE events RENAME COLUMN at TO time;

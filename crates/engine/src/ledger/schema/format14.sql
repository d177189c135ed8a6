-- Format 14: the hash of the file that was downloaded first, where the service has delivered a task's video again with other bytes. Keys of
-- shots that continue the video are made of it (`Artifact::identity_sha256`).

-- NULL: that of the file on record.
ALTER TABLE artifacts ADD COLUMN first_sha256 TEXT;

-- Every file that was delivered for a task after the first one, for good: a copy of it that a workflow names is the same input as the first.
-- Not where the key of an attempt was made of it before, which `last_attempt` tells: the latest attempt by then, by its rowid.
CREATE TABLE redeliveries (
    sha256        TEXT PRIMARY KEY,
    first_sha256  TEXT NOT NULL,
    last_attempt  INTEGER NOT NULL
) STRICT;

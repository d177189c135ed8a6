-- Format 14: the hash of the file that was downloaded first, where the service has delivered a task's video again with other bytes. Keys of
-- shots that continue the video are made of it (`Artifact::identity_sha256`).

-- NULL: that of the file on record.
ALTER TABLE artifacts ADD COLUMN first_sha256 TEXT;
CREATE INDEX artifacts_first_sha256 ON artifacts (sha256, first_sha256) WHERE first_sha256 IS NOT NULL;

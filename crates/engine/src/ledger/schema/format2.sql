-- Format 2: the named parts of an attempt's key as JSON, for `explain`: hashes and bounded text, nothing secret.

ALTER TABLE attempts ADD COLUMN parts TEXT;

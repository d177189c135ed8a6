-- Format 12: the key that an attempt had before its task was replaced, and its video recorded under another one.

-- NULL: it has its own. Its video is used again where no other attempt holds that key any more.
ALTER TABLE attempts ADD COLUMN replaced_key TEXT;
CREATE INDEX attempts_replaced_key ON attempts (replaced_key) WHERE replaced_key IS NOT NULL;

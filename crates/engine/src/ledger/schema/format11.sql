-- Format 11: tasks that a retry has given up are found by their key, as long as none has replaced them.

CREATE INDEX IF NOT EXISTS attempts_expired ON attempts (key) WHERE state = 'expired';

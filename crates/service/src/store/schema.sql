CREATE TABLE task (
    number INTEGER PRIMARY KEY,              -- spec of acceptance
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    request BLOB NOT NULL,                   -- SHA-256 of the canonical request body
    spec_json TEXT NOT NULL,                 -- what is to be rendered
    status TEXT NOT NULL CHECK (status IN ('queued', 'in_progress', 'completed', 'failed')),
    progress INTEGER NOT NULL DEFAULT 0,     -- how far an ended task came, in percent
    starts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    completed_at INTEGER,
    expires_at INTEGER,
    error_code TEXT,
    error_message TEXT,
    video_token TEXT UNIQUE,
    video_bytes INTEGER,
    video_digest BLOB,
    frame_token TEXT UNIQUE,
    frame_bytes INTEGER,
    frame_digest BLOB,
    files_gone INTEGER NOT NULL DEFAULT 0,   -- the sweeper has removed them
    CHECK ((status = 'completed') = (video_token IS NOT NULL)),
    CHECK ((status = 'failed') = (error_code IS NOT NULL))
) STRICT;
CREATE INDEX task_by_request ON task (request, number);
CREATE INDEX task_unfinished ON task (number) WHERE status IN ('queued', 'in_progress');
CREATE INDEX task_by_expiry ON task (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,             -- SHA-256 of the secret
    full_hd INTEGER NOT NULL,
    limits TEXT,                             -- JSON, or the service's own
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE TABLE key_usage (
    key TEXT PRIMARY KEY,
    tasks INTEGER NOT NULL,
    video_ms INTEGER NOT NULL                -- counts against the quota
) STRICT;

ALTER TABLE statuses ADD COLUMN unfederated INTEGER NOT NULL DEFAULT 0 CHECK (unfederated IN (0, 1));
CREATE INDEX statuses_unfederated ON statuses (account_id) WHERE unfederated = 1 AND visibility IN (0, 1);

-- Imports of favourites.
CREATE TABLE new_imports (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind        TEXT    NOT NULL CHECK (kind IN ('follows', 'blocks', 'mutes', 'domain_blocks', 'lists', 'bookmarks', 'likes')),
    total       INTEGER NOT NULL,
    imported    INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    finished_at INTEGER
) STRICT;
INSERT INTO new_imports SELECT * FROM imports;
DROP TABLE imports;
ALTER TABLE new_imports RENAME TO imports;
CREATE INDEX imports_account ON imports (account_id, id);
CREATE INDEX imports_finished ON imports (finished_at) WHERE finished_at IS NOT NULL;

-- Archives of persons: where imported posts are from.
CREATE TABLE archives (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file        TEXT    NOT NULL,
    uploaded    INTEGER NOT NULL CHECK (uploaded IN (0, 1)),
    by_staff    INTEGER NOT NULL CHECK (by_staff IN (0, 1)),
    public      INTEGER NOT NULL CHECK (public IN (0, 1)),
    origin      TEXT    NOT NULL DEFAULT '',
    actor_uri   TEXT    NOT NULL DEFAULT '',
    state       TEXT    NOT NULL CHECK (state IN ('uploading', 'queued', 'complete', 'failed', 'undoing', 'undone')),
    size        INTEGER NOT NULL DEFAULT 0,
    received    INTEGER NOT NULL DEFAULT 0,
    total       INTEGER NOT NULL DEFAULT 0,
    position    INTEGER NOT NULL DEFAULT 0,
    imported    INTEGER NOT NULL DEFAULT 0,
    files       INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    error       TEXT    NOT NULL DEFAULT '',
    finished_at INTEGER
) STRICT;
CREATE INDEX archives_account ON archives (account_id, id);
CREATE INDEX archives_uploading ON archives (id) WHERE state = 'uploading';
CREATE TABLE archive_skips (
    id         INTEGER PRIMARY KEY,
    archive_id INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    item       TEXT    NOT NULL,
    reason     TEXT    NOT NULL
) STRICT;
CREATE INDEX archive_skips_archive ON archive_skips (archive_id, id);
CREATE TABLE imported_statuses (
    status_id    INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    archive_id   INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    original_uri TEXT    NOT NULL,
    original_url TEXT    NOT NULL,
    UNIQUE (account_id, original_uri)
) STRICT;
CREATE INDEX imported_statuses_archive ON imported_statuses (archive_id, status_id);

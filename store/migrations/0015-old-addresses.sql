ALTER TABLE meta ADD COLUMN server_host TEXT NOT NULL DEFAULT '';

-- Addresses that other software gave to local posts beside their uri, such as those of pages. Rows come from svc takeover only.
CREATE TABLE old_addresses (
    path      TEXT    PRIMARY KEY, -- /@alice/109612104811129202
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX old_addresses_status ON old_addresses (status_id);

-- Addresses that other software gave to files. Rows come from svc takeover only.
CREATE TABLE old_media (
    path   TEXT PRIMARY KEY, -- /system/media_attachments/files/109/612/original/0123456789abcdef.png
    target TEXT NOT NULL     -- a path: /media/NAME, /emoji/PACK/NAME
) STRICT, WITHOUT ROWID;

-- Addresses of accounts and posts that other software deleted; answered with 410. Rows come from svc takeover only.
CREATE TABLE dead_addresses (
    path TEXT PRIMARY KEY -- /users/alice
) STRICT, WITHOUT ROWID;

-- Nicknames of these accounts, which nobody can take.
CREATE TABLE dead_nicknames (
    nickname_key TEXT PRIMARY KEY -- case-folded
) STRICT, WITHOUT ROWID;

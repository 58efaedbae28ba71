-- rewrites
-- Hashtags have one row for all spellings: #català and #catala are one. The keys of names beyond ASCII are made in the background, and rows with
-- the same key are merged (store/refold.go).
CREATE TABLE new_tags (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    key  TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO new_tags (id, name, key) SELECT id, name, name FROM tags;
DROP TABLE tags;
ALTER TABLE new_tags RENAME TO tags;
ALTER TABLE status_tags ADD COLUMN name TEXT NOT NULL DEFAULT '';

-- Accounts are found by the words by which posts are. Names in ASCII have the same words as before. The same job indexes the others, and posts with
-- letters that were not folded.
CREATE VIRTUAL TABLE new_accounts_fts USING fts5 (
    nickname, display_name,
    content = '', contentless_delete = 1, prefix = '1 2 3', tokenize = 'ascii'
);
INSERT INTO new_accounts_fts (rowid, nickname, display_name)
SELECT a.id, a.nickname, a.display_name
FROM accounts_fts_docsize d
CROSS JOIN accounts a ON a.id = d.id;
DROP TABLE accounts_fts;
ALTER TABLE new_accounts_fts RENAME TO accounts_fts;
INSERT INTO jobs (kind, payload, unique_key, run_at) VALUES ('refold', '{}', 'refold', 0);

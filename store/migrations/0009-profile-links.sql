-- The pages in fields of profiles are checked for a link back, and again every week. Those that are stored are due at once.
CREATE TABLE link_checks (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    due_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX link_checks_due ON link_checks (due_at);
INSERT INTO link_checks (account_id, due_at)
SELECT a.id, 0
FROM accounts a
WHERE a.deleted_at IS NULL AND a.fields LIKE '%href=%'
    AND (a.domain = '' OR EXISTS (SELECT 1 FROM follows f WHERE f.target_id = a.id AND f.pending = 0 AND f.follower_local = 1));

-- Hosts whose pages may name an account as their author.
ALTER TABLE accounts ADD COLUMN attribution_domains TEXT NOT NULL DEFAULT '[]';

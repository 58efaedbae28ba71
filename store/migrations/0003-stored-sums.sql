-- rewrites
-- The SHA-256 of stored files, because the names of new files are keyed. Until now the name was the SHA-256.
ALTER TABLE stored_files ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
UPDATE stored_files SET sha256 = substr(name, 4, 64) WHERE name GLOB '[0-9a-f][0-9a-f]/*.*' AND substr(name, 68, 1) = '.';

-- What earlier versions stored of other servers without a bound in bytes is cut in the background (store/large_rows.go).
INSERT INTO jobs (kind, payload, unique_key, run_at) VALUES ('cut_large_rows', '{}', 'cut large rows', 0);

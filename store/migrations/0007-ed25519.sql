-- Servers may accept signatures by Ed25519 keys. A job gives such keys to the local accounts that have other keys.
ALTER TABLE hosts ADD COLUMN ed25519 TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN ed25519_at INTEGER NOT NULL DEFAULT 0;
INSERT INTO jobs (kind, payload, unique_key, run_at) VALUES ('make_ed25519_keys', '{}', 'make_ed25519_keys', 0);

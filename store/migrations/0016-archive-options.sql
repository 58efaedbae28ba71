ALTER TABLE archives ADD COLUMN emoji INTEGER NOT NULL DEFAULT 0 CHECK (emoji IN (0, 1));

-- Posts of archives that their owners deleted here: another import of the archive does not bring them back.
CREATE TABLE removed_originals (
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    original_uri TEXT    NOT NULL,
    archive_id   INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, original_uri)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_originals_archive ON removed_originals (archive_id);

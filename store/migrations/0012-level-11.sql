ALTER TABLE accounts ADD COLUMN avatar_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN header_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN hide_media INTEGER NOT NULL DEFAULT 0 CHECK (hide_media IN (0, 1));
ALTER TABLE accounts ADD COLUMN hide_media_replies INTEGER NOT NULL DEFAULT 0 CHECK (hide_media_replies IN (0, 1));
ALTER TABLE accounts ADD COLUMN hide_featured INTEGER NOT NULL DEFAULT 0 CHECK (hide_featured IN (0, 1));
CREATE TABLE announcement_reactions (
    id              INTEGER PRIMARY KEY, -- in the order in which they were added
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    emoji           TEXT    NOT NULL, -- Unicode emoji, or the shortcode of a local one
    UNIQUE (announcement_id, emoji, account_id)
) STRICT;
CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id);
CREATE INDEX statuses_public_card ON statuses (card_id, id) WHERE card_id IS NOT NULL AND visibility = 0 AND reblog_of_id IS NULL;

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

-- Collections of accounts have rows of their own, so that local accounts can have some ("starter packs", FEP-7aa9).
CREATE TABLE collections (
    id           INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri          TEXT    NOT NULL UNIQUE,
    url          TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    description  TEXT    NOT NULL,
    language     TEXT    NOT NULL DEFAULT '',
    tag          TEXT    NOT NULL DEFAULT '',
    sensitive    INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    discoverable INTEGER NOT NULL CHECK (discoverable IN (0, 1)),
    item_count   INTEGER NOT NULL DEFAULT 0,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX collections_account ON collections (account_id, id);

-- The first item of a collection describes it. Its id contains the time.
INSERT INTO collections (id, account_id, uri, url, name, description, sensitive, discoverable, item_count, updated_at)
SELECT id, account_id, collection_uri, url, name, description, sensitive, discoverable, item_count, id >> 10
FROM collection_items
WHERE id IN (SELECT min(id) FROM collection_items GROUP BY collection_uri);

CREATE TABLE new_collection_items (
    id                INTEGER PRIMARY KEY,
    collection_id     INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    target_id         INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    account_id        INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain            TEXT    NOT NULL,
    state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    request_uri       TEXT    NOT NULL,
    item_uri          TEXT    NOT NULL DEFAULT '',
    authorization_uri TEXT    NOT NULL DEFAULT '',
    UNIQUE (collection_id, target_id)
) STRICT;
INSERT INTO new_collection_items (id, collection_id, target_id, account_id, domain, state, request_uri, item_uri)
SELECT i.id, c.id, i.target_id, i.account_id, i.domain, CASE WHEN i.revoked_at IS NULL THEN 1 ELSE 3 END, i.request_uri, i.item_uri
FROM collection_items i
JOIN collections c ON c.uri = i.collection_uri AND c.account_id = i.account_id;
DROP TABLE collection_items;
ALTER TABLE new_collection_items RENAME TO collection_items;
CREATE INDEX collection_items_target ON collection_items (target_id, id) WHERE state = 1;
CREATE INDEX collection_items_account ON collection_items (account_id, target_id);
CREATE INDEX collection_items_domain ON collection_items (target_id, domain);
CREATE INDEX collection_items_authorization ON collection_items (authorization_uri) WHERE authorization_uri <> '';

-- Who may put a remote account into a collection. It is known once the actor is fetched again.
ALTER TABLE accounts ADD COLUMN feature_approval INTEGER NOT NULL DEFAULT 0;

-- Collections in reports.
ALTER TABLE reports ADD COLUMN collections TEXT NOT NULL DEFAULT '[]';

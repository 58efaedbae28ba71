-- Who may put a local account into a collection of accounts.
ALTER TABLE accounts ADD COLUMN feature_policy INTEGER NOT NULL DEFAULT 0 CHECK (feature_policy BETWEEN 0 AND 3);

-- Places of local accounts in collections of remote accounts ("starter packs", FEP-7aa9), with their consent. Other servers refer to the URIs of
-- authorizations. A revoked one stays, so that it is not granted again.
CREATE TABLE collection_items (
    id             INTEGER PRIMARY KEY,
    target_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the local account
    account_id     INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the owner of the collection
    domain         TEXT    NOT NULL, -- the registered domain of the owner
    collection_uri TEXT    NOT NULL,
    request_uri    TEXT    NOT NULL, -- of the last FeatureRequest
    item_uri       TEXT    NOT NULL DEFAULT '', -- of the item in the collection; '': unknown
    name           TEXT    NOT NULL, -- of the collection, as are the columns below
    description    TEXT    NOT NULL,
    url            TEXT    NOT NULL,
    sensitive      INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    discoverable   INTEGER NOT NULL CHECK (discoverable IN (0, 1)),
    item_count     INTEGER NOT NULL,
    revoked_at     INTEGER, -- NULL: the account may be in the collection
    UNIQUE (collection_uri, target_id)
) STRICT;
CREATE INDEX collection_items_target ON collection_items (target_id, id) WHERE revoked_at IS NULL;
CREATE INDEX collection_items_account ON collection_items (account_id, target_id);
CREATE INDEX collection_items_domain ON collection_items (target_id, domain);

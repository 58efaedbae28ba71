-- The permanent closing of this server: one row from its beginning on.
CREATE TABLE server_closure (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    began_at       INTEGER NOT NULL,
    accounts       INTEGER NOT NULL DEFAULT 0, -- whose Deletes are sent
    last_position  INTEGER NOT NULL DEFAULT 0, -- id of the last one of them
    listed_at      INTEGER, -- when the inboxes were listed, just before the first Delete was queued; NULL: not yet
    finished_at    INTEGER  -- NULL: not yet
) STRICT;

-- Inboxes that receive the Deletes of all local accounts, in the order of the ids of these.
CREATE TABLE server_closure_inboxes (
    domain   TEXT    NOT NULL, -- the inbox's
    inbox    TEXT    NOT NULL,
    position INTEGER NOT NULL DEFAULT 0, -- id of the last account whose Delete was queued
    queued   INTEGER NOT NULL DEFAULT 0, -- Deletes
    PRIMARY KEY (domain, inbox)
) STRICT, WITHOUT ROWID;

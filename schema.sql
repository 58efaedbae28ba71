-- The whole current schema. A new database is made from this file; an old one is brought here by the numbered steps in
-- store/migrate.go, and a test checks that both arrive at the same place.
--
-- Conventions: ids are 53-bit integers that order by time (design: store/ids.go); times are Unix milliseconds; booleans are 0
-- and 1; domain '' means "here"; what is kept in JSON is read whole and never searched.

-- One row: what identifies this database.
CREATE TABLE meta (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    worker     INTEGER NOT NULL, -- 48 bits, part of every id shown outside
    last_id    INTEGER NOT NULL, -- no id up to this one is handed out again, whatever the clock says
    created_at INTEGER NOT NULL
) STRICT;

-- People, bots and groups, local and remote alike.
CREATE TABLE accounts (
    id                    INTEGER PRIMARY KEY,
    nickname              TEXT    NOT NULL,
    nickname_key          TEXT    NOT NULL, -- case-folded
    domain                TEXT    NOT NULL DEFAULT '',
    uri                   TEXT    NOT NULL UNIQUE,
    url                   TEXT    NOT NULL,
    actor_type            TEXT    NOT NULL DEFAULT 'Person' CHECK (actor_type IN ('Person', 'Service', 'Group', 'Application', 'Organization')),
    display_name          TEXT    NOT NULL DEFAULT '',
    note                  TEXT    NOT NULL DEFAULT '',   -- HTML
    fields                TEXT    NOT NULL DEFAULT '[]', -- [{"name", "value" (HTML), "verified_at"}]
    avatar                TEXT    NOT NULL DEFAULT '',   -- media file name of a local, address of a remote picture
    avatar_static         TEXT    NOT NULL DEFAULT '',
    header                TEXT    NOT NULL DEFAULT '',
    header_static         TEXT    NOT NULL DEFAULT '',
    background            TEXT    NOT NULL DEFAULT '',
    locked                INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
    discoverable          INTEGER NOT NULL DEFAULT 0 CHECK (discoverable IN (0, 1)),
    hide_favorites        INTEGER NOT NULL DEFAULT 1 CHECK (hide_favorites IN (0, 1)),
    hide_followers        INTEGER NOT NULL DEFAULT 0 CHECK (hide_followers IN (0, 1)),
    hide_follows          INTEGER NOT NULL DEFAULT 0 CHECK (hide_follows IN (0, 1)),
    hide_followers_count  INTEGER NOT NULL DEFAULT 0 CHECK (hide_followers_count IN (0, 1)),
    hide_follows_count    INTEGER NOT NULL DEFAULT 0 CHECK (hide_follows_count IN (0, 1)),
    accepts_chat_messages INTEGER CHECK (accepts_chat_messages IN (0, 1)), -- NULL: unknown
    also_known_as         TEXT    NOT NULL DEFAULT '[]', -- ActivityPub ids
    moved_to_id           INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    tags                  TEXT    NOT NULL DEFAULT '[]', -- set by moderators
    followers_count       INTEGER NOT NULL DEFAULT 0,
    following_count       INTEGER NOT NULL DEFAULT 0,
    statuses_count        INTEGER NOT NULL DEFAULT 0,    -- public, unlisted and local ones
    last_status_at        INTEGER,
    created_at            INTEGER NOT NULL,
    -- deactivated, deleted, unconfirmed or unapproved: neither the account nor its posts exist for others
    withheld              INTEGER NOT NULL DEFAULT 0 CHECK (withheld IN (0, 1)),
    deleted_at            INTEGER,
    UNIQUE (nickname_key, domain)
) STRICT;
CREATE INDEX accounts_withheld ON accounts (id) WHERE withheld = 1;
CREATE INDEX accounts_withheld_deleted ON accounts (deleted_at) WHERE withheld = 1;
CREATE INDEX accounts_moved ON accounts (moved_to_id) WHERE moved_to_id IS NOT NULL;
CREATE INDEX accounts_local ON accounts (id) WHERE domain = '';
CREATE INDEX accounts_url ON accounts (url);
CREATE INDEX accounts_domain ON accounts (domain, id) WHERE domain <> '';

-- Look-up by the beginning of words of nickname and display name; rowid = accounts.id.
CREATE VIRTUAL TABLE accounts_fts USING fts5 (
    nickname, display_name,
    content = '', contentless_delete = 1, prefix = '1 2 3', tokenize = 'unicode61 remove_diacritics 2'
);

-- What only local people have: how they sign in, their role, their settings.
CREATE TABLE users (
    account_id                 INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    email                      TEXT    NOT NULL DEFAULT '',
    email_key                  TEXT    UNIQUE,  -- case-folded; NULL: none
    password_hash              TEXT    NOT NULL,
    is_admin                   INTEGER NOT NULL DEFAULT 0 CHECK (is_admin IN (0, 1)),
    is_moderator               INTEGER NOT NULL DEFAULT 0 CHECK (is_moderator IN (0, 1)),
    confirmed_at               INTEGER,         -- NULL: the e-mail address awaits confirmation
    approved_at                INTEGER,         -- NULL: the account awaits approval
    deactivated_at             INTEGER,
    reset_required             INTEGER NOT NULL DEFAULT 0 CHECK (reset_required IN (0, 1)),
    registration_reason        TEXT    NOT NULL DEFAULT '',
    locale                     TEXT    NOT NULL DEFAULT '',
    note                       TEXT    NOT NULL DEFAULT '',   -- the bio as typed
    fields                     TEXT    NOT NULL DEFAULT '[]', -- the fields as typed
    default_visibility         INTEGER NOT NULL DEFAULT 0 CHECK (default_visibility BETWEEN 0 AND 4),
    default_sensitive          INTEGER NOT NULL DEFAULT 0 CHECK (default_sensitive IN (0, 1)),
    default_language           TEXT    NOT NULL DEFAULT '',
    no_rich_text               INTEGER NOT NULL DEFAULT 0 CHECK (no_rich_text IN (0, 1)),
    show_role                  INTEGER NOT NULL DEFAULT 1 CHECK (show_role IN (0, 1)),
    skip_thread_containment    INTEGER NOT NULL DEFAULT 0 CHECK (skip_thread_containment IN (0, 1)),
    allow_following_move       INTEGER NOT NULL DEFAULT 1 CHECK (allow_following_move IN (0, 1)),
    block_from_strangers       INTEGER NOT NULL DEFAULT 0 CHECK (block_from_strangers IN (0, 1)),
    hide_notification_contents INTEGER NOT NULL DEFAULT 0 CHECK (hide_notification_contents IN (0, 1)),
    settings_store             TEXT    NOT NULL DEFAULT '{}', -- front end name → its own JSON
    last_active_at             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX users_staff ON users (account_id) WHERE is_admin = 1 OR is_moderator = 1;
CREATE INDEX users_active ON users (last_active_at);

-- Links sent once: password reset, e-mail confirmation.
CREATE TABLE one_time_tokens (
    hash       BLOB    PRIMARY KEY, -- SHA-256
    kind       TEXT    NOT NULL CHECK (kind IN ('reset', 'confirm')),
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_tokens_account ON one_time_tokens (account_id, kind);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

CREATE TABLE oauth_apps (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id     TEXT    NOT NULL UNIQUE,
    client_secret TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    website       TEXT    NOT NULL DEFAULT '',
    redirect_uris TEXT    NOT NULL, -- separated by newlines
    scopes        TEXT    NOT NULL, -- separated by spaces
    trusted       INTEGER NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1)),
    owner_id      INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_apps_owner ON oauth_apps (owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE oauth_codes (
    hash           BLOB    PRIMARY KEY, -- SHA-256
    app_id         INTEGER NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id     INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    redirect_uri   TEXT    NOT NULL,
    scopes         TEXT    NOT NULL,
    code_challenge TEXT    NOT NULL DEFAULT '', -- PKCE, S256
    expires_at     INTEGER NOT NULL,
    token_id       INTEGER REFERENCES oauth_tokens (id) ON DELETE CASCADE -- what it was redeemed for; a second use revokes it
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_codes_account ON oauth_codes (account_id);
CREATE INDEX oauth_codes_app ON oauth_codes (app_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX oauth_codes_expiry ON oauth_codes (expires_at);

CREATE TABLE oauth_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    hash         BLOB    NOT NULL UNIQUE, -- SHA-256 of the access token
    refresh_hash BLOB    UNIQUE,          -- SHA-256 of the refresh token
    app_id       INTEGER REFERENCES oauth_apps (id) ON DELETE CASCADE, -- NULL: a session of the server's own pages
    account_id   INTEGER REFERENCES users (account_id) ON DELETE CASCADE, -- NULL: the app itself
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at   INTEGER -- NULL: never
) STRICT;
CREATE INDEX oauth_tokens_account ON oauth_tokens (account_id, id);
CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id, account_id);

-- Who follows whom, or asks to. A follower elsewhere counts, but has no home timeline here.
CREATE TABLE follows (
    id             INTEGER PRIMARY KEY,
    follower_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    pending        INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
    follower_local INTEGER NOT NULL DEFAULT 1 CHECK (follower_local IN (0, 1)),
    show_reblogs   INTEGER NOT NULL DEFAULT 1 CHECK (show_reblogs IN (0, 1)),
    languages      TEXT    NOT NULL DEFAULT '[]', -- of posts wanted in home; empty: all
    uri            TEXT    UNIQUE, -- of the Follow activity, where there is one
    UNIQUE (follower_id, target_id)
) STRICT;
CREATE INDEX follows_followers ON follows (target_id, follower_id) WHERE pending = 0;
CREATE INDEX follows_following ON follows (follower_id, target_id) WHERE pending = 0;
CREATE INDEX follows_requests ON follows (target_id, id) WHERE pending = 1;
CREATE INDEX follows_local ON follows (target_id, follower_id, show_reblogs, languages) WHERE pending = 0 AND follower_local = 1;
CREATE INDEX follows_hidden_reblogs ON follows (follower_id) WHERE show_reblogs = 0;

-- Who wants to be told of each post of whom; needs no follow.
CREATE TABLE subscriptions (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_target ON subscriptions (target_id, account_id);

CREATE TABLE blocks (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_target ON blocks (target_id, account_id);

CREATE TABLE mutes (
    account_id         INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id          INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications INTEGER NOT NULL DEFAULT 1 CHECK (hide_notifications IN (0, 1)),
    expires_at         INTEGER, -- NULL: for good
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mutes_target ON mutes (target_id);

CREATE TABLE domain_blocks (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain     TEXT    NOT NULL,
    PRIMARY KEY (account_id, domain)
) STRICT, WITHOUT ROWID;

-- Private notes on other accounts.
CREATE TABLE account_notes (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    comment    TEXT    NOT NULL,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_notes_target ON account_notes (target_id);

-- Posts and boosts. What decides who sees a row stands first, so that reading it does not touch the long columns.
CREATE TABLE statuses (
    id                     INTEGER PRIMARY KEY,
    account_id             INTEGER NOT NULL REFERENCES accounts (id),
    visibility             INTEGER NOT NULL CHECK (visibility BETWEEN 0 AND 5), -- public, unlisted, local, private, direct, list
    reblog_of_id           INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    conversation_id        INTEGER NOT NULL, -- the same for all posts of a thread
    in_reply_to_id         INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    in_reply_to_account_id INTEGER REFERENCES accounts (id),
    domain                 TEXT    NOT NULL, -- the author's
    has_media              INTEGER NOT NULL DEFAULT 0 CHECK (has_media IN (0, 1)),
    has_poll               INTEGER NOT NULL DEFAULT 0 CHECK (has_poll IN (0, 1)),
    sensitive              INTEGER NOT NULL DEFAULT 0 CHECK (sensitive IN (0, 1)),
    replies_count          INTEGER NOT NULL DEFAULT 0,
    reblogs_count          INTEGER NOT NULL DEFAULT 0,
    favourites_count       INTEGER NOT NULL DEFAULT 0,
    quotes_count           INTEGER NOT NULL DEFAULT 0,
    quote_of_id            INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    card_id                INTEGER REFERENCES cards (id) ON DELETE SET NULL, -- preview of the first link, once it was fetched
    list_id                INTEGER REFERENCES lists (id) ON DELETE SET NULL, -- of a list post
    app_id                 INTEGER REFERENCES oauth_apps (id) ON DELETE SET NULL,
    created_at             INTEGER NOT NULL, -- as the author says
    edited_at              INTEGER,
    expires_at             INTEGER,
    language               TEXT    NOT NULL DEFAULT '',
    content_type           TEXT    NOT NULL DEFAULT 'text/plain',
    uri                    TEXT    NOT NULL UNIQUE, -- of the object; of the Announce for a boost
    url                    TEXT    NOT NULL DEFAULT '',
    spoiler_text           TEXT    NOT NULL DEFAULT '',
    text                   TEXT    NOT NULL DEFAULT '', -- as typed
    content                TEXT    NOT NULL DEFAULT ''  -- HTML
) STRICT;
CREATE INDEX statuses_account ON statuses (account_id, id);
CREATE INDEX statuses_conversation ON statuses (conversation_id, id);
CREATE INDEX statuses_replies ON statuses (in_reply_to_id) WHERE in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_reply_accounts ON statuses (in_reply_to_account_id) WHERE in_reply_to_account_id IS NOT NULL;
CREATE UNIQUE INDEX statuses_reblogs ON statuses (reblog_of_id, account_id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_reblogged_by ON statuses (reblog_of_id, id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_list ON statuses (list_id) WHERE list_id IS NOT NULL;
CREATE INDEX statuses_app ON statuses (app_id) WHERE app_id IS NOT NULL;
CREATE INDEX statuses_quotes ON statuses (quote_of_id, id) WHERE quote_of_id IS NOT NULL;
CREATE INDEX statuses_card ON statuses (card_id) WHERE card_id IS NOT NULL;
-- Timelines open to all: no boosts, public and local posts only.
CREATE INDEX statuses_public ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL;
CREATE INDEX statuses_remote ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND domain <> '';
CREATE INDEX statuses_domain ON statuses (domain, id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL;
CREATE INDEX statuses_public_media ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_domain_media ON statuses (domain, id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_account_media ON statuses (account_id, id) WHERE has_media = 1;

CREATE INDEX statuses_url ON statuses (url) WHERE domain <> '' AND url <> '';

-- Look-up of posts, not boosts, by their words; rowid = statuses.id. What is indexed is words in one form already, separated by spaces
-- (text.Searchable); facets are words of our own for what can be asked for beside the text (store/status_index.go).
CREATE VIRTUAL TABLE statuses_fts USING fts5 (
    body, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- Previews of the pages that posts link to.
CREATE TABLE cards (
    id         INTEGER PRIMARY KEY,
    url        TEXT    NOT NULL UNIQUE, -- of the link, as it stands in posts
    card       TEXT    NOT NULL,        -- what is shown, JSON; '' if there is nothing to show
    fetched_at INTEGER NOT NULL
) STRICT;
CREATE INDEX cards_age ON cards (fetched_at);

-- Earlier versions of edited posts, oldest first.
CREATE TABLE status_edits (
    id           INTEGER PRIMARY KEY,
    status_id    INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL, -- when this version was current first
    sensitive    INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    spoiler_text TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    content      TEXT    NOT NULL,
    content_type TEXT    NOT NULL,
    media        TEXT    NOT NULL -- the attachments, in order, as objects of id and description
) STRICT;
CREATE INDEX status_edits_status ON status_edits (status_id, id);

-- Who is addressed by a post beyond its visibility's own audience: the mentioned, the named, the members of a list at the time
-- of posting. A direct post has its author here too, so that one index holds everybody's direct timeline.
CREATE TABLE recipients (
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL, -- order of appearance
    mentioned  INTEGER NOT NULL CHECK (mentioned IN (0, 1)), -- shown among the mentions
    direct     INTEGER NOT NULL CHECK (direct IN (0, 1)),    -- the post is a direct one
    PRIMARY KEY (status_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recipients_account ON recipients (account_id, status_id);
CREATE INDEX recipients_direct ON recipients (account_id, status_id) WHERE direct = 1;

CREATE TABLE tags (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE -- lower case, without #
) STRICT;

CREATE TABLE status_tags (
    tag_id    INTEGER NOT NULL REFERENCES tags (id),
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    PRIMARY KEY (tag_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_tags_status ON status_tags (status_id, position);

-- Who has public posts with a hashtag in their home.
CREATE TABLE tag_follows (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    tag_id     INTEGER NOT NULL REFERENCES tags (id),
    UNIQUE (account_id, tag_id)
) STRICT;
CREATE INDEX tag_follows_account ON tag_follows (account_id, id);
CREATE INDEX tag_follows_tag ON tag_follows (tag_id, account_id);

-- Uploads and remote attachments.
CREATE TABLE media (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id   INTEGER REFERENCES statuses (id) ON DELETE SET NULL, -- NULL: not attached (yet, or any more)
    position    INTEGER NOT NULL DEFAULT 0, -- among the attachments; -1: only an earlier version of the status had it
    type        TEXT    NOT NULL CHECK (type IN ('image', 'video', 'audio', 'unknown')),
    mime        TEXT    NOT NULL,
    file        TEXT    NOT NULL DEFAULT '', -- name in the media folder; '' for remote media
    thumbnail   TEXT    NOT NULL DEFAULT '', -- likewise; '' where the file itself serves
    remote_url  TEXT    NOT NULL DEFAULT '',
    description TEXT    NOT NULL DEFAULT '',
    size        INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    loose_since INTEGER -- when it was found to be attached to nothing; NULL while it is attached, or until the clean-up looks
) STRICT;
CREATE INDEX media_status ON media (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_account ON media (account_id, id);
CREATE INDEX media_loose ON media (loose_since) WHERE status_id IS NULL;
CREATE INDEX media_file ON media (file) WHERE file <> '';
CREATE INDEX media_thumbnail ON media (thumbnail) WHERE thumbnail <> '';

CREATE TABLE favourites (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (account_id, status_id)
) STRICT;
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);

CREATE TABLE bookmarks (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (account_id, status_id)
) STRICT;
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);

CREATE TABLE pins (
    status_id  INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the author
    pinned_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX pins_account ON pins (account_id, status_id);

CREATE TABLE thread_mutes (
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL,
    expires_at      INTEGER, -- NULL: for good
    PRIMARY KEY (account_id, conversation_id)
) STRICT, WITHOUT ROWID;

-- Home timelines, written when a post arrives; capped, and rebuildable from follows.
CREATE TABLE home (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX home_status ON home (status_id);

CREATE TABLE lists (
    id             INTEGER PRIMARY KEY,
    account_id     INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title          TEXT    NOT NULL,
    replies_policy TEXT    NOT NULL DEFAULT 'list' CHECK (replies_policy IN ('followed', 'list', 'none')),
    exclusive      INTEGER NOT NULL DEFAULT 0 CHECK (exclusive IN (0, 1)) -- members are left out of home
) STRICT;
CREATE INDEX lists_account ON lists (account_id, id);

CREATE TABLE list_members (
    list_id    INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_members_account ON list_members (account_id, list_id);

CREATE TABLE list_timeline (
    list_id   INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_timeline_status ON list_timeline (status_id);

CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- who is told
    type       TEXT    NOT NULL CHECK (type IN ('mention', 'follow', 'follow_request', 'reblog', 'favourite', 'poll', 'move',
                                                'status', 'update', 'emoji_reaction', 'chat_mention', 'report')),
    from_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- who did it
    status_id  INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    detail     TEXT    NOT NULL DEFAULT '', -- the emoji of a reaction
    read       INTEGER NOT NULL DEFAULT 0 CHECK (read IN (0, 1)),
    muted      INTEGER NOT NULL DEFAULT 0 CHECK (muted IN (0, 1)) -- by a mute in force when it was made
) STRICT;
CREATE UNIQUE INDEX notifications_once ON notifications (account_id, type, from_id, ifnull(status_id, 0), detail);
CREATE INDEX notifications_account ON notifications (account_id, id);
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read = 0;
CREATE INDEX notifications_unread_rare ON notifications (account_id, id) WHERE read = 0 AND type IN ('chat_mention', 'report', 'status', 'update', 'poll');
CREATE INDEX notifications_status ON notifications (status_id) WHERE status_id IS NOT NULL;
CREATE INDEX notifications_from ON notifications (from_id);

CREATE TABLE markers (
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline     TEXT    NOT NULL CHECK (timeline IN ('home', 'notifications')),
    last_read_id INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, timeline)
) STRICT, WITHOUT ROWID;

-- A client's Idempotency-Key and what it made.
CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    status_id  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- What was here and must neither come back nor be answered with 404.
CREATE TABLE tombstones (
    uri        TEXT    PRIMARY KEY,
    deleted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Work that must happen: at least once, retried with growing pauses, parked with its error after the last try.
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL,
    payload    TEXT    NOT NULL, -- JSON
    unique_key TEXT    UNIQUE,   -- at most one job of this key waits
    run_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    parked     INTEGER NOT NULL DEFAULT 0 CHECK (parked IN (0, 1)),
    last_error TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX jobs_due ON jobs (run_at) WHERE parked = 0;

-- The whole current schema. A new database is created from this file; an old one is upgraded by the files in store/migrations. Each change here
-- comes with such a file and a new version (CONTRIBUTING.md, "A table"). A test checks that both have the same result.
--
-- Conventions: ids are 53-bit integers that order by time (design: store/ids.go); times are Unix milliseconds; booleans are 0
-- and 1; domain '' means local; JSON columns are read whole and never searched. Conditions of rows that are often written compare one
-- value after the other, because SQLite makes a table of a list of more than two values each time.

-- One row, which identifies this database.
CREATE TABLE meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    worker      INTEGER NOT NULL, -- 48 bits, part of every flake (store/ids.go)
    last_id     INTEGER NOT NULL, -- no id up to this one is used again, even if the clock is set back
    created_at  INTEGER NOT NULL,
    server_url  TEXT    NOT NULL DEFAULT '',  -- in the ids of all local accounts and statuses
    keys_hash   BLOB    NOT NULL DEFAULT x'', -- fingerprint of the keys of the server; empty: not known yet
    schema_hash TEXT    NOT NULL DEFAULT '',  -- of the schema that svc made; another one now: something has changed it since
    server_host TEXT    NOT NULL DEFAULT ''   -- in the handles of all local accounts; '': the host of server_url
) STRICT;

-- Local and remote accounts: people, bots and groups.
CREATE TABLE accounts (
    id                    INTEGER PRIMARY KEY,
    nickname              TEXT    NOT NULL,
    nickname_key          TEXT    NOT NULL, -- case-folded
    domain                TEXT    NOT NULL DEFAULT '',
    uri                   TEXT    NOT NULL UNIQUE,
    url                   TEXT    NOT NULL,
    actor_type            TEXT    NOT NULL DEFAULT 'Person', -- store.ActorTypes
    display_name          TEXT    NOT NULL DEFAULT '',
    note                  TEXT    NOT NULL DEFAULT '',   -- HTML
    fields                TEXT    NOT NULL DEFAULT '[]', -- [{"name", "value" (HTML), "verified_at"}]
    avatar                TEXT    NOT NULL DEFAULT '',   -- local: media file name; remote: URL
    avatar_static         TEXT    NOT NULL DEFAULT '',
    header                TEXT    NOT NULL DEFAULT '',
    header_static         TEXT    NOT NULL DEFAULT '',
    background            TEXT    NOT NULL DEFAULT '',
    locked                INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
    discoverable          INTEGER NOT NULL DEFAULT 0 CHECK (discoverable IN (0, 1)),
    indexable             INTEGER CHECK (indexable IN (0, 1)), -- consent to the search of its posts; NULL: not stated
    hide_favorites        INTEGER NOT NULL DEFAULT 1 CHECK (hide_favorites IN (0, 1)),
    hide_followers        INTEGER NOT NULL DEFAULT 0 CHECK (hide_followers IN (0, 1)),
    hide_follows          INTEGER NOT NULL DEFAULT 0 CHECK (hide_follows IN (0, 1)),
    hide_followers_count  INTEGER NOT NULL DEFAULT 0 CHECK (hide_followers_count IN (0, 1)),
    hide_follows_count    INTEGER NOT NULL DEFAULT 0 CHECK (hide_follows_count IN (0, 1)),
    accepts_chat_messages INTEGER CHECK (accepts_chat_messages IN (0, 1)), -- NULL: unknown
    birthday              TEXT    NOT NULL DEFAULT '',   -- 2000-12-31
    show_birthday         INTEGER NOT NULL DEFAULT 0 CHECK (show_birthday IN (0, 1)),
    also_known_as         TEXT    NOT NULL DEFAULT '[]', -- ActivityPub ids
    moved_to_id           INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    tags                  TEXT    NOT NULL DEFAULT '[]', -- set by moderators
    emojis                TEXT    NOT NULL DEFAULT '[]', -- custom ones in a remote profile, [{"shortcode", "url"}]
    followers_count       INTEGER NOT NULL DEFAULT 0,
    following_count       INTEGER NOT NULL DEFAULT 0,
    statuses_count        INTEGER NOT NULL DEFAULT 0,    -- public, unlisted and local ones
    last_status_at        INTEGER,
    created_at            INTEGER NOT NULL,
    -- suspended, deactivated, deleted, unconfirmed or unapproved: the account and its posts are hidden from others
    unavailable           INTEGER NOT NULL DEFAULT 0 CHECK (unavailable IN (0, 1)),
    deleted_at            INTEGER,
    suspended_at          INTEGER,                       -- remote accounts only: by staff
    rejected              INTEGER NOT NULL DEFAULT 0 CHECK (rejected IN (0, 1)), -- remote accounts only: the settings reject its host
    -- remote accounts only: the largest audience that the settings leave to its posts that are stored, as in statuses
    max_visibility        INTEGER NOT NULL DEFAULT 0 CHECK (max_visibility = 0 OR max_visibility = 1 OR max_visibility = 3),
    limiting              INTEGER NOT NULL DEFAULT 0 CHECK (limiting IN (0, 1)),  -- not all of them have it yet
    suggested             INTEGER NOT NULL DEFAULT 0 CHECK (suggested IN (0, 1)), -- by staff
    feature_policy        INTEGER NOT NULL DEFAULT 0 CHECK (feature_policy BETWEEN 0 AND 3), -- local accounts only: store.FeaturePolicy
    attribution_domains   TEXT    NOT NULL DEFAULT '[]', -- hosts whose pages may name the account as their author
    avatar_description    TEXT    NOT NULL DEFAULT '',   -- plain text, the alternative to the picture
    header_description    TEXT    NOT NULL DEFAULT '',
    -- what apps do not show of the profile: a tab with attachments, those of replies in it, a tab with what the account features
    hide_media            INTEGER NOT NULL DEFAULT 0 CHECK (hide_media IN (0, 1)),
    hide_media_replies    INTEGER NOT NULL DEFAULT 0 CHECK (hide_media_replies IN (0, 1)),
    hide_featured         INTEGER NOT NULL DEFAULT 0 CHECK (hide_featured IN (0, 1)),
    feature_approval      INTEGER NOT NULL DEFAULT 0, -- remote accounts only: store.FeatureApproval
    UNIQUE (nickname_key, domain)
) STRICT;
CREATE INDEX accounts_unavailable ON accounts (id) WHERE unavailable = 1;
CREATE INDEX accounts_unavailable_deleted ON accounts (deleted_at) WHERE unavailable = 1;
CREATE INDEX accounts_unindexable ON accounts (id) WHERE indexable = 0;
CREATE INDEX accounts_rejected ON accounts (id) WHERE rejected = 1;
CREATE INDEX accounts_limited ON accounts (id) WHERE max_visibility > 0 OR limiting = 1;
CREATE INDEX accounts_suggested ON accounts (id) WHERE suggested = 1;
-- What staff search, so that a search does not read whole rows.
CREATE INDEX accounts_staff ON accounts (id, domain, nickname_key, display_name, actor_type, tags, unavailable, deleted_at);
CREATE INDEX accounts_groups ON accounts (id) WHERE actor_type = 'Group' AND domain <> '';
CREATE INDEX accounts_moved ON accounts (moved_to_id) WHERE moved_to_id IS NOT NULL;
CREATE INDEX accounts_url ON accounts (url);
CREATE INDEX accounts_domain ON accounts (domain, id);
CREATE INDEX accounts_directory_new ON accounts (id) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL;
CREATE INDEX accounts_directory_active ON accounts (last_status_at, id) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL;
CREATE INDEX accounts_directory_local_new ON accounts (id) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL AND domain = '';
CREATE INDEX accounts_directory_local_active ON accounts (last_status_at, id) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL AND domain = '';

-- Search by prefixes of the words of nickname and display name, which are normalized as in statuses_fts; rowid = accounts.id.
CREATE VIRTUAL TABLE accounts_fts USING fts5 (
    nickname, display_name,
    content = '', contentless_delete = 1, prefix = '1 2 3', tokenize = 'ascii'
);

-- Accounts with links in their fields, local ones and those that local accounts follow, and when the pages are checked for a link back.
CREATE TABLE link_checks (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    due_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX link_checks_due ON link_checks (due_at);

-- Users, the logins of local accounts: sign-in, roles, settings.
CREATE TABLE users (
    account_id                 INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    email                      TEXT    NOT NULL DEFAULT '',
    email_key                  TEXT    UNIQUE,  -- lower case, the domain in ASCII; NULL: none
    pending_email              TEXT    NOT NULL DEFAULT '',   -- the new address, until it is confirmed; '': none
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
    default_quote_policy       INTEGER NOT NULL DEFAULT 0 CHECK (default_quote_policy BETWEEN 0 AND 2), -- as in statuses
    default_interaction_policies TEXT  NOT NULL DEFAULT '{}', -- visibility → interaction_policy as in statuses
    no_rich_text               INTEGER NOT NULL DEFAULT 0 CHECK (no_rich_text IN (0, 1)),
    show_role                  INTEGER NOT NULL DEFAULT 1 CHECK (show_role IN (0, 1)),
    skip_thread_containment    INTEGER NOT NULL DEFAULT 0 CHECK (skip_thread_containment IN (0, 1)),
    allow_following_move       INTEGER NOT NULL DEFAULT 1 CHECK (allow_following_move IN (0, 1)),
    block_from_strangers       INTEGER NOT NULL DEFAULT 0 CHECK (block_from_strangers IN (0, 1)),
    hide_notification_contents INTEGER NOT NULL DEFAULT 0 CHECK (hide_notification_contents IN (0, 1)),
    totp_secret                TEXT    NOT NULL DEFAULT '',   -- base32, shared with an authenticator app; '': a password is enough
    totp_pending               TEXT    NOT NULL DEFAULT '',   -- not yet confirmed by a code
    totp_step                  INTEGER NOT NULL DEFAULT 0,    -- of the last code used: it and earlier ones are invalid
    last_active_at             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX users_staff ON users (account_id) WHERE is_admin = 1 OR is_moderator = 1;
CREATE INDEX users_active ON users (last_active_at);
CREATE INDEX users_unconfirmed ON users (account_id) WHERE confirmed_at IS NULL;

-- What front ends store for users. Not in users, which is read with every request.
CREATE TABLE frontend_settings (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    name       TEXT    NOT NULL, -- of the front end
    settings   TEXT    NOT NULL, -- its own JSON
    PRIMARY KEY (account_id, name)
) STRICT;

-- How many users were active in a week, which begins on Monday, 0:00 UTC.
CREATE TABLE active_weeks (
    week   INTEGER PRIMARY KEY,
    users  INTEGER NOT NULL
) STRICT;

-- Secrets of links that work once: password reset, confirmation of the address of a new account, and of a new address.
CREATE TABLE one_time_tokens (
    hash       BLOB    PRIMARY KEY, -- SHA-256
    kind       TEXT    NOT NULL CHECK (kind IN ('reset', 'confirm', 'change')),
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_tokens_account ON one_time_tokens (account_id, kind);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

-- Invites, with which people register while registration is closed.
CREATE TABLE invites (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    token      TEXT    NOT NULL UNIQUE,     -- in the link
    expires_on TEXT    NOT NULL DEFAULT '', -- the last day in UTC, 2026-12-31; '': none
    max_use    INTEGER CHECK (max_use > 0), -- NULL: 1, or any number until expires_on
    uses       INTEGER NOT NULL DEFAULT 0,  -- counted only if there is a max_use
    used       INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)), -- used up or revoked
    created_at INTEGER NOT NULL
) STRICT;

-- Captchas with which an account was registered, until they are no longer valid.
CREATE TABLE used_captchas (
    hash       BLOB    PRIMARY KEY, -- SHA-256 of the token
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_captchas_expiry ON used_captchas (expires_at);

-- Networks from which users signed in: others get mail, and cannot keep their users from signing in by wrong passwords.
CREATE TABLE sign_in_networks (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL, -- keyed hash of the network
    seen_at    INTEGER NOT NULL, -- the last sign-in
    PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

-- Backup codes for a lost authenticator app. Each works once.
CREATE TABLE backup_codes (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL, -- SHA-256
    PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

-- Sign-ins with the right password that wait for a second factor.
CREATE TABLE mfa_challenges (
    hash       BLOB    PRIMARY KEY, -- SHA-256
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    app_id     INTEGER REFERENCES oauth_apps (id) ON DELETE CASCADE, -- to be authorized; NULL: sign-in to a page of this server
    purpose    TEXT    NOT NULL, -- what follows after the second factor, JSON
    failures   INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mfa_challenges_account ON mfa_challenges (account_id);
CREATE INDEX mfa_challenges_app ON mfa_challenges (app_id);
CREATE INDEX mfa_challenges_expiry ON mfa_challenges (expires_at);

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
CREATE INDEX oauth_apps_name ON oauth_apps (name, id);
CREATE INDEX oauth_apps_trusted ON oauth_apps (id) WHERE trusted = 1;

CREATE TABLE oauth_codes (
    hash           BLOB    PRIMARY KEY, -- SHA-256
    app_id         INTEGER NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id     INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    redirect_uri   TEXT    NOT NULL,
    redirect_given INTEGER NOT NULL CHECK (redirect_given IN (0, 1)), -- the request named it, so the one for the token must, too
    scopes         TEXT    NOT NULL,
    code_challenge TEXT    NOT NULL DEFAULT '', -- PKCE, S256
    expires_at     INTEGER NOT NULL,
    token_id       INTEGER REFERENCES oauth_tokens (id) ON DELETE CASCADE -- for which it was redeemed; a second use revokes the token
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_codes_account ON oauth_codes (account_id);
CREATE INDEX oauth_codes_app ON oauth_codes (app_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX oauth_codes_expiry ON oauth_codes (expires_at);

CREATE TABLE oauth_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    hash         BLOB    NOT NULL UNIQUE, -- SHA-256 of the access token
    refresh_hash BLOB    UNIQUE,          -- SHA-256 of the refresh token
    app_id       INTEGER REFERENCES oauth_apps (id) ON DELETE CASCADE, -- NULL: a session of this server's pages
    account_id   INTEGER REFERENCES users (account_id) ON DELETE CASCADE, -- NULL: the app itself
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at   INTEGER -- NULL: never
) STRICT;
CREATE INDEX oauth_tokens_account ON oauth_tokens (account_id, id);
CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id, account_id);

-- Web push subscriptions of tokens. A new one replaces that of the same token.
CREATE TABLE push_subscriptions (
    id         INTEGER PRIMARY KEY,
    token_id   INTEGER NOT NULL UNIQUE REFERENCES oauth_tokens (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    endpoint   TEXT    NOT NULL,
    p256dh     BLOB    NOT NULL, -- the client's public key, an uncompressed point of P-256
    auth       BLOB    NOT NULL, -- the secret that client and server share
    token      BLOB    NOT NULL, -- the access token, which is part of messages, sealed with a key that is not in the database
    alerts     TEXT    NOT NULL, -- wanted types of notifications
    policy     TEXT    NOT NULL CHECK (policy IN ('all', 'followed', 'follower', 'none')),
    standard   INTEGER NOT NULL CHECK (standard IN (0, 1))
) STRICT;
CREATE INDEX push_subscriptions_account ON push_subscriptions (account_id, id);

-- Follows and follow requests. Remote followers have no home timeline.
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
CREATE INDEX follows_followers ON follows (target_id, pending, follower_id); -- not partial, because the foreign key of target_id needs it
CREATE INDEX follows_following ON follows (follower_id, target_id) WHERE pending = 0;
CREATE INDEX follows_requests ON follows (target_id, id) WHERE pending = 1;
CREATE INDEX follows_outgoing ON follows (follower_id, id) WHERE pending = 1;
CREATE INDEX follows_local ON follows (target_id, follower_id, show_reblogs, languages) WHERE pending = 0 AND follower_local = 1;
CREATE INDEX follows_remote ON follows (target_id, follower_id) WHERE pending = 0 AND follower_local = 0;
CREATE INDEX follows_hidden_reblogs ON follows (follower_id) WHERE show_reblogs = 0;

-- Accounts that are notified of each post of another one, without following it.
CREATE TABLE subscriptions (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_target ON subscriptions (target_id, account_id);

-- Endorsed accounts on profiles.
CREATE TABLE endorsements (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX endorsements_target ON endorsements (target_id);

CREATE TABLE blocks (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri        TEXT    UNIQUE, -- of the Block activity, if one of the accounts is remote
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_target ON blocks (target_id, account_id);

CREATE TABLE mutes (
    account_id         INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_id          INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications INTEGER NOT NULL DEFAULT 1 CHECK (hide_notifications IN (0, 1)),
    expires_at         INTEGER, -- NULL: no expiry
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

-- Posts and boosts. Columns that decide about visibility come first, so that they are read without the long ones.
CREATE TABLE statuses (
    id                     INTEGER PRIMARY KEY,
    account_id             INTEGER NOT NULL REFERENCES accounts (id),
    visibility             INTEGER NOT NULL CHECK (visibility BETWEEN 0 AND 5), -- public, unlisted, local, private, direct, list
    reblog_of_id           INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    conversation_id        INTEGER NOT NULL, -- the same for all posts of a thread; a boost is alone in one
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
    quote_state            INTEGER NOT NULL DEFAULT 0 CHECK (quote_state BETWEEN 0 AND 3),  -- no quote, accepted, revoked, rejected
    quote_policy           INTEGER NOT NULL DEFAULT 0 CHECK (quote_policy BETWEEN 0 AND 2), -- who may quote it: all, followers, nobody
    interaction_policy     INTEGER NOT NULL DEFAULT 0, -- who may interact with it (store/interaction_policy.go); 0: all
    pending_visibility     INTEGER CHECK (pending_visibility BETWEEN 0 AND 5), -- of a reply or boost that waits for approval, once it has it
    card_id                INTEGER REFERENCES cards (id) ON DELETE SET NULL, -- preview of the first link, once it was fetched
    list_id                INTEGER REFERENCES lists (id) ON DELETE SET NULL, -- of a list post
    addressed              INTEGER NOT NULL DEFAULT 0 CHECK (addressed IN (0, 1)), -- its recipients were chosen apart from its text
    app_id                 INTEGER REFERENCES oauth_apps (id) ON DELETE SET NULL,
    created_at             INTEGER NOT NULL, -- according to the author
    edited_at              INTEGER,
    expires_at             INTEGER,
    language               TEXT    NOT NULL DEFAULT '',
    content_type           TEXT    NOT NULL DEFAULT 'text/plain',
    emojis                 TEXT    NOT NULL DEFAULT '[]', -- custom ones in a remote post, [{"shortcode", "url"}]
    uri                    TEXT    NOT NULL UNIQUE, -- of the object; of the Announce for a boost
    url                    TEXT    NOT NULL DEFAULT '',
    spoiler_text           TEXT    NOT NULL DEFAULT '',
    text                   TEXT    NOT NULL DEFAULT '', -- as typed
    content                TEXT    NOT NULL DEFAULT '', -- HTML
    unfederated            INTEGER NOT NULL DEFAULT 0 CHECK (unfederated IN (0, 1)) -- it never leaves this server: imported, or a boost of an imported post
) STRICT;
CREATE INDEX statuses_account ON statuses (account_id, id);
CREATE INDEX statuses_conversation ON statuses (conversation_id, id) WHERE reblog_of_id IS NULL;
CREATE INDEX statuses_local_conversations ON statuses (conversation_id) WHERE domain = '';
CREATE INDEX statuses_direct ON statuses (conversation_id, id) WHERE visibility = 4;
CREATE INDEX statuses_replies ON statuses (in_reply_to_id) WHERE in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_self_replies ON statuses (in_reply_to_id, id) WHERE in_reply_to_id IS NOT NULL AND in_reply_to_account_id = account_id AND visibility IN (0, 1);
CREATE INDEX statuses_other_replies ON statuses (in_reply_to_id, id) WHERE in_reply_to_id IS NOT NULL AND in_reply_to_account_id <> account_id AND visibility IN (0, 1);
CREATE INDEX statuses_reply_accounts ON statuses (in_reply_to_account_id) WHERE in_reply_to_account_id IS NOT NULL;
CREATE INDEX statuses_unfederated ON statuses (account_id) WHERE unfederated = 1 AND visibility IN (0, 1); -- what outboxes leave out
CREATE UNIQUE INDEX statuses_reblogs ON statuses (reblog_of_id, account_id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_reblogged_by ON statuses (reblog_of_id, id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_list ON statuses (list_id) WHERE list_id IS NOT NULL;
CREATE INDEX statuses_app ON statuses (app_id) WHERE app_id IS NOT NULL;
CREATE INDEX statuses_quotes ON statuses (quote_of_id, id) WHERE quote_of_id IS NOT NULL;
CREATE INDEX statuses_local_quotes ON statuses (quote_of_id, account_id, id) WHERE quote_of_id IS NOT NULL AND domain = '';
CREATE INDEX statuses_card ON statuses (card_id) WHERE card_id IS NOT NULL;
CREATE INDEX statuses_public_card ON statuses (card_id, id) WHERE card_id IS NOT NULL AND visibility = 0 AND reblog_of_id IS NULL;
-- Public timelines: public and local posts, no boosts.
CREATE INDEX statuses_public ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL;
CREATE INDEX statuses_remote ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND domain <> '';
CREATE INDEX statuses_domain ON statuses (domain, id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL;
CREATE INDEX statuses_public_media ON statuses (id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_domain_media ON statuses (domain, id) WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_account_media ON statuses (account_id, id) WHERE has_media = 1;
-- What anonymous clients see of the public timelines and of profiles.
CREATE INDEX statuses_anyone ON statuses (id) WHERE visibility = 0 AND reblog_of_id IS NULL;
CREATE INDEX statuses_anyone_local ON statuses (id) WHERE visibility = 0 AND reblog_of_id IS NULL AND domain = '';
CREATE INDEX statuses_anyone_account ON statuses (account_id, id) WHERE visibility IN (0, 1);

CREATE INDEX statuses_local_reblogs ON statuses (account_id, visibility) WHERE reblog_of_id IS NOT NULL AND domain = '';
CREATE INDEX statuses_url ON statuses (url) WHERE domain <> '' AND url <> '';
-- The posts of a domain that are not in statuses_domain, and all boosts: together they are what staff list.
CREATE INDEX statuses_domain_other ON statuses (domain, id, visibility, reblog_of_id) WHERE visibility = 1 OR visibility > 2 OR reblog_of_id IS NOT NULL;

-- Stored posts whose audience a block of their host has made smaller, with the audience before.
CREATE TABLE limited_statuses (
    status_id  INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    visibility INTEGER NOT NULL CHECK (visibility IN (0, 1))
) STRICT;

-- How many posts of a domain are stored, without boosts. The domain '*' has the sums.
CREATE TABLE status_counts (
    domain     TEXT    NOT NULL,
    visibility INTEGER NOT NULL, -- as in statuses
    count      INTEGER NOT NULL,
    PRIMARY KEY (domain, visibility)
) STRICT, WITHOUT ROWID;

-- Search of posts, without boosts; rowid = statuses.id. The body has normalized words separated by spaces (text.Searchable); facets are
-- words for properties of the post (store/status_index.go).
CREATE VIRTUAL TABLE statuses_fts USING fts5 (
    body, facets,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- Previews of the pages that posts link to.
CREATE TABLE cards (
    id         INTEGER PRIMARY KEY,
    url        TEXT    NOT NULL UNIQUE, -- of the link, as in posts
    card       TEXT    NOT NULL,        -- JSON; '': nothing to show, or not fetched yet
    fetched_at INTEGER NOT NULL         -- 0: not yet
) STRICT;

-- Earlier versions of edited posts, oldest first.
CREATE TABLE status_edits (
    id           INTEGER PRIMARY KEY,
    status_id    INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL, -- since when this version was current
    sensitive    INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    spoiler_text TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    content      TEXT    NOT NULL,
    content_type TEXT    NOT NULL,
    media        TEXT    NOT NULL, -- the attachments, in order, as objects of id and description
    poll         TEXT    NOT NULL DEFAULT '[]' -- the options of the poll, in order
) STRICT;
CREATE INDEX status_edits_status ON status_edits (status_id, id);

-- Polls. The counts of a remote poll are those of its server plus later local votes.
CREATE TABLE polls (
    id           INTEGER PRIMARY KEY,
    status_id    INTEGER NOT NULL UNIQUE REFERENCES statuses (id) ON DELETE CASCADE,
    multiple     INTEGER NOT NULL CHECK (multiple IN (0, 1)),
    hide_totals  INTEGER NOT NULL DEFAULT 0 CHECK (hide_totals IN (0, 1)), -- of each option, until the end
    expires_at   INTEGER, -- NULL: no end
    closed       INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)), -- the notifications about its end were sent
    voters_count INTEGER, -- NULL: unknown
    fetched_at   INTEGER, -- when the counts of a remote poll were fetched
    options      TEXT    NOT NULL -- in order, as objects of title and votes
) STRICT;

CREATE TABLE poll_votes (
    poll_id    INTEGER NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice     INTEGER NOT NULL, -- index of the option
    PRIMARY KEY (poll_id, account_id, choice)
) STRICT, WITHOUT ROWID;
CREATE INDEX poll_votes_account ON poll_votes (account_id);

-- Posts to be published later. One that could not be published stays, with a time in the past.
CREATE TABLE scheduled_statuses (
    id           INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    app_id       INTEGER REFERENCES oauth_apps (id) ON DELETE SET NULL,
    scheduled_at INTEGER NOT NULL,
    draft        TEXT    NOT NULL -- the post, JSON; its attachments are in media too
) STRICT;
CREATE INDEX scheduled_statuses_account ON scheduled_statuses (account_id, id);
CREATE INDEX scheduled_statuses_time ON scheduled_statuses (account_id, scheduled_at);
CREATE INDEX scheduled_statuses_app ON scheduled_statuses (app_id) WHERE app_id IS NOT NULL;

-- Accounts to which a post is addressed beside followers: mentioned ones, other recipients, members of a list at the time of posting. A direct
-- post has its author here too, so that one index has all direct timelines.
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
    name TEXT NOT NULL,       -- lower case, without #, as it was spelled first
    key  TEXT NOT NULL UNIQUE -- the same for all spellings (text.TagKey)
) STRICT;

CREATE TABLE status_tags (
    tag_id     INTEGER NOT NULL REFERENCES tags (id),
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    visibility INTEGER NOT NULL, -- of the post
    name       TEXT    NOT NULL DEFAULT '', -- as it is spelled in the post; '': as in tags
    PRIMARY KEY (tag_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_tags_status ON status_tags (status_id, position);
CREATE INDEX status_tags_listed ON status_tags (tag_id, status_id) WHERE visibility IN (0, 2); -- in timelines of hashtags

-- Followed hashtags: public posts with them are in home.
CREATE TABLE tag_follows (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    tag_id     INTEGER NOT NULL REFERENCES tags (id),
    UNIQUE (account_id, tag_id)
) STRICT;
CREATE INDEX tag_follows_account ON tag_follows (account_id, id);
CREATE INDEX tag_follows_tag ON tag_follows (tag_id, account_id);

-- Hashtags of public and unlisted posts of local accounts, with how often they are used.
CREATE TABLE account_tags (
    account_id     INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    tag_id         INTEGER NOT NULL REFERENCES tags (id),
    statuses_count INTEGER NOT NULL,
    last_status_id INTEGER NOT NULL, -- the newest post
    PRIMARY KEY (account_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_tags_count ON account_tags (account_id, statuses_count, last_status_id);
CREATE INDEX account_tags_tag ON account_tags (tag_id);

-- Hashtags on profiles.
CREATE TABLE featured_tags (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    tag_id     INTEGER NOT NULL REFERENCES tags (id),
    UNIQUE (account_id, tag_id)
) STRICT;
CREATE INDEX featured_tags_tag ON featured_tags (tag_id);

-- Uploads and remote attachments.
CREATE TABLE media (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id   INTEGER REFERENCES statuses (id) ON DELETE SET NULL, -- NULL: not attached
    message_id  INTEGER REFERENCES chat_messages (id) ON DELETE SET NULL, -- chat message that has it instead of a status
    scheduled_id INTEGER REFERENCES scheduled_statuses (id) ON DELETE SET NULL, -- scheduled post that has it
    position    INTEGER NOT NULL DEFAULT 0, -- among the attachments; -1: only earlier versions of the status have it
    is_mascot   INTEGER NOT NULL DEFAULT 0 CHECK (is_mascot IN (0, 1)), -- the picture that front ends show the account in empty places
    type        TEXT    NOT NULL, -- store.MediaTypes
    mime        TEXT    NOT NULL,
    file        TEXT    NOT NULL DEFAULT '', -- name in the media folder; '' for remote media
    thumbnail   TEXT    NOT NULL DEFAULT '', -- likewise; '' where the file itself serves
    remote_url  TEXT    NOT NULL DEFAULT '',
    preview_url TEXT    NOT NULL DEFAULT '', -- picture of a remote video or sound
    description TEXT    NOT NULL DEFAULT '',
    size        INTEGER NOT NULL DEFAULT 0,
    width       INTEGER NOT NULL DEFAULT 0, -- as displayed, in pixels; 0: unknown, as with the columns below
    height      INTEGER NOT NULL DEFAULT 0,
    preview_width  INTEGER NOT NULL DEFAULT 0, -- of the thumbnail
    preview_height INTEGER NOT NULL DEFAULT 0,
    duration    INTEGER NOT NULL DEFAULT 0, -- milliseconds
    frame_rate  REAL    NOT NULL DEFAULT 0, -- frames a second
    blurhash    TEXT    NOT NULL DEFAULT '',
    focus_x     REAL    NOT NULL DEFAULT 0 CHECK (focus_x BETWEEN -1 AND 1), -- the point to keep when the picture is cropped: left -1, right 1
    focus_y     REAL    NOT NULL DEFAULT 0 CHECK (focus_y BETWEEN -1 AND 1), -- bottom -1, top 1
    created_at  INTEGER NOT NULL,
    detached_at INTEGER -- since when it is attached to nothing; NULL: attached, or not yet seen by SweepMedia
) STRICT;
CREATE INDEX media_status ON media (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_scheduled ON media (scheduled_id, position) WHERE scheduled_id IS NOT NULL;
CREATE INDEX media_account ON media (account_id, id);
CREATE INDEX media_message ON media (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX media_detached ON media (detached_at) WHERE status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0;
CREATE UNIQUE INDEX media_mascot ON media (account_id) WHERE is_mascot = 1;
CREATE INDEX media_file ON media (file) WHERE file <> '';
CREATE INDEX media_thumbnail ON media (thumbnail) WHERE thumbnail <> '';

-- Files that are not served: remote ones by the media proxy, or uploads.
CREATE TABLE media_bans (
    id        INTEGER PRIMARY KEY,
    address   TEXT    NOT NULL UNIQUE, -- its own URL, not that of the proxy
    sha256    TEXT    NOT NULL DEFAULT '', -- of the content, hexadecimal, which cannot be uploaded; '': unknown
    banned_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_bans_sha256 ON media_bans (sha256) WHERE sha256 <> '';

-- Files in the media folder that belong to uploads and profiles. A row is added with the first of these and removed with the file.
CREATE TABLE stored_files (
    name  TEXT    PRIMARY KEY,
    class TEXT    NOT NULL CHECK (class IN ('uploads', 'profiles')), -- of its first use
    bytes INTEGER NOT NULL, -- on disk
    sha256 TEXT   NOT NULL DEFAULT '' -- of the content, hexadecimal; '': unknown
) STRICT, WITHOUT ROWID;

-- Why files are refused for lack of storage, since staff were notified.
CREATE TABLE storage_alerts (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    reason      TEXT    NOT NULL,
    notified_at INTEGER NOT NULL
) STRICT;

-- The last scheduled backups of the server.
CREATE TABLE server_backups (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    attempted_at INTEGER NOT NULL,            -- the end of the last attempt
    succeeded_at INTEGER,                     -- of the last complete one; NULL: none
    file         TEXT    NOT NULL DEFAULT '', -- of that one
    bytes        INTEGER NOT NULL DEFAULT 0,
    duration     INTEGER NOT NULL DEFAULT 0,  -- milliseconds
    damaged      INTEGER NOT NULL DEFAULT 0,  -- uploads in it that are damaged or missing
    last_error   TEXT    NOT NULL DEFAULT '', -- of the last attempt; '': it succeeded
    notified     INTEGER NOT NULL DEFAULT 0 CHECK (notified IN (0, 1)) -- staff know of the failure or the damage
) STRICT;

-- Sums of what classes of data take, counted in the transactions that change them.
CREATE TABLE storage_usage (
    class TEXT    PRIMARY KEY CHECK (class = 'uploads' OR class = 'profiles' OR class = 'remote_posts'),
    count INTEGER NOT NULL, -- files or posts
    bytes INTEGER NOT NULL  -- on disk; 0 for posts
) STRICT, WITHOUT ROWID;

CREATE TABLE favourites (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    uri        TEXT    UNIQUE, -- of the Like activity, where there is one
    pending    INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)), -- it waits for the approval of the author; not counted
    approval   TEXT    NOT NULL DEFAULT '', -- authorization by the remote author
    UNIQUE (account_id, status_id)
) STRICT;
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);
CREATE INDEX favourites_approval ON favourites (approval) WHERE approval <> '';

-- Emoji reactions. An emoji is a fully qualified unicode one, the shortcode of a local custom one, or shortcode@host of a remote one.
CREATE TABLE reactions (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    emoji      TEXT    NOT NULL,
    url        TEXT    NOT NULL, -- of the picture of a custom emoji; '' for a unicode one
    uri        TEXT    UNIQUE,   -- of the activity of a remote account
    UNIQUE (account_id, status_id, emoji)
) STRICT;
CREATE INDEX reactions_status ON reactions (status_id, emoji, id, account_id);

-- Counts of the reactions to a post, in order of the first reaction.
CREATE TABLE reaction_counts (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    emoji     TEXT    NOT NULL,
    url       TEXT    NOT NULL, -- of the first picture
    count     INTEGER NOT NULL,
    first_id  INTEGER NOT NULL, -- of the first reaction, also after it is removed
    PRIMARY KEY (status_id, emoji)
) STRICT, WITHOUT ROWID;

CREATE TABLE bookmark_folders (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    emoji      TEXT    NOT NULL -- a character, or a custom one as :shortcode:; '' for none
) STRICT;
CREATE INDEX bookmark_folders_account ON bookmark_folders (account_id, id);

CREATE TABLE bookmarks (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    folder_id  INTEGER REFERENCES bookmark_folders (id) ON DELETE SET NULL,
    UNIQUE (account_id, status_id)
) STRICT;
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);
CREATE INDEX bookmarks_folder ON bookmarks (folder_id, id) WHERE folder_id IS NOT NULL;

CREATE TABLE pins (
    status_id  INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the author
    pinned_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX pins_account ON pins (account_id, status_id);

CREATE TABLE thread_mutes (
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL,
    expires_at      INTEGER, -- NULL: no expiry
    PRIMARY KEY (account_id, conversation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_mutes_thread ON thread_mutes (conversation_id);

-- Conversations: a local account's view of a thread with direct posts.
CREATE TABLE direct_conversations (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the owner
    conversation_id INTEGER NOT NULL, -- of the thread
    last_status_id  INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE, -- the newest direct post that is addressed to the owner
    read_id         INTEGER NOT NULL, -- posts up to this one have been read
    recipients      TEXT    NOT NULL, -- JSON array of account ids in their order, the owner's among them
    UNIQUE (account_id, conversation_id)
) STRICT;
CREATE INDEX direct_conversations_thread ON direct_conversations (conversation_id, account_id);
CREATE INDEX direct_conversations_newest ON direct_conversations (account_id, last_status_id);
CREATE INDEX direct_conversations_recipients ON direct_conversations (account_id, recipients, last_status_id);
CREATE INDEX direct_conversations_unread ON direct_conversations (account_id, last_status_id, read_id) WHERE last_status_id > read_id;
CREATE INDEX direct_conversations_last ON direct_conversations (last_status_id);

-- Filters. A filter matches posts with one of its keywords, and posts in filter_statuses.
CREATE TABLE filters (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title      TEXT    NOT NULL,
    context    TEXT    NOT NULL, -- where it applies, a JSON array of names
    action     TEXT    NOT NULL CHECK (action IN ('warn', 'hide', 'blur')),
    expires_at INTEGER -- NULL: never; an expired filter is kept, but inactive
) STRICT;
CREATE INDEX filters_account ON filters (account_id, id);

CREATE TABLE filter_keywords (
    id         INTEGER PRIMARY KEY,
    filter_id  INTEGER NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    keyword    TEXT    NOT NULL,
    whole_word INTEGER NOT NULL CHECK (whole_word IN (0, 1))
) STRICT;
CREATE INDEX filter_keywords_filter ON filter_keywords (filter_id, id);

CREATE TABLE filter_statuses (
    id        INTEGER PRIMARY KEY,
    filter_id INTEGER NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (filter_id, status_id)
) STRICT;
CREATE INDEX filter_statuses_filter ON filter_statuses (filter_id, id);
CREATE INDEX filter_statuses_status ON filter_statuses (status_id);

-- Home timelines, written with the post; bounded, and rebuildable from follows.
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
    exclusive      INTEGER NOT NULL DEFAULT 0 CHECK (exclusive IN (0, 1)) -- posts of members are not in home
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

-- One side of a chat of an account with another one, or with itself. Each local side has a row.
CREATE TABLE chats (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the owner
    other_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL, -- an id that grows with each message: lists are ordered and paged by it
    updated_at INTEGER NOT NULL,
    UNIQUE (account_id, other_id)
) STRICT;
CREATE INDEX chats_order ON chats (account_id, position);
CREATE INDEX chats_other ON chats (other_id);

-- Chat messages, shared by both sides. One without copies is deleted.
CREATE TABLE chat_messages (
    id           INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the author
    recipient_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri          TEXT    NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,            -- according to the author
    content      TEXT    NOT NULL DEFAULT '', -- HTML; '': an attachment only
    emojis       TEXT                         -- custom ones in a remote message, [{"shortcode", "url"}]; NULL: local
) STRICT;
CREATE INDEX chat_messages_account ON chat_messages (account_id);
CREATE INDEX chat_messages_recipient ON chat_messages (recipient_id);

-- Each side's copy of a message, with its own id and whether it is unread.
CREATE TABLE chat_copies (
    id         INTEGER PRIMARY KEY,
    chat_id    INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
    unread     INTEGER NOT NULL CHECK (unread IN (0, 1)),
    UNIQUE (message_id, chat_id)
) STRICT;
CREATE INDEX chat_copies_chat ON chat_copies (chat_id, id);
CREATE INDEX chat_copies_unread ON chat_copies (chat_id, id) WHERE unread = 1;

-- Idempotency-Keys of sent chat messages.
CREATE TABLE chat_message_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    message_id INTEGER NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_message_keys_message ON chat_message_keys (message_id, account_id);
CREATE INDEX chat_message_keys_age ON chat_message_keys (created_at);

CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the recipient
    type       TEXT    NOT NULL, -- store.NotificationKinds
    from_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the account that caused it
    status_id  INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    message_id INTEGER REFERENCES chat_messages (id) ON DELETE CASCADE,
    detail     TEXT    NOT NULL DEFAULT '', -- the emoji of a reaction; the id of a report, of a collection item, or of the account that from_id has moved to
    read       INTEGER NOT NULL DEFAULT 0 CHECK (read IN (0, 1)),
    muted      INTEGER NOT NULL DEFAULT 0 CHECK (muted IN (0, 1)),   -- a mute was in force when it was added
    filtered   INTEGER NOT NULL DEFAULT 0 CHECK (filtered IN (0, 1)) -- held back by the recipient's policy
) STRICT;
-- The same notification is not added twice. Those of a status also go with it.
CREATE UNIQUE INDEX notifications_once ON notifications (account_id, type, from_id, detail, ifnull(message_id, 0)) WHERE status_id IS NULL;
CREATE UNIQUE INDEX notifications_status ON notifications (status_id, account_id, type, from_id, detail) WHERE status_id IS NOT NULL;
CREATE INDEX notifications_account ON notifications (account_id, id);
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read = 0;
CREATE INDEX notifications_unread_hideable ON notifications (account_id, id) WHERE read = 0 AND
    (type = 'chat_mention' OR type = 'poll' OR type = 'quote' OR type = 'report' OR type = 'status' OR type = 'update');
CREATE INDEX notifications_message ON notifications (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX notifications_from ON notifications (from_id, account_id);
CREATE INDEX notifications_groups ON notifications (account_id, type, status_id, id) WHERE type = 'favourite' OR type = 'follow' OR type = 'reblog';
CREATE INDEX notifications_filtered ON notifications (account_id, from_id, id) WHERE filtered = 1;

-- What happens to notifications caused by accounts of some kinds: accepted, filtered, dropped. Without a row all are accepted.
CREATE TABLE notification_policies (
    account_id           INTEGER PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE, -- the recipient
    for_not_following    INTEGER NOT NULL DEFAULT 0 CHECK (for_not_following BETWEEN 0 AND 1), -- dropped: users.block_from_strangers
    for_not_followers    INTEGER NOT NULL DEFAULT 0 CHECK (for_not_followers BETWEEN 0 AND 2),
    for_new_accounts     INTEGER NOT NULL DEFAULT 0 CHECK (for_new_accounts BETWEEN 0 AND 2),
    for_private_mentions INTEGER NOT NULL DEFAULT 0 CHECK (for_private_mentions BETWEEN 0 AND 2),
    for_limited_accounts INTEGER NOT NULL DEFAULT 0 CHECK (for_limited_accounts BETWEEN 0 AND 2)
) STRICT;

-- Accounts whose notifications a recipient has filtered, until the recipient accepts or dismisses them.
CREATE TABLE notification_requests (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the recipient
    from_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    UNIQUE (account_id, from_id)
) STRICT;
CREATE INDEX notification_requests_account ON notification_requests (account_id, id);
CREATE INDEX notification_requests_from ON notification_requests (from_id);

-- Accounts that the policy of a recipient does not apply to, because a request was accepted.
CREATE TABLE notification_permissions (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the recipient
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_permissions_target ON notification_permissions (target_id);

-- Scrobbles: tracks that accounts listened to.
CREATE TABLE scrobbles (
    id            INTEGER PRIMARY KEY,
    account_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    visibility    INTEGER NOT NULL CHECK (visibility BETWEEN 0 AND 4), -- as of statuses; a direct one is visible to its account only
    title         TEXT    NOT NULL,
    artist        TEXT    NOT NULL DEFAULT '',
    album         TEXT    NOT NULL DEFAULT '',
    length        INTEGER NOT NULL DEFAULT 0, -- milliseconds; 0: unknown
    external_link TEXT    NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    uri           TEXT    UNIQUE -- of the Listen activity of a remote account
) STRICT;
CREATE INDEX scrobbles_account ON scrobbles (account_id, id);

-- Reports of accounts and their posts to the staff.
CREATE TABLE reports (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the reporter
    target_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    state      TEXT    NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'resolved')),
    category   TEXT    NOT NULL CHECK (category IN ('spam', 'legal', 'violation', 'other')),
    comment    TEXT    NOT NULL,
    forwarded  INTEGER NOT NULL CHECK (forwarded IN (0, 1)), -- also to the target's server
    state_at   INTEGER, -- of the decision
    decided_by_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: nobody, or the command line
    assigned_id   INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- the moderator who looks after it
    rules         TEXT    NOT NULL DEFAULT '[]', -- ids of the broken rules, as the reporter chose them
    uri        TEXT    UNIQUE, -- of the Flag activity of a remote account
    collections TEXT NOT NULL DEFAULT '[]' -- of the target, as they were: [{id, uri, url, name, description}]
) STRICT;
CREATE INDEX reports_account ON reports (account_id, id);
CREATE INDEX reports_target ON reports (target_id, id);
CREATE INDEX reports_state ON reports (state, id);
CREATE INDEX reports_decided ON reports (state_at) WHERE state_at IS NOT NULL;
CREATE INDEX reports_decided_by ON reports (decided_by_id) WHERE decided_by_id IS NOT NULL;
CREATE INDEX reports_assigned ON reports (assigned_id) WHERE assigned_id IS NOT NULL;

-- Notes of staff on reports. The id says when it was written.
CREATE TABLE report_notes (
    id         INTEGER PRIMARY KEY,
    report_id  INTEGER NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: the command line, or an account that was removed
    content    TEXT    NOT NULL -- as typed
) STRICT;
CREATE INDEX report_notes_report ON report_notes (report_id, id);
CREATE INDEX report_notes_account ON report_notes (account_id) WHERE account_id IS NOT NULL;

-- Copies of reported posts at the time of the report.
CREATE TABLE report_statuses (
    report_id    INTEGER NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    status_id    INTEGER REFERENCES statuses (id) ON DELETE SET NULL, -- NULL: deleted
    original_status_id     INTEGER NOT NULL, -- also of a deleted status
    uri          TEXT    NOT NULL,
    spoiler_text TEXT    NOT NULL,
    content      TEXT    NOT NULL, -- HTML
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (report_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_statuses_status ON report_statuses (status_id) WHERE status_id IS NOT NULL;

-- Announcements of the staff to all local accounts.
CREATE TABLE announcements (
    id         INTEGER PRIMARY KEY,
    text       TEXT    NOT NULL, -- as typed
    content    TEXT    NOT NULL, -- HTML
    starts_at  INTEGER,          -- NULL: at once
    ends_at    INTEGER,          -- NULL: never
    all_day    INTEGER NOT NULL DEFAULT 0 CHECK (all_day IN (0, 1)),
    updated_at INTEGER NOT NULL
) STRICT;

-- Rules of the server that users agree to.
CREATE TABLE rules (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- reports name it
    priority INTEGER NOT NULL DEFAULT 0,        -- lower ones come first
    text     TEXT    NOT NULL,
    hint     TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE announcement_reads (
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (announcement_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX announcement_reads_account ON announcement_reads (account_id);

CREATE TABLE announcement_reactions (
    id              INTEGER PRIMARY KEY, -- in the order in which they were added
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    account_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    emoji           TEXT    NOT NULL, -- Unicode emoji, or the shortcode of a local one
    UNIQUE (announcement_id, emoji, account_id)
) STRICT;
CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id);

CREATE TABLE markers (
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline     TEXT    NOT NULL CHECK (timeline IN ('home', 'notifications')),
    last_read_id INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, timeline)
) STRICT, WITHOUT ROWID;

-- Idempotency-Keys and the rows that were created with them.
CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    created_id    INTEGER NOT NULL, -- of a status or scheduled status: ids are unique across tables
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- What federation stores of remote accounts beside the profile: inboxes, collections, state of fetching.
CREATE TABLE actors (
    account_id   INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    inbox        TEXT    NOT NULL,
    shared_inbox TEXT    NOT NULL DEFAULT '', -- '': none
    outbox       TEXT    NOT NULL DEFAULT '',
    followers    TEXT    NOT NULL DEFAULT '',
    following    TEXT    NOT NULL DEFAULT '',
    featured     TEXT    NOT NULL DEFAULT '',
    fetched_at   INTEGER NOT NULL, -- when the document was last fetched
    attempted_at     INTEGER NOT NULL, -- when that was last tried
    failures     INTEGER NOT NULL DEFAULT 0, -- consecutive attempts that found no account
    moved_at     INTEGER, -- of the last Move
    moved_to     TEXT    NOT NULL DEFAULT '', -- the account that it has moved to, as it says
    suspended    INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)), -- by its own server
    handle_verified_at INTEGER NOT NULL DEFAULT 0, -- when WebFinger confirmed its handle; 0: it could not be asked
    collections_fetched_at   INTEGER NOT NULL DEFAULT 0  -- when its collections were fetched
) STRICT;
CREATE INDEX actors_shared ON actors (shared_inbox);
CREATE INDEX actors_inbox ON actors (inbox);

-- Keys of local and remote accounts. An account may have several; a local one has one that is not retired.
CREATE TABLE actor_keys (
    uri        TEXT    PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    public     TEXT    NOT NULL, -- PEM, or Multikey
    private    BLOB,             -- of local accounts: PKCS 8, sealed with a key that is not in the database
    created_at INTEGER NOT NULL,
    announced  INTEGER NOT NULL DEFAULT 1 CHECK (announced IN (0, 1)), -- 0: of local accounts, the Update with this key is not queued yet
    retired_at INTEGER           -- of local accounts: no longer published or used
) STRICT;
CREATE INDEX actor_keys_account ON actor_keys (account_id);

-- Other servers: the state of deliveries, accepted signatures, software.
CREATE TABLE hosts (
    domain            TEXT    PRIMARY KEY,
    due_at            INTEGER, -- of the next delivery; NULL: none
    failures          INTEGER NOT NULL DEFAULT 0, -- consecutive
    backoff_until        INTEGER NOT NULL DEFAULT 0, -- no delivery before
    unreachable_since INTEGER,
    last_success_at   INTEGER,
    last_error        TEXT    NOT NULL DEFAULT '',
    signature         TEXT    NOT NULL DEFAULT '' -- that it accepts; '': unknown
                              CHECK (signature = '' OR signature = 'cavage' OR signature = 'rfc9421' OR signature = 'neither'),
    path_only         INTEGER NOT NULL DEFAULT 0 CHECK (path_only IN (0, 1)), -- it accepts signatures of the path without the query
    signature_at      INTEGER NOT NULL DEFAULT 0, -- when that was detected
    software          TEXT    NOT NULL DEFAULT '', -- as its NodeInfo says
    version           TEXT    NOT NULL DEFAULT '',
    checked_at        INTEGER NOT NULL DEFAULT 0, -- when that was fetched
    ed25519           TEXT    NOT NULL DEFAULT '', -- whether it accepts signatures by such keys: verifies, refuses; '': unknown
    ed25519_at        INTEGER NOT NULL DEFAULT 0 -- when that was learned
) STRICT;
CREATE INDEX hosts_due ON hosts (iif(failures > 0, 2, last_success_at IS NULL), due_at) WHERE due_at IS NOT NULL; -- by HostState
CREATE INDEX hosts_unreachable ON hosts (unreachable_since) WHERE unreachable_since IS NOT NULL;

-- Hosts that the settings restrict, or accept alone, with what the settings have no place for. The rules are in the settings.
CREATE TABLE host_blocks (
    id              INTEGER PRIMARY KEY,
    host            TEXT    NOT NULL, -- without "*."
    allow           INTEGER NOT NULL CHECK (allow IN (0, 1)), -- the list of the only accepted hosts
    private_comment TEXT    NOT NULL DEFAULT '',
    UNIQUE (host, allow)
) STRICT;
CREATE INDEX host_blocks_allow ON host_blocks (allow, id);

-- Domains of e-mail addresses with which nobody can register.
CREATE TABLE email_domain_blocks (
    id                  INTEGER PRIMARY KEY,
    domain              TEXT    NOT NULL UNIQUE,
    allow_with_approval INTEGER NOT NULL DEFAULT 0 CHECK (allow_with_approval IN (0, 1)) -- accounts only wait for approval
) STRICT;

-- Hashes of e-mail addresses with which nobody can register.
CREATE TABLE canonical_email_blocks (
    id   INTEGER PRIMARY KEY,
    hash TEXT    NOT NULL UNIQUE -- SHA-256 of the canonical address, hexadecimal
) STRICT;

-- Networks from which nobody can register or use this server.
CREATE TABLE ip_blocks (
    id         INTEGER PRIMARY KEY,
    ip         TEXT    NOT NULL UNIQUE, -- a prefix, 192.0.2.0/24
    severity   TEXT    NOT NULL CHECK (severity IN ('sign_up_requires_approval', 'sign_up_block', 'no_access')),
    comment    TEXT    NOT NULL DEFAULT '',
    expires_at INTEGER -- NULL: never
) STRICT;
CREATE INDEX ip_blocks_expiry ON ip_blocks (expires_at) WHERE expires_at IS NOT NULL;

-- Removals of everything that is stored of another server, for their progress. The job is in jobs.
CREATE TABLE instance_purges (
    domain         TEXT    PRIMARY KEY,
    requested_at   INTEGER NOT NULL,
    accounts       INTEGER NOT NULL DEFAULT 0, -- when the removal began
    statuses       INTEGER NOT NULL DEFAULT 0,
    accounts_done  INTEGER NOT NULL DEFAULT 0, -- of these
    statuses_done  INTEGER NOT NULL DEFAULT 0,
    began_at       INTEGER, -- NULL: not yet
    finished_at    INTEGER  -- NULL: not yet
) STRICT;
CREATE INDEX instance_purges_time ON instance_purges (requested_at);

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

-- Payloads of deliveries, one for all inboxes.
CREATE TABLE activities (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the sender
    status_id  INTEGER, -- dropped if this status is deleted
    body       TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX activities_account ON activities (account_id);

CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    activity_id INTEGER NOT NULL REFERENCES activities (id) ON DELETE CASCADE,
    inbox       TEXT    NOT NULL,
    domain      TEXT    NOT NULL, -- the inbox's
    priority    INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3), -- 0 is first
    subject     INTEGER NOT NULL, -- deliveries about one subject go to an inbox one after another; 0: none
    run_at      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    parked      INTEGER NOT NULL DEFAULT 0 CHECK (parked IN (0, 1)), -- after the last attempt
    last_error  TEXT    NOT NULL DEFAULT '',
    UNIQUE (activity_id, inbox)
) STRICT;
CREATE INDEX deliveries_due ON deliveries (domain, priority, id) WHERE parked = 0;
CREATE INDEX deliveries_parked ON deliveries (domain, id) WHERE parked = 1;
CREATE INDEX deliveries_time ON deliveries (domain, run_at) WHERE parked = 0;
CREATE INDEX deliveries_subject ON deliveries (subject, inbox, parked, id) WHERE subject <> 0;

-- Incoming activities that are not processed yet.
CREATE TABLE queued_activities (
    id           INTEGER PRIMARY KEY,
    signer_id    INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- of the request
    recipient_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE, -- whose inbox received it; NULL: the shared inbox
    received_at  INTEGER NOT NULL,
    run_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    parked       INTEGER NOT NULL DEFAULT 0 CHECK (parked IN (0, 1)),
    last_error   TEXT    NOT NULL DEFAULT '',
    body         TEXT    NOT NULL -- last, so that other columns are read without it
) STRICT;
CREATE INDEX queued_activities_due ON queued_activities (run_at) WHERE parked = 0;
CREATE INDEX queued_activities_parked ON queued_activities (id) WHERE parked = 1;
CREATE INDEX queued_activities_signer ON queued_activities (signer_id);
CREATE INDEX queued_activities_recipient ON queued_activities (recipient_id) WHERE recipient_id IS NOT NULL;

-- Hashes of ids of processed activities, and of objects deleted or undone before they came, so that they are not processed again.
CREATE TABLE seen_activities (
    hash    BLOB    PRIMARY KEY, -- the first half of a SHA-256
    seen_at INTEGER NOT NULL,
    source  INTEGER NOT NULL     -- of the same domain and kind (store/seen_activities.go)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_activities_time ON seen_activities (seen_at);
CREATE INDEX seen_activities_source ON seen_activities (source, seen_at);

-- Reasons of recent refusals of activities and documents, for the operator.
CREATE TABLE refusals (
    id     INTEGER PRIMARY KEY,
    uri    TEXT    NOT NULL, -- of the activity or document, or of a local post whose delivery to the domain was dropped
    object TEXT    NOT NULL, -- of the activity
    domain TEXT    NOT NULL,
    reason TEXT    NOT NULL
) STRICT;
CREATE INDEX refusals_uri ON refusals (uri);
CREATE INDEX refusals_object ON refusals (object);

-- Columns of remote posts only, but for authorization, which quotes of remote posts have.
CREATE TABLE remote_statuses (
    status_id       INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    parent_uri      TEXT    NOT NULL DEFAULT '', -- of an unknown post that it replies to
    quote_uri       TEXT    NOT NULL DEFAULT '', -- of an unknown post that it quotes
    replies_uri     TEXT    NOT NULL DEFAULT '', -- the collection of its replies
    replies_at      INTEGER NOT NULL DEFAULT 0,  -- when that was last fetched
    fetched_at      INTEGER NOT NULL DEFAULT 0,  -- when it was last fetched; 0: only delivered
    authorization   TEXT    NOT NULL DEFAULT '', -- to quote, by the quoted author
    approval        TEXT    NOT NULL DEFAULT '', -- to reply or boost, by the author of that post
    quiet           INTEGER NOT NULL DEFAULT 0 CHECK (quiet IN (0, 1)) -- stored without notifications, which its delivery makes up for
) STRICT;
CREATE INDEX remote_statuses_parent ON remote_statuses (parent_uri) WHERE parent_uri <> '';
CREATE INDEX remote_statuses_quote ON remote_statuses (quote_uri) WHERE quote_uri <> '';
CREATE INDEX remote_statuses_approval ON remote_statuses (approval) WHERE approval <> '';
CREATE INDEX remote_statuses_authorization ON remote_statuses (authorization) WHERE authorization <> '';

-- URIs of threads that began on another server.
CREATE TABLE threads (
    conversation_id INTEGER PRIMARY KEY,
    uri             TEXT    NOT NULL UNIQUE
) STRICT;

-- Posts that may quote local ones of other authors. They refer to the URIs of these rows.
CREATE TABLE quote_authorizations (
    id          INTEGER PRIMARY KEY,
    status_id   INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE, -- the quoted post
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the quoting account
    quote_uri   TEXT    NOT NULL, -- of the quoting post
    request_uri TEXT    NOT NULL, -- of the QuoteRequest of a remote post
    UNIQUE (quote_uri, status_id)
) STRICT;
CREATE INDEX quote_authorizations_account ON quote_authorizations (account_id, status_id);
CREATE INDEX quote_authorizations_status ON quote_authorizations (status_id);

-- Favourites, replies and boosts of local posts that wait for the approval of the author, and those that it authorized. Other servers refer to
-- the URIs of authorizations.
CREATE TABLE interaction_requests (
    id             INTEGER PRIMARY KEY,
    author_id      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- of the local post
    status_id      INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE, -- the local post
    account_id     INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- who interacts with it
    domain         TEXT    NOT NULL, -- of that account
    interaction    INTEGER NOT NULL CHECK (interaction BETWEEN 0 AND 2), -- favourite, reply, boost
    favourite_id   INTEGER REFERENCES favourites (id) ON DELETE CASCADE,
    interacting_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE, -- the reply or boost
    uri            TEXT    NOT NULL UNIQUE, -- of the Like, the reply or the Announce
    request_uri    TEXT    NOT NULL DEFAULT '', -- of the LikeRequest, ReplyRequest or AnnounceRequest, if there was one
    accepted_at    INTEGER -- NULL: it waits
) STRICT;
-- Without the NULLs, because of which the planner would take the keys for many.
CREATE UNIQUE INDEX interaction_requests_favourite ON interaction_requests (favourite_id) WHERE favourite_id IS NOT NULL;
CREATE UNIQUE INDEX interaction_requests_interacting ON interaction_requests (interacting_id) WHERE interacting_id IS NOT NULL;
CREATE INDEX interaction_requests_author ON interaction_requests (author_id, accepted_at, id);
CREATE INDEX interaction_requests_status ON interaction_requests (status_id);
CREATE INDEX interaction_requests_account ON interaction_requests (account_id, author_id);
CREATE INDEX interaction_requests_domain ON interaction_requests (domain, account_id) WHERE accepted_at IS NULL;
CREATE INDEX interaction_requests_pending ON interaction_requests (id) WHERE accepted_at IS NULL;

-- Collections of accounts ("starter packs", FEP-7aa9) of local accounts, and of remote ones: those that local accounts are in.
CREATE TABLE collections (
    id           INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the owner
    uri          TEXT    NOT NULL UNIQUE,
    url          TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    description  TEXT    NOT NULL, -- HTML of a remote collection, text of a local one
    language     TEXT    NOT NULL DEFAULT '',
    tag          TEXT    NOT NULL DEFAULT '', -- without #
    sensitive    INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    discoverable INTEGER NOT NULL CHECK (discoverable IN (0, 1)),
    item_count   INTEGER NOT NULL DEFAULT 0, -- of a remote collection, as its server says
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX collections_account ON collections (account_id, id);

-- Places of accounts in collections, with their consent. Other servers refer to the URIs of authorizations. A revoked item stays, so that the owner
-- cannot add the account again.
CREATE TABLE collection_items (
    id                INTEGER PRIMARY KEY,
    collection_id     INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    target_id         INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the account that is in the collection
    account_id        INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the owner of the collection
    domain            TEXT    NOT NULL, -- the registered domain of the owner; '': local
    state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3), -- store.ItemState
    request_uri       TEXT    NOT NULL, -- of the last FeatureRequest; '': none
    item_uri          TEXT    NOT NULL DEFAULT '', -- of the item of a remote collection; '': unknown
    authorization_uri TEXT    NOT NULL DEFAULT '', -- of a remote target
    UNIQUE (collection_id, target_id)
) STRICT;
CREATE INDEX collection_items_target ON collection_items (target_id, id) WHERE state = 1;
CREATE INDEX collection_items_account ON collection_items (account_id, target_id);
CREATE INDEX collection_items_domain ON collection_items (target_id, domain);
CREATE INDEX collection_items_authorization ON collection_items (authorization_uri) WHERE authorization_uri <> '';

-- Relays, which forward public activities. A LitePub relay has an actor that is followed; of other relays only the inbox is known.
CREATE TABLE relays (
    id         INTEGER PRIMARY KEY,
    address    TEXT    NOT NULL UNIQUE, -- as an admin entered it
    inbox      TEXT    NOT NULL,
    account_id INTEGER UNIQUE REFERENCES accounts (id) ON DELETE CASCADE, -- its actor; NULL: unknown or none
    litepub    INTEGER NOT NULL CHECK (litepub IN (0, 1)),
    follow_uri TEXT    NOT NULL UNIQUE, -- of the Follow that it was sent
    accepted   INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1))
) STRICT;
CREATE INDEX relays_accepted ON relays (id) WHERE accepted = 1;

-- Inboxes of remote accounts that fetched a post beyond its audience. They also receive its Delete.
CREATE TABLE status_fetchers (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    inbox     TEXT    NOT NULL,
    PRIMARY KEY (status_id, inbox)
) STRICT, WITHOUT ROWID;

-- Deleted objects, which must not be stored again and are answered with 410.
CREATE TABLE tombstones (
    uri        TEXT    PRIMARY KEY,
    deleted_at INTEGER NOT NULL,
    kind       TEXT    NOT NULL -- status, poll or message
) STRICT, WITHOUT ROWID;

-- Addresses that other software gave to local posts beside their uri, such as those of pages. Rows come from svc takeover only.
CREATE TABLE old_addresses (
    path      TEXT    PRIMARY KEY, -- /@alice/109612104811129202
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX old_addresses_status ON old_addresses (status_id);

-- Addresses that other software gave to files. Rows come from svc takeover only.
CREATE TABLE old_media (
    path   TEXT PRIMARY KEY, -- /system/media_attachments/files/109/612/original/0123456789abcdef.png
    target TEXT NOT NULL     -- a path: /media/NAME, /emoji/PACK/NAME
) STRICT, WITHOUT ROWID;

-- Addresses of accounts and posts that other software deleted; answered with 410. Rows come from svc takeover only.
CREATE TABLE dead_addresses (
    path TEXT PRIMARY KEY -- /users/alice
) STRICT, WITHOUT ROWID;

-- Nicknames of these accounts, which nobody can take.
CREATE TABLE dead_nicknames (
    nickname_key TEXT PRIMARY KEY -- case-folded
) STRICT, WITHOUT ROWID;

-- Imports of follows, blocks and the like from files. Finished ones are kept for some days, for their results.
CREATE TABLE imports (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind        TEXT    NOT NULL CHECK (kind IN ('follows', 'blocks', 'mutes', 'domain_blocks', 'lists', 'bookmarks', 'likes')),
    total       INTEGER NOT NULL, -- entries
    imported    INTEGER NOT NULL DEFAULT 0, -- of these
    skipped     INTEGER NOT NULL DEFAULT 0, -- of these
    finished_at INTEGER -- NULL: not yet
) STRICT;
CREATE INDEX imports_account ON imports (account_id, id);
CREATE INDEX imports_finished ON imports (finished_at) WHERE finished_at IS NOT NULL;

-- Entries of imports that are not imported yet, or that were skipped.
CREATE TABLE import_entries (
    import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL, -- in the file, from 1 on
    state     TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'retry', 'skipped')),
    target    TEXT    NOT NULL, -- a handle, URI or domain
    options   TEXT    NOT NULL, -- the other columns of the file, JSON
    reason    TEXT    NOT NULL DEFAULT '', -- why it was not imported
    PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_entries_state ON import_entries (import_id, state, position);

-- Archives of persons, from which posts are imported into a local account. A row stays as long as there are posts from it.
CREATE TABLE archives (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file        TEXT    NOT NULL, -- name in the folder imports, or the path that an operator named
    uploaded    INTEGER NOT NULL CHECK (uploaded IN (0, 1)), -- the file is removed when it is no longer needed
    by_staff    INTEGER NOT NULL CHECK (by_staff IN (0, 1)), -- its origin need not be an alias of the account
    public      INTEGER NOT NULL CHECK (public IN (0, 1)),   -- public posts stay public
    origin      TEXT    NOT NULL DEFAULT '', -- handle of the account that it is of
    actor_uri   TEXT    NOT NULL DEFAULT '',
    state       TEXT    NOT NULL CHECK (state IN ('uploading', 'queued', 'complete', 'failed', 'undoing', 'undone')),
    size        INTEGER NOT NULL DEFAULT 0, -- bytes of an upload
    received    INTEGER NOT NULL DEFAULT 0, -- of these
    total       INTEGER NOT NULL DEFAULT 0, -- entries of its outbox
    position    INTEGER NOT NULL DEFAULT 0, -- how many of these are processed
    imported    INTEGER NOT NULL DEFAULT 0, -- posts
    files       INTEGER NOT NULL DEFAULT 0, -- attachments
    skipped     INTEGER NOT NULL DEFAULT 0, -- posts and attachments that are left out for a reason
    error       TEXT    NOT NULL DEFAULT '',
    finished_at INTEGER, -- NULL: not yet
    emoji       INTEGER NOT NULL DEFAULT 0 CHECK (emoji IN (0, 1)) -- custom emoji of its posts are copied into a pack
) STRICT;
CREATE INDEX archives_account ON archives (account_id, id);
CREATE INDEX archives_uploading ON archives (id) WHERE state = 'uploading';

-- Posts and attachments of archives that were not imported, the first ones of each archive.
CREATE TABLE archive_skips (
    id         INTEGER PRIMARY KEY,
    archive_id INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    item       TEXT    NOT NULL, -- the id of a post, or a file
    reason     TEXT    NOT NULL
) STRICT;
CREATE INDEX archive_skips_archive ON archive_skips (archive_id, id);

-- Where imported posts are from.
CREATE TABLE imported_statuses (
    status_id    INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    archive_id   INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    original_uri TEXT    NOT NULL,
    original_url TEXT    NOT NULL, -- its page
    UNIQUE (account_id, original_uri)
) STRICT;
CREATE INDEX imported_statuses_archive ON imported_statuses (archive_id, status_id);

-- Posts of archives that their owners deleted here: another import of the archive does not bring them back.
CREATE TABLE removed_originals (
    account_id   INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    original_uri TEXT    NOT NULL,
    archive_id   INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, original_uri)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_originals_archive ON removed_originals (archive_id);

-- Backups of accounts, which their users download.
CREATE TABLE account_backups (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file       TEXT    NOT NULL UNIQUE, -- anyone with the name can download it
    state      TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'complete', 'failed')),
    size       INTEGER NOT NULL DEFAULT 0, -- bytes, once it is complete
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_error TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX account_backups_account ON account_backups (account_id, id);

-- What staff changed, for the moderation log. The id says when.
CREATE TABLE moderation_log (
    id       INTEGER PRIMARY KEY,
    actor_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: the command line, or an account that was removed
    actor    TEXT    NOT NULL, -- the nickname; '': the command line
    action   TEXT    NOT NULL,
    message  TEXT    NOT NULL, -- a sentence that begins with the actor
    data     TEXT    NOT NULL  -- the changes, a JSON object
) STRICT;
CREATE INDEX moderation_log_actor ON moderation_log (actor_id, id) WHERE actor_id IS NOT NULL;

-- Settings that administrators have changed, in the form of the admin API. Some belong to no setting of this server.
CREATE TABLE settings (
    group_name TEXT NOT NULL, -- ":svc"
    key        TEXT NOT NULL, -- ":instance"
    value      TEXT NOT NULL, -- JSON
    PRIMARY KEY (group_name, key)
) STRICT, WITHOUT ROWID;

-- Jobs: run at least once, retried with exponential backoff, parked with their error after the last attempt.
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL,
    payload    TEXT    NOT NULL, -- JSON
    unique_key TEXT    UNIQUE,   -- at most one queued job has a key
    domain     TEXT    NOT NULL DEFAULT '', -- registered domain of the server that the job waits for or that has caused it; '': it waits for none
    run_at     INTEGER NOT NULL,
    delayed    INTEGER NOT NULL DEFAULT 0 CHECK (delayed IN (0, 1)), -- it was queued for a later time
    attempts   INTEGER NOT NULL DEFAULT 0,
    parked     INTEGER NOT NULL DEFAULT 0 CHECK (parked IN (0, 1)),
    last_error TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX jobs_due ON jobs (domain, run_at) WHERE parked = 0;
CREATE INDEX jobs_remote ON jobs (run_at) WHERE parked = 0 AND domain <> '';

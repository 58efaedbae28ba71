-- The scratch database of a takeover: the rows of the source in one form for all kinds of software. Ids are those of the source, as text; times are
-- Unix milliseconds, 0 if unknown; booleans are 0 and 1; the domain of a local account is ''.

CREATE TABLE accounts (
    id TEXT PRIMARY KEY, username TEXT NOT NULL, domain TEXT NOT NULL, uri TEXT NOT NULL, url TEXT NOT NULL, type TEXT NOT NULL,
    display_name TEXT NOT NULL, note TEXT NOT NULL, fields TEXT NOT NULL, note_source TEXT NOT NULL, fields_source TEXT NOT NULL,
    locked INTEGER NOT NULL, discoverable INTEGER NOT NULL, indexable INTEGER, hide_collections INTEGER NOT NULL, created_at INTEGER NOT NULL,
    avatar TEXT NOT NULL, header TEXT NOT NULL, -- ids of media
    also_known_as TEXT NOT NULL, moved_to TEXT NOT NULL, moved_to_uri TEXT NOT NULL,
    inbox TEXT NOT NULL, shared_inbox TEXT NOT NULL, outbox TEXT NOT NULL, followers TEXT NOT NULL, following TEXT NOT NULL, featured TEXT NOT NULL,
    public_key TEXT NOT NULL, private_key BLOB, key_uri TEXT NOT NULL, -- PEM, PKCS 8
    suspended INTEGER NOT NULL, limited INTEGER NOT NULL, memorial INTEGER NOT NULL,
    system INTEGER NOT NULL, -- the account of the server itself
    kept INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    account TEXT PRIMARY KEY, id TEXT NOT NULL, email TEXT NOT NULL, pending_email TEXT NOT NULL, password TEXT NOT NULL, confirmed_at INTEGER NOT NULL,
    approved INTEGER NOT NULL, disabled INTEGER NOT NULL, admin INTEGER NOT NULL, moderator INTEGER NOT NULL,
    totp_secret TEXT NOT NULL, totp_lost INTEGER NOT NULL, -- there is a second factor whose secret cannot be read
    reason TEXT NOT NULL, locale TEXT NOT NULL, last_active_at INTEGER NOT NULL, created_at INTEGER NOT NULL, role TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE roles (id TEXT PRIMARY KEY, admin INTEGER NOT NULL, moderator INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE preferences (account TEXT PRIMARY KEY, visibility INTEGER NOT NULL, sensitive INTEGER NOT NULL, language TEXT NOT NULL, hide_collections INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE follows (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL, pending INTEGER NOT NULL,
    reblogs INTEGER NOT NULL, notify INTEGER NOT NULL, uri TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE blocks (n INTEGER PRIMARY KEY, account TEXT NOT NULL, target TEXT NOT NULL, uri TEXT NOT NULL) STRICT;
CREATE TABLE mutes (n INTEGER PRIMARY KEY, account TEXT NOT NULL, target TEXT NOT NULL, notifications INTEGER NOT NULL, expires_at INTEGER NOT NULL) STRICT;
CREATE TABLE domain_blocks (n INTEGER PRIMARY KEY, account TEXT NOT NULL, domain TEXT NOT NULL) STRICT;
CREATE TABLE notes (n INTEGER PRIMARY KEY, account TEXT NOT NULL, target TEXT NOT NULL, comment TEXT NOT NULL) STRICT;

CREATE TABLE posts (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, uri TEXT NOT NULL, url TEXT NOT NULL, created_at INTEGER NOT NULL, edited_at INTEGER NOT NULL,
    visibility INTEGER NOT NULL, reply_to TEXT NOT NULL, reply_to_account TEXT NOT NULL, boost_of TEXT NOT NULL, thread TEXT NOT NULL,
    content TEXT NOT NULL, text TEXT NOT NULL, content_type TEXT NOT NULL, spoiler_text TEXT NOT NULL, sensitive INTEGER NOT NULL, language TEXT NOT NULL,
    poll TEXT NOT NULL, app TEXT NOT NULL, waiting INTEGER NOT NULL, -- for approval
    kept INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE attachments (post TEXT NOT NULL, position INTEGER NOT NULL, media TEXT NOT NULL, PRIMARY KEY (post, position)) STRICT, WITHOUT ROWID;
CREATE TABLE loose_attachments (post TEXT NOT NULL, media TEXT NOT NULL, PRIMARY KEY (post, media)) STRICT, WITHOUT ROWID; -- of posts without an order
CREATE TABLE tags (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE post_tags (n INTEGER PRIMARY KEY, post TEXT NOT NULL, tag TEXT NOT NULL) STRICT;
CREATE TABLE mentions (n INTEGER PRIMARY KEY, post TEXT NOT NULL, account TEXT NOT NULL, silent INTEGER NOT NULL) STRICT;
CREATE TABLE edits (
    n INTEGER PRIMARY KEY, post TEXT NOT NULL, created_at INTEGER NOT NULL, content TEXT NOT NULL, text TEXT NOT NULL, content_type TEXT NOT NULL,
    spoiler_text TEXT NOT NULL, sensitive INTEGER NOT NULL, media TEXT NOT NULL, descriptions TEXT NOT NULL, poll TEXT NOT NULL
) STRICT;
CREATE TABLE polls (
    id TEXT PRIMARY KEY, post TEXT NOT NULL, multiple INTEGER NOT NULL, hide_totals INTEGER NOT NULL, options TEXT NOT NULL, votes TEXT NOT NULL,
    voters INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE votes (n INTEGER PRIMARY KEY, poll TEXT NOT NULL, account TEXT NOT NULL, choice INTEGER NOT NULL) STRICT;
CREATE TABLE media (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, type TEXT NOT NULL, mime TEXT NOT NULL, path TEXT NOT NULL, thumbnail_path TEXT NOT NULL,
    address TEXT NOT NULL, thumbnail_address TEXT NOT NULL, -- paths on the old server
    remote_url TEXT NOT NULL, description TEXT NOT NULL, blurhash TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    focus_x REAL NOT NULL, focus_y REAL NOT NULL, created_at INTEGER NOT NULL, cached INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE favourites (n INTEGER PRIMARY KEY, account TEXT NOT NULL, post TEXT NOT NULL, uri TEXT NOT NULL, waiting INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE reactions (n INTEGER PRIMARY KEY, account TEXT NOT NULL, post TEXT NOT NULL, emoji TEXT NOT NULL, url TEXT NOT NULL, uri TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE bookmarks (n INTEGER PRIMARY KEY, account TEXT NOT NULL, post TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE pins (n INTEGER PRIMARY KEY, account TEXT NOT NULL, post TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE thread_mutes (n INTEGER PRIMARY KEY, account TEXT NOT NULL, thread TEXT NOT NULL) STRICT;
CREATE TABLE read_threads (account TEXT NOT NULL, thread TEXT NOT NULL, PRIMARY KEY (account, thread)) STRICT, WITHOUT ROWID;
CREATE TABLE tag_follows (n INTEGER PRIMARY KEY, account TEXT NOT NULL, tag TEXT NOT NULL) STRICT;
CREATE TABLE featured_tags (n INTEGER PRIMARY KEY, account TEXT NOT NULL, tag TEXT NOT NULL) STRICT;
CREATE TABLE endorsements (n INTEGER PRIMARY KEY, account TEXT NOT NULL, target TEXT NOT NULL) STRICT;
CREATE TABLE lists (id TEXT PRIMARY KEY, account TEXT NOT NULL, title TEXT NOT NULL, replies TEXT NOT NULL, exclusive INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE list_members (n INTEGER PRIMARY KEY, list TEXT NOT NULL, account TEXT NOT NULL, follow TEXT NOT NULL) STRICT; -- the account, or the follow of it
CREATE TABLE filters (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, title TEXT NOT NULL, contexts TEXT NOT NULL, action TEXT NOT NULL, expires_at INTEGER NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE filter_keywords (n INTEGER PRIMARY KEY, filter TEXT NOT NULL, keyword TEXT NOT NULL, whole_word INTEGER NOT NULL) STRICT;
CREATE TABLE filter_posts (n INTEGER PRIMARY KEY, filter TEXT NOT NULL, post TEXT NOT NULL) STRICT;
CREATE TABLE markers (n INTEGER PRIMARY KEY, account TEXT NOT NULL, timeline TEXT NOT NULL, post TEXT NOT NULL, at INTEGER NOT NULL, version INTEGER NOT NULL) STRICT;

-- Sides of chats, which only local accounts have; messages, whose ids are their addresses; and the copies that sides have of messages.
CREATE TABLE chats (id TEXT PRIMARY KEY, account TEXT NOT NULL, other TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE chat_messages (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, recipient TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL, media TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE chat_copies (n INTEGER PRIMARY KEY, chat TEXT NOT NULL, message TEXT NOT NULL, unread INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;

CREATE TABLE apps (
    id TEXT PRIMARY KEY, client_id TEXT NOT NULL, secret TEXT NOT NULL, name TEXT NOT NULL, website TEXT NOT NULL, redirect_uris TEXT NOT NULL,
    scopes TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    n INTEGER PRIMARY KEY, app TEXT NOT NULL, by_client_id INTEGER NOT NULL, user TEXT NOT NULL, access TEXT NOT NULL, refresh TEXT NOT NULL, scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE reports (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, target TEXT NOT NULL, comment TEXT NOT NULL, category TEXT NOT NULL, forwarded INTEGER NOT NULL,
    decided_at INTEGER NOT NULL, decided_by TEXT NOT NULL, assigned TEXT NOT NULL, posts TEXT NOT NULL, rules TEXT NOT NULL, uri TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE report_notes (n INTEGER PRIMARY KEY, report TEXT NOT NULL, account TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE rules (id TEXT PRIMARY KEY, text TEXT NOT NULL, hint TEXT NOT NULL, priority INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE announcements (
    id TEXT PRIMARY KEY, text TEXT NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, all_day INTEGER NOT NULL, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE invites (n INTEGER PRIMARY KEY, token TEXT NOT NULL, max_use INTEGER NOT NULL, uses INTEGER NOT NULL, expires_at INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE emoji (id TEXT PRIMARY KEY, shortcode TEXT NOT NULL, domain TEXT NOT NULL, path TEXT NOT NULL, url TEXT NOT NULL, category TEXT NOT NULL, disabled INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE server_blocks (n INTEGER PRIMARY KEY, domain TEXT NOT NULL, severity TEXT NOT NULL, reject_media INTEGER NOT NULL, reject_reports INTEGER NOT NULL, comment TEXT NOT NULL, private_comment TEXT NOT NULL) STRICT;
CREATE TABLE email_blocks (n INTEGER PRIMARY KEY, domain TEXT NOT NULL) STRICT;
CREATE TABLE tombstones (uri TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pages (n INTEGER PRIMARY KEY, post TEXT NOT NULL, address TEXT NOT NULL) STRICT; -- further addresses of local posts

-- What Pleroma stores in another way. Its tables name accounts and posts by ids, its documents by addresses, which are the ids of the tables above.
CREATE TABLE pleroma_users (id TEXT PRIMARY KEY, uri TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pleroma_keys (user TEXT PRIMARY KEY, public_key TEXT NOT NULL, private_key BLOB, uri TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pleroma_relationships (n INTEGER PRIMARY KEY, type INTEGER NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
CREATE TABLE pleroma_activities (n INTEGER PRIMARY KEY, type TEXT NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL, uri TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE pleroma_creates (id TEXT PRIMARY KEY, account TEXT NOT NULL, post TEXT NOT NULL, uri TEXT NOT NULL, page TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pleroma_chat_messages (id TEXT PRIMARY KEY, message TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pleroma_answers (n INTEGER PRIMARY KEY, poll TEXT NOT NULL, account TEXT NOT NULL, option TEXT NOT NULL) STRICT;
CREATE TABLE pleroma_conversations (id TEXT PRIMARY KEY, thread TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Where things are in the new database: ids of rows, by kind.
CREATE TABLE ids (kind TEXT NOT NULL, source TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (kind, source)) STRICT, WITHOUT ROWID;
-- What is left out, for the report.
CREATE TABLE left_out (kind TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL, chosen INTEGER NOT NULL, PRIMARY KEY (kind, reason)) STRICT, WITHOUT ROWID;

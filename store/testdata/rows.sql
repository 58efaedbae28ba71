-- A row of each table of schema.sql, in which each column has another value than its default where it may. The next version-N.sql contains them:
-- add the rows of a new table, and the values of a new column, before it is written (CONTRIBUTING.md, "A table").

INSERT INTO meta (id, worker, last_id, created_at, server_url, keys_hash, server_host)
VALUES (1, 1002, 1003, 1700000000004, 'server url of meta', x'060000ff', 'server host of meta');
INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, actor_type, display_name, note, fields, avatar, avatar_static, header, header_static, background, locked, discoverable, indexable, hide_favorites, hide_followers, hide_follows, hide_followers_count, hide_follows_count, accepts_chat_messages, birthday, show_birthday, also_known_as, moved_to_id, tags, emojis, followers_count, following_count, statuses_count, last_status_at, created_at, unavailable, deleted_at, suspended_at, rejected, max_visibility, limiting, suggested, feature_policy, attribution_domains, avatar_description, header_description, hide_media, hide_media_replies, hide_featured, feature_approval)
VALUES (1, 'Alice', 'alice', '', 'https://svc.example/users/Alice', 'https://svc.example/@Alice', 'Person', 'display name of accounts', 'It''s <b>größer</b> -- no comment; /* nor this */', '[{"name":"a","value":"b","verified_at":null}]', 'avatar of accounts', 'avatar static of accounts', 'header of accounts', 'header static of accounts', 'background of accounts', 1, 1, 1, 0, 1, 1, 1, 1, 1, '2000-12-31', 1, '["https://old.example/users/alice"]', NULL, '["mrf_tag:media-strip"]', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 1038, 1039, 1040, 1700000000041, 1700000000042, 0, NULL, NULL, 0, 3, 1, 1, 3, '["blog.example"]', 'avatar description of accounts', 'header description of accounts', 1, 1, 1, 3);
INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, actor_type, display_name, note, fields, avatar, avatar_static, header, header_static, background, locked, discoverable, indexable, hide_favorites, hide_followers, hide_follows, hide_followers_count, hide_follows_count, accepts_chat_messages, birthday, show_birthday, also_known_as, moved_to_id, tags, emojis, followers_count, following_count, statuses_count, last_status_at, created_at, unavailable, deleted_at, suspended_at, rejected, max_visibility, limiting, suggested, feature_policy, attribution_domains, avatar_description, header_description, hide_media, hide_media_replies, hide_featured, feature_approval)
VALUES (2, 'bob', 'bob', 'remote.example', 'https://remote.example/users/bob', 'https://remote.example/@bob', 'Service', 'display name of accounts', 'It''s <b>größer</b> -- no comment; /* nor this */', '[{"name":"a","value":"b","verified_at":null}]', 'avatar of accounts', 'avatar static of accounts', 'header of accounts', 'header static of accounts', 'background of accounts', 1, 1, 1, 0, 1, 1, 1, 1, 1, '2000-12-31', 1, '["https://old.example/users/alice"]', 1, '["mrf_tag:media-strip"]', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 1038, 1039, 1040, 1700000000041, 1700000000042, 1, 1700000000044, 1700000000045, 1, 3, 1, 1, 2, '["blog.example"]', 'avatar description of accounts', 'header description of accounts', 1, 1, 1, 5);
INSERT INTO accounts_fts (rowid, nickname, display_name) VALUES (1, 'nickname words', 'display_name words');
INSERT INTO link_checks (account_id, due_at)
VALUES (1, 1700000000050);
INSERT INTO users (account_id, email, email_key, pending_email, password_hash, is_admin, is_moderator, confirmed_at, approved_at, deactivated_at, reset_required, registration_reason, locale, note, fields, default_visibility, default_sensitive, default_language, default_quote_policy, default_interaction_policies, no_rich_text, show_role, skip_thread_containment, allow_following_move, block_from_strangers, hide_notification_contents, totp_secret, totp_pending, totp_step, last_active_at)
VALUES (1, 'email of users', 'email key of users', 'pending email of users', 'password hash of users', 1, 1, 1700000000057, 1700000000058, 1700000000059, 1, 'registration reason of users', 'locale of users', 'note of users', '[{"name":"a","value":"b"}]', 4, 1, 'default language of users', 2, '{"public":3}', 1, 0, 1, 0, 1, 1, 'totp secret of users', 'totp pending of users', 1079, 1700000000080);
INSERT INTO frontend_settings (account_id, name, settings)
VALUES (1, 'fe', '{"a":1}');
INSERT INTO active_weeks (week, users)
VALUES (1, 1082);
INSERT INTO one_time_tokens (hash, kind, account_id, expires_at)
VALUES (x'530000ff', 'change', 1, 1700000000086);
INSERT INTO invites (id, token, expires_on, max_use, uses, used, created_at)
VALUES (1, 'token of invites', 'expires on of invites', 5, 1091, 1, 1700000000093);
INSERT INTO used_captchas (hash, expires_at)
VALUES (x'5e0000ff', 1700000000095);
INSERT INTO sign_in_networks (account_id, hash, seen_at)
VALUES (1, x'610000ff', 1700000000098);
INSERT INTO backup_codes (account_id, hash)
VALUES (1, x'640000ff');
INSERT INTO mfa_challenges (hash, account_id, app_id, purpose, failures, expires_at)
VALUES (x'650000ff', 1, 1, 'purpose of mfa challenges', 1105, 1700000000106);
INSERT INTO oauth_apps (id, client_id, client_secret, name, website, redirect_uris, scopes, trusted, owner_id, created_at)
VALUES (1, 'client id of oauth apps', 'client secret of oauth apps', 'name of oauth apps', 'website of oauth apps', 'redirect uris of oauth apps', 'scopes of oauth apps', 1, 1, 1700000000116);
INSERT INTO oauth_codes (hash, app_id, account_id, redirect_uri, redirect_given, scopes, code_challenge, expires_at, token_id)
VALUES (x'750000ff', 1, 1, 'redirect uri of oauth codes', 1, 'scopes of oauth codes', 'code challenge of oauth codes', 1700000000124, 1);
INSERT INTO oauth_tokens (id, hash, refresh_hash, app_id, account_id, scopes, created_at, last_used_at, expires_at)
VALUES (1, x'7f0000ff', x'800000ff', 1, 1, 'scopes of oauth tokens', 1700000000132, 1700000000133, 1700000000134);
INSERT INTO push_subscriptions (id, token_id, account_id, endpoint, p256dh, auth, token, alerts, policy, standard)
VALUES (1, 1, 1, 'endpoint of push subscriptions', x'8b0000ff', x'8c0000ff', x'8d0000ff', 'alerts of push subscriptions', 'none', 1);
INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs, languages, uri)
VALUES (1, 1, 1, 1, 0, 0, '["de"]', 'uri of follows');
INSERT INTO subscriptions (account_id, target_id)
VALUES (1, 1);
INSERT INTO endorsements (account_id, target_id)
VALUES (1, 1);
INSERT INTO blocks (account_id, target_id, uri)
VALUES (1, 1, 'uri of blocks');
INSERT INTO mutes (account_id, target_id, hide_notifications, expires_at)
VALUES (1, 1, 0, 1700000000163);
INSERT INTO domain_blocks (account_id, domain)
VALUES (1, 'domain of domain blocks');
INSERT INTO account_notes (account_id, target_id, comment)
VALUES (1, 1, 'comment of account notes');
INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, in_reply_to_id, in_reply_to_account_id, domain, has_media, has_poll, sensitive, replies_count, reblogs_count, favourites_count, quotes_count, quote_of_id, quote_state, quote_policy, interaction_policy, pending_visibility, card_id, list_id, addressed, app_id, created_at, edited_at, expires_at, language, content_type, emojis, uri, url, spoiler_text, text, content, unfederated)
VALUES (1, 1, 1, 1, 1173, 1, 1, 'domain of statuses', 1, 1, 1, 1180, 1181, 1182, 1183, 1, 3, 2, 1187, 5, 1, 1, 1, 1, 1700000000193, 1700000000194, 1700000000195, 'language of statuses', 'content type of statuses', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 'uri of statuses', 'url of statuses', 'spoiler text of statuses', 'text of statuses', 'content of statuses', 1);
INSERT INTO limited_statuses (status_id, visibility)
VALUES (1, 1);
INSERT INTO status_counts (domain, visibility, count)
VALUES ('domain of status counts', 1, 1208);
INSERT INTO statuses_fts (rowid, body, facets) VALUES (1, 'body words', 'facets words');
INSERT INTO cards (id, url, card, fetched_at)
VALUES (1, 'url of cards', 'card of cards', 1700000000212);
INSERT INTO status_edits (id, status_id, created_at, sensitive, spoiler_text, text, content, content_type, media, poll)
VALUES (1, 1, 1700000000215, 1, 'spoiler text of status edits', 'text of status edits', 'content of status edits', 'content type of status edits', 'media of status edits', '["yes","no"]');
INSERT INTO polls (id, status_id, multiple, hide_totals, expires_at, closed, voters_count, fetched_at, options)
VALUES (1, 1, 1, 1, 1700000000227, 1, 1229, 1700000000230, 'options of polls');
INSERT INTO poll_votes (poll_id, account_id, choice)
VALUES (1, 1, 1);
INSERT INTO scheduled_statuses (id, account_id, app_id, scheduled_at, draft)
VALUES (1, 1, 1, 1700000000238, 'draft of scheduled statuses');
INSERT INTO recipients (status_id, account_id, position, mentioned, direct)
VALUES (1, 1, 1242, 1, 1);
INSERT INTO tags (id, name, key)
VALUES (1, 'name of tags', 'name of tags');
INSERT INTO status_tags (tag_id, status_id, position, visibility, name)
VALUES (1, 1, 1249, 1250, 'name of status tags');
INSERT INTO tag_follows (id, account_id, tag_id)
VALUES (1, 1, 1);
INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
VALUES (1, 1, 1256, 1257);
INSERT INTO featured_tags (id, account_id, tag_id)
VALUES (1, 1, 1);
INSERT INTO media (id, account_id, status_id, message_id, scheduled_id, position, is_mascot, type, mime, file, thumbnail, remote_url, preview_url, description, size, width, height, preview_width, preview_height, duration, frame_rate, blurhash, focus_x, focus_y, created_at, detached_at)
VALUES (1, 1, 1, 1, 1, 1266, 1, 'unknown', 'mime of media', 'file of media', 'thumbnail of media', 'remote url of media', 'preview url of media', 'description of media', 1275, 1276, 1277, 1278, 1279, 1280, 0.5, 'blurhash of media', 0.5, 0.5, 1700000000285, 1700000000286);
INSERT INTO media_bans (id, address, sha256, banned_at)
VALUES (1, 'address of media bans', 'sha256 of media bans', 1700000000290);
INSERT INTO stored_files (name, class, bytes, sha256)
VALUES ('name of stored files', 'profiles', 1293, 'sha256 of stored files');
INSERT INTO storage_alerts (id, reason, notified_at)
VALUES (1, 'reason of storage alerts', 1700000000296);
INSERT INTO server_backups (id, attempted_at, succeeded_at, file, bytes, duration, damaged, last_error, notified)
VALUES (1, 1700000000298, 1700000000299, 'file of server backups', 1301, 1302, 1303, 'last error of server backups', 1);
INSERT INTO storage_usage (class, count, bytes)
VALUES ('remote_posts', 1307, 1308);
INSERT INTO favourites (id, account_id, status_id, uri, pending, approval)
VALUES (1, 1, 1, 'uri of favourites', 1, 'approval of favourites');
INSERT INTO reactions (id, account_id, status_id, emoji, url, uri)
VALUES (1, 1, 1, 'emoji of reactions', 'url of reactions', 'uri of reactions');
INSERT INTO reaction_counts (status_id, emoji, url, count, first_id)
VALUES (1, 'emoji of reaction counts', 'url of reaction counts', 1324, 1325);
INSERT INTO bookmark_folders (id, account_id, name, emoji)
VALUES (1, 1, 'name of bookmark folders', 'emoji of bookmark folders');
INSERT INTO bookmarks (id, account_id, status_id, folder_id)
VALUES (1, 1, 1, 1);
INSERT INTO pins (status_id, account_id, pinned_at)
VALUES (1, 1, 1700000000336);
INSERT INTO thread_mutes (account_id, conversation_id, expires_at)
VALUES (1, 1, 1700000000339);
INSERT INTO direct_conversations (id, account_id, conversation_id, last_status_id, read_id, recipients)
VALUES (1, 1, 1342, 1, 1344, 'recipients of direct conversations');
INSERT INTO filters (id, account_id, title, context, action, expires_at)
VALUES (1, 1, 'title of filters', 'context of filters', 'blur', 1700000000351);
INSERT INTO filter_keywords (id, filter_id, keyword, whole_word)
VALUES (1, 1, 'keyword of filter keywords', 1);
INSERT INTO filter_statuses (id, filter_id, status_id)
VALUES (1, 1, 1);
INSERT INTO home (account_id, status_id)
VALUES (1, 1);
INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
VALUES (1, 1, 'title of lists', 'none', 1);
INSERT INTO list_members (list_id, account_id)
VALUES (1, 1);
INSERT INTO list_timeline (list_id, status_id)
VALUES (1, 1);
INSERT INTO chats (id, account_id, other_id, position, updated_at)
VALUES (1, 1, 1, 1373, 1700000000374);
INSERT INTO chat_messages (id, account_id, recipient_id, uri, created_at, content, emojis)
VALUES (1, 1, 1, 'uri of chat messages', 1700000000379, 'content of chat messages', 'emojis of chat messages');
INSERT INTO chat_copies (id, chat_id, message_id, unread)
VALUES (1, 1, 1, 1);
INSERT INTO chat_message_keys (account_id, key, message_id, created_at)
VALUES (1, 'key of chat message keys', 1, 1700000000389);
INSERT INTO notifications (id, account_id, type, from_id, status_id, message_id, detail, read, muted, filtered)
VALUES (1, 1, 'pending.reblog', 1, 1, 1, 'detail of notifications', 1, 1, 1);
INSERT INTO notification_policies (account_id, for_not_following, for_not_followers, for_new_accounts, for_private_mentions, for_limited_accounts)
VALUES (1, 1, 2, 2, 2, 2);
INSERT INTO notification_requests (id, account_id, from_id)
VALUES (1, 1, 1);
INSERT INTO notification_permissions (account_id, target_id)
VALUES (1, 1);
INSERT INTO scrobbles (id, account_id, visibility, title, artist, album, length, external_link, created_at, uri)
VALUES (1, 1, 4, 'title of scrobbles', 'artist of scrobbles', 'album of scrobbles', 1417, 'external link of scrobbles', 1700000000419, 'uri of scrobbles');
INSERT INTO reports (id, account_id, target_id, state, category, comment, forwarded, state_at, decided_by_id, assigned_id, rules, uri, collections)
VALUES (1, 1, 1, 'resolved', 'other', 'comment of reports', 1, 1700000000428, 1, 1, '["be kind"]', 'uri of reports', '[{"id":"","uri":"","url":"","name":"a","description":"b"}]');
INSERT INTO report_notes (id, report_id, account_id, content)
VALUES (1, 1, 1, 'content of report notes');
INSERT INTO report_statuses (report_id, position, status_id, original_status_id, uri, spoiler_text, content, created_at)
VALUES (1, 1, 1, 1440, 'uri of report statuses', 'spoiler text of report statuses', 'content of report statuses', 1700000000444);
INSERT INTO announcements (id, text, content, starts_at, ends_at, all_day, updated_at)
VALUES (1, 'text of announcements', 'content of announcements', 1700000000448, 1700000000449, 1, 1700000000451);
INSERT INTO rules (id, priority, text, hint)
VALUES (1, 1453, 'text of rules', 'hint of rules');
INSERT INTO announcement_reads (announcement_id, account_id)
VALUES (1, 1);
INSERT INTO announcement_reactions (id, announcement_id, account_id, emoji)
VALUES (1, 1, 1, 'emoji of announcement_reactions');
INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at)
VALUES (1, 'notifications', 1460, 1461, 1700000000462);
INSERT INTO idempotency_keys (account_id, key, created_id, created_at)
VALUES (1, 'key of idempotency keys', 1465, 1700000000466);
INSERT INTO actors (account_id, inbox, shared_inbox, outbox, followers, following, featured, fetched_at, attempted_at, failures, moved_at, moved_to, suspended, handle_verified_at, collections_fetched_at)
VALUES (1, 'inbox of actors', 'shared inbox of actors', 'outbox of actors', 'followers of actors', 'following of actors', 'featured of actors', 1700000000474, 1700000000475, 1476, 1700000000477, 'moved to of actors', 1, 1700000000480, 1700000000481);
INSERT INTO actor_keys (uri, account_id, public, private, created_at, announced, retired_at)
VALUES ('uri of actor keys', 1, 'public of actor keys', x'e50100ff', 1700000000486, 0, 1700000000488);
INSERT INTO hosts (domain, due_at, failures, backoff_until, unreachable_since, last_success_at, last_error, signature, path_only, signature_at, software, version, checked_at, ed25519, ed25519_at)
VALUES ('domain of hosts', 1700000000490, 1491, 1492, 1493, 1700000000494, 'last error of hosts', 'neither', 1, 1700000000498, 'software of hosts', 'version of hosts', 1700000000501, 'ed25519 of hosts', 1700000000502);
INSERT INTO host_blocks (id, host, allow, private_comment)
VALUES (1, 'host of host blocks', 1, 'private comment of host blocks');
INSERT INTO email_domain_blocks (id, domain, allow_with_approval)
VALUES (1, 'domain of email domain blocks', 1);
INSERT INTO canonical_email_blocks (id, hash)
VALUES (1, 'hash of canonical email blocks');
INSERT INTO ip_blocks (id, ip, severity, comment, expires_at)
VALUES (1, 'ip of ip blocks', 'no_access', 'comment of ip blocks', 1700000000515);
INSERT INTO instance_purges (domain, requested_at, accounts, statuses, accounts_done, statuses_done, began_at, finished_at)
VALUES ('domain of instance purges', 1700000000517, 1518, 1519, 1520, 1521, 1700000000522, 1700000000523);
INSERT INTO server_closure (id, began_at, accounts, last_position, listed_at, finished_at)
VALUES (1, 1700000000501, 1502, 1503, 1700000000504, 1700000000505);
INSERT INTO server_closure_inboxes (domain, inbox, position, queued)
VALUES ('domain of server closure inboxes', 'inbox of server closure inboxes', 1506, 1507);
INSERT INTO activities (id, account_id, status_id, body)
VALUES (1, 1, 1526, 'body of activities');
INSERT INTO deliveries (id, activity_id, inbox, domain, priority, subject, run_at, attempts, parked, last_error)
VALUES (1, 1, 'inbox of deliveries', 'domain of deliveries', 3, 1533, 1700000000534, 1535, 1, 'last error of deliveries');
INSERT INTO queued_activities (id, signer_id, recipient_id, received_at, run_at, attempts, parked, last_error, body)
VALUES (1, 1, 1, 1700000000541, 1700000000542, 1543, 1, 'last error of queued activities', 'body of queued activities');
INSERT INTO seen_activities (hash, seen_at, source)
VALUES (x'230200ff', 1700000000548, 1549);
INSERT INTO refusals (id, uri, object, domain, reason)
VALUES (1, 'uri of refusals', 'object of refusals', 'domain of refusals', 'reason of refusals');
INSERT INTO remote_statuses (status_id, parent_uri, quote_uri, replies_uri, replies_at, fetched_at, authorization, approval, quiet)
VALUES (1, 'parent uri of remote statuses', 'quote uri of remote statuses', 'replies uri of remote statuses', 1700000000559, 1700000000560, 'authorization of remote statuses', 'approval of remote statuses', 1);
INSERT INTO threads (conversation_id, uri)
VALUES (1, 'uri of threads');
INSERT INTO quote_authorizations (id, status_id, account_id, quote_uri, request_uri)
VALUES (1, 1, 1, 'quote uri of quote authorizations', 'request uri of quote authorizations');
INSERT INTO interaction_requests (id, author_id, status_id, account_id, domain, interaction, favourite_id, interacting_id, uri, request_uri, accepted_at)
VALUES (1, 1, 1, 1, 'domain of interaction requests', 2, 1, 1, 'uri of interaction requests', 'request uri of interaction requests', 1700000000580);
INSERT INTO collections (id, account_id, uri, url, name, description, language, tag, sensitive, discoverable, item_count, updated_at)
VALUES (1, 2, 'uri of collections', 'url of collections', 'name of collections', 'description of collections', 'language of collections', 'tag of collections', 1, 1, 1601, 1700000000602);
INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri, item_uri, authorization_uri)
VALUES (1, 1, 1, 2, 'domain of collection items', 3, 'request uri of collection items', 'item uri of collection items', 'authorization uri of collection items');
INSERT INTO relays (id, address, inbox, account_id, litepub, follow_uri, accepted)
VALUES (1, 'address of relays', 'inbox of relays', 1, 1, 'follow uri of relays', 1);
INSERT INTO status_fetchers (status_id, inbox)
VALUES (1, 'inbox of status fetchers');
INSERT INTO tombstones (uri, deleted_at, kind)
VALUES ('uri of tombstones', 1700000000591, 'kind of tombstones');
INSERT INTO old_addresses (path, status_id)
VALUES ('path of old addresses', 1);
INSERT INTO old_media (path, target)
VALUES ('path of old media', 'target of old media');
INSERT INTO dead_addresses (path)
VALUES ('path of dead addresses');
INSERT INTO dead_nicknames (nickname_key)
VALUES ('nickname key of dead nicknames');
INSERT INTO imports (id, account_id, kind, total, imported, skipped, finished_at)
VALUES (1, 1, 'bookmarks', 1596, 1597, 1598, 1700000000599);
INSERT INTO import_entries (import_id, position, state, target, options, reason)
VALUES (1, 1, 'skipped', 'target of import entries', 'options of import entries', 'reason of import entries');
INSERT INTO archives (id, account_id, file, uploaded, by_staff, public, origin, actor_uri, state, size, received, total, position, imported, files, skipped, error, finished_at, emoji)
VALUES (1, 1, 'file of archives', 1, 1, 1, 'origin of archives', 'actor uri of archives', 'failed', 1701, 1702, 1703, 1704, 1705, 1706, 1707, 'error of archives', 1700000000708, 1);
INSERT INTO archive_skips (id, archive_id, item, reason)
VALUES (1, 1, 'item of archive skips', 'reason of archive skips');
INSERT INTO imported_statuses (status_id, account_id, archive_id, original_uri, original_url)
VALUES (1, 1, 1, 'original uri of imported statuses', 'original url of imported statuses');
INSERT INTO removed_originals (account_id, original_uri, archive_id)
VALUES (1, 'original uri of removed originals', 1);
INSERT INTO account_backups (id, account_id, file, state, size, attempts, last_error)
VALUES (1, 1, 'file of account backups', 'failed', 1610, 1611, 'last error of account backups');
INSERT INTO moderation_log (id, actor_id, actor, action, message, data)
VALUES (1, 1, 'actor of moderation log', 'action of moderation log', 'message of moderation log', 'data of moderation log');
INSERT INTO settings (group_name, key, value)
VALUES ('group name of settings', 'key of settings', '"value of settings"');
INSERT INTO jobs (id, kind, payload, unique_key, domain, run_at, delayed, attempts, parked, last_error)
VALUES (1, 'kind of jobs', 'payload of jobs', 'unique key of jobs', 'domain of jobs', 1700000000627, 1, 1629, 1, 'last error of jobs');

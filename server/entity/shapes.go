package entity

import (
	"cmp"
	"maps"
)

// Shapes are the members of all entities: the shape of each by its name (rest.Shapes), by the documentation of the reference API and, where that differs,
// by that of the family. The description of the API has them, and the tests check all answers against them.
var Shapes = withDerivedShapes(map[string]map[string]string{
	"Suggestion":        {"source": "string", "sources": "[]string", "account": "Account"},
	"FamiliarFollowers": {"id": "id", "accounts": "[]Account"},
	"Report": {
		"id": "id", "action_taken": "boolean", "action_taken_at": "time|null", "created_at": "time", "category": "text", "comment": "string",
		"forwarded": "boolean", "status_ids": "[]id", "rule_ids": "[]text", "collection_ids": "[]id", "target_account": "Account",
	},
	"FederationStatus": {"unreachable": "object"},
	"Relay":            {"actor": "url", "followed_back": "boolean", "last_error": "string", "unreachable_since": "time|null"},
	"AdminUsers":       {"page_size": "integer", "count": "integer", "users": "[]AdminUser"},
	"AdminUser": {
		"id": "integer|id", "nickname": "text", "email": "text|null", "display_name": "text", "avatar": "url", "url": "url", "local": "boolean",
		"actor_type": "text", "tags": "[]string", "roles": "AdminRoles", "deactivated": "boolean", "is_active": "boolean",
		"confirmation_pending": "boolean", "is_confirmed": "boolean", "approval_pending": "boolean", "is_approved": "boolean",
		"is_suggested": "boolean", "registration_reason": "text|null", "created_at": "time",
	},
	"AdminApps": {"page_size": "integer", "count": "integer", "apps": "[]AdminApp"},
	"AdminApp": {
		"id": "integer", "name": "text", "client_id": "text", "client_secret": "string", "redirect_uri": "string", "website": "string",
		"scopes": "[]text", "trusted": "boolean", "vapid_key": "text",
	},
	"AdminRule":        {"id": "text", "priority": "integer", "text": "text", "hint": "string"},
	"AdminRoles":       {"admin": "boolean", "moderator": "boolean"},
	"PermissionGroups": {"is_admin": "boolean", "is_moderator": "boolean"},
	"MediaProxyCaches": {"page_size": "integer", "count": "integer", "urls": "[]url"},
	"Invites":          {"invites": "[]Invite"},
	"Invite": {
		"id": "integer", "token": "text", "used": "boolean", "expires_at": "date|null", "uses": "integer", "max_use": "integer|null",
		"invite_type": "text", "usable": "boolean", "link": "url", "note": "string",
	},
	"AdminCredentials": {
		"id": "integer", "nickname": "text", "email": "string", "name": "text", "bio": "string", "actor_type": "text", "avatar": "url",
		"banner": "url", "background": "url|null", "default_scope": "text", "fields": "[]Field", "raw_fields": "[]RawField", "locked": "boolean",
		"is_locked": "boolean", "discoverable": "boolean", "is_discoverable": "boolean", "no_rich_text": "boolean",
		"allow_following_move": "boolean", "show_role": "boolean", "skip_thread_containment": "boolean", "hide_favorites": "boolean",
		"hide_followers": "boolean", "hide_followers_count": "boolean", "hide_follows": "boolean", "hide_follows_count": "boolean",
		"svc_settings_store": "object",
	},
	"RawField": {"id": "integer", "name": "string", "value": "string"},
	"LogEntry": {"id": "integer", "data": "object", "time": "integer", "message": "text"},
	"Announcement": {
		"id": "id", "content": "text", "starts_at": "time|null", "ends_at": "time|null", "all_day": "boolean", "published_at": "time",
		"updated_at": "time", "read": "boolean", "mentions": "[]null", "statuses": "[]null", "tags": "[]null", "emojis": "[]Emoji", "reactions": "[]AnnouncementReaction",
	},
	"AnnouncementReaction": {"name": "text", "count": "integer", "me": "boolean", "url": "url|null", "static_url": "url|null"},
	"DomainBlock":          {"domain": "text", "digest": "text", "severity": "text", "comment": "string"},
	"TrendingTag":          {"id": "text", "name": "text", "url": "url", "history": "[]TrendDay", "following": "?boolean", "featuring": "?boolean"},
	"TrendDay":             {"day": "digits", "uses": "digits", "accounts": "digits"},
	"NotificationFallback": {"title": "text", "summary": "text|null", "details": "text|null"},
	"Profile": {
		"id": "id", "display_name": "string", "note": "string", "fields": "[]Field", "avatar": "url|null", "avatar_static": "url|null", "avatar_description": "string",
		"header": "url|null", "header_static": "url|null", "header_description": "string", "locked": "boolean", "bot": "boolean", "hide_collections": "boolean",
		"discoverable": "boolean", "indexable": "boolean", "show_media": "boolean", "show_media_replies": "boolean", "show_featured": "boolean",
		"attribution_domains": "[]text", "featured_tags": "[]FeaturedTag",
	},
	"Account": {
		"id": "id", "username": "text", "acct": "text", "fqn": "text", "display_name": "string", "locked": "boolean", "bot": "boolean",
		"group": "boolean", "discoverable": "boolean", "indexable": "boolean", "hide_collections": "boolean", "created_at": "time", "note": "string", "url": "url", "uri": "url",
		"avatar": "url", "avatar_static": "url", "header": "url", "header_static": "url", "avatar_description": "string", "header_description": "string",
		"show_media": "boolean", "show_media_replies": "boolean", "show_featured": "boolean", "followers_count": "integer",
		"following_count": "integer", "statuses_count": "integer", "last_status_at": "date|null", "emojis": "[]Emoji", "fields": "[]Field", "roles": "[]PublicRole|null",
		"moved": "?Account", "source": "Source", "mute_expires_at": "?time|null", "svc": "AccountExtension", "feature_approval": "FeatureApproval",
	},
	"FeatureApproval": {"automatic": "[]text", "manual": "[]text", "current_user": "text"},
	"AccountExtension": {
		"ap_id": "url", "also_known_as": "[]url", "background_image": "url|null", "tags": "[]string", "is_admin": "?boolean",
		"is_moderator": "?boolean", "privileges": "?[]text", "is_confirmed": "boolean", "confirmation_pending": "boolean",
		"is_active": "boolean", "hide_favorites": "boolean", "hide_followers": "boolean", "hide_follows": "boolean",
		"hide_followers_count": "boolean", "hide_follows_count": "boolean", "accepts_chat_messages": "boolean|null",
		"skip_thread_containment": "boolean", "favicon": "url|null", "relationship": "empty|Relationship",
		"birthday": "?date", "deactivated": "?boolean",
	},
	"Source": {"note": "string", "fields": "[]Field", "sensitive": "boolean", "svc": "SourceExtension"},
	"SourceExtension": {
		"discoverable": "boolean", "actor_type": "text", "show_role": "?boolean", "no_rich_text": "?boolean",
		"show_birthday": "?boolean",
	},
	"Field": {"name": "string", "value": "string", "verified_at": "time|null"},
	"Relationship": {
		"id": "id", "following": "boolean", "followed_by": "boolean", "requested": "boolean", "requested_by": "boolean",
		"blocking": "boolean", "blocked_by": "boolean", "muting": "boolean", "muting_notifications": "boolean",
		"muting_expires_at": "time|null", "domain_blocking": "boolean", "endorsed": "boolean", "showing_reblogs": "boolean",
		"notifying": "boolean", "subscribing": "boolean", "languages": "[]text|null", "note": "string",
	},
	"Status": {
		"id": "id", "uri": "text", "url": "url|null", "created_at": "time", "edited_at": "time|null", "account": "Account",
		"content": "string", "text": "?string", "visibility": "text", "sensitive": "boolean", "spoiler_text": "string",
		"media_attachments": "[]Attachment", "application": "Application|null", "mentions": "[]Mention", "tags": "[]Tag",
		"emojis": "[]Emoji", "reblogs_count": "integer", "favourites_count": "integer", "replies_count": "integer",
		"quotes_count": "integer", "quote": "Quote|null", "quote_approval": "QuoteApproval", "interaction_policy": "?InteractionPolicy",
		"in_reply_to_id": "id|null", "in_reply_to_account_id": "id|null", "reblog": "Status|null", "poll": "Poll|null", "card": "Card|null",
		"language": "text|null", "favourited": "boolean", "reblogged": "boolean", "muted": "boolean", "bookmarked": "boolean",
		"pinned": "boolean", "filtered": "[]FilterResult", "svc": "StatusExtension",
	},
	"StatusExtension": {
		"local": "boolean", "conversation_id": "integer|null", "direct_conversation_id": "integer|null",
		"in_reply_to_account_acct": "text|null", "content": "Texts", "spoiler_text": "Texts", "expires_at": "time|null",
		"thread_muted": "boolean", "emoji_reactions": "[]ReactionCount", "parent_visible": "boolean", "pinned_at": "time|null",
		"quotes_count": "integer", "list_id": "?id", "quote": "QuotedStatus|null", "quote_id": "id|null", "quote_url": "url|null", "quote_apid": "url|null", "in_reply_to_apid": "url|null", "quote_visible": "boolean",
		"bookmark_folder": "id|null", "pending_approval": "boolean", "pending_favourite": "boolean", "imported_from": "?ImportedFrom",
	},
	"ImportedFrom":      {"acct": "text", "url": "url"},
	"Quote":             {"state": "text", "quoted_status": "QuotedStatus|null"},
	"ShallowQuote":      {"state": "text", "quoted_status_id": "id|null"},
	"InteractionPolicy": {"can_favourite": "InteractionRule", "can_reply": "InteractionRule", "can_reblog": "InteractionRule"},
	"InteractionRule":   {"automatic_approval": "[]text", "manual_approval": "[]text"},
	"InteractionPolicies": {
		"public": "InteractionPolicy", "unlisted": "InteractionPolicy", "private": "InteractionPolicy", "direct": "InteractionPolicy",
	},
	"InteractionRequest": {
		"id": "id", "type": "text", "created_at": "time", "account": "Account", "status": "Status", "reply": "Status|null",
		"accepted_at": "time|null", "rejected_at": "time|null", "uri": "url|null",
	},
	"QuoteApproval": {"automatic": "[]text", "manual": "[]text", "current_user": "text"},
	"Scrobble": {
		"id": "id", "account": "Account", "title": "text", "artist": "string", "album": "string", "length": "integer", "externalLink": "url|null",
		"created_at": "time",
	},
	"ReactionCount": {"name": "text", "count": "integer", "me": "boolean", "url": "url|null"},
	"Reaction":      {"name": "text", "count": "integer", "me": "boolean", "url": "url|null", "accounts": "[]Account"},
	"Card": {
		"url": "url", "title": "text", "description": "string", "type": "text", "author_name": "string", "author_url": "string",
		"provider_name": "text", "provider_url": "url", "html": "string", "width": "integer", "height": "integer", "image": "url|null",
		"image_description": "string", "embed_url": "string", "authors": "[]CardAuthor", "svc": "CardExtension",
	},
	"CardAuthor": {"name": "text", "url": "url", "account": "Account"},
	"Week":       {"week": "digits", "statuses": "digits", "logins": "digits", "registrations": "digits"},
	"OEmbed": {
		"type": "text", "version": "text", "title": "text", "author_name": "text", "author_url": "url", "provider_name": "text", "provider_url": "url",
		"cache_age": "integer", "html": "text", "width": "integer", "height": "null",
	},
	"CardExtension": {"opengraph": "object"},
	"Texts":         {"text/plain": "string"},
	"Mention":       {"id": "id", "username": "text", "acct": "text", "url": "url"},
	"Tag":           {"name": "text", "url": "url"},
	"PublicRole":    {"id": "digits", "name": "text", "color": "string"},
	"Emoji":         {"shortcode": "text", "url": "url", "static_url": "url", "visible_in_picker": "boolean", "category": "?string", "tags": "?[]text"},
	"Application":   {"name": "text", "website": "url|null"},
	"Context":       {"ancestors": "[]Status", "descendants": "[]Status"},
	"StatusSource":  {"id": "id", "text": "string", "spoiler_text": "string", "content_type": "text"},
	"Poll": {
		"id": "id", "expires_at": "time|null", "expired": "boolean", "multiple": "boolean", "votes_count": "integer",
		"voters_count": "integer|null", "options": "[]PollOption", "emojis": "[]Emoji", "voted": "?boolean", "own_votes": "?[]integer",
		"svc": "PollExtension",
	},
	"PollOption":    {"title": "string", "votes_count": "integer|null"},
	"PollExtension": {"non_anonymous": "boolean"},
	"EditPoll":      {"options": "[]EditOption"},
	"EditOption":    {"title": "text"},
	"ScheduledStatus": {
		"id": "id", "scheduled_at": "time", "params": "ScheduledParams", "media_attachments": "[]Attachment",
	},
	"ScheduledPoll": {"options": "[]text", "expires_in": "integer", "multiple": "boolean", "hide_totals": "boolean"},
	"ScheduledParams": {
		"text": "string", "in_reply_to_id": "id|null", "media_ids": "[]id|null", "sensitive": "boolean", "spoiler_text": "string",
		"visibility": "text", "language": "text|null", "scheduled_at": "null", "poll": "ScheduledPoll|null", "expires_in": "integer|null",
		"quoted_status_id": "id|null", "quote_approval_policy": "text|null", "interaction_policy": "InteractionPolicy|null", "application_id": "integer|null", "idempotency": "text|null", "with_rate_limit": "boolean",
	},
	"StatusEdit": {
		"content": "string", "spoiler_text": "string", "sensitive": "boolean", "created_at": "time", "account": "Account", "poll": "EditPoll|null",
		"media_attachments": "[]Attachment", "emojis": "[]Emoji", "quote": "Quote|null",
	},
	"Attachment": {
		"id": "id", "type": "text", "url": "url", "preview_url": "url|null", "remote_url": "url|null", "text_url": "url",
		"description": "text|null", "meta": "?object", "blurhash": "?text|null", "svc": "AttachmentExtension",
	},
	"AttachmentExtension": {"mime_type": "text"},
	"Notification": {
		"id": "digits", "type": "text", "created_at": "time", "group_key": "text", "account": "Account", "status": "?Status", "chat_message": "?ChatMessage",
		"report": "?StaffReport", "target": "?Account", "collection": "?Collection", "emoji": "?text", "emoji_url": "?url|null", "fallback": "?NotificationFallback",
		"svc": "NotificationExtension",
	},
	"GroupedNotifications": {"accounts": "[]Account", "partial_accounts": "?[]PartialAccount", "statuses": "[]Status", "notification_groups": "[]PagedGroup"},
	"NotificationGroups":   {"accounts": "[]Account", "statuses": "[]Status", "notification_groups": "[]NotificationGroup"},
	"NotificationGroup": {
		"group_key": "text", "notifications_count": "integer", "type": "text", "most_recent_notification_id": "integer", "sample_account_ids": "[]id",
		"status_id": "?id", "chat_message": "?ChatMessage", "emoji": "?text", "emoji_url": "?url|null", "fallback": "?NotificationFallback", "svc": "NotificationExtension",
	},
	"PartialAccount": {
		"id": "id", "acct": "text", "locked": "boolean", "bot": "boolean", "url": "url", "avatar": "url", "avatar_static": "url", "avatar_description": "string",
	},
	"NotificationPolicy": {
		"for_not_following": "text", "for_not_followers": "text", "for_new_accounts": "text", "for_private_mentions": "text",
		"for_limited_accounts": "text", "summary": "PolicySummary",
	},
	"NotificationPolicyV1": {
		"filter_not_following": "boolean", "filter_not_followers": "boolean", "filter_new_accounts": "boolean",
		"filter_private_mentions": "boolean", "summary": "PolicySummary",
	},
	"PolicySummary": {"pending_requests_count": "integer", "pending_notifications_count": "integer"},
	"NotificationRequest": {
		"id": "digits", "created_at": "time", "updated_at": "time", "notifications_count": "digits", "account": "Account", "last_status": "Status|null",
	},
	"Merged":                {"merged": "boolean"},
	"Count":                 {"count": "integer"},
	"NotificationExtension": {"is_seen": "boolean", "is_muted": "boolean"},
	"Markers":               {"home": "?Marker", "notifications": "?Marker"},
	"Marker":                {"last_read_id": "id", "version": "integer", "updated_at": "time", "svc": "MarkerExtension"},
	"MarkerExtension":       {"unread_count": "integer"},
	"Conversation":          {"id": "digits", "unread": "boolean", "accounts": "[]Account", "last_status": "Status|null", "svc": "ConversationExtension"},
	"ConversationExtension": {"recipients": "[]Account"},
	"List":                  {"id": "id", "title": "text", "replies_policy": "text", "exclusive": "boolean"},
	"Backup": {
		"id": "id", "content_type": "text", "file_size": "integer", "inserted_at": "time", "processed": "boolean", "state": "text", "url": "string",
	},
	"Import": {
		"id": "id", "kind": "text", "state": "text", "total": "integer", "imported": "integer", "skipped": "integer", "created_at": "time", "finished_at": "time|null",
	},
	"Archive": {
		"id": "id", "state": "text", "origin": "text|null", "size": "integer", "received": "integer", "total": "integer", "position": "integer", "imported": "integer",
		"files": "integer", "skipped": "integer", "error": "text|null", "created_at": "time", "finished_at": "time|null",
	},
	"ArchiveSkip":  {"id": "integer", "item": "text", "reason": "text"},
	"SkippedEntry": {"position": "integer", "entry": "text", "reason": "text"},
	"Frontend": {
		"name": "text", "git": "url|null", "build_url": "url|null", "ref": "text|null", "installed": "boolean", "installed_refs": "[]text", "primary_ref": "?text", "admin_ref": "?text",
	},
	"BookmarkFolder": {"id": "id", "name": "text", "emoji": "text|null", "emoji_url": "url|null"},
	"FilterResult":   {"filter": "FilterWithout", "keyword_matches": "[]text", "status_matches": "[]id"},
	"FilterWithout": {
		"id": "digits", "title": "text", "context": "[]text", "expires_at": "time|null", "filter_action": "text",
	},
	"Filter": {
		"id": "digits", "title": "text", "context": "[]text", "expires_at": "time|null", "filter_action": "text",
		"keywords": "[]FilterKeyword", "statuses": "[]FilterStatus",
	},
	"FilterKeyword": {"id": "digits", "keyword": "text", "whole_word": "boolean"},
	"FilterStatus":  {"id": "digits", "status_id": "id"},
	"Phrase": {
		"id": "digits", "phrase": "text", "context": "[]text", "expires_at": "time|null", "irreversible": "boolean", "whole_word": "boolean",
	},
	"Results":     {"accounts": "[]Account", "statuses": "[]Status", "hashtags": "[]FoundTag"},
	"FeaturedTag": {"id": "text", "name": "text", "url": "url", "statuses_count": "text", "last_status_at": "text|null"},
	"FoundTag":    {"id": "text", "name": "text", "url": "url", "history": "[]null", "following": "?boolean", "featuring": "?boolean"},
	"ResultsV1":   {"accounts": "[]Account", "statuses": "[]Status", "hashtags": "[]text"},
	"Preferences": {
		"posting:default:visibility": "text", "posting:default:sensitive": "boolean", "posting:default:language": "text|null", "posting:default:quote_policy": "text",
		"reading:expand:media": "text", "reading:expand:spoilers": "boolean",
	},
	"App": {
		"id": "id", "name": "text", "website": "url|null", "redirect_uri": "string", "redirect_uris": "[]text", "scopes": "[]text",
		"vapid_key": "text", "client_id": "?text",
	},
	"Chat": {"id": "id", "account": "Account", "unread": "integer", "last_message": "ChatMessage|null", "updated_at": "time"},
	"ChatMessage": {
		"id": "id", "chat_id": "id", "account_id": "id", "content": "text|null", "created_at": "time", "emojis": "[]Emoji",
		"attachment": "Attachment|null", "unread": "boolean", "card": "null", "idempotency_key": "?text",
	},
	"PushSubscription":     {"id": "digits", "endpoint": "url", "alerts": "PushAlerts", "server_key": "text", "policy": "text", "standard": "boolean"},
	"PushAlerts":           pushAlertShapes(),
	"Role":                 {"id": "text", "name": "string", "color": "string", "permissions": "digits", "highlighted": "boolean", "collection_limit": "integer"},
	"NotificationSettings": {"block_from_strangers": "boolean", "hide_notification_contents": "boolean"},
	"Session":              {"id": "integer", "app_name": "text", "valid_until": "time"},

	// Collections of accounts.
	"Collection": {
		"id": "id", "account_id": "id", "uri": "url", "url": "url", "name": "text", "description": "string", "language": "text|null", "local": "boolean",
		"sensitive": "boolean", "discoverable": "boolean", "tag": "TagLink|null", "item_count": "integer", "items": "[]CollectionItem", "created_at": "time",
		"updated_at": "time", "svc": "CollectionExtension",
	},
	"CollectionExtension":    {"account": "Account"},
	"CollectionItem":         {"id": "id", "account_id": "id", "state": "text", "created_at": "time"},
	"TagLink":                {"name": "text", "url": "url"},
	"WrappedCollection":      {"collection": "Collection"},
	"WrittenCollection":      {"collection": "CollectionReference"},
	"CollectionReference":    {"id": "id"},
	"CollectionWithAccounts": {"accounts": "[]Account", "collection": "Collection"},
	"Collections":            {"collections": "[]Collection"},
	"WrappedCollectionItem":  {"collection_item": "CollectionItem"},

	"ReportedCollection": {"id": "id", "uri": "url", "url": "url", "name": "text", "description": "string"},

	// Answers of single endpoints.
	"Reduced":            {"id": "?any"},
	"Rule":               {"id": "text", "text": "text", "hint": "string"},
	"Relays":             {"relays": "[]Relay"},
	"LogEntries":         {"items": "[]LogEntry", "total": "integer"},
	"AnnualReports":      {"annual_reports": "[]null", "accounts": "[]null", "statuses": "[]null"},
	"AnnualReportState":  {"state": "text"},
	"TranslatedText":     {"text": "string", "detected_language": "text"},
	"TranslationChoices": {"source": "[]NamedLanguage", "target": "[]NamedLanguage"},
	"NamedLanguage":      {"code": "text", "name": "text"},
	"Error": {
		"error": "text", "error_description": "?text", "errors": "?any", "reason": "?text", "identifier": "?text", "mfa_token": "?text",
		"supported_challenge_types": "?text", "details": "?object", "existing_domain_block": "?AdminDomainBlock",
	},
	"Done": {"status": "text"},
	"Token": {
		"id": "integer", "access_token": "text", "token_type": "text", "scope": "text", "created_at": "integer", "expires_in": "?integer",
		"refresh_token": "?text", "me": "?url",
	},
	"Claims": {"iss": "url", "sub": "url", "name": "text", "preferred_username": "text", "profile": "url", "picture": "url"},
	"Translation": {
		"content": "string", "spoiler_text": "string", "poll": "TranslatedPoll|null", "media_attachments": "[]TranslatedMedia", "language": "text",
		"detected_source_language": "text", "provider": "text",
	},
	"TranslatedPoll":  {"id": "id", "options": "[]EditOption"},
	"TranslatedMedia": {"id": "id", "description": "string"},
	"AsyncRefreshes":  {"async_refresh": "AsyncRefresh"},
	"AsyncRefresh":    {"id": "text", "status": "text", "result_count": "integer"},
	"MFASettings":     {"enabled": "boolean", "totp": "boolean"},
	"ChangedPicture":  {"url": "string|null"},
	"DocumentURL":     {"url": "url"},
	"PasswordReset":   {"token": "text", "link": "url"},
	"StatusCounts":    {"status_visibility": "object"},

	// Entities of staff.
	"ModeratedAccount": {
		"id": "id", "username": "text", "domain": "text|null", "created_at": "time", "email": "string", "ip": "null", "ips": "[]null",
		"locale": "string", "invite_request": "string|null", "role": "Role|null", "confirmed": "boolean", "approved": "boolean", "disabled": "boolean",
		"suspended": "boolean", "silenced": "boolean", "sensitized": "boolean", "account": "Account",
	},
	"ModeratedReport": {
		"id": "id", "action_taken": "boolean", "action_taken_at": "time|null", "category": "text", "comment": "string", "forwarded": "boolean",
		"created_at": "time", "updated_at": "time", "account": "ModeratedAccount", "target_account": "ModeratedAccount",
		"assigned_account": "ModeratedAccount|null", "action_taken_by_account": "ModeratedAccount|null", "statuses": "[]ReportedStatus", "rules": "[]object", "collections": "[]ReportedCollection",
	},
	"StaffReport": {
		"id": "id", "state": "text", "content": "string", "created_at": "time", "account": "StaffAccount|empty", "actor": "StaffAccount|empty",
		"statuses": "[]ReportedStatus", "notes": "[]StaffNote", "rules": "[]object", "collections": "[]ReportedCollection",
	},
	"StaffNote":           {"id": "integer", "content": "text", "user": "StaffAccount|empty", "created_at": "time"},
	"StaffReports":        {"total": "integer", "reports": "[]StaffReport"},
	"GroupedReports":      {"reports": "[]object"},
	"StaffStatuses":       {"total": "integer", "activities": "[]StaffStatus"},
	"AdminUserList":       {"users": "[]AdminUser"},
	"AdminDomainAllow":    {"id": "digits", "domain": "text", "created_at": "time"},
	"AdminCanonicalEmail": {"id": "digits", "canonical_email_hash": "text"},
	"AdminDomainBlock": {
		"id": "digits", "domain": "text", "digest": "text", "created_at": "time", "severity": "text", "reject_media": "boolean",
		"reject_reports": "boolean", "private_comment": "string|null", "public_comment": "string|null", "obfuscate": "boolean",
	},
	"AdminEmailDomainBlock": {"id": "digits", "domain": "text", "created_at": "time", "allow_with_approval": "boolean", "history": "[]null"},
	"AdminIPBlock": {
		"id": "digits", "ip": "text", "severity": "text", "comment": "string", "created_at": "time", "expires_at": "time|null",
	},
	"HostPreview":  {"host": "text", "accounts": "integer", "posts": "integer", "followers": "integer", "following": "integer"},
	"Measure":      {"key": "text", "unit": "text|null", "total": "digits", "human_value": "?text", "previous_total": "?digits", "data": "[]MeasureDay"},
	"MeasureDay":   {"date": "time", "value": "digits"},
	"Dimension":    {"key": "text", "data": "[]DimensionRow"},
	"DimensionRow": {"key": "text", "human_key": "text", "value": "text", "unit": "?text", "human_value": "string"},
	"Cohort":       {"period": "time", "frequency": "text", "data": "[]CohortRow"},
	"CohortRow":    {"date": "time", "rate": "number", "value": "digits"},
	"JobQueue":     {"kinds": "[]JobKind", "overdue_seconds": "integer", "parked": "[]ParkedJob"},
	"JobKind":      {"kind": "text", "queued": "integer", "parked": "integer"},
	"ParkedJob":    {"id": "integer", "kind": "text", "attempts": "integer", "last_error": "string"},
	"ChangedJobs":  {"jobs": "integer"},
	"QueueStatus":  {"hosts": "[]object", "deliveries": "[]object", "received": "object", "failed": "[]object"},
	"RetryResult":  {"deliveries": "integer", "received": "integer"},
	"UpdateState":  {"version": "text", "check": "boolean", "available": "text|null", "checked_at": "time|null", "error": "text|null"},
	"Storage": {
		"total": "integer", "limit": "integer", "disk_free": "integer", "min_free": "integer", "full": "boolean", "reason": "?text", "critical": "boolean",
		"classes": "[]StorageClass", "remote_posts": "RemotePosts",
	},
	"StorageClass": {"name": "text", "count": "integer", "bytes": "integer", "limit": "integer"},
	"RemotePosts":  {"count": "integer", "estimated_bytes": "integer", "limit": "integer"},
	"AdminChat": {
		"id": "id", "sender": "StaffAccount", "receiver": "StaffAccount", "unread": "integer", "last_message": "ChatMessage|null", "updated_at": "time",
	},
	"ChangedStatus":  {"id": "id", "sensitive": "boolean", "visibility": "text"},
	"FrontendChoice": {"version": "string", "former": "string"},
	"RemotePacks":    {"packs": "object", "count": "integer"},
})

// pushAlertShapes returns the members of the alerts of a subscription.
func pushAlertShapes() map[string]string {
	shapes := make(map[string]string)
	for _, t := range PushAlerts {
		name := string(t)
		if t.Kind().Own {
			name = "svc:" + name
		}
		shapes[cmp.Or(t.Kind().AlertName, name)] = "boolean"
	}
	return shapes
}

// withDerivedShapes adds the entities that are others with more members.
func withDerivedShapes(shapes map[string]map[string]string) map[string]map[string]string {
	extend := func(name, base string, more map[string]string) {
		shapes[name] = maps.Clone(shapes[base])
		maps.Copy(shapes[name], more)
	}
	extend("Preview", "Status", map[string]string{"id": "text", "poll": "PreviewPoll|null"})
	extend("PreviewPoll", "Poll", map[string]string{"id": "text"})
	extend("StaffAccount", "AdminUser", shapes["Account"])
	shapes["StaffAccount"]["roles"] = "AdminRoles|[]PublicRole|null"
	extend("StaffStatus", "Status", map[string]string{"account": "StaffAccount", "reblog": "StaffStatus|null"})
	extend("ReportedStatus", "StaffStatus", map[string]string{"id": "text"}) // a deleted one has no id of its own
	extend("Mascot", "Attachment", map[string]string{"id": "text"})
	extend("TrendingLink", "Card", map[string]string{"history": "[]TrendDay"})
	extend("QuotedStatus", "Status", map[string]string{"quote": "ShallowQuote|null"})
	extend("PagedGroup", "NotificationGroup", map[string]string{
		"page_min_id": "digits", "page_max_id": "digits", "latest_page_notification_at": "time",
	})
	extend("CredentialAccount", "Account", map[string]string{
		"source": "CredentialSource", "role": "Role", "follow_requests_count": "integer", "svc": "CredentialAccountExtension",
	})
	extend("OwnAccount", "Account", map[string]string{"source": "CredentialSource", "role": "Role", "follow_requests_count": "integer", "svc": "OwnAccountExtension"})
	extend("CredentialSource", "Source", map[string]string{
		"privacy": "text", "language": "string", "follow_requests_count": "integer", "discoverable": "boolean", "indexable": "boolean",
		"hide_collections": "boolean", "quote_policy": "text", "feature_policy": "text", "attribution_domains": "[]text",
	})
	extend("OwnAccountExtension", "AccountExtension", map[string]string{
		"is_admin": "boolean", "is_moderator": "boolean", "privileges": "[]text", "email": "string", "allow_following_move": "boolean",
		"unread_conversation_count": "integer", "unread_notifications_count": "integer", "notification_settings": "NotificationSettings",
		"chat_token": "?text", "deactivated": "?boolean",
	})
	extend("CredentialAccountExtension", "OwnAccountExtension", map[string]string{"settings_store": "object"})
	return shapes
}

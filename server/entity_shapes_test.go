package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// entityShapes are the shapes of all entities, by section 3 of the client API's reference. A shape is a kind of value, an
// entity by its name, []SHAPE or several joined by |. A member whose shape begins with ? may be absent. Members that are not
// listed must not exist.
var entityShapes = map[string]map[string]string{
	"Suggestion":        {"source": "string", "sources": "[]string", "account": "Account"},
	"FamiliarFollowers": {"id": "id", "accounts": "[]Account"},
	"Report": {
		"id": "id", "action_taken": "boolean", "action_taken_at": "time|null", "created_at": "time", "category": "text", "comment": "string",
		"forwarded": "boolean", "status_ids": "[]id", "rule_ids": "[]text", "collection_ids": "[]id", "target_account": "Account",
	},
	"FederationStatus": {"unreachable": "empty"},
	"Relay":            {"actor": "url", "followed_back": "boolean", "last_error": "text", "unreachable_since": "time|null"},
	"AdminUsers":       {"page_size": "number", "count": "number", "users": "[]AdminUser"},
	"AdminUser": {
		"id": "number", "nickname": "text", "email": "text|null", "display_name": "text", "avatar": "url", "url": "url", "local": "boolean",
		"actor_type": "text", "tags": "[]string", "roles": "AdminRoles", "deactivated": "boolean", "is_active": "boolean",
		"confirmation_pending": "boolean", "is_confirmed": "boolean", "approval_pending": "boolean", "is_approved": "boolean",
		"is_suggested": "boolean", "registration_reason": "text|null", "created_at": "time",
	},
	"AdminApps": {"page_size": "number", "count": "number", "apps": "[]AdminApp"},
	"AdminApp": {
		"id": "number", "name": "text", "client_id": "text", "client_secret": "string", "redirect_uri": "string", "website": "string",
		"scopes": "[]text", "trusted": "boolean", "vapid_key": "text",
	},
	"AdminRule":        {"id": "text", "priority": "number", "text": "text", "hint": "string"},
	"AdminRoles":       {"admin": "boolean", "moderator": "boolean"},
	"PermissionGroups": {"is_admin": "boolean", "is_moderator": "boolean"},
	"MediaProxyCaches": {"page_size": "number", "count": "number", "urls": "[]url"},
	"Invites":          {"invites": "[]Invite"},
	"Invite": {
		"id": "number", "token": "text", "used": "boolean", "expires_at": "date|null", "uses": "number", "max_use": "number|null",
		"invite_type": "text", "usable": "boolean", "link": "url", "note": "string",
	},
	"AdminCredentials": {
		"id": "number", "nickname": "text", "email": "string", "name": "text", "bio": "string", "actor_type": "text", "avatar": "url",
		"banner": "url", "background": "url|null", "default_scope": "text", "fields": "[]Field", "raw_fields": "[]RawField", "locked": "boolean",
		"is_locked": "boolean", "discoverable": "boolean", "is_discoverable": "boolean", "no_rich_text": "boolean",
		"allow_following_move": "boolean", "show_role": "boolean", "skip_thread_containment": "boolean", "hide_favorites": "boolean",
		"hide_followers": "boolean", "hide_followers_count": "boolean", "hide_follows": "boolean", "hide_follows_count": "boolean",
		"svc_settings_store": "object",
	},
	"RawField": {"id": "number", "name": "string", "value": "string"},
	"LogEntry": {"id": "number", "data": "object", "time": "number", "message": "text"},
	"Announcement": {
		"id": "id", "content": "text", "starts_at": "time|null", "ends_at": "time|null", "all_day": "boolean", "published_at": "time",
		"updated_at": "time", "read": "boolean", "mentions": "[]null", "statuses": "[]null", "tags": "[]null", "emojis": "[]Emoji", "reactions": "[]AnnouncementReaction",
	},
	"AnnouncementReaction": {"name": "text", "count": "number", "me": "boolean", "url": "url|null", "static_url": "url|null"},
	"DomainBlock":          {"domain": "text", "digest": "text", "severity": "text", "comment": "string"},
	"TrendingTag":          {"id": "text", "name": "text", "url": "url", "history": "[]TrendDay", "following": "?boolean", "featuring": "?boolean"},
	"TrendDay":             {"day": "digits", "uses": "digits", "accounts": "digits"},
	"TrendingLink":         {},
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
		"show_media": "boolean", "show_media_replies": "boolean", "show_featured": "boolean", "followers_count": "number",
		"following_count": "number", "statuses_count": "number", "last_status_at": "date|null", "emojis": "[]Emoji", "fields": "[]Field", "roles": "[]PublicRole|null",
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
		"emojis": "[]Emoji", "reblogs_count": "number", "favourites_count": "number", "replies_count": "number",
		"quotes_count": "number", "quote": "Quote|null", "quote_approval": "QuoteApproval", "interaction_policy": "?InteractionPolicy",
		"in_reply_to_id": "id|null", "in_reply_to_account_id": "id|null", "reblog": "Status|null", "poll": "Poll|null", "card": "Card|null",
		"language": "text|null", "favourited": "boolean", "reblogged": "boolean", "muted": "boolean", "bookmarked": "boolean",
		"pinned": "boolean", "filtered": "[]FilterResult", "svc": "StatusExtension",
	},
	"StatusExtension": {
		"local": "boolean", "conversation_id": "number|null", "direct_conversation_id": "number|null",
		"in_reply_to_account_acct": "text|null", "content": "Texts", "spoiler_text": "Texts", "expires_at": "time|null",
		"thread_muted": "boolean", "emoji_reactions": "[]ReactionCount", "parent_visible": "boolean", "pinned_at": "time|null",
		"quotes_count": "number", "list_id": "?id", "quote": "QuotedStatus|null", "quote_id": "id|null", "quote_url": "url|null", "quote_apid": "url|null", "in_reply_to_apid": "url|null", "quote_visible": "boolean",
		"bookmark_folder": "id|null", "pending_approval": "boolean", "pending_favourite": "boolean",
	},
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
		"id": "id", "account": "Account", "title": "text", "artist": "string", "album": "string", "length": "number", "externalLink": "url|null",
		"created_at": "time",
	},
	"ReactionCount": {"name": "text", "count": "number", "me": "boolean", "url": "url|null"},
	"Reaction":      {"name": "text", "count": "number", "me": "boolean", "url": "url|null", "accounts": "[]Account"},
	"Card": {
		"url": "url", "title": "text", "description": "string", "type": "text", "author_name": "string", "author_url": "string",
		"provider_name": "text", "provider_url": "url", "html": "string", "width": "number", "height": "number", "image": "url|null",
		"image_description": "string", "embed_url": "string", "authors": "[]CardAuthor", "svc": "CardExtension",
	},
	"CardAuthor": {"name": "text", "url": "url", "account": "Account"},
	"Week":       {"week": "digits", "statuses": "digits", "logins": "digits", "registrations": "digits"},
	"OEmbed": {
		"type": "text", "version": "text", "title": "text", "author_name": "text", "author_url": "url", "provider_name": "text", "provider_url": "url",
		"cache_age": "number", "html": "text", "width": "number", "height": "null",
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
		"id": "id", "expires_at": "time|null", "expired": "boolean", "multiple": "boolean", "votes_count": "number",
		"voters_count": "number|null", "options": "[]PollOption", "emojis": "[]Emoji", "voted": "?boolean", "own_votes": "?[]number",
		"svc": "PollExtension",
	},
	"PollOption":    {"title": "text", "votes_count": "number|null"},
	"PollExtension": {"non_anonymous": "boolean"},
	"EditPoll":      {"options": "[]EditOption"},
	"EditOption":    {"title": "text"},
	"ScheduledStatus": {
		"id": "id", "scheduled_at": "time", "params": "ScheduledParams", "media_attachments": "[]Attachment",
	},
	"ScheduledPoll": {"options": "[]text", "expires_in": "number", "multiple": "boolean", "hide_totals": "boolean"},
	"ScheduledParams": {
		"text": "string", "in_reply_to_id": "id|null", "media_ids": "[]id|null", "sensitive": "boolean", "spoiler_text": "string",
		"visibility": "text", "language": "text|null", "scheduled_at": "null", "poll": "ScheduledPoll|null", "expires_in": "number|null",
		"quoted_status_id": "id|null", "quote_approval_policy": "text|null", "interaction_policy": "InteractionPolicy|null", "application_id": "number|null", "idempotency": "text|null", "with_rate_limit": "boolean",
	},
	"StatusEdit": {
		"content": "string", "spoiler_text": "string", "sensitive": "boolean", "created_at": "time", "account": "Account", "poll": "EditPoll|null",
		"media_attachments": "[]Attachment", "emojis": "[]Emoji", "quote": "Quote|null",
	},
	"Attachment": {
		"id": "id", "type": "text", "url": "url", "preview_url": "url|null", "remote_url": "url|null", "text_url": "url",
		"description": "text|null", "svc": "AttachmentExtension",
	},
	"AttachmentExtension": {"mime_type": "text"},
	"Notification": {
		"id": "digits", "type": "text", "created_at": "time", "group_key": "text", "account": "Account", "status": "?Status", "chat_message": "?ChatMessage",
		"emoji": "?text", "emoji_url": "?url|null", "fallback": "?NotificationFallback",
		"svc": "NotificationExtension",
	},
	"GroupedNotifications": {"accounts": "[]Account", "partial_accounts": "?[]PartialAccount", "statuses": "[]Status", "notification_groups": "[]PagedGroup"},
	"NotificationGroups":   {"accounts": "[]Account", "statuses": "[]Status", "notification_groups": "[]NotificationGroup"},
	"NotificationGroup": {
		"group_key": "text", "notifications_count": "number", "type": "text", "most_recent_notification_id": "digits", "sample_account_ids": "[]id",
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
	"PolicySummary": {"pending_requests_count": "number", "pending_notifications_count": "number"},
	"NotificationRequest": {
		"id": "digits", "created_at": "time", "updated_at": "time", "notifications_count": "digits", "account": "Account", "last_status": "Status|null",
	},
	"Merged":                {"merged": "boolean"},
	"Count":                 {"count": "number"},
	"NotificationExtension": {"is_seen": "boolean", "is_muted": "boolean"},
	"Markers":               {"home": "?Marker", "notifications": "?Marker"},
	"Marker":                {"last_read_id": "id", "version": "number", "updated_at": "time", "svc": "MarkerExtension"},
	"MarkerExtension":       {"unread_count": "number"},
	"Conversation":          {"id": "digits", "unread": "boolean", "accounts": "[]Account", "last_status": "Status|null", "svc": "ConversationExtension"},
	"ConversationExtension": {"recipients": "[]Account"},
	"List":                  {"id": "id", "title": "text", "replies_policy": "text", "exclusive": "boolean"},
	"Backup": {
		"id": "id", "content_type": "text", "file_size": "number", "inserted_at": "time", "processed": "boolean", "state": "text", "url": "url",
	},
	"Import": {
		"id": "id", "kind": "text", "state": "text", "total": "number", "imported": "number", "skipped": "number", "created_at": "time", "finished_at": "time|null",
	},
	"SkippedEntry": {"position": "number", "entry": "text", "reason": "text"},
	"Frontend": {
		"name": "text", "git": "url|null", "build_url": "url|null", "ref": "text|null", "installed": "boolean", "installed_refs": "[]text",
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
		"id": "id", "name": "text", "website": "url|null", "redirect_uri": "text", "redirect_uris": "[]text", "scopes": "[]text",
		"vapid_key": "text", "client_id": "?text",
	},
	"Chat": {"id": "id", "account": "Account", "unread": "number", "last_message": "ChatMessage|null", "updated_at": "time"},
	"ChatMessage": {
		"id": "id", "chat_id": "id", "account_id": "id", "content": "text|null", "created_at": "time", "emojis": "[]Emoji",
		"attachment": "Attachment|null", "unread": "boolean", "card": "null", "idempotency_key": "?text",
	},
	"PushSubscription":           {"id": "digits", "endpoint": "url", "alerts": "PushAlerts", "server_key": "text", "policy": "text", "standard": "boolean"},
	"PushAlerts":                 pushAlerts(),
	"Preview":                    {},
	"QuotedStatus":               {},
	"PagedGroup":                 {},
	"CredentialAccount":          {},
	"CredentialAccountExtension": {},
	"CredentialSource":           {},
	"Mascot":                     {},
	"Role":                       {"id": "text", "name": "string", "color": "string", "permissions": "digits", "highlighted": "boolean", "collection_limit": "number"},
	"NotificationSettings":       {"block_from_strangers": "boolean", "hide_notification_contents": "boolean"},
	"Session":                    {"id": "number", "app_name": "text", "valid_until": "time"},
}

func init() { // a CredentialAccount is an Account with more members, and the id of a preview is not a status id
	extend := func(name, base string, more map[string]string) {
		for _, members := range []map[string]string{entityShapes[base], more} {
			for key, shape := range members {
				entityShapes[name][key] = shape
			}
		}
	}
	extend("Preview", "Status", map[string]string{"id": "text"})
	extend("Mascot", "Attachment", map[string]string{"id": "text"})
	extend("TrendingLink", "Card", map[string]string{"history": "[]TrendDay"})
	extend("QuotedStatus", "Status", map[string]string{"quote": "ShallowQuote|null"})
	extend("PagedGroup", "NotificationGroup", map[string]string{
		"page_min_id": "digits", "page_max_id": "digits", "latest_page_notification_at": "time",
	})
	extend("CredentialAccount", "Account", map[string]string{
		"source": "CredentialSource", "role": "Role", "follow_requests_count": "number", "svc": "CredentialAccountExtension",
	})
	extend("CredentialSource", "Source", map[string]string{
		"privacy": "text", "language": "string", "follow_requests_count": "number", "discoverable": "boolean", "indexable": "boolean",
		"hide_collections": "boolean", "quote_policy": "text", "feature_policy": "text", "attribution_domains": "[]text",
	})
	extend("CredentialAccountExtension", "AccountExtension", map[string]string{
		"is_admin": "boolean", "is_moderator": "boolean", "privileges": "[]text", "email": "text", "allow_following_move": "boolean",
		"unread_conversation_count": "number", "unread_notifications_count": "number", "notification_settings": "NotificationSettings",
		"settings_store": "object", "chat_token": "?text", "deactivated": "?boolean",
	})
}

var kindPatterns = map[string]*regexp.Regexp{
	"time":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"date":   regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	"id":     regexp.MustCompile(`^[0-9A-Za-z]{1,30}$`),
	"digits": regexp.MustCompile(`^\d+$`),
	"url":    regexp.MustCompile(`^https?://[^/]+`),
	"text":   regexp.MustCompile(`(?s).`), // not empty
	"string": regexp.MustCompile(``),
}

// shapeFaults returns the differences between a value and its shape; where is the name of the value in them.
func shapeFaults(where string, v any, shape string) []string {
	var faults []string
	for _, one := range strings.Split(shape, "|") {
		found := singleShapeFaults(where, v, one)
		if len(found) == 0 {
			return nil
		}
		if len(faults) == 0 || len(found) < len(faults) || JSONKind(v) == "object" && entityShapes[one] != nil {
			faults = found
		}
	}
	return faults
}

func singleShapeFaults(where string, v any, shape string) []string {
	fault := []string{fmt.Sprintf("%s is %.200v, want %s", where, v, shape)}
	if of, ok := strings.CutPrefix(shape, "[]"); ok {
		list, ok := v.([]any)
		if !ok {
			return fault
		}
		var faults []string
		for i, e := range list {
			faults = append(faults, shapeFaults(fmt.Sprintf("%s[%d]", where, i), e, of)...)
		}
		return faults
	}
	if pattern := kindPatterns[shape]; pattern != nil {
		if s, ok := v.(string); ok && pattern.MatchString(s) {
			return nil
		}
		return fault
	}
	members, ok := v.(map[string]any)
	switch shape {
	case "null", "number", "boolean", "object":
		if JSONKind(v) == shape {
			return nil
		}
		return fault
	case "empty":
		if ok && len(members) == 0 {
			return nil
		}
		return fault
	}
	if !ok {
		return fault
	}
	return memberFaults(where, members, entityShapes[shape])
}

func memberFaults(where string, members map[string]any, shapes map[string]string) []string {
	var faults []string
	for key, shape := range shapes {
		of, optional := strings.CutPrefix(shape, "?")
		switch v, exists := members[key]; {
		case exists:
			faults = append(faults, shapeFaults(where+"."+key, v, of)...)
		case !optional:
			faults = append(faults, fmt.Sprintf("%s has no %q", where, key))
		}
	}
	for key := range members {
		if _, known := shapes[key]; !known {
			faults = append(faults, fmt.Sprintf("%s has a member %q", where, key))
		}
	}
	slices.Sort(faults)
	return faults
}

// WantEntity fails the test if a response has another shape.
func WantEntity(t *testing.T, who string, a *apptest.Response, shape string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Want(200).Body, &v); err != nil {
		t.Errorf("%s: %s: %v: %s", who, a.Request, err, a.Body)
		return
	}
	for _, fault := range shapeFaults("the entity", v, shape) {
		t.Errorf("%s: %s: %s", who, a.Request, fault)
	}
}

// pushAlerts returns the shape of the alerts of a subscription.
func pushAlerts() map[string]string {
	shape := make(map[string]string)
	for _, name := range apptest.PushAlerts() {
		shape[name] = "boolean"
	}
	return shape
}

package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

// entityShapes are the shapes of all entities, by section 3 of the client API's reference. A shape is a kind of value, an
// entity by its name, []SHAPE or several joined by |. A member whose shape begins with ? may be absent. Members that are not
// listed must not exist.
var entityShapes = map[string]map[string]string{
	"FamiliarFollowers": {"id": "id", "accounts": "[]Account"},
	"Report": {
		"id": "id", "action_taken": "boolean", "action_taken_at": "time|null", "created_at": "time", "category": "text", "comment": "string",
		"forwarded": "boolean", "status_ids": "[]id", "rule_ids": "[]text", "target_account": "Account",
	},
	"FederationStatus": {"unreachable": "empty"},
	"Relay":            {"actor": "url", "followed_back": "boolean"},
	"AdminUsers":       {"page_size": "number", "count": "number", "users": "[]AdminUser"},
	"AdminUser": {
		"id": "number", "nickname": "text", "email": "text|null", "display_name": "text", "avatar": "url", "url": "url", "local": "boolean",
		"actor_type": "text", "tags": "[]string", "roles": "AdminRoles", "deactivated": "boolean", "is_active": "boolean",
		"confirmation_pending": "boolean", "is_confirmed": "boolean", "approval_pending": "boolean", "is_approved": "boolean",
		"is_suggested": "boolean", "registration_reason": "text|null", "created_at": "time",
	},
	"AdminRoles":       {"admin": "boolean", "moderator": "boolean"},
	"PermissionGroups": {"is_admin": "boolean", "is_moderator": "boolean"},
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
		"updated_at": "time", "read": "boolean", "mentions": "[]null", "statuses": "[]null", "tags": "[]null", "emojis": "[]Emoji", "reactions": "[]null",
	},
	"Account": {
		"id": "id", "username": "text", "acct": "text", "fqn": "text", "display_name": "string", "locked": "boolean", "bot": "boolean",
		"group": "boolean", "discoverable": "boolean", "hide_collections": "boolean", "created_at": "time", "note": "string", "url": "url", "uri": "url",
		"avatar": "url", "avatar_static": "url", "header": "url", "header_static": "url", "followers_count": "number",
		"following_count": "number", "statuses_count": "number", "last_status_at": "date|null", "emojis": "[]Emoji", "fields": "[]Field",
		"moved": "?Account", "source": "Source", "mute_expires_at": "?time|null", "svc": "AccountExtension",
	},
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
		"quotes_count": "number", "quote": "Quote|null", "quote_approval": "QuoteApproval",
		"in_reply_to_id": "id|null", "in_reply_to_account_id": "id|null", "reblog": "Status|null", "poll": "Poll|null", "card": "Card|null",
		"language": "text|null", "favourited": "boolean", "reblogged": "boolean", "muted": "boolean", "bookmarked": "boolean",
		"pinned": "boolean", "filtered": "[]FilterResult", "svc": "StatusExtension",
	},
	"StatusExtension": {
		"local": "boolean", "conversation_id": "number|null", "direct_conversation_id": "number|null",
		"in_reply_to_account_acct": "text|null", "content": "Texts", "spoiler_text": "Texts", "expires_at": "time|null",
		"thread_muted": "boolean", "emoji_reactions": "[]ReactionCount", "parent_visible": "boolean", "pinned_at": "time|null",
		"quotes_count": "number", "list_id": "?id", "quote": "QuotedStatus|null", "quote_id": "id|null", "quote_url": "url|null", "quote_visible": "boolean",
		"bookmark_folder": "id|null",
	},
	"Quote":         {"state": "text", "quoted_status": "QuotedStatus|null"},
	"ShallowQuote":  {"state": "text", "quoted_status_id": "id|null"},
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
		"image_description": "string", "embed_url": "string", "svc": "CardExtension",
	},
	"Week": {"week": "digits", "statuses": "digits", "logins": "digits", "registrations": "digits"},
	"OEmbed": {
		"type": "text", "version": "text", "author_name": "text", "author_url": "url", "provider_name": "text", "provider_url": "url",
		"cache_age": "number", "html": "text", "width": "number", "height": "null",
	},
	"CardExtension": {"opengraph": "object"},
	"Texts":         {"text/plain": "string"},
	"Mention":       {"id": "id", "username": "text", "acct": "text", "url": "url"},
	"Tag":           {"name": "text", "url": "url"},
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
		"quoted_status_id": "id|null", "quote_approval_policy": "text|null", "application_id": "number|null", "idempotency": "text|null", "with_rate_limit": "boolean",
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
		"emoji": "?text", "emoji_url": "?url|null",
		"svc": "NotificationExtension",
	},
	"GroupedNotifications": {"accounts": "[]Account", "partial_accounts": "?[]PartialAccount", "statuses": "[]Status", "notification_groups": "[]PagedGroup"},
	"NotificationGroups":   {"accounts": "[]Account", "statuses": "[]Status", "notification_groups": "[]NotificationGroup"},
	"NotificationGroup": {
		"group_key": "text", "notifications_count": "number", "type": "text", "most_recent_notification_id": "digits", "sample_account_ids": "[]id",
		"status_id": "?id", "chat_message": "?ChatMessage", "emoji": "?text", "emoji_url": "?url|null", "svc": "NotificationExtension",
	},
	"PartialAccount": {
		"id": "id", "acct": "text", "locked": "boolean", "bot": "boolean", "url": "url", "avatar": "url", "avatar_static": "url",
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
	"FoundTag":    {"name": "text", "url": "url", "history": "[]null", "following": "?boolean", "featuring": "?boolean"},
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
	"PushSubscription": {"id": "digits", "endpoint": "url", "alerts": "PushAlerts", "server_key": "text", "policy": "text", "standard": "boolean"},
	"PushAlerts": {
		"mention": "boolean", "follow": "boolean", "follow_request": "boolean", "reblog": "boolean", "favourite": "boolean", "poll": "boolean",
		"move": "boolean", "status": "boolean", "update": "boolean", "quote": "boolean", "quoted_update": "boolean", "svc:emoji_reaction": "boolean", "svc:chat_mention": "boolean",
	},
	"Preview":                    {},
	"QuotedStatus":               {},
	"PagedGroup":                 {},
	"CredentialAccount":          {},
	"CredentialAccountExtension": {},
	"CredentialSource":           {},
	"Mascot":                     {},
	"Role":                       {"id": "text", "name": "string", "color": "string", "permissions": "digits", "highlighted": "boolean"},
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
	extend("QuotedStatus", "Status", map[string]string{"quote": "ShallowQuote|null"})
	extend("PagedGroup", "NotificationGroup", map[string]string{
		"page_min_id": "digits", "page_max_id": "digits", "latest_page_notification_at": "time",
	})
	extend("CredentialAccount", "Account", map[string]string{
		"source": "CredentialSource", "role": "Role", "follow_requests_count": "number", "svc": "CredentialAccountExtension",
	})
	extend("CredentialSource", "Source", map[string]string{
		"privacy": "text", "language": "string", "follow_requests_count": "number", "discoverable": "boolean",
		"hide_collections": "boolean", "quote_policy": "text",
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

// readable are all GET endpoints that return entities, with the paths to request and the shapes of the responses. ACCOUNT,
// LIST and so on stand for ids; STATUSES stands for each status in turn. The tests of the instance check the entities of the
// instance.
var readable = map[string]struct{ path, shape string }{
	"/api/oauth_tokens":                       {"", "[]Session"},
	"/api/v1/accounts/:id":                    {"/api/v1/accounts/ACCOUNT?with_relationships=true", "Account"},
	"/api/v1/accounts/:id/featured_tags":      {"/api/v1/accounts/ACCOUNT/featured_tags", "[]FeaturedTag"},
	"/api/v1/accounts/:id/followers":          {"/api/v1/accounts/ACCOUNT/followers?with_relationships=true", "[]Account"},
	"/api/v1/accounts/:id/following":          {"/api/v1/accounts/ACCOUNT/following", "[]Account"},
	"/api/v1/accounts/:id/identity_proofs":    {"/api/v1/accounts/ACCOUNT/identity_proofs", "[]null"},
	"/api/v1/accounts/:id/lists":              {"/api/v1/accounts/ACCOUNT/lists", "[]List"},
	"/api/v1/accounts/:id/statuses":           {"/api/v1/accounts/ACCOUNT/statuses?limit=40", "[]Status"},
	"/api/v1/accounts/lookup":                 {"/api/v1/accounts/lookup?acct=rich", "Account"},
	"/api/v1/accounts/relationships":          {"/api/v1/accounts/relationships?id[]=ACCOUNT&id[]=SELF", "[]Relationship"},
	"/api/v1/accounts/search":                 {"/api/v1/accounts/search?q=r", "[]Account"},
	"/api/v1/accounts/verify_credentials":     {"", "CredentialAccount"},
	"/api/v1/announcements":                   {"/api/v1/announcements?with_dismissed=true", "[]Announcement"},
	"/api/v1/apps/verify_credentials":         {"", "App"},
	"/api/v1/blocks":                          {"", "[]Account"},
	"/api/v1/bookmarks":                       {"", "[]Status"},
	"/api/v1/conversations":                   {"", "[]Conversation"},
	"/api/v1/custom_emojis":                   {"", "[]Emoji"},
	"/api/v1/domain_blocks":                   {"", "[]text"},
	"/api/v1/directory":                       {"", "[]Account"},
	"/api/v1/accounts":                        {"/api/v1/accounts?id[]=ACCOUNT", "[]Account"},
	"/api/v1/accounts/:id/endorsements":       {"/api/v1/accounts/ACCOUNT/endorsements", "[]Account"},
	"/api/v1/endorsements":                    {"", "[]Account"},
	"/api/v1/featured_tags":                   {"", "[]FeaturedTag"},
	"/api/v1/featured_tags/suggestions":       {"", "[]FoundTag"},
	"/api/v1/favourites":                      {"", "[]Status"},
	"/api/v1/filters":                         {"", "[]Phrase"},
	"/api/v1/filters/:id":                     {"/api/v1/filters/KEYWORD", "Phrase"},
	"/api/v2/filters":                         {"", "[]Filter"},
	"/api/v2/filters/:id":                     {"/api/v2/filters/FILTER", "Filter"},
	"/api/v2/filters/:id/keywords":            {"/api/v2/filters/FILTER/keywords", "[]FilterKeyword"},
	"/api/v2/filters/keywords/:id":            {"/api/v2/filters/keywords/KEYWORD", "FilterKeyword"},
	"/api/v2/filters/:id/statuses":            {"/api/v2/filters/FILTER/statuses", "[]FilterStatus"},
	"/api/v2/filters/statuses/:id":            {"/api/v2/filters/statuses/NAMED", "FilterStatus"},
	"/api/v1/follow_requests":                 {"", "[]Account"},
	"/api/v1/followed_tags":                   {"", "[]FoundTag"},
	"/api/v1/identity_proofs":                 {"", "[]null"},
	"/api/v1/instance":                        {"", "object"},
	"/api/v1/instance/activity":               {"", "[]Week"},
	"/api/v1/instance/peers":                  {"", "[]text"},
	"/api/v1/instance/extended_description":   {"", "object"},
	"/api/v1/instance/languages":              {"", "[]object"},
	"/api/v1/instance/privacy_policy":         {"", "404"}, // the operator has written none
	"/api/v1/instance/terms_of_service":       {"", "404"},
	"/api/v1/instance/terms_of_service/:date": {"/api/v1/instance/terms_of_service/2024-05-06", "404"},
	"/api/v1/svc/federation_status":           {"", "FederationStatus"},
	"/api/v1/svc/admin/relay":                 {"", "[]Relay"},
	"/api/v1/svc/admin/moderation_log":        {"", "[]LogEntry"},
	"/api/v1/svc/admin/users":                 {"/api/v1/svc/admin/users?filters=local", "AdminUsers"},
	"/api/v1/svc/admin/users/invites":         {"", "Invites"},

	"/api/v1/svc/admin/users/:nickname_or_id":                              {"/api/v1/svc/admin/users/rich", "AdminUser"},
	"/api/v1/svc/admin/users/:nickname/credentials":                        {"/api/v1/svc/admin/users/rich/credentials", "AdminCredentials"},
	"/api/v1/svc/admin/users/:nickname/permission_group":                   {"/api/v1/svc/admin/users/rich/permission_group", "PermissionGroups"},
	"/api/v1/svc/admin/users/:nickname/permission_group/:permission_group": {"/api/v1/svc/admin/users/rich/permission_group/admin", "PermissionGroups"},

	"/api/v1/instance/rules":                 {"", "[]null"},
	"/api/v1/lists":                          {"", "[]List"},
	"/api/v1/lists/:id":                      {"/api/v1/lists/LIST", "List"},
	"/api/v1/lists/:id/accounts":             {"/api/v1/lists/LIST/accounts", "[]Account"},
	"/api/v1/markers":                        {"/api/v1/markers?timeline[]=home&timeline[]=notifications", "Markers"},
	"/api/v1/media/:id":                      {"/api/v1/media/MEDIA", "Attachment"},
	"/api/v1/mutes":                          {"/api/v1/mutes?with_relationships=true", "[]Account"},
	"/api/v1/notifications":                  {"/api/v1/notifications?with_muted=true", "[]Notification"},
	"/api/v1/notifications/:id":              {"/api/v1/notifications/NOTIFICATION", "Notification"},
	"/api/v1/polls/:id":                      {"/api/v1/polls/POLL", "Poll"},
	"/api/v1/preferences":                    {"", "Preferences"},
	"/api/v1/search":                         {"/api/v1/search?q=rich", "ResultsV1"},
	"/api/v1/push/subscription":              {"", "PushSubscription"},
	"/api/v1/scheduled_statuses":             {"", "[]ScheduledStatus"},
	"/api/v1/scheduled_statuses/:id":         {"/api/v1/scheduled_statuses/SCHEDULED", "ScheduledStatus"},
	"/api/v1/statuses":                       {"/api/v1/statuses?ids[]=STATUSES", "[]Status"},
	"/api/v1/statuses/:id":                   {"/api/v1/statuses/STATUSES", "Status"},
	"/api/v1/statuses/:id/card":              {"/api/v1/statuses/STATUSES/card", "Card|empty"},
	"/api/v1/statuses/:id/context":           {"/api/v1/statuses/STATUSES/context", "Context"},
	"/api/v1/statuses/:id/favourited_by":     {"/api/v1/statuses/STATUSES/favourited_by", "[]Account"},
	"/api/v1/statuses/:id/history":           {"/api/v1/statuses/STATUSES/history", "[]StatusEdit"},
	"/api/v1/statuses/:id/reblogged_by":      {"/api/v1/statuses/STATUSES/reblogged_by", "[]Account"},
	"/api/v1/statuses/:id/source":            {"/api/v1/statuses/STATUSES/source", "StatusSource"},
	"/api/v1/suggestions":                    {"", "[]null"},
	"/api/v1/tags/:name":                     {"/api/v1/tags/rich", "FoundTag"},
	"/api/v1/timelines/direct":               {"", "[]Status"},
	"/api/v1/timelines/home":                 {"/api/v1/timelines/home?limit=40&with_muted=true", "[]Status"},
	"/api/v1/timelines/list/:list_id":        {"/api/v1/timelines/list/LIST", "[]Status"},
	"/api/v1/timelines/public":               {"/api/v1/timelines/public?limit=40", "[]Status"},
	"/api/v1/timelines/tag/:hashtag":         {"/api/v1/timelines/tag/rich", "[]Status"},
	"/api/v1/trends":                         {"", "[]null"},
	"/api/v1/trends/links":                   {"", "[]null"},
	"/api/v1/trends/statuses":                {"", "[]null"},
	"/api/v1/trends/tags":                    {"", "[]null"},
	"/api/v1/svc/accounts/mfa":               {"", "object"},
	"/api/v1/svc/accounts/mfa/setup/:method": {"/api/v1/svc/accounts/mfa/setup/totp", "object"},
	"/api/v1/svc/accounts/mfa/backup_codes":  {"", "object"},
	"/api/v1/svc/aliases":                    {"", "object"},
	"/api/v1/svc/statuses/:id/reactions":     {"/api/v1/svc/statuses/STATUSES/reactions", "[]Reaction"},
	"/api/v1/statuses/:id/quotes":            {"/api/v1/statuses/STATUSES/quotes", "[]Status"},
	"/api/v1/svc/statuses/:id/quotes":        {"/api/v1/svc/statuses/STATUSES/quotes", "[]Status"},
	"/api/v1/accounts/familiar_followers":    {"/api/v1/accounts/familiar_followers?id[]=ACCOUNT", "[]FamiliarFollowers"},
	"/api/v1/svc/accounts/:id/endorsements":  {"/api/v1/svc/accounts/ACCOUNT/endorsements", "[]Account"},
	"/api/v1/svc/accounts/:id/favourites":    {"/api/v1/svc/accounts/ACCOUNT/favourites", "[]Status"},
	"/api/v1/svc/apps":                       {"", "[]App"},
	"/api/v1/svc/birthdays":                  {"/api/v1/svc/birthdays?day=29&month=2", "[]Account"},
	"/api/v1/instance/translation_languages": {"", "empty"}, // translation is off
	"/api/v1/svc/backups":                    {"", "[]Backup"},
	"/api/v1/svc/imports":                    {"", "[]Import"},
	"/api/v1/svc/imports/:id":                {"/api/v1/svc/imports/IMPORT", "Import"},
	"/api/v1/svc/imports/:id/skipped":        {"/api/v1/svc/imports/IMPORT/skipped", "[]SkippedEntry"},
	"/api/v1/svc/bookmark_folders":           {"", "[]BookmarkFolder"},
	"/api/v1/svc/chats":                      {"/api/v1/svc/chats?with_muted=true", "[]Chat"},
	"/api/v1/svc/chats/:id":                  {"/api/v1/svc/chats/CHAT", "Chat"},
	"/api/v1/svc/chats/:id/messages":         {"/api/v1/svc/chats/CHAT/messages", "[]ChatMessage"},
	"/api/v1/svc/emoji":                      {"", "object"},
	"/api/v1/svc/admin/frontends":            {"", "[]Frontend"},
	"/api/v1/svc/admin/need_reboot":          {"", "object"},
	"/api/v1/svc/healthcheck":                {"", "object"},
	"/api/v1/svc/captcha":                    {"", "object"},
	"/api/v1/svc/mascot":                     {"", "Mascot"},
	"/api/v1/svc/accounts/:id/scrobbles":     {"/api/v1/svc/accounts/ACCOUNT/scrobbles", "[]Scrobble"},
	"/api/v1/svc/settings/:app":              {"/api/v1/svc/settings/fe", "object"},
	"/api/v1/svc/frontend_configurations":    {"", "object"},
	"/api/v2/svc/chats":                      {"", "[]Chat"},
	"/api/v2/instance":                       {"", "object"},
	"/api/v2/search":                         {"/api/v2/search?q=rich&with_relationships=true", "Results"},
	"/api/v2/suggestions":                    {"", "[]null"},

	"/api/v1/notifications/unread_count":        {"", "Count"},
	"/api/v1/notifications/policy":              {"", "NotificationPolicyV1"},
	"/api/v2/notifications/policy":              {"", "NotificationPolicy"},
	"/api/v1/notifications/requests":            {"", "[]NotificationRequest"},
	"/api/v1/notifications/requests/merged":     {"", "Merged"},
	"/api/v1/notifications/requests/:id":        {"/api/v1/notifications/requests/1", "404"}, // TestNotificationRequests has some
	"/api/v2/notifications":                     {"/api/v2/notifications?with_muted=true", "GroupedNotifications"},
	"/api/v2/notifications/unread_count":        {"", "Count"},
	"/api/v2/notifications/:group_key":          {"/api/v2/notifications/ungrouped-NOTIFICATION", "NotificationGroups"},
	"/api/v2/notifications/:group_key/accounts": {"/api/v2/notifications/ungrouped-NOTIFICATION/accounts", "[]Account"},

	"/api/v1/svc/statuses/:id/reactions/:emoji": {"/api/v1/svc/statuses/STATUSES/reactions/%F0%9F%94%A5?with_muted=true", "[]Reaction"},

	"/api/v1/svc/conversations/:id":          {"/api/v1/svc/conversations/CONVERSATION", "Conversation"},
	"/api/v1/svc/conversations/:id/statuses": {"/api/v1/svc/conversations/CONVERSATION/statuses", "[]Status"},
	"/api/oembed":                            {"/api/oembed?url=ADDRESS", "404"},
}

// testedElsewhere are routes that have tests of their own, because their answers are no JSON or need packs or settings of the server.
var testedElsewhere = []string{
	"/api/v1/streaming", "/api/v1/svc/emoji/pack", "/api/v1/svc/admin/config", "/api/v1/svc/admin/restart",
}

// TestEntities requests all readable endpoints: as an account with all kinds of data, as an account without any, as an admin and
// anonymously. All responses must have the documented shape.
func TestEntities(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png", "dog": "dog.gif"})
	rich, other, empty := srv.SignUp("rich"), srv.SignUp("other"), srv.SignUp("empty")
	statuses, attachment, list := addRichEntities(srv, rich, other)
	notification := rich.Get("/api/v1/notifications").Want(200).IDs()[0]
	talk, othersTalk := listConversations(rich)[0].ID(), listConversations(other)[0].ID()
	poll, scheduled := addRichPolls(srv, rich, other, &statuses)
	rich.Post("/api/v1/svc/mutes_import", "list", "nobody").Want(200)
	rich.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	imported := rich.Get("/api/v1/svc/imports").Want(200).IDs()[0]
	service := apptest.StartPushService(t)
	for _, m := range []*apptest.User{rich, other, empty} { // without a subscription the response is 404
		m.SubscribePush(service)
	}
	viewers := []struct {
		name string
		*apptest.Client
		ids []string // pairs of a placeholder and an id; placeholders without an id are not requested
	}{
		{"rich", rich.Client, []string{"SELF", rich.ID, "ACCOUNT", other.ID, "LIST", list, "MEDIA", attachment, "NOTIFICATION", notification, "CONVERSATION", talk, "POLL", poll, "SCHEDULED", scheduled}},
		{"other", other.Client, []string{"SELF", other.ID, "ACCOUNT", rich.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", othersTalk, "POLL", poll, "SCHEDULED", ""}},
		{"empty", empty.Client, []string{"SELF", empty.ID, "ACCOUNT", rich.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", "", "POLL", poll, "SCHEDULED", ""}},
		{"admin", srv.SignUpAdmin().Client, nil},
		{"an anonymous client", srv.As(nil), []string{"SELF", "", "ACCOUNT", empty.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", "", "POLL", poll, "SCHEDULED", ""}},
	}
	for i := range viewers {
		viewers[i].ids = append(viewers[i].ids, "IMPORT", map[bool]string{true: imported}[i == 0])
	}
	for i, chat := range append(addRichChats(srv, rich, other), "", "") {
		viewers[i].ids = append(viewers[i].ids, "CHAT", chat)
	}
	filters := addRichFilters(srv, rich, statuses)
	for i := range viewers {
		for j := 0; j < len(filters); j += 2 {
			viewers[i].ids = append(viewers[i].ids, filters[j], map[bool]string{true: filters[j+1]}[i == 0])
		}
	}
	for _, route := range server.Routes() {
		if route.Method != "GET" || !strings.HasPrefix(route.Path, "/api/") || strings.Contains(route.Path, "password_reset") ||
			strings.Contains(route.Path, "confirm_email") { // pages
			continue
		}
		if slices.ContainsFunc(testedElsewhere, func(prefix string) bool { return strings.HasPrefix(route.Path, prefix) }) || strings.HasSuffix(route.Path, ".csv") {
			continue
		}
		read, known := readable[route.Path]
		if !known {
			t.Errorf("the shape of %s is not listed", route.Path)
			continue
		}
		path := read.path
		if path == "" {
			path = route.Path
		}
		for _, viewer := range viewers {
			if viewer.Token == "" && !strings.HasPrefix(route.Access, "anyone") {
				continue
			}
			if forStaff := strings.HasPrefix(route.Access, "admin") || strings.HasPrefix(route.Access, "staff"); forStaff != (viewer.name == "admin") {
				continue
			}
			for _, target := range expandPath(path, viewer.ids, statuses) {
				a := viewer.Get(target)
				if read.shape == "404" { // documented as not implemented
					a.WantError(404, "Record not found")
					continue
				}
				if a.Status == 404 && strings.Contains(path, "STATUSES") { // not all statuses are visible to all viewers
					continue
				}
				if a.Status == 403 && strings.HasSuffix(path, "/favourites") { // only rich shows its favourites
					continue
				}
				WantEntity(t, viewer.name, a, read.shape)
			}
		}
	}
}

// expandPath replaces the placeholders of a path by ids, once for each status.
func expandPath(path string, ids, statuses []string) []string {
	for i := 0; i < len(ids); i += 2 {
		if ids[i+1] == "" && strings.Contains(path, ids[i]) {
			return nil
		}
	}
	if !strings.Contains(path, "STATUSES") {
		return []string{strings.NewReplacer(ids...).Replace(path)}
	}
	var paths []string
	for _, id := range statuses {
		paths = append(paths, strings.ReplaceAll(path, "STATUSES", id))
	}
	return paths
}

// addRichEntities makes rich and other perform all actions that create data, and checks the shapes of the responses.
// It returns statuses of all kinds, an upload and a list with members.
func addRichEntities(a *apptest.Server, rich, other *apptest.User) (statuses []string, attachment, list string) {
	t := a.T.(*testing.T)
	t.Helper()
	do := func(m *apptest.User, shape, method, path string, body any) *apptest.Object {
		t.Helper()
		response := m.SendJSON(method, path, body)
		WantEntity(t, m.Nickname, response, shape)
		return response.Object()
	}
	type params = map[string]any
	status := func(m *apptest.User, body params) string {
		t.Helper()
		id := do(m, "Status", "POST", "/api/v1/statuses", body).ID()
		statuses = append(statuses, id)
		return id
	}
	do(rich, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{
		"display_name": "Rich & <b> :cat:", "note": "of #everything", "bot": true, "show_role": true, "discoverable": true, "hide_favorites": false,
		"birthday": "2000-02-29", "show_birthday": true,
		"fields_attributes": []params{{"name": "site", "value": a.URL}}, "svc_settings_store": params{"fe": params{"a": 1}},
	})
	do(other, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{"svc_settings_store": nil})
	upload := other.Upload(apptest.PNG(3, 3))
	attachment = rich.Upload(apptest.PNG(4, 4), apptest.ValuePart("description", "noise")).ID()
	WantEntity(t, rich.Nickname, rich.SendJSON("PUT", "/api/v1/media/"+attachment, params{"description": "more noise"}), "Attachment")
	list = do(rich, "List", "POST", "/api/v1/lists", params{"title": "all"}).ID()
	do(rich, "List", "PUT", "/api/v1/lists/"+list, params{"title": "all", "replies_policy": "followed"})
	do(other, "Relationship", "POST", "/api/v1/accounts/"+rich.ID+"/follow", params{"notify": true, "languages": []string{"de"}})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+other.ID+"/follow", params{})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+other.ID+"/note", params{"comment": "known"})
	do(rich, "FoundTag", "POST", "/api/v1/tags/followed/follow", nil)
	do(rich, "empty", "POST", "/api/v1/lists/"+list+"/accounts", params{"account_ids": []string{other.ID}})

	first := status(rich, params{"status": "first @other #rich :cat: :none: " + a.URL, "spoiler_text": "a subject :dog:", "language": "de", "expires_in": 4000})
	status(rich, params{"status": "", "media_ids": []string{attachment}, "sensitive": true})
	for _, v := range []string{"unlisted", "private", "direct", "local", "list:" + list} {
		status(rich, params{"status": "@other of visibility " + v, "visibility": v})
	}
	do(rich, "Preview", "POST", "/api/v1/statuses", params{"status": "a preview @other #rich", "preview": true, "media_ids": []string{attachment}})
	reply := status(other, params{"status": "@rich a reply #rich", "in_reply_to_id": first, "media_ids": []string{upload.ID()}})
	status(rich, params{"status": "an answer", "in_reply_to_id": reply})
	quote := status(other, params{"status": "to be quoted so", "quote_id": first})
	status(rich, params{"status": "to be quoted again", "quote_id": quote, "quote_approval_policy": "followers"})
	orphan := status(other, params{"status": "gone"})
	status(rich, params{"status": "a reply to a deleted status", "in_reply_to_id": orphan})
	do(other, "Status", "DELETE", "/api/v1/statuses/"+orphan, nil)

	boost := do(other, "Status", "POST", "/api/v1/statuses/"+first+"/reblog", nil).ID()
	statuses = append(statuses, boost, do(rich, "Status", "POST", "/api/v1/statuses/"+reply+"/reblog", nil).ID())
	for _, m := range []*apptest.User{rich, other} {
		for _, action := range []string{"favourite", "bookmark", "unbookmark", "bookmark", "mute", "unmute"} {
			do(m, "Status", "POST", "/api/v1/statuses/"+first+"/"+action, nil)
			do(m, "Status", "POST", "/api/v1/statuses/"+boost+"/"+action, nil)
		}
	}
	for _, id := range []string{first, boost, reply} {
		do(rich, "Status", "PUT", "/api/v1/svc/statuses/"+id+"/reactions/%F0%9F%94%A5", nil)
		do(other, "Status", "PUT", "/api/v1/svc/statuses/"+id+"/reactions/:cat:", nil)
	}
	do(other, "Status", "DELETE", "/api/v1/svc/statuses/"+reply+"/reactions/cat", nil)
	folder := do(rich, "BookmarkFolder", "POST", "/api/v1/svc/bookmark_folders", params{"name": "kept", "emoji": "cat"}).ID()
	do(rich, "BookmarkFolder", "POST", "/api/v1/svc/bookmark_folders", params{"name": "read"})
	do(rich, "Status", "POST", "/api/v1/statuses/"+first+"/bookmark", params{"folder_id": folder})
	do(rich, "Status", "POST", "/api/v1/statuses/"+first+"/pin", nil)
	do(rich, "Status", "PUT", "/api/v1/statuses/"+first, params{"status": "edited @other #rich"})
	do(rich, "Status", "POST", "/api/v1/statuses/"+reply+"/mute", params{"expires_in": 1000})

	talk := listConversations(rich)[0].ID()
	do(rich, "Conversation", "POST", "/api/v1/conversations/"+talk+"/read", nil)
	do(rich, "Conversation", "PATCH", "/api/v1/svc/conversations/"+talk, params{"recipients": []string{other.ID}})
	status(rich, params{"status": "into a conversation", "in_reply_to_conversation_id": talk})
	WantEntity(t, other.Nickname, other.Post("/api/v1/svc/conversations/read"), "[]Conversation")
	status(rich, params{"status": "talking to @other", "visibility": "direct"})

	muted, blocked, asking := a.SignUp("muted"), a.SignUp("blocked"), a.SignUp("asking")
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+muted.ID+"/mute", params{"expires_in": 1000})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+blocked.ID+"/block", nil)
	do(rich, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{"locked": true})
	do(asking, "Relationship", "POST", "/api/v1/accounts/"+rich.ID+"/follow", nil)
	status(muted, params{"status": "@rich a mention by a muted account"})
	do(rich, "empty", "POST", "/api/v1/domain_blocks", params{"domain": "example.com"})
	do(rich, "Markers", "POST", "/api/v1/markers", params{
		"home": params{"last_read_id": first}, "notifications": params{"last_read_id": rich.Get("/api/v1/notifications").IDs()[0]},
	})
	return statuses, attachment, list
}

package moving

import "strings"

// mastodonReplies are the policies of lists: members, followed accounts, none.
var mastodonReplies = map[string]string{"0": "list", "1": "followed", "2": "none"}

var mastodonLists = &mapping{
	columns:  []string{"id", "account_id", "title", "created_at", "replies_policy"},
	optional: []string{"exclusive"},
	load: func(l *loader, r *row) error {
		return l.put(r, "lists", r.text("id"), r.text("account_id"), r.text("title"), mastodonReplies[r.text("replies_policy")], r.bool("exclusive"), r.time("created_at"))
	},
}

var mastodonListAccounts = &mapping{
	columns: []string{"list_id", "account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "list_members", nil, r.text("list_id"), r.text("account_id"), "")
	},
}

// mastodonFilterActions are warn, hide, blur.
var mastodonFilterActions = map[string]string{"0": "warn", "1": "hide", "2": "blur"}

var mastodonFilters = &mapping{
	columns:  []string{"id", "account_id", "expires_at", "phrase", "context", "created_at"},
	optional: []string{"action"},
	load: func(l *loader, r *row) error {
		action := mastodonFilterActions[r.text("action")]
		if action == "" {
			action = "warn"
		}
		return l.put(r, "filters", r.text("id"), r.text("account_id"), r.text("phrase"), jsonOf(r.list("context")), action, r.time("expires_at"), r.time("created_at"))
	},
}

var mastodonFilterKeywords = &mapping{
	columns: []string{"custom_filter_id", "keyword", "whole_word"},
	load: func(l *loader, r *row) error {
		return l.put(r, "filter_keywords", nil, r.text("custom_filter_id"), r.text("keyword"), r.bool("whole_word"))
	},
}

var mastodonFilterStatuses = &mapping{
	columns: []string{"custom_filter_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "filter_posts", nil, r.text("custom_filter_id"), r.text("status_id"))
	},
}

// mastodonMarkers names users, whose accounts are set once all rows are there.
var mastodonMarkers = &mapping{
	columns: []string{"user_id", "timeline", "last_read_id", "updated_at", "lock_version"},
	load: func(l *loader, r *row) error {
		if r.text("timeline") != "home" { // notifications do not come along
			return nil
		}
		return l.put(r, "markers", nil, r.text("user_id"), "home", r.text("last_read_id"), r.time("updated_at"), r.int("lock_version"))
	},
}

var mastodonApps = &mapping{
	columns: []string{"id", "name", "uid", "secret", "redirect_uri", "scopes", "created_at", "website"},
	load: func(l *loader, r *row) error {
		return l.put(r, "apps", r.text("id"), r.text("uid"), r.text("secret"), r.text("name"), r.text("website"), strings.Join(strings.Fields(r.text("redirect_uri")), "\n"), r.text("scopes"), r.time("created_at"))
	},
}

var mastodonTokens = &mapping{
	columns:  []string{"token", "refresh_token", "expires_in", "revoked_at", "created_at", "scopes", "application_id", "resource_owner_id"},
	optional: []string{"last_used_at"},
	load: func(l *loader, r *row) error {
		if r.has("revoked_at") || !r.has("resource_owner_id") || !r.has("application_id") {
			return nil
		}
		expires := int64(0)
		if r.has("expires_in") {
			expires = r.time("created_at") + r.int("expires_in")*1000
		}
		return l.put(r, "tokens", nil, r.text("application_id"), false, r.text("resource_owner_id"), r.text("token"), r.text("refresh_token"), r.text("scopes"),
			r.time("created_at"), r.time("last_used_at"), expires)
	},
}

// mastodonCategories are the categories of reports.
var mastodonCategories = map[string]string{"0": "other", "1000": "spam", "1500": "legal", "2000": "violation"}

var mastodonReports = &mapping{
	columns: []string{
		"id", "status_ids", "comment", "created_at", "account_id", "action_taken_by_account_id", "target_account_id", "assigned_account_id", "uri", "forwarded",
		"category", "action_taken_at", "rule_ids",
	},
	load: func(l *loader, r *row) error {
		category := mastodonCategories[r.text("category")]
		if category == "" {
			category = "other"
		}
		return l.put(r, "reports", r.text("id"), r.text("account_id"), r.text("target_account_id"), r.text("comment"), category, r.bool("forwarded"),
			r.time("action_taken_at"), r.text("action_taken_by_account_id"), r.text("assigned_account_id"), jsonOf(r.list("status_ids")), jsonOf(r.list("rule_ids")), r.text("uri"), r.time("created_at"))
	},
}

var mastodonReportNotes = &mapping{
	columns: []string{"content", "report_id", "account_id", "created_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "report_notes", nil, r.text("report_id"), r.text("account_id"), r.text("content"), r.time("created_at"))
	},
}

var mastodonRules = &mapping{
	columns:  []string{"id", "priority", "deleted_at", "text"},
	optional: []string{"hint"},
	load: func(l *loader, r *row) error {
		if r.has("deleted_at") {
			return nil
		}
		return l.put(r, "rules", r.text("id"), r.text("text"), r.text("hint"), r.int("priority"))
	},
}

var mastodonAnnouncements = &mapping{
	columns: []string{"id", "text", "published", "all_day", "starts_at", "ends_at", "created_at", "updated_at"},
	load: func(l *loader, r *row) error {
		if !r.bool("published") {
			return nil
		}
		return l.put(r, "announcements", r.text("id"), r.text("text"), r.time("starts_at"), r.time("ends_at"), r.bool("all_day"), r.time("updated_at"), r.time("created_at"))
	},
}

var mastodonInvites = &mapping{
	columns: []string{"code", "expires_at", "max_uses", "uses", "created_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "invites", nil, r.text("code"), r.int("max_uses"), r.int("uses"), r.time("expires_at"), r.time("created_at"))
	},
}

var mastodonEmojis = &mapping{
	columns:  []string{"id", "shortcode", "domain", "image_file_name", "disabled"},
	optional: []string{"image_remote_url", "category_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "emoji", r.text("id"), r.text("shortcode"), r.text("domain"), mastodonPath("custom_emojis/images", r.text("id"), "original", r.text("image_file_name")),
			r.text("image_remote_url"), r.text("category_id"), r.bool("disabled"))
	},
}

// mastodonSeverities are silence, suspend, noop.
var mastodonSeverities = map[string]string{"0": "silence", "1": "suspend", "2": "noop"}

var mastodonServerBlocks = &mapping{
	columns:  []string{"domain", "severity", "reject_media", "reject_reports"},
	optional: []string{"private_comment", "public_comment"},
	load: func(l *loader, r *row) error {
		severity := mastodonSeverities[r.text("severity")]
		if severity == "" {
			severity = "silence"
		}
		return l.put(r, "server_blocks", nil, r.text("domain"), severity, r.bool("reject_media"), r.bool("reject_reports"), r.text("public_comment"), r.text("private_comment"))
	},
}

var mastodonEmailBlocks = &mapping{
	columns: []string{"domain"},
	load:    func(l *loader, r *row) error { return l.put(r, "email_blocks", nil, r.text("domain")) },
}

var mastodonTombstones = &mapping{
	columns: []string{"uri", "created_at"},
	load:    func(l *loader, r *row) error { return l.put(r, "tombstones", r.text("uri"), r.time("created_at")) },
}

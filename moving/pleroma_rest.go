package moving

import "strings"

var pleromaFollows = &mapping{
	columns: []string{"id", "follower_id", "following_id", "state", "inserted_at"},
	load: func(l *loader, r *row) error {
		state := r.int("state")
		if state != 1 && state != 2 { // pending, accepted
			return r.err
		}
		return l.put(r, "follows", nil, r.text("id"), r.text("follower_id"), r.text("following_id"), state == 1, true, false, "", r.time("inserted_at"))
	},
}

// pleromaRelationships are blocks, mutes and others: see pleromaFinish.
var pleromaRelationships = &mapping{
	columns:  []string{"source_id", "target_id", "relationship_type"},
	optional: []string{"expires_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "pleroma_relationships", nil, r.int("relationship_type"), r.text("source_id"), r.text("target_id"), r.time("expires_at"))
	},
}

var pleromaNotes = &mapping{
	columns: []string{"source_id", "target_id", "comment"},
	load: func(l *loader, r *row) error {
		return l.put(r, "notes", nil, r.text("source_id"), r.text("target_id"), r.text("comment"))
	},
}

// pleromaBookmarks name the Create of a post.
var pleromaBookmarks = &mapping{
	columns: []string{"user_id", "activity_id", "inserted_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "bookmarks", nil, r.text("user_id"), r.text("activity_id"), r.time("inserted_at"))
	},
}

var pleromaThreadMutes = &mapping{
	columns: []string{"user_id", "context"},
	load: func(l *loader, r *row) error {
		return l.put(r, "thread_mutes", nil, r.text("user_id"), r.text("context"))
	},
}

var pleromaConversations = &mapping{
	columns: []string{"id", "ap_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "pleroma_conversations", r.text("id"), r.text("ap_id"))
	},
}

var pleromaParticipations = &mapping{
	columns: []string{"user_id", "conversation_id", "read"},
	load: func(l *loader, r *row) error {
		if !r.bool("read") {
			return r.err
		}
		return l.put(r, "read_threads", r.text("user_id"), r.text("conversation_id"))
	},
}

var pleromaHashtags = &mapping{
	columns: []string{"id", "name"},
	load:    func(l *loader, r *row) error { return l.put(r, "tags", r.text("id"), r.text("name")) },
}

var pleromaTagFollows = &mapping{
	columns: []string{"user_id", "hashtag_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "tag_follows", nil, r.text("user_id"), r.text("hashtag_id"))
	},
}

// pleromaLists name their members by the collections of their followers.
var pleromaLists = &mapping{
	columns: []string{"id", "user_id", "title", "following", "inserted_at"},
	load: func(l *loader, r *row) error {
		if err := l.put(r, "lists", r.text("id"), r.text("user_id"), r.text("title"), "", false, r.time("inserted_at")); err != nil {
			return err
		}
		for _, followers := range r.list("following") {
			if err := l.put(r, "list_members", nil, r.text("id"), followers, ""); err != nil {
				return err
			}
		}
		return r.err
	},
}

var pleromaFilters = &mapping{
	columns:  []string{"id", "user_id", "phrase", "context", "hide", "whole_word", "inserted_at"},
	optional: []string{"expires_at"},
	load: func(l *loader, r *row) error {
		action := "warn"
		if r.bool("hide") {
			action = "hide"
		}
		if err := l.put(r, "filters", r.text("id"), r.text("user_id"), r.text("phrase"), jsonOf(r.list("context")), action, r.time("expires_at"), r.time("inserted_at")); err != nil {
			return err
		}
		return l.put(r, "filter_keywords", nil, r.text("id"), r.text("phrase"), r.bool("whole_word"))
	},
}

var pleromaApps = &mapping{
	columns: []string{"id", "client_name", "redirect_uris", "scopes", "website", "client_id", "client_secret", "inserted_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "apps", r.text("id"), r.text("client_id"), r.text("client_secret"), r.text("client_name"), r.text("website"),
			strings.Join(strings.Fields(r.text("redirect_uris")), "\n"), strings.Join(r.list("scopes"), " "), r.time("inserted_at"))
	},
}

var pleromaTokens = &mapping{
	columns: []string{"app_id", "user_id", "token", "refresh_token", "scopes", "valid_until", "inserted_at"},
	load: func(l *loader, r *row) error {
		if !r.has("app_id") || !r.has("user_id") || r.text("token") == "" {
			return r.err
		}
		return l.put(r, "tokens", nil, r.text("app_id"), false, r.text("user_id"), r.text("token"), r.text("refresh_token"), strings.Join(r.list("scopes"), " "),
			r.time("inserted_at"), 0, r.time("valid_until"))
	},
}

// pleromaReportNotes name the activity that is the report.
var pleromaReportNotes = &mapping{
	columns: []string{"user_id", "activity_id", "content", "inserted_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "report_notes", nil, r.text("activity_id"), r.text("user_id"), r.text("content"), r.time("inserted_at"))
	},
}

var pleromaRules = &mapping{
	columns:  []string{"id", "priority", "text"},
	optional: []string{"hint"},
	load: func(l *loader, r *row) error {
		return l.put(r, "rules", r.text("id"), r.text("text"), r.text("hint"), r.int("priority"))
	},
}

var pleromaAnnouncements = &mapping{
	columns: []string{"id", "data", "starts_at", "ends_at", "inserted_at", "updated_at"},
	load: func(l *loader, r *row) error {
		d := r.document("data")
		return l.put(r, "announcements", r.text("id"), d.text("content"), r.time("starts_at"), r.time("ends_at"), d.bool("all_day"), r.time("updated_at"), r.time("inserted_at"))
	},
}

var pleromaInvites = &mapping{
	columns: []string{"token", "used", "max_use", "expires_at", "uses", "invite_type", "inserted_at"},
	load: func(l *loader, r *row) error {
		if r.bool("used") {
			return r.err
		}
		most := r.int("max_use")
		if r.text("invite_type") == "one_time" {
			most = 1
		}
		return l.put(r, "invites", nil, r.text("token"), most, r.int("uses"), r.time("expires_at"), r.time("inserted_at"))
	},
}

package moving

import (
	"strings"

	"svc/internal/text"
	"svc/store"
)

var gtsContentTypes = []text.ContentType{text.PlainText, text.PlainText, text.Markdown}

func gtsContentType(r *row) string {
	n := r.int("content_type")
	if n < 0 || int(n) >= len(gtsContentTypes) {
		n = 0
	}
	return string(gtsContentTypes[n])
}

var gtsStatuses = &mapping{
	columns: []string{
		"id", "created_at", "uri", "url", "content", "attachments", "tags", "account_id", "in_reply_to_id", "in_reply_to_account_id", "boost_of_id",
		"content_warning", "visibility", "sensitive", "language", "text", "thread_id", "created_with_application_id", "pinned_at", "poll_id",
	},
	optional: []string{"edited_at", "content_type", "content_warning_text", "pending_approval", "federated"},
	load: func(l *loader, r *row) error {
		id := r.text("id")
		spoiler := r.text("content_warning_text")
		if spoiler == "" { // before 0.18, and of remote posts
			spoiler = text.HTMLToText(r.text("content_warning"))
		}
		visibility := gtsVisibility(r, "visibility")
		if r.has("federated") && !r.bool("federated") && visibility.Counted() {
			visibility = store.Local
		}
		if err := l.put(r, "posts", id, r.text("account_id"), r.text("uri"), r.text("url"), r.time("created_at"), r.time("edited_at"),
			visibility, r.text("in_reply_to_id"), r.text("in_reply_to_account_id"), r.text("boost_of_id"), r.text("thread_id"),
			r.text("content"), r.text("text"), gtsContentType(r), spoiler, r.bool("sensitive"), r.text("language"),
			r.text("poll_id"), r.text("created_with_application_id"), r.bool("pending_approval"), false); err != nil {
			return err
		}
		for i, media := range r.list("attachments") {
			if err := l.put(r, "attachments", id, i, media); err != nil {
				return err
			}
		}
		for _, tag := range r.list("tags") {
			if err := l.put(r, "post_tags", nil, id, tag); err != nil {
				return err
			}
		}
		if at := r.time("pinned_at"); at > 0 {
			return l.put(r, "pins", nil, r.text("account_id"), id, at)
		}
		return nil
	},
}

var gtsMentions = &mapping{
	columns: []string{"status_id", "target_account_id", "silent"},
	load: func(l *loader, r *row) error {
		return l.put(r, "mentions", nil, r.text("status_id"), r.text("target_account_id"), r.bool("silent"))
	},
}

// gtsMediaTypes are the types of files: unknown, picture, sound, video, silent video.
var gtsMediaTypes = []string{"unknown", "image", "audio", "video", "video"}

var gtsMedia = &mapping{
	columns: []string{
		"id", "created_at", "url", "remote_url", "type", "account_id", "description", "blurhash", "file_path", "file_content_type", "thumbnail_path",
		"thumbnail_url", "cached", "original_width", "original_height", "focus_x", "focus_y",
	},
	load: func(l *loader, r *row) error {
		kind := r.int("type")
		if kind < 0 || int(kind) >= len(gtsMediaTypes) {
			kind = 0
		}
		return l.put(r, "media", r.text("id"), r.text("account_id"), gtsMediaTypes[kind], r.text("file_content_type"), r.text("file_path"), r.text("thumbnail_path"),
			r.text("url"), r.text("thumbnail_url"), r.text("remote_url"), r.text("description"), r.text("blurhash"), r.int("original_width"), r.int("original_height"),
			r.float("focus_x"), r.float("focus_y"), r.time("created_at"), r.bool("cached"))
	},
}

var gtsEdits = &mapping{
	columns:  []string{"content", "content_warning", "text", "sensitive", "attachments", "attachment_descriptions", "poll_options", "status_id", "created_at"},
	optional: []string{"content_type"},
	load: func(l *loader, r *row) error {
		return l.put(r, "edits", nil, r.text("status_id"), r.time("created_at"), r.text("content"), r.text("text"), gtsContentType(r),
			text.HTMLToText(r.text("content_warning")), r.bool("sensitive"), jsonOf(r.list("attachments")), jsonOf(r.list("attachment_descriptions")), jsonOf(r.list("poll_options")))
	},
}

var gtsPolls = &mapping{
	columns: []string{"id", "multiple", "hide_counts", "options", "votes", "voters", "status_id", "expires_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "polls", r.text("id"), r.text("status_id"), r.bool("multiple"), r.bool("hide_counts"), jsonOf(r.list("options")), jsonOf(r.list("votes")),
			r.int("voters"), r.time("expires_at"))
	},
}

var gtsVotes = &mapping{
	columns: []string{"choices", "account_id", "poll_id"},
	load: func(l *loader, r *row) error {
		for _, choice := range r.list("choices") {
			if err := l.put(r, "votes", nil, r.text("poll_id"), r.text("account_id"), choice); err != nil {
				return err
			}
		}
		return nil
	},
}

var gtsFaves = &mapping{
	columns:  []string{"created_at", "account_id", "status_id", "uri"},
	optional: []string{"pending_approval"},
	load: func(l *loader, r *row) error {
		return l.put(r, "favourites", nil, r.text("account_id"), r.text("status_id"), r.text("uri"), r.bool("pending_approval"), r.time("created_at"))
	},
}

var gtsBookmarks = &mapping{
	columns: []string{"created_at", "account_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "bookmarks", nil, r.text("account_id"), r.text("status_id"), r.time("created_at"))
	},
}

var gtsThreadMutes = &mapping{
	columns: []string{"thread_id", "account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "thread_mutes", nil, r.text("account_id"), r.text("thread_id"))
	},
}

var gtsConversations = &mapping{
	columns: []string{"account_id", "thread_id", "read"},
	load: func(l *loader, r *row) error {
		if !r.bool("read") {
			return nil
		}
		return l.put(r, "read_threads", r.text("account_id"), r.text("thread_id"))
	},
}

var gtsLists = &mapping{
	columns:  []string{"id", "created_at", "title", "account_id", "replies_policy"},
	optional: []string{"exclusive"},
	load: func(l *loader, r *row) error {
		return l.put(r, "lists", r.text("id"), r.text("account_id"), r.text("title"), r.text("replies_policy"), r.bool("exclusive"), r.time("created_at"))
	},
}

var gtsListEntries = &mapping{
	columns: []string{"list_id", "follow_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "list_members", nil, r.text("list_id"), "", r.text("follow_id"))
	},
}

// gtsFilterContexts are the bits of the contexts of a filter.
var gtsFilterContexts = []struct {
	bit  int64
	name string
}{{1 << 1, "home"}, {1 << 2, "notifications"}, {1 << 3, "public"}, {1 << 4, "thread"}, {1 << 5, "account"}}

var gtsFilters = &mapping{
	columns:  []string{"id", "expires_at", "account_id", "title", "action"},
	optional: []string{"contexts", "created_at", "context_home", "context_notifications", "context_public", "context_thread", "context_account"},
	load: func(l *loader, r *row) error {
		contexts := []string{}
		for _, c := range gtsFilterContexts {
			if r.int("contexts")&c.bit != 0 || r.bool("context_"+c.name) {
				contexts = append(contexts, c.name)
			}
		}
		action := "warn"
		switch r.text("action") {
		case "2", "hide":
			action = "hide"
		case "3", "blur":
			action = "blur"
		}
		return l.put(r, "filters", r.text("id"), r.text("account_id"), r.text("title"), jsonOf(contexts), action, r.time("expires_at"), r.time("created_at"))
	},
}

var gtsFilterKeywords = &mapping{
	columns: []string{"filter_id", "keyword", "whole_word"},
	load: func(l *loader, r *row) error {
		return l.put(r, "filter_keywords", nil, r.text("filter_id"), r.text("keyword"), r.bool("whole_word"))
	},
}

var gtsFilterStatuses = &mapping{
	columns: []string{"filter_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "filter_posts", nil, r.text("filter_id"), r.text("status_id"))
	},
}

var gtsMarkers = &mapping{
	columns: []string{"account_id", "name", "updated_at", "version", "last_read_id"},
	load: func(l *loader, r *row) error {
		if r.text("name") != "home" { // notifications do not come along
			return nil
		}
		return l.put(r, "markers", nil, r.text("account_id"), r.text("name"), r.text("last_read_id"), r.time("updated_at"), r.int("version"))
	},
}

var gtsReports = &mapping{
	columns: []string{"id", "created_at", "uri", "account_id", "target_account_id", "comment", "statuses", "rules", "forwarded", "action_taken", "action_taken_at", "action_taken_by_account_id"},
	load: func(l *loader, r *row) error {
		id := r.text("id")
		category := "other"
		if len(r.list("rules")) > 0 {
			category = "violation"
		}
		if err := l.put(r, "reports", id, r.text("account_id"), r.text("target_account_id"), r.text("comment"), category, r.bool("forwarded"),
			r.time("action_taken_at"), r.text("action_taken_by_account_id"), "", jsonOf(r.list("statuses")), jsonOf(r.list("rules")), r.text("uri"), r.time("created_at")); err != nil {
			return err
		}
		if note := r.text("action_taken"); strings.TrimSpace(note) != "" {
			return l.put(r, "report_notes", nil, id, r.text("action_taken_by_account_id"), note, r.time("action_taken_at"))
		}
		return nil
	},
}

var gtsRules = &mapping{
	columns:  []string{"id", "text", "order"},
	optional: []string{"deleted"},
	load: func(l *loader, r *row) error {
		if r.bool("deleted") {
			return nil
		}
		return l.put(r, "rules", r.text("id"), r.text("text"), "", r.int("order"))
	},
}

var gtsEmojis = &mapping{
	columns: []string{"id", "shortcode", "domain", "image_remote_url", "image_url", "image_path", "disabled", "category_id"},
	load: func(l *loader, r *row) error {
		url := r.text("image_remote_url")
		if !r.has("domain") {
			url = r.text("image_url")
		}
		return l.put(r, "emoji", r.text("id"), r.text("shortcode"), r.text("domain"), r.text("image_path"), url, r.text("category_id"), r.bool("disabled"))
	},
}

// gtsEmojiCategories are read for their names only: a category is an emoji pack's tag here, which packs write as text.
var gtsEmojiCategories = &mapping{
	columns: []string{"id", "name"},
	load:    func(l *loader, r *row) error { return l.put(r, "tags", "category:"+r.text("id"), r.text("name")) },
}

var gtsDomainBlocks = &mapping{
	columns: []string{"domain", "private_comment", "public_comment"},
	load: func(l *loader, r *row) error {
		return l.put(r, "server_blocks", nil, r.text("domain"), "suspend", false, false, r.text("public_comment"), r.text("private_comment"))
	},
}

var gtsEmailBlocks = &mapping{
	columns: []string{"domain"},
	load:    func(l *loader, r *row) error { return l.put(r, "email_blocks", nil, r.text("domain")) },
}

var gtsTombstones = &mapping{
	columns: []string{"created_at", "uri"},
	load:    func(l *loader, r *row) error { return l.put(r, "tombstones", r.text("uri"), r.time("created_at")) },
}

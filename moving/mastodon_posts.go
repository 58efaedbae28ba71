package moving

import (
	"path"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// mastodonVisibilities are public, unlisted, private, direct, limited.
var mastodonVisibilities = []store.Visibility{store.Public, store.Unlisted, store.Private, store.Direct, store.Direct}

var mastodonStatuses = &mapping{
	columns: []string{
		"id", "uri", "text", "created_at", "in_reply_to_id", "reblog_of_id", "url", "sensitive", "visibility", "spoiler_text", "language", "conversation_id", "local",
		"account_id", "application_id", "in_reply_to_account_id", "poll_id", "deleted_at",
	},
	optional: []string{"edited_at", "ordered_media_attachment_ids"},
	load: func(l *loader, r *row) error {
		if r.has("deleted_at") { // it is about to be removed
			return nil
		}
		id := r.text("id")
		visibility := store.Direct
		if n := r.int("visibility"); n >= 0 && int(n) < len(mastodonVisibilities) {
			visibility = mastodonVisibilities[n]
		}
		content, typed := r.text("text"), ""
		if r.bool("local") || !r.has("uri") { // as typed; rendered when it is written
			content, typed = "", content
		}
		if err := l.put(r, "posts", id, r.text("account_id"), r.text("uri"), r.text("url"), r.time("created_at"), r.time("edited_at"),
			visibility, r.text("in_reply_to_id"), r.text("in_reply_to_account_id"), r.text("reblog_of_id"), r.text("conversation_id"),
			content, typed, string(text.PlainText), r.text("spoiler_text"), r.bool("sensitive"), r.text("language"),
			r.text("poll_id"), r.text("application_id"), false, false); err != nil {
			return err
		}
		for i, media := range r.list("ordered_media_attachment_ids") {
			if err := l.put(r, "attachments", id, i, media); err != nil {
				return err
			}
		}
		return nil
	},
}

var mastodonMentions = &mapping{
	columns:  []string{"status_id", "account_id"},
	optional: []string{"silent"},
	load: func(l *loader, r *row) error {
		return l.put(r, "mentions", nil, r.text("status_id"), r.text("account_id"), r.bool("silent"))
	},
}

var mastodonTags = &mapping{
	columns:  []string{"id", "name"},
	optional: []string{"display_name"},
	load: func(l *loader, r *row) error {
		name := r.text("display_name")
		if text.TagKey(name) != text.TagKey(r.text("name")) {
			name = r.text("name")
		}
		return l.put(r, "tags", r.text("id"), name)
	},
}

var mastodonStatusTags = &mapping{
	columns: []string{"status_id", "tag_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "post_tags", nil, r.text("status_id"), r.text("tag_id"))
	},
}

// mastodonMediaTypes are image, gifv, video, unknown, audio.
var mastodonMediaTypes = []string{"image", "video", "video", "unknown", "audio"}

var mastodonMedia = &mapping{
	columns: []string{
		"id", "status_id", "file_file_name", "file_content_type", "remote_url", "created_at", "type", "file_meta", "account_id", "description", "blurhash",
	},
	optional: []string{"thumbnail_file_name"},
	load: func(l *loader, r *row) error {
		id := r.text("id")
		kind := "unknown"
		if n := r.int("type"); n >= 0 && int(n) < len(mastodonMediaTypes) {
			kind = mastodonMediaTypes[n]
		}
		var meta struct {
			Focus    struct{ X, Y float64 }
			Original struct{ Width, Height int }
		}
		r.json("file_meta", &meta)
		file := r.text("file_file_name")
		original := mastodonPath("media_attachments/files", id, "original", file)
		small := mastodonPath("media_attachments/files", id, "small", file)
		if kind == "video" {
			small = mastodonPath("media_attachments/files", id, "small", strings.TrimSuffix(file, path.Ext(file))+".png")
		}
		if name := r.text("thumbnail_file_name"); name != "" {
			small = mastodonPath("media_attachments/thumbnails", id, "original", name)
		}
		if kind == "audio" && !r.has("thumbnail_file_name") {
			small = ""
		}
		address, thumbnail := "", ""
		if original != "" {
			address = "/system/" + original
		}
		if small != "" {
			thumbnail = "/system/" + small
		}
		if err := l.put(r, "media", id, r.text("account_id"), kind, r.text("file_content_type"), original, small, address, thumbnail, r.text("remote_url"),
			r.text("description"), r.text("blurhash"), meta.Original.Width, meta.Original.Height, meta.Focus.X, meta.Focus.Y, r.time("created_at"), file != ""); err != nil {
			return err
		}
		if !r.has("status_id") {
			return nil
		}
		// For posts without an order of attachments, which have them by their ids.
		return l.put(r, "loose_attachments", r.text("status_id"), id)
	},
}

var mastodonEdits = &mapping{
	columns:  []string{"status_id", "text", "spoiler_text", "created_at", "ordered_media_attachment_ids", "media_descriptions", "poll_options", "sensitive"},
	optional: []string{"account_id"},
	load: func(l *loader, r *row) error {
		// Whether it is typed text or HTML is known by the author of the post, when it is written.
		return l.put(r, "edits", nil, r.text("status_id"), r.time("created_at"), r.text("text"), r.text("text"), string(text.PlainText), r.text("spoiler_text"), r.bool("sensitive"),
			jsonOf(r.list("ordered_media_attachment_ids")), jsonOf(r.list("media_descriptions")), jsonOf(r.list("poll_options")))
	},
}

var mastodonPolls = &mapping{
	columns:  []string{"id", "status_id", "expires_at", "options", "cached_tallies", "multiple", "hide_totals"},
	optional: []string{"voters_count"},
	load: func(l *loader, r *row) error {
		return l.put(r, "polls", r.text("id"), r.text("status_id"), r.bool("multiple"), r.bool("hide_totals"), jsonOf(r.list("options")), jsonOf(r.list("cached_tallies")),
			r.int("voters_count"), r.time("expires_at"))
	},
}

var mastodonVotes = &mapping{
	columns: []string{"account_id", "poll_id", "choice"},
	load: func(l *loader, r *row) error {
		return l.put(r, "votes", nil, r.text("poll_id"), r.text("account_id"), r.int("choice"))
	},
}

var mastodonFavourites = &mapping{
	columns: []string{"created_at", "account_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "favourites", nil, r.text("account_id"), r.text("status_id"), "", false, r.time("created_at"))
	},
}

var mastodonBookmarks = &mapping{
	columns: []string{"created_at", "account_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "bookmarks", nil, r.text("account_id"), r.text("status_id"), r.time("created_at"))
	},
}

var mastodonPins = &mapping{
	columns: []string{"created_at", "account_id", "status_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "pins", nil, r.text("account_id"), r.text("status_id"), r.time("created_at"))
	},
}

var mastodonThreadMutes = &mapping{
	columns: []string{"conversation_id", "account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "thread_mutes", nil, r.text("account_id"), r.text("conversation_id"))
	},
}

var mastodonConversations = &mapping{
	columns: []string{"account_id", "conversation_id", "unread"},
	load: func(l *loader, r *row) error {
		if r.bool("unread") {
			return nil
		}
		return l.put(r, "read_threads", r.text("account_id"), r.text("conversation_id"))
	},
}

// mastodonTagTable maps a table of accounts and hashtags. A featured hashtag may have a name of its own, which does not come along.
func mastodonTagTable(to string) *mapping {
	return &mapping{
		columns: []string{"account_id", "tag_id"},
		load:    func(l *loader, r *row) error { return l.put(r, to, nil, r.text("account_id"), r.text("tag_id")) },
	}
}

package moving

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// mastodon has the tables of Mastodon 4.2 to 4.5.
var mastodon = software{
	name:  "Mastodon",
	known: []string{"account_stats", "oauth_access_tokens", "preview_cards"},
	mappings: map[string]*mapping{
		"accounts":               mastodonAccounts,
		"users":                  mastodonUsers,
		"user_roles":             mastodonRoles,
		"follows":                mastodonFollows(0),
		"follow_requests":        mastodonFollows(1),
		"blocks":                 mastodonBlocks,
		"mutes":                  mastodonMutes,
		"account_domain_blocks":  mastodonDomainBlocks,
		"account_notes":          mastodonNotes,
		"account_pins":           mastodonEndorsements,
		"statuses":               mastodonStatuses,
		"mentions":               mastodonMentions,
		"tags":                   mastodonTags,
		"statuses_tags":          mastodonStatusTags,
		"media_attachments":      mastodonMedia,
		"status_edits":           mastodonEdits,
		"polls":                  mastodonPolls,
		"poll_votes":             mastodonVotes,
		"favourites":             mastodonFavourites,
		"bookmarks":              mastodonBookmarks,
		"status_pins":            mastodonPins,
		"conversation_mutes":     mastodonThreadMutes,
		"account_conversations":  mastodonConversations,
		"tag_follows":            mastodonTagTable("tag_follows"),
		"featured_tags":          mastodonTagTable("featured_tags"),
		"lists":                  mastodonLists,
		"list_accounts":          mastodonListAccounts,
		"custom_filters":         mastodonFilters,
		"custom_filter_keywords": mastodonFilterKeywords,
		"custom_filter_statuses": mastodonFilterStatuses,
		"markers":                mastodonMarkers,
		"oauth_applications":     mastodonApps,
		"oauth_access_tokens":    mastodonTokens,
		"reports":                mastodonReports,
		"report_notes":           mastodonReportNotes,
		"rules":                  mastodonRules,
		"announcements":          mastodonAnnouncements,
		"invites":                mastodonInvites,
		"custom_emojis":          mastodonEmojis,
		"domain_blocks":          mastodonServerBlocks,
		"email_domain_blocks":    mastodonEmailBlocks,
		"tombstones":             mastodonTombstones,
	},
	finish: func(base string) []string {
		const author = `SELECT a.username FROM accounts a WHERE a.id = posts.account`
		return []string{
			`UPDATE posts SET uri = ` + base + ` || '/users/' || (` + author + `) || '/statuses/' || id WHERE uri = ''`,
			`UPDATE posts SET url = ` + base + ` || '/@' || (` + author + `) || '/' || id WHERE url = '' AND boost_of = '' AND account IN (SELECT id FROM accounts WHERE domain = '')`,
			`UPDATE users SET admin = ifnull((SELECT r.admin FROM roles r WHERE r.id = users.role), 0), moderator = ifnull((SELECT r.moderator FROM roles r WHERE r.id = users.role), 0)`,
			`UPDATE markers SET account = ifnull((SELECT u.account FROM users u WHERE u.id = markers.account), '')`,
			`INSERT OR IGNORE INTO attachments (post, position, media)
				SELECT post, row_number() OVER (PARTITION BY post ORDER BY length(media), media) - 1, media
				FROM loose_attachments
				WHERE post NOT IN (SELECT post FROM attachments)`,
			`UPDATE edits SET content = '' WHERE post IN (SELECT p.id FROM posts p JOIN accounts a ON a.id = p.account WHERE a.domain = '')`,
			`UPDATE emoji SET url = ` + base + ` || '/system/' || path WHERE domain = ''`,
		}
	},
	lost: []string{
		"Notifications, scheduled posts, push subscriptions, passkeys and security keys, featured collections, quotes as quotes, and settings of appearance do not come along.",
		"Backup codes of second factors are hashed in another way: accounts with a second factor make new ones in their settings.",
		"Name and description of the server, its appearance and its relays are settings here.",
	},
}

var mastodonAccounts = &mapping{
	columns: []string{
		"id", "username", "domain", "private_key", "public_key", "created_at", "note", "display_name", "uri", "url", "avatar_file_name", "header_file_name",
		"avatar_remote_url", "header_remote_url", "locked", "inbox_url", "outbox_url", "shared_inbox_url", "followers_url", "memorial", "moved_to_account_id",
		"featured_collection_url", "fields", "actor_type", "discoverable", "also_known_as", "silenced_at", "suspended_at",
	},
	optional: []string{"indexable", "hide_collections", "following_url", "id_scheme"},
	load: func(l *loader, r *row) error {
		id, name := r.text("id"), r.text("username")
		isLocal := !r.has("domain")
		uri, url := r.text("uri"), r.text("url")
		if isLocal {
			if uri = l.baseURL + "/users/" + name; r.text("id_scheme") == "1" {
				uri = l.baseURL + "/ap/users/" + id
			}
			url = l.baseURL + "/@" + name
		}
		public, private := pemKeys(r, "public_key", "private_key")
		fields, fieldsSource := mastodonFields(r, l.baseURL, isLocal)
		note, noteSource := r.text("note"), ""
		if isLocal {
			note, noteSource = text.ParseBio(note).Render(l.baseURL, nil).HTML, note
		}
		kind := r.text("actor_type")
		if kind == "" {
			kind = "Person"
		}
		var indexable any
		if r.has("indexable") {
			indexable = r.bool("indexable")
		}
		for _, picture := range []struct{ what, file, remote string }{
			{"avatar", r.text("avatar_file_name"), r.text("avatar_remote_url")}, {"header", r.text("header_file_name"), r.text("header_remote_url")},
		} {
			if picture.file == "" && picture.remote == "" {
				continue
			}
			place := mastodonPath("accounts/"+picture.what+"s", id, "original", picture.file)
			still := mastodonPath("accounts/"+picture.what+"s", id, "static", strings.TrimSuffix(picture.file, path.Ext(picture.file))+".png")
			if err := l.put(r, "media", picture.what+":"+id, id, "image", "", place, "", "/system/"+place, "/system/"+still, picture.remote, "", "", 0, 0, 0.0, 0.0, 0, true); err != nil {
				return err
			}
		}
		return l.put(r, "accounts", id, name, r.text("domain"), uri, url, kind, r.text("display_name"), note, fields, noteSource, fieldsSource,
			r.bool("locked"), r.bool("discoverable"), indexable, r.bool("hide_collections"), r.time("created_at"),
			"avatar:"+id, "header:"+id, jsonOf(r.list("also_known_as")), r.text("moved_to_account_id"), "",
			r.text("inbox_url"), r.text("shared_inbox_url"), r.text("outbox_url"), r.text("followers_url"), r.text("following_url"), r.text("featured_collection_url"),
			public, private, uri+"#main-key", r.time("suspended_at") > 0, r.time("silenced_at") > 0, r.bool("memorial"), id == "-99", false)
	},
}

// pemKeys returns the keys of an account, which two columns have as PEM.
func pemKeys(r *row, publicColumn, privateColumn string) (public string, private []byte) {
	public = r.text(publicColumn)
	if r.text(privateColumn) == "" {
		return public, nil
	}
	block, _ := pem.Decode([]byte(r.text(privateColumn)))
	if block == nil {
		r.fail(privateColumn, "key")
		return "", nil
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		var parsed any
		if parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			var ok bool
			if key, ok = parsed.(*rsa.PrivateKey); !ok {
				err = errors.New("no RSA key")
			}
		}
	}
	if err == nil {
		private, err = privateDER(key)
	}
	if err == nil {
		public, err = publicPEM(&key.PublicKey)
	}
	if err != nil {
		r.fail(privateColumn, "usable key")
	}
	return public, private
}

// mastodonFields returns the fields of a profile, and as typed. Those of local accounts are stored as typed.
func mastodonFields(r *row, base string, isLocal bool) (fields, source string) {
	var stored []struct{ Name, Value string }
	r.json("fields", &stored)
	list, typed := []store.Field{}, []store.Field{}
	for _, f := range stored {
		if isLocal {
			typed = append(typed, store.Field{Name: f.Name, Value: f.Value})
			f.Value = text.ParseField(f.Value).Render(base, nil).HTML
		}
		list = append(list, store.Field{Name: f.Name, Value: f.Value})
	}
	return jsonOf(list), jsonOf(typed)
}

// mastodonPath returns the path of a file below public/system: the digits of its row in groups of three (Paperclip's id_partition).
func mastodonPath(class, id, style, file string) string {
	n, err := strconv.ParseUint(id, 10, 63)
	if err != nil || file == "" || strings.ContainsAny(file, "/\\") {
		return ""
	}
	digits := fmt.Sprintf("%09d", n)
	if n > 999_999_999 {
		digits = fmt.Sprintf("%018d", n)
	}
	var groups []string
	for i := 0; i+3 <= len(digits); i += 3 {
		groups = append(groups, digits[i:i+3])
	}
	return path.Join(class, path.Join(groups...), style, file)
}

var mastodonUsers = &mapping{
	columns: []string{
		"id", "email", "created_at", "encrypted_password", "confirmed_at", "unconfirmed_email", "locale", "otp_required_for_login", "account_id", "disabled", "approved",
	},
	optional: []string{"otp_secret", "role_id", "settings", "current_sign_in_at", "last_sign_in_at"},
	load: func(l *loader, r *row) error {
		account := r.text("account_id")
		secret, lost := "", false
		if r.bool("otp_required_for_login") {
			var err error
			secret, err = l.secrets.decrypt(r.text("otp_secret"))
			lost = err != nil || secret == ""
		}
		active := max(r.time("current_sign_in_at"), r.time("last_sign_in_at"))
		if err := l.put(r, "users", account, r.text("id"), r.text("email"), r.text("unconfirmed_email"), r.text("encrypted_password"), r.time("confirmed_at"),
			r.bool("approved"), r.bool("disabled"), false, false, secret, lost, "", r.text("locale"), active, r.time("created_at"), r.text("role_id")); err != nil {
			return err
		}
		var settings struct {
			Privacy   string `json:"default_privacy"`
			Sensitive bool   `json:"default_sensitive"`
			Language  string `json:"default_language"`
		}
		if r.has("settings") && strings.HasPrefix(r.text("settings"), "{") {
			r.json("settings", &settings)
		}
		visibility, ok := store.ParseVisibility(settings.Privacy)
		if !ok {
			visibility = store.Public
		}
		return l.put(r, "preferences", account, visibility, settings.Sensitive, settings.Language, false)
	},
}

// Bits of permissions of a role in Mastodon: administrator, and those that make a moderator.
const (
	mastodonAdmin      = 1 << 0
	mastodonModeration = 1<<4 | 1<<10 // manage reports, manage users
)

var mastodonRoles = &mapping{
	columns: []string{"id", "permissions"},
	load: func(l *loader, r *row) error {
		if r.text("id") == "-99" { // everybody
			return nil
		}
		bits := r.int("permissions")
		return l.put(r, "roles", r.text("id"), bits&mastodonAdmin != 0, bits&mastodonModeration != 0)
	},
}

func mastodonFollows(pending int) *mapping {
	return &mapping{
		columns:  []string{"id", "created_at", "account_id", "target_account_id", "show_reblogs", "uri"},
		optional: []string{"notify"},
		load: func(l *loader, r *row) error {
			return l.put(r, "follows", nil, strconv.Itoa(pending)+":"+r.text("id"), r.text("account_id"), r.text("target_account_id"), pending, r.bool("show_reblogs"), r.bool("notify"), r.text("uri"), r.time("created_at"))
		},
	}
}

var mastodonBlocks = &mapping{
	columns: []string{"account_id", "target_account_id", "uri"},
	load: func(l *loader, r *row) error {
		return l.put(r, "blocks", nil, r.text("account_id"), r.text("target_account_id"), r.text("uri"))
	},
}

var mastodonMutes = &mapping{
	columns:  []string{"account_id", "target_account_id", "hide_notifications"},
	optional: []string{"expires_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "mutes", nil, r.text("account_id"), r.text("target_account_id"), r.bool("hide_notifications"), r.time("expires_at"))
	},
}

var mastodonDomainBlocks = &mapping{
	columns: []string{"domain", "account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "domain_blocks", nil, r.text("account_id"), r.text("domain"))
	},
}

var mastodonNotes = &mapping{
	columns: []string{"account_id", "target_account_id", "comment"},
	load: func(l *loader, r *row) error {
		return l.put(r, "notes", nil, r.text("account_id"), r.text("target_account_id"), r.text("comment"))
	},
}

var mastodonEndorsements = &mapping{
	columns: []string{"account_id", "target_account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "endorsements", nil, r.text("account_id"), r.text("target_account_id"))
	},
}

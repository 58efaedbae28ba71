package moving

import (
	"crypto/rsa"
	"encoding/json"
	"math/big"
	"strings"

	"svc/store"
)

// goToSocial has the tables of GoToSocial 0.17 to 0.20, of SQLite and of PostgreSQL alike.
var goToSocial = software{
	name:  "GoToSocial",
	known: []string{"account_settings", "status_faves", "router_sessions"},
	mappings: map[string]*mapping{
		"accounts":            gtsAccounts,
		"account_settings":    gtsSettings,
		"users":               gtsUsers,
		"follows":             gtsFollows(0),
		"follow_requests":     gtsFollows(1),
		"blocks":              gtsBlocks,
		"user_mutes":          gtsMutes,
		"account_notes":       gtsNotes,
		"statuses":            gtsStatuses,
		"mentions":            gtsMentions,
		"tags":                gtsTags,
		"media_attachments":   gtsMedia,
		"status_edits":        gtsEdits,
		"polls":               gtsPolls,
		"poll_votes":          gtsVotes,
		"status_faves":        gtsFaves,
		"status_bookmarks":    gtsBookmarks,
		"thread_mutes":        gtsThreadMutes,
		"conversations":       gtsConversations,
		"followed_tags":       gtsFollowedTags,
		"lists":               gtsLists,
		"list_entries":        gtsListEntries,
		"filters":             gtsFilters,
		"filter_keywords":     gtsFilterKeywords,
		"filter_statuses":     gtsFilterStatuses,
		"markers":             gtsMarkers,
		"reports":             gtsReports,
		"rules":               gtsRules,
		"emojis":              gtsEmojis,
		"emoji_categories":    gtsEmojiCategories,
		"applications":        gtsApplications,
		"tokens":              gtsTokens,
		"domain_blocks":       gtsDomainBlocks,
		"email_domain_blocks": gtsEmailBlocks,
		"tombstones":          gtsTombstones,
	},
	lost: []string{
		"Backup codes of second factors are hashed in another way: accounts with a second factor make new ones in their settings.",
		"Notifications, scheduled posts, push subscriptions, themes and custom CSS of profiles do not come along. Interaction policies of posts do not, either: all may reply.",
		"Name and description of the server are settings here: svc config set instance.name, instance.description.",
	},
}

var gtsActorTypes = []string{"Person", "Application", "Group", "Organization", "Person", "Service"}

var gtsAccounts = &mapping{
	columns: []string{
		"id", "created_at", "username", "domain", "avatar_media_attachment_id", "header_media_attachment_id", "display_name", "fields", "fields_raw",
		"note", "note_raw", "also_known_as_uris", "moved_to_uri", "locked", "discoverable", "uri", "url", "inbox_uri", "shared_inbox_uri", "outbox_uri",
		"following_uri", "followers_uri", "featured_collection_uri", "actor_type", "private_key", "public_key", "public_key_uri", "silenced_at", "suspended_at",
	},
	optional: []string{"memorialized_at"},
	load: func(l *loader, r *row) error {
		public, private := gtsKeys(r)
		kind := r.int("actor_type")
		if kind < 0 || int(kind) >= len(gtsActorTypes) {
			kind = 0
		}
		// The account of the instance has its host as name.
		system := !r.has("domain") && strings.ContainsAny(r.text("username"), ".:") || !r.has("domain") && strings.HasSuffix(r.text("uri"), "//"+r.text("username"))
		return l.put(r, "accounts", r.text("id"), r.text("username"), r.text("domain"), r.text("uri"), r.text("url"), gtsActorTypes[kind],
			r.text("display_name"), r.text("note"), gtsFields(r, "fields"), r.text("note_raw"), gtsFields(r, "fields_raw"),
			r.bool("locked"), r.bool("discoverable"), nil, false, r.time("created_at"),
			r.text("avatar_media_attachment_id"), r.text("header_media_attachment_id"),
			jsonOf(r.list("also_known_as_uris")), "", r.text("moved_to_uri"),
			r.text("inbox_uri"), r.text("shared_inbox_uri"), r.text("outbox_uri"), r.text("followers_uri"), r.text("following_uri"), r.text("featured_collection_uri"),
			public, private, r.text("public_key_uri"),
			r.time("suspended_at") > 0, r.time("silenced_at") > 0, r.time("memorialized_at") > 0, system, false)
	},
}

// gtsFields returns the fields of a profile in the form of the scratch database.
func gtsFields(r *row, column string) string {
	var fields []struct{ Name, Value string }
	r.json(column, &fields)
	list := []store.Field{}
	for _, f := range fields {
		list = append(list, store.Field{Name: f.Name, Value: f.Value})
	}
	return jsonOf(list)
}

// gtsKeys returns the keys of an account, which are stored as JSON of their numbers: the public one as PEM, the private one as PKCS 8.
func gtsKeys(r *row) (public string, private []byte) {
	var numbers struct {
		N      *big.Int
		E      int
		D      *big.Int
		Primes []*big.Int
	}
	column := "public_key"
	if r.has("private_key") {
		column = "private_key"
	}
	if !r.has(column) {
		return "", nil
	}
	decoder := json.NewDecoder(strings.NewReader(r.text(column)))
	if err := decoder.Decode(&numbers); err != nil || numbers.N == nil {
		r.fail(column, "key")
		return "", nil
	}
	key := rsa.PublicKey{N: numbers.N, E: numbers.E}
	public, err := publicPEM(&key)
	if err == nil && numbers.D != nil {
		private, err = privateDER(&rsa.PrivateKey{PublicKey: key, D: numbers.D, Primes: numbers.Primes})
	}
	if err != nil {
		r.fail(column, "usable key")
	}
	return public, private
}

// gtsVisibilities are the visibilities from 1 on: none, public, unlocked, followers, mutuals, direct. Posts for mutuals become direct ones, because
// followers that are not followed must not see them.
var gtsVisibilities = []store.Visibility{store.Direct, store.Direct, store.Public, store.Unlisted, store.Private, store.Direct, store.Direct}

func gtsVisibility(r *row, column string) store.Visibility {
	n := r.int(column)
	if n < 0 || int(n) >= len(gtsVisibilities) {
		return store.Direct
	}
	return gtsVisibilities[n]
}

var gtsSettings = &mapping{
	columns:  []string{"account_id", "privacy", "sensitive", "language"},
	optional: []string{"hide_collections"},
	load: func(l *loader, r *row) error {
		visibility := store.Unlisted
		if r.has("privacy") {
			visibility = gtsVisibility(r, "privacy")
		}
		return l.put(r, "preferences", r.text("account_id"), visibility, r.bool("sensitive"), r.text("language"), r.bool("hide_collections"))
	},
}

var gtsUsers = &mapping{
	columns: []string{
		"id", "created_at", "email", "account_id", "encrypted_password", "reason", "locale", "confirmed_at", "unconfirmed_email", "moderator", "admin",
		"disabled", "approved",
	},
	optional: []string{"two_factor_secret", "two_factor_enabled_at", "last_emailed_at"},
	load: func(l *loader, r *row) error {
		secret, email, pending := "", r.text("email"), r.text("unconfirmed_email")
		if r.time("two_factor_enabled_at") > 0 {
			secret = r.text("two_factor_secret")
		}
		if email == "" {
			email, pending = pending, ""
		}
		return l.put(r, "users", r.text("account_id"), r.text("id"), email, pending, r.text("encrypted_password"), r.time("confirmed_at"),
			r.bool("approved"), r.bool("disabled"), r.bool("admin"), r.bool("moderator"),
			secret, false, r.text("reason"), r.text("locale"), 0, r.time("created_at"), "")
	},
}

func gtsFollows(pending int) *mapping {
	return &mapping{
		columns: []string{"id", "created_at", "uri", "account_id", "target_account_id", "show_reblogs", "notify"},
		load: func(l *loader, r *row) error {
			return l.put(r, "follows", nil, r.text("id"), r.text("account_id"), r.text("target_account_id"), pending, r.bool("show_reblogs"), r.bool("notify"), r.text("uri"), r.time("created_at"))
		},
	}
}

var gtsBlocks = &mapping{
	columns: []string{"uri", "account_id", "target_account_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "blocks", nil, r.text("account_id"), r.text("target_account_id"), r.text("uri"))
	},
}

var gtsMutes = &mapping{
	columns: []string{"account_id", "target_account_id", "notifications", "expires_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "mutes", nil, r.text("account_id"), r.text("target_account_id"), r.bool("notifications"), r.time("expires_at"))
	},
}

var gtsNotes = &mapping{
	columns: []string{"account_id", "target_account_id", "comment"},
	load: func(l *loader, r *row) error {
		return l.put(r, "notes", nil, r.text("account_id"), r.text("target_account_id"), r.text("comment"))
	},
}

var gtsTags = &mapping{
	columns: []string{"id", "name"},
	load:    func(l *loader, r *row) error { return l.put(r, "tags", r.text("id"), r.text("name")) },
}

var gtsFollowedTags = &mapping{
	columns: []string{"account_id", "tag_id"},
	load: func(l *loader, r *row) error {
		return l.put(r, "tag_follows", nil, r.text("account_id"), r.text("tag_id"))
	},
}

var gtsApplications = &mapping{
	columns:  []string{"id", "name", "website", "client_id", "client_secret", "scopes"},
	optional: []string{"redirect_uris", "redirect_uri"},
	load: func(l *loader, r *row) error {
		redirects := strings.Join(r.list("redirect_uris"), "\n")
		if redirects == "" {
			redirects = r.text("redirect_uri")
		}
		return l.put(r, "apps", r.text("id"), r.text("client_id"), r.text("client_secret"), r.text("name"), r.text("website"), redirects, r.text("scopes"), 0)
	},
}

var gtsTokens = &mapping{
	columns:  []string{"client_id", "user_id", "scope", "access", "access_create_at", "access_expires_at", "refresh"},
	optional: []string{"last_used"},
	load: func(l *loader, r *row) error {
		if r.text("access") == "" || r.text("user_id") == "" { // a code that was not redeemed, or the app itself
			return nil
		}
		return l.put(r, "tokens", nil, r.text("client_id"), true, r.text("user_id"), r.text("access"), r.text("refresh"), r.text("scope"),
			r.time("access_create_at"), r.time("last_used"), r.time("access_expires_at"))
	},
}

package moving

import (
	"math/big"
	"net/url"
	"strings"
	"unicode"

	"svc/internal/text"
	"svc/store"
)

// pleroma has the tables of Pleroma 2.4 and later, and of Akkoma 3. Ids of accounts and posts in the scratch database are their addresses, because
// activities and objects, which are most of the rows, name them so. The tables that name them by the ids of rows follow in pleromaFinish.
var pleroma = software{
	name:  "Pleroma and Akkoma",
	known: []string{"objects", "activities", "following_relationships"},
	mappings: map[string]*mapping{
		"users":                       pleromaUsers,
		"signing_keys":                pleromaKeys,
		"following_relationships":     pleromaFollows,
		"user_relationships":          pleromaRelationships,
		"user_notes":                  pleromaNotes,
		"objects":                     pleromaObjects,
		"activities":                  pleromaActivities,
		"bookmarks":                   pleromaBookmarks,
		"thread_mutes":                pleromaThreadMutes,
		"conversations":               pleromaConversations,
		"conversation_participations": pleromaParticipations,
		"hashtags":                    pleromaHashtags,
		"user_follows_hashtag":        pleromaTagFollows,
		"lists":                       pleromaLists,
		"filters":                     pleromaFilters,
		"apps":                        pleromaApps,
		"oauth_tokens":                pleromaTokens,
		"report_notes":                pleromaReportNotes,
		"rules":                       pleromaRules,
		"announcements":               pleromaAnnouncements,
		"user_invite_tokens":          pleromaInvites,
		"chats":                       pleromaChats,
		"chat_message_references":     pleromaChatCopies,
	},
	finish: pleromaFinish,
	lost: []string{
		"Notifications, scheduled posts, push subscriptions, scrobbles, quotes as quotes, backgrounds of profiles, and settings of front ends do not come along.",
		"Backup codes of second factors are hashed in another way: accounts with a second factor make new ones in their settings.",
		"The settings of the server are not read: its name and description, blocked servers and other policies (MRF), relays.",
		"Custom emoji are files that the database does not name: import the folders below emoji/ of the old server's static directory with svc emoji import, under the same names.",
		"Of the tags that staff gave to accounts, those that hide posts from public timelines come along.",
	},
}

var pleromaUsers = &mapping{
	columns: []string{
		"id", "email", "name", "nickname", "bio", "password_hash", "ap_id", "avatar", "banner", "local", "follower_address", "tags", "inserted_at", "domain_blocks",
		"is_locked", "is_admin", "is_moderator", "is_active", "is_confirmed", "is_approved", "default_scope", "hide_followers", "hide_follows", "fields",
		"raw_fields", "actor_type", "also_known_as", "multi_factor_authentication_settings",
	},
	optional: []string{
		"keys", "public_key", "raw_bio", "following_address", "featured_address", "pinned_objects", "uri", "inbox", "shared_inbox", "outbox", "last_active_at",
		"language", "registration_reason", "is_discoverable", "password_reset_pending",
	},
	load: func(l *loader, r *row) error {
		uri, isLocal := r.text("ap_id"), r.bool("local")
		name, domain, _ := strings.Cut(r.text("nickname"), "@")
		if uri == "" || !isLocal && (name == "" || strings.HasPrefix(uri, l.baseURL+"/")) {
			return r.err
		}
		if isLocal {
			domain = ""
		} else if domain == "" {
			domain = hostOf(uri)
		}
		if err := l.put(r, "pleroma_users", r.text("id"), uri); err != nil {
			return err
		}
		if err := pleromaAccount(l, r, uri, name, domain); err != nil {
			return err
		}
		if !isLocal || isPleromaService(l, r) || pleromaDeleted(r) {
			return nil
		}
		return pleromaUser(l, r, uri)
	},
}

// isPleromaService returns true for the accounts of the server itself.
func isPleromaService(l *loader, r *row) bool {
	uri := r.text("ap_id")
	return r.bool("local") && (uri == l.baseURL+"/relay" || uri == l.baseURL+"/internal/fetch" || r.text("nickname") == "")
}

// pleromaDeleted returns true for a local account that was deleted: its row stays, without everything.
func pleromaDeleted(r *row) bool {
	return !r.bool("is_active") && r.text("email") == "" && r.text("password_hash") == "" && r.text("name") == ""
}

// pleromaAccount loads what local and remote accounts have alike.
func pleromaAccount(l *loader, r *row, uri, name, domain string) error {
	isLocal := domain == ""
	public, private := "", []byte(nil)
	if isLocal {
		public, private = pemKeys(r, "public_key", "keys")
	}
	note, noteSource, address, keyURI := r.text("bio"), "", r.text("uri"), ""
	fields, fieldsSource := pleromaFields(r, "fields"), []store.Field{}
	if isLocal {
		if noteSource = r.text("raw_bio"); noteSource == "" {
			noteSource = text.HTMLToText(note)
		}
		fieldsSource = pleromaFields(r, "raw_fields")
		address, keyURI = l.baseURL+"/@"+name, uri+"#main-key"
	}
	for what, column := range map[string]string{"avatar": "avatar", "header": "banner"} {
		if err := pleromaPicture(l, r, what, uri, column, isLocal); err != nil {
			return err
		}
	}
	limited := hasAny(r.list("tags"), unlistedTag, "mrf_tag:sandbox")
	kind := r.text("actor_type")
	if kind == "" {
		kind = "Person"
	}
	return l.put(r, "accounts", uri, name, domain, uri, address, kind, r.text("name"), note, jsonOf(fields), noteSource, jsonOf(fieldsSource),
		r.bool("is_locked"), r.bool("is_discoverable"), nil, r.bool("hide_followers") || r.bool("hide_follows"), r.time("inserted_at"),
		"avatar:"+uri, "header:"+uri, jsonOf(r.list("also_known_as")), "", "",
		r.text("inbox"), r.text("shared_inbox"), r.text("outbox"), r.text("follower_address"), r.text("following_address"), r.text("featured_address"),
		public, private, keyURI, !isLocal && !r.bool("is_active"), limited, false, isPleromaService(l, r), false)
}

// pleromaFields returns the fields of a profile.
func pleromaFields(r *row, column string) []store.Field {
	fields := []store.Field{}
	for _, f := range (document{"x": r.raw(column)}).documents("x") {
		if len(fields) < maxTakenFields && f.text("name") != "" {
			fields = append(fields, store.Field{Name: f.text("name"), Value: f.text("value")})
		}
	}
	return fields
}

// pleromaPicture loads a picture of a profile.
func pleromaPicture(l *loader, r *row, what, uri, column string, isLocal bool) error {
	address := r.document(column).link("url")
	if address == "" {
		return nil
	}
	file, path, remote := "", "", address
	if isLocal {
		file, path = pleromaFile(address)
		remote = ""
	}
	return l.put(r, "media", what+":"+uri, uri, "image", "", file, "", path, "", remote, "", "", 0, 0, 0.0, 0.0, 0, true)
}

// pleromaFile returns where a file with an address is below the folder of uploads, and the path of the address. The host may be one for files only.
func pleromaFile(address string) (file, path string) {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" {
		return "", ""
	}
	file = u.Path
	if _, after, ok := strings.Cut(file, "/media/"); ok {
		file = after
	}
	return strings.TrimLeft(file, "/"), u.EscapedPath()
}

// pleromaUser loads the login of a local account, and what its row has of other tables.
func pleromaUser(l *loader, r *row, uri string) error {
	confirmed := int64(0)
	if r.bool("is_confirmed") {
		confirmed = r.time("inserted_at")
	}
	hash := r.text("password_hash")
	if r.bool("password_reset_pending") {
		hash = ""
	}
	settings := r.document("multi_factor_authentication_settings")
	secret, lost := "", false
	if totp := settings.document("totp"); settings.bool("enabled") && totp.bool("confirmed") {
		secret = totp.text("secret")
		lost = secret == ""
	}
	if err := l.put(r, "users", uri, r.text("id"), r.text("email"), "", hash, confirmed, r.bool("is_approved"), !r.bool("is_active"), r.bool("is_admin"),
		r.bool("is_moderator"), secret, lost, r.text("registration_reason"), r.text("language"), r.time("last_active_at"), r.time("inserted_at"), ""); err != nil {
		return err
	}
	visibility, ok := store.Public, true
	if scope := r.text("default_scope"); scope != "" {
		visibility, ok = store.ParseVisibility(scope)
	}
	if !ok || visibility == store.ListOnly {
		visibility = store.Private
	}
	if err := l.put(r, "preferences", uri, visibility, false, "", false); err != nil {
		return err
	}
	for _, domain := range r.list("domain_blocks") {
		if err := l.put(r, "domain_blocks", nil, uri, domain); err != nil {
			return err
		}
	}
	pinned := r.document("pinned_objects")
	for post := range pinned {
		if err := l.put(r, "pins", nil, uri, post, pinned.time(post)); err != nil {
			return err
		}
	}
	return nil
}

// pleromaKeys has the keys of accounts in Akkoma since 3.14; before, they are in users.
var pleromaKeys = &mapping{
	columns: []string{"user_id", "key_id", "public_key", "private_key"},
	load: func(l *loader, r *row) error {
		public, private := pemKeys(r, "public_key", "private_key")
		return l.put(r, "pleroma_keys", r.text("user_id"), public, private, r.text("key_id"))
	},
}

// hostOf returns the host of an address, "" if it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// flakeOf returns an id of a row as pages have it: a UUID in base 62, with digits before capitals before small letters; those from the time
// before flakes are decimal. It is "" if the text is no UUID.
func flakeOf(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "")
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok || len(digits) != 32 || n.Sign() < 0 {
		return ""
	}
	if n.IsUint64() {
		return n.String()
	}
	return strings.Map(func(c rune) rune { // math/big has small letters before capitals
		if unicode.IsLower(c) {
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, n.Text(62))
}

package moving_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	oldHost     = "https://old.example.org"
	farHost     = "https://remote.example"
	toEverybody = "https://www.w3.org/ns/activitystreams#Public"
)

// pleromaHash is the PBKDF2 hash of testPassword, as Pleroma stores it.
const pleromaHash = "$pbkdf2-sha512$1000$c2l4dGVlbiBieXRlcyBvaw$8pIGjYoUZDNxrNWbHDQlNZGiWXcEMWOS2TLAQhkILVWcgh6MZDyAHXxU70VwU1XrwNdnTN5UY5AfqKoNs1UhWw"

// uuid returns an id of a row: a flake, of which tests choose the end.
func uuid(end string) string {
	return "0000016e-b3da-2a5c-d529-" + strings.Repeat("0", 12-len(end)) + end
}

// object adds an object as jsonb.
func (d *dump) object(data map[string]any) {
	d.t.Helper()
	d.document("objects", "1", data)
}

// activity adds an activity, whose row has an id that ends with end.
func (d *dump) activity(end string, data map[string]any) {
	d.t.Helper()
	d.document("activities", uuid(end), data)
}

func (d *dump) document(table, id string, data map[string]any) {
	d.t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		d.t.Fatal(err)
	}
	d.row(table, map[string]string{"id": id, "data": string(b), "inserted_at": someTime, "updated_at": someTime})
}

// note adds a post of an account with its Create, whose id ends with end. more are further members.
func (d *dump) note(end, actor, content string, more map[string]any) string {
	d.t.Helper()
	host := actor[:strings.Index(actor, "/users/")]
	uri := host + "/objects/" + end
	data := map[string]any{
		"type": "Note", "id": uri, "actor": actor, "attributedTo": actor, "content": content, "summary": "", "sensitive": false, "context": host + "/contexts/" + end,
		"published": "2021-02-03T04:05:" + end[len(end)-2:] + ".678Z", "to": []string{toEverybody}, "cc": []string{actor + "/followers"}, "tag": []any{}, "attachment": []any{},
	}
	maps.Copy(data, more)
	d.object(data)
	d.activity(end, map[string]any{"type": "Create", "id": host + "/activities/" + end, "actor": actor, "object": uri, "to": data["to"], "cc": data["cc"]})
	return uri
}

// pleromaAccount adds an account. more are further columns.
func (d *dump) pleromaAccount(end, name, host string, more map[string]string) string {
	d.t.Helper()
	private, public := testKeyPEM()
	uri := host + "/users/" + name
	a := map[string]string{
		"id": uuid(end), "nickname": name, "name": "The " + name, "bio": "<p>I am " + name + "</p>", "ap_id": uri, "avatar": "{}", "banner": "{}", "local": "t",
		"follower_address": uri + "/followers", "following_address": uri + "/following", "featured_address": uri + "/collections/featured", "tags": "{}", "inserted_at": someTime,
		"domain_blocks": "{}", "is_locked": "f", "is_admin": "f", "is_moderator": "f", "is_active": "t", "is_confirmed": "t", "is_approved": "t", "default_scope": "public",
		"hide_followers": "f", "hide_follows": "f", "fields": "[]", "raw_fields": "[]", "actor_type": "Person", "also_known_as": "{}", "pinned_objects": "{}", "is_discoverable": "t",
	}
	if host == oldHost {
		a["email"], a["password_hash"], a["keys"], a["raw_bio"] = name+"@example.org", pleromaHash, private, "I am "+name
		a["fields"] = `[{"name": "Site", "value": "<a href=\"https://example.org\">example.org</a>"}]`
		a["raw_fields"] = `[{"name": "Site", "value": "https://example.org"}]`
	} else {
		a["local"], a["nickname"], a["public_key"] = "f", name+"@"+strings.TrimPrefix(host, "https://"), public
		a["inbox"], a["shared_inbox"], a["uri"] = uri+"/inbox", host+"/inbox", host+"/@"+name
	}
	maps.Copy(a, more)
	d.row("users", a)
	return uri
}

// pleromaDump returns a dump of a server with two local accounts, alice and bob, the account of the server itself, and carol at remote.example.
func pleromaDump(t *testing.T) *dump {
	d := &dump{t: t, tables: make(map[string]*dumpTable)}
	for name, columns := range map[string]string{
		"users": "id email password_hash name nickname bio inserted_at updated_at ap_id avatar local follower_address following_address tags banner is_locked is_confirmed is_approved " +
			"default_scope domain_blocks is_active is_moderator is_admin uri hide_followers hide_follows keys public_key fields raw_fields raw_bio is_discoverable invisible actor_type " +
			"also_known_as inbox shared_inbox last_active_at pinned_objects featured_address language registration_reason password_reset_pending multi_factor_authentication_settings",
		"signing_keys":            "user_id key_id public_key private_key inserted_at updated_at",
		"following_relationships": "id follower_id following_id inserted_at updated_at state",
		"user_relationships":      "id source_id target_id relationship_type inserted_at expires_at", "user_notes": "id source_id target_id comment inserted_at updated_at",
		"objects": "id data inserted_at updated_at", "activities": "id data inserted_at updated_at local actor recipients", "bookmarks": "id user_id activity_id inserted_at updated_at",
		"thread_mutes": "id user_id context", "conversations": "id ap_id inserted_at updated_at", "conversation_participations": "id user_id conversation_id read inserted_at updated_at",
		"hashtags": "id name inserted_at updated_at", "user_follows_hashtag": "hashtag_id user_id", "lists": "id user_id title following inserted_at updated_at ap_id",
		"filters":      "id user_id filter_id hide phrase context expires_at whole_word inserted_at updated_at",
		"apps":         "id client_name redirect_uris website client_id client_secret inserted_at updated_at scopes trusted",
		"oauth_tokens": "id app_id token refresh_token valid_until inserted_at updated_at user_id scopes", "report_notes": "id user_id activity_id content inserted_at updated_at",
		"rules": "id priority text inserted_at updated_at", "announcements": "id data starts_at ends_at inserted_at updated_at rendered",
		"user_invite_tokens": "id token used inserted_at updated_at expires_at uses max_use invite_type", "config": "id key value",
		"chats": "id user_id recipient inserted_at updated_at", "chat_message_references": "id object_id chat_id unread inserted_at updated_at",
	} {
		d.table(name, columns)
	}
	slices.Sort(d.names)
	d.pleromaAccount("a", "alice", oldHost, map[string]string{"is_admin": "t", "default_scope": "unlisted"})
	d.pleromaAccount("b", "bob", oldHost, nil)
	d.pleromaAccount("c", "carol", farHost, nil)
	d.row("users", map[string]string{
		"id": uuid("f"), "nickname": "internal.fetch", "ap_id": oldHost + "/internal/fetch", "local": "t", "invisible": "t", "inserted_at": someTime, "is_active": "t", "is_confirmed": "t",
		"is_approved": "t", "follower_address": oldHost + "/internal/fetch/followers", "actor_type": "Application", "tags": "{}", "domain_blocks": "{}", "also_known_as": "{}",
	})
	return d
}

package server_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// WantShape checks the types of an object's members: "string", "number", "boolean", "list" of anything, "strings", "object", "null".
// Alternatives are joined by |. Nothing else may be in the object if all is set.
func WantShape(t *testing.T, o *apptest.Object, all bool, shape map[string]string) {
	t.Helper()
	for path, want := range shape {
		got := JSONKind(o.At(path))
		if !slices.Contains(strings.Split(want, "|"), got) {
			t.Errorf("%s is a %s, want %s: %v", path, got, want, o.At(path))
		}
	}
	for key := range o.Fields {
		if _, known := shape[key]; all && !known {
			t.Errorf("unexpected member %q", key)
		}
	}
}

// JSONKind returns the kind of a value that was read from JSON. A list of texts is "strings".
func JSONKind(v any) string {
	list, _ := v.([]any)
	if len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { _, ok := e.(string); return !ok }) {
		return "strings"
	}
	return apptest.JSONKind(v)
}

var configurationShape = map[string]string{
	"configuration.urls.streaming":                              "string",
	"configuration.urls.status":                                 "null",
	"configuration.urls.about":                                  "null",
	"configuration.urls.privacy_policy":                         "null",
	"configuration.urls.terms_of_service":                       "null",
	"configuration.vapid.public_key":                            "string",
	"configuration.accounts.max_featured_tags":                  "number",
	"configuration.accounts.max_pinned_statuses":                "number",
	"configuration.statuses.max_characters":                     "number",
	"configuration.statuses.max_media_attachments":              "number",
	"configuration.statuses.characters_reserved_per_url":        "number",
	"configuration.media_attachments.supported_mime_types":      "strings",
	"configuration.media_attachments.image_size_limit":          "number",
	"configuration.media_attachments.image_matrix_limit":        "number",
	"configuration.media_attachments.video_size_limit":          "number",
	"configuration.media_attachments.video_matrix_limit":        "number",
	"configuration.media_attachments.video_frame_rate_limit":    "number",
	"configuration.media_attachments.description_limit":         "number",
	"configuration.polls.max_options":                           "number",
	"configuration.polls.max_characters_per_option":             "number",
	"configuration.polls.min_expiration":                        "number",
	"configuration.polls.max_expiration":                        "number",
	"configuration.translation.enabled":                         "boolean",
	"configuration.timelines_access.live_feeds.local":           "string",
	"configuration.timelines_access.live_feeds.remote":          "string",
	"configuration.timelines_access.hashtag_feeds.local":        "string",
	"configuration.timelines_access.hashtag_feeds.remote":       "string",
	"configuration.timelines_access.trending_link_feeds.local":  "string",
	"configuration.timelines_access.trending_link_feeds.remote": "string",
	"configuration.limited_federation":                          "boolean",
}

var extensionShape = map[string]string{
	"svc.metadata.account_activation_required":     "boolean",
	"svc.metadata.features":                        "strings",
	"svc.metadata.federation.enabled":              "boolean",
	"svc.metadata.fields_limits.max_fields":        "number",
	"svc.metadata.fields_limits.max_remote_fields": "number",
	"svc.metadata.fields_limits.name_length":       "number",
	"svc.metadata.fields_limits.value_length":      "number",
	"svc.metadata.post_formats":                    "strings",
	"svc.metadata.birthday_required":               "boolean",
	"svc.metadata.birthday_min_age":                "number",
	"svc.stats.mau":                                "number",
	"svc.vapid_public_key":                         "string",
}

func TestInstance(t *testing.T) {
	srv := apptest.Start(t)
	o := srv.As(nil).Get("/api/v1/instance").Want(200).Object()
	WantShape(t, o, true, map[string]string{
		"uri": "string", "title": "string", "short_description": "string", "description": "string", "email": "string", "version": "string",
		"urls": "object", "stats": "object", "thumbnail": "string", "languages": "strings", "contact_account": "null",
		"registrations": "boolean", "approval_required": "boolean", "invites_enabled": "boolean", "rules": "list", "configuration": "object",
		"max_toot_chars": "number", "max_media_attachments": "number", "chat_limit": "number", "description_limit": "number",
		"poll_limits": "object", "upload_limit": "number", "avatar_upload_limit": "number", "background_upload_limit": "number",
		"banner_upload_limit": "number", "background_image": "string", "vapid_public_key": "string", "svc": "object",
	})
	WantShape(t, o, false, configurationShape)
	WantShape(t, o, false, extensionShape)
	WantShape(t, o, false, map[string]string{
		"urls.streaming_api": "string", "stats.user_count": "number", "stats.status_count": "number", "stats.domain_count": "number",
		"poll_limits.max_options": "number", "poll_limits.max_option_chars": "number", "poll_limits.min_expiration": "number",
		"poll_limits.max_expiration": "number",
	})
	host := strings.TrimPrefix(srv.URL, "http://")
	for path, want := range map[string]any{
		"uri":                             host,
		"title":                           "svc",
		"version":                         "2.7.2 (compatible; svc 1.2.3)",
		"urls.streaming_api":              "ws://" + host,
		"thumbnail":                       srv.URL + "/instance/thumbnail.jpeg",
		"background_image":                srv.URL + "/images/city.jpg",
		"max_toot_chars":                  5000.,
		"upload_limit":                    16e6,
		"avatar_upload_limit":             2e6,
		"background_upload_limit":         4e6,
		"banner_upload_limit":             4e6,
		"chat_limit":                      5000.,
		"description_limit":               5000.,
		"poll_limits.max_options":         20.,
		"poll_limits.max_expiration":      31536000.,
		"vapid_public_key":                srv.Keys.VAPIDPublic(),
		"svc.vapid_public_key":            srv.Keys.VAPIDPublic(),
		"registrations":                   true,
		"short_description":               "A small social server.",
		"svc.metadata.federation.enabled": true,
		"configuration.timelines_access.live_feeds.local":    "public",
		"configuration.accounts.max_pinned_statuses":         5.,
		"configuration.vapid.public_key":                     srv.Keys.VAPIDPublic(),
		"configuration.statuses.characters_reserved_per_url": 0., // URLs count with their length
		"configuration.media_attachments.image_matrix_limit": 50e6,
	} {
		if got := o.At(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, path := range []string{"thumbnail", "background_image"} {
		srv.As(nil).Get(o.Str(path)).Want(200)
	}
	formats := fmt.Sprint(o.At("svc.metadata.post_formats"))
	if formats != "[text/plain text/html text/markdown text/bbcode]" {
		t.Errorf("post formats are %s", formats)
	}
	types := o.At("configuration.media_attachments.supported_mime_types").([]any)
	for _, want := range []any{"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/webm", "audio/mpeg", "audio/ogg"} {
		if !slices.Contains(types, want) {
			t.Errorf("%v is not among the supported types", want)
		}
	}
	features := o.At("svc.metadata.features").([]any)
	for name, want := range map[string]bool{
		"svc_api": true, "mastodon_api": true, "mastodon_api_streaming": true, "multifetch": true, "editing": true, "quote_posting": true, "polls": true,
		"svc_explicit_addressing":                       true,
		"svc:api/v1/notifications:include_types_filter": true, "blockers_visible": false,
		"svc_chat_messages": true, "svc_emoji_reactions": true, "svc_custom_emoji_reactions": true, "exposable_reactions": true,
		"media_proxy": true, "relay": true, "svc:get:main/ostatus": true,
		// Front ends must not use unimplemented features.
		"shareable_emoji_packs": true, "chat": false, "shout": false,
	} {
		if got := slices.Contains(features, any(name)); got != want {
			t.Errorf("feature %s: %v, want %v", name, got, want)
		}
	}
}

// TestSourceURL checks where the address of the source code is published.
func TestSourceURL(t *testing.T) {
	const source = "https://code.example.org/svc"
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.SourceURL = source })
	if got := srv.As(nil).Get("/api/v2/instance").Want(200).Object().Str("source_url"); got != source {
		t.Errorf("source_url is %q", got)
	}
	for _, member := range []string{"repository", "homepage"} {
		if got := srv.As(nil).Get("/nodeinfo/2.1").Want(200).Object().At("software").(map[string]any)[member]; got != source {
			t.Errorf("NodeInfo 2.1 has the %s %v", member, got)
		}
		software := srv.As(nil).Get("/nodeinfo/2.0.json").Want(200).Object().At("software").(map[string]any)
		if _, ok := software[member]; ok {
			t.Errorf("NodeInfo 2.0 has a %s", member)
		}
	}
	srv = apptest.Start(t)
	software := srv.As(nil).Get("/nodeinfo/2.1").Want(200).Object().At("software").(map[string]any)
	if _, ok := software["repository"]; ok || software["homepage"] != srv.URL {
		t.Errorf("without source_url, NodeInfo 2.1 has %v", software)
	}
}

func TestInstanceV2(t *testing.T) {
	srv := apptest.Start(t)
	o := srv.As(nil).Get("/api/v2/instance").Want(200).Object()
	WantShape(t, o, true, map[string]string{
		"domain": "string", "title": "string", "version": "string", "source_url": "string", "description": "string", "usage": "object",
		"thumbnail": "object", "icon": "list", "languages": "strings", "configuration": "object", "registrations": "object",
		"contact": "object", "rules": "list", "api_versions": "object", "svc": "object",
	})
	if got := fmt.Sprint(o.At("api_versions")); got != "map[mastodon:11]" {
		t.Errorf("api_versions is %s, want those whose endpoints are all implemented", got)
	}
	WantShape(t, o, false, configurationShape)
	WantShape(t, o, false, extensionShape)
	WantShape(t, o, false, map[string]string{
		"usage.users.active_month": "number", "thumbnail.url": "string", "contact.email": "string", "contact.account": "null",
		"registrations.enabled": "boolean", "registrations.approval_required": "boolean", "registrations.reason_required": "boolean",
		"registrations.message": "null", "registrations.url": "null", "registrations.min_age": "null",
		"svc.metadata.upload_limit": "number", "svc.metadata.avatar_upload_limit": "number", "svc.metadata.background_upload_limit": "number",
		"svc.metadata.banner_upload_limit": "number", "svc.metadata.description_limit": "number", "svc.metadata.chat_limit": "number",
		"svc.metadata.background_image": "string",
	})
	v1 := srv.As(nil).Get("/api/v1/instance").Object()
	for _, path := range []string{"version", "configuration", "rules", "title", "languages"} {
		if fmt.Sprint(o.At(path)) != fmt.Sprint(v1.At(path)) {
			t.Errorf("%s is\n%v in version 2,\n%v in version 1", path, o.At(path), v1.At(path))
		}
	}
	if o.Str("domain") != v1.Str("uri") {
		t.Errorf("the domain is %s", o.Str("domain"))
	}
	srv.As(nil).Get(o.Str("thumbnail.url")).Want(200)
}

func TestInstanceSettings(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.Name, c.Instance.Email = "Example & <Friends>", "staff@example.org"
		c.Instance.Description, c.Instance.ShortDescription = "<p>Long &amp; <b>bold</b></p>", "Short"
		c.Instance.Languages = []string{"de", "en"}
		c.Instance.Thumbnail, c.Instance.BackgroundImage = "/static/thumb.png", "https://example.com/back.jpg"
		c.Instance.Public = false
		c.Instance.RegistrationsOpen = false
		c.Instance.InvitesEnabled = true
		c.Instance.AccountApprovalRequired = true
		c.Instance.AccountActivationRequired = true
		c.Instance.ContactUsername = "@alice"
		c.Statuses.MaxLength, c.Statuses.MaxPinned = 300, 2
		c.Statuses.AllowedFormats = []string{"text/plain"}
		c.Accounts.MaxFields, c.Accounts.FieldNameLength, c.Accounts.BlockersVisible = 4, 11, true
		c.Accounts.RestrictedNicknames = []string{"root"}
		c.Polls.MaxOptions, c.Polls.MinExpiration = 3, 5*time.Minute
		c.Media.UploadLimit, c.Media.AvatarLimit, c.Media.MaxPixels = 100_000, 3000, 77_000
		c.Chats.MaxLength = 70
		c.Federation.Enabled = false
	})
	alice := srv.SignUp("alice")
	o := srv.As(nil).Get("/api/v1/instance").Want(200).Object()
	v2 := srv.As(nil).Get("/api/v2/instance").Want(200).Object()
	node := srv.As(nil).Get("/nodeinfo/2.1").Want(200).Object()
	for _, tt := range []struct {
		of   *apptest.Object
		path string
		want any
	}{
		{o, "title", "Example & <Friends>"},
		{v2, "title", "Example & <Friends>"},
		{node, "metadata.nodeName", "Example & <Friends>"},
		{o, "email", "staff@example.org"},
		{v2, "contact.email", "staff@example.org"},
		{o, "description", "<p>Long &amp; <b>bold</b></p>"},
		{o, "short_description", "Short"},
		{v2, "description", "Short"},
		{node, "metadata.nodeDescription", "Short"},
		{o, "thumbnail", srv.URL + "/static/thumb.png"},
		{v2, "thumbnail.url", srv.URL + "/static/thumb.png"},
		{o, "background_image", "https://example.com/back.jpg"},
		{o, "registrations", false},
		{v2, "registrations.enabled", false},
		{node, "openRegistrations", false},
		{o, "invites_enabled", true},
		{node, "metadata.invitesEnabled", true},
		{o, "approval_required", true},
		{v2, "registrations.approval_required", true},
		{v2, "registrations.reason_required", true},
		{o, "svc.metadata.account_activation_required", true},
		{node, "metadata.accountActivationRequired", true},
		{o, "max_toot_chars", 300.},
		{o, "configuration.statuses.max_characters", 300.},
		{o, "configuration.accounts.max_pinned_statuses", 2.},
		{o, "svc.metadata.fields_limits.max_fields", 4.},
		{node, "metadata.fieldsLimits.maxFields", 4.},
		{o, "svc.metadata.fields_limits.name_length", 11.},
		{node, "metadata.fieldsLimits.nameLength", 11.},
		{o, "poll_limits.max_options", 3.},
		{o, "poll_limits.min_expiration", 300.},
		{o, "configuration.polls.min_expiration", 300.},
		{node, "metadata.pollLimits.max_options", 3.},
		{o, "upload_limit", 100000.},
		{o, "configuration.media_attachments.image_size_limit", 100000.},
		{node, "metadata.uploadLimits.general", 100000.},
		{o, "avatar_upload_limit", 3000.},
		{node, "metadata.uploadLimits.avatar", 3000.},
		{o, "configuration.media_attachments.image_matrix_limit", 77000.},
		{o, "chat_limit", 70.},
		{o, "svc.metadata.federation.enabled", false},
		{node, "metadata.federation.enabled", false},
		{o, "configuration.timelines_access.live_feeds.local", "authenticated"},
		{o, "configuration.timelines_access.hashtag_feeds.remote", "authenticated"},
		{node, "metadata.private", true},
		{o, "contact_account.acct", "alice"},
		{v2, "contact.account.id", alice.ID},
	} {
		if got := tt.of.At(tt.path); got != tt.want {
			t.Errorf("%s is %v, want %v", tt.path, got, tt.want)
		}
	}
	for path, want := range map[string]string{
		"languages": "[de en]", "svc.metadata.post_formats": "[text/plain]",
	} {
		if got := fmt.Sprint(o.At(path)); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
	if got := fmt.Sprint(node.At("metadata.restrictedNicknames")); got != "[root]" {
		t.Errorf("restricted nicknames are %s", got)
	}
	if !slices.Contains(o.At("svc.metadata.features").([]any), any("blockers_visible")) {
		t.Error("the feature blockers_visible is missing")
	}
}

func TestInstanceWithoutContact(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ContactUsername = "nobody" })
	if got := srv.As(nil).Get("/api/v1/instance").Want(200).Object().At("contact_account"); got != nil {
		t.Errorf("the contact is %v", got)
	}
}

// TestInstanceContactChanges checks that cached instance documents have the current contact account.
func TestInstanceContactChanges(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ContactUsername = "alice" })
	alice := srv.SignUp("alice")
	contact := func(want string) {
		t.Helper()
		for path, key := range map[string]string{"/api/v1/instance": "contact_account", "/api/v2/instance": "contact.account"} {
			o := srv.As(nil).Get(path).Want(200).Object()
			if got := fmt.Sprint(o.At(key)); want == "" && got != "<nil>" || want != "" && o.Str(key+".display_name") != want {
				t.Errorf("GET %s: the contact is %s, want %q", path, got, want)
			}
		}
	}
	contact("alice")
	srv.ChangeAccount(alice, func(a *store.Account) { a.DisplayName = "Alice" })
	contact("Alice")
	alice.Publish("hello")
	if got := srv.As(nil).Get("/api/v1/instance").Object().Int("contact_account.statuses_count"); got != 1 {
		t.Errorf("statuses_count is %d", got)
	}
	var id store.AccountID
	id.UnmarshalText([]byte(alice.ID))
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.SetUnavailable(t.Context(), id, true) }); err != nil {
		t.Fatal(err)
	}
	contact("")
}

func TestInstanceStats(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("one")
	alice.Publish("two", "visibility", "unlisted")
	bob.Publish("psst", "visibility", "direct") // not counted
	note := bob.Publish("three").ID()
	alice.Post("/api/v1/statuses/" + note + "/reblog").Want(200)
	private := alice.Publish("for followers", "visibility", "private").ID()
	alice.Post("/api/v1/statuses/" + private + "/reblog").Want(200)
	for _, domain := range []string{"example.org", "example.com", "example.org"} {
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			name := fmt.Sprint("a", tx.NewAccountID())
			return tx.AddAccount(t.Context(), &store.Account{
				Nickname: name, Domain: domain, ActorType: "Person", URI: "https://" + domain + "/users/" + name,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	o := srv.As(nil).Get("/api/v1/instance").Want(200).Object()
	for path, want := range map[string]int{"stats.user_count": 2, "stats.status_count": 4, "stats.domain_count": 2, "svc.stats.mau": 2} {
		if got := o.Int(path); got != want {
			t.Errorf("%s is %d, want %d", path, got, want)
		}
	}
	node := srv.As(nil).Get("/nodeinfo/2.0.json").Want(200).Object()
	for path, want := range map[string]int{"usage.users.total": 2, "usage.users.activeMonth": 2, "usage.users.activeHalfyear": 2, "usage.localPosts": 3} {
		if got := node.Int(path); got != want {
			t.Errorf("%s is %d, want %d", path, got, want)
		}
	}
	if peers := srv.As(nil).Get("/api/v1/instance/peers").Want(200); string(peers.Body) != `["example.com","example.org"]` {
		t.Errorf("the peers are %s", peers.Body)
	}
}

func TestActivity(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("one")
	alice.Publish("two", "visibility", "private")
	bob.Publish("three")
	srv.Exec(`INSERT INTO active_weeks (week, users) VALUES ((SELECT min(week) FROM active_weeks) - 7 * 86400000, 5)`)
	weeks := srv.As(nil).Get("/api/v1/instance/activity").Want(200).List()
	if len(weeks) != 12 {
		t.Fatalf("got %d weeks", len(weeks))
	}
	for i, want := range []map[string]string{
		{"statuses": "2", "logins": "2", "registrations": "2"}, {"statuses": "0", "logins": "5", "registrations": "0"}, {"logins": "0"},
	} {
		for key, value := range want {
			if got := weeks[i].Str(key); got != value {
				t.Errorf("week %d: %s is %s, want %s", i, key, got, value)
			}
		}
	}
}

func TestPeersAndActivityDisabled(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ListPeers, c.Instance.ShowActivity = false, false })
	srv.As(nil).Get("/api/v1/instance/peers").WantError(404, "Record not found")
	srv.As(nil).Get("/api/v1/instance/activity").WantError(404, "Record not found")
}

func TestNodeInfo(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.SetRole(alice, true, false)
	srv.SetRole(bob, false, true)
	links := srv.As(nil).Get("/.well-known/nodeinfo").Want(200).Object().At("links").([]any)
	if len(links) != 3 { // the actor of the server, and two versions: other servers read the last one
		t.Fatalf("links are %v", links)
	}
	for i, version := range []string{"2.0", "2.1"} {
		link := links[i+1].(map[string]any)
		if link["rel"] != "http://nodeinfo.diaspora.software/ns/schema/"+version || link["href"] != srv.URL+"/nodeinfo/"+version+".json" {
			t.Errorf("link %v", link)
		}
		for _, path := range []string{link["href"].(string), "/nodeinfo/" + version, "/nodeinfo/" + version + "/"} {
			a := srv.As(nil).Get(path).Want(200)
			if got, want := a.Header.Get("Content-Type"), `application/json; profile="http://nodeinfo.diaspora.software/ns/schema/`+version+`#"; charset=utf-8`; got != want {
				t.Errorf("GET %s: Content-Type is %s, want %s", path, got, want)
			}
			if a.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("GET %s: no CORS header", path)
			}
			o := a.Object()
			WantShape(t, o, true, map[string]string{
				"version": "string", "software": "object", "protocols": "strings", "services": "object", "openRegistrations": "boolean",
				"usage": "object", "metadata": "object",
			})
			WantShape(t, o, false, map[string]string{
				"services.inbound": "list", "services.outbound": "list", "usage.users.total": "number", "usage.users.activeMonth": "number",
				"usage.users.activeHalfyear": "number", "usage.localPosts": "number",
			})
			WantShape(t, &apptest.Object{T: t, Fields: o.At("metadata").(map[string]any)}, true, map[string]string{
				"nodeName": "string", "nodeDescription": "string", "upstream": "object", "private": "boolean", "suggestions": "object",
				"staffAccounts": "strings", "federation": "object", "pollLimits": "object", "postFormats": "strings", "uploadLimits": "object",
				"fieldsLimits": "object", "accountActivationRequired": "boolean", "invitesEnabled": "boolean", "mailerEnabled": "boolean",
				"features": "strings", "restrictedNicknames": "list", "skipThreadContainment": "boolean", "localBubbleInstances": "list",
			})
			if o.Str("version") != version || o.Str("software.name") != "svc" || o.Str("software.version") != "1.2.3" {
				t.Errorf("GET %s: %v", path, o.Fields)
			}
			if o.Str("metadata.upstream.name") != "Mastodon" {
				t.Error("upstream.name is missing, by which libraries choose an API")
			}
			if got := fmt.Sprint(o.At("protocols")); got != "[activitypub]" {
				t.Errorf("protocols are %s", got)
			}
			want := fmt.Sprintf("[%s/users/alice %s/users/bob]", srv.URL, srv.URL)
			if got := fmt.Sprint(o.At("metadata.staffAccounts")); got != want {
				t.Errorf("staff is %s, want %s, without %s", got, want, carol.ID)
			}
			instance := srv.As(nil).Get("/api/v1/instance").Object()
			if got, want := fmt.Sprint(o.At("metadata.features")), fmt.Sprint(instance.At("svc.metadata.features")); got != want {
				t.Errorf("features are %s, want %s", got, want)
			}
		}
	}
	for _, path := range []string{"/nodeinfo/1.0", "/nodeinfo/1.0.json", "/nodeinfo/2.2", "/nodeinfo/x"} {
		srv.As(nil).Get(path).WantError(404, "Nodeinfo schema version not handled")
	}
	// Staff that does not show its role is not listed, at once.
	var id store.AccountID
	id.UnmarshalText([]byte(bob.ID))
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		u, err := tx.User(t.Context(), id)
		if err != nil {
			return err
		}
		u.ShowRole = false
		return tx.SaveUser(t.Context(), u)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(srv.As(nil).Get("/nodeinfo/2.0").Object().At("metadata.staffAccounts")); strings.Contains(got, "bob") {
		t.Errorf("staff is %s", got)
	}
}

func TestHostMeta(t *testing.T) {
	srv := apptest.Start(t)
	a := srv.As(nil).Get("/.well-known/host-meta").Want(200)
	var doc struct {
		XMLName xml.Name `xml:"http://docs.oasis-open.org/ns/xri/xrd-1.0 XRD"`
		Link    struct {
			Rel      string `xml:"rel,attr"`
			Template string `xml:"template,attr"`
		}
	}
	if err := xml.Unmarshal(a.Body, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Link.Rel != "lrdd" || doc.Link.Template != srv.URL+"/.well-known/webfinger?resource={uri}" {
		t.Errorf("the link is %+v", doc.Link)
	}
	if got := a.Header.Get("Content-Type"); got != "application/xrd+xml; charset=utf-8" {
		t.Errorf("Content-Type is %s", got)
	}
	if a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("no CORS header")
	}
}

func TestEndpointsOfClientStartup(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	for _, tt := range []struct {
		path   string
		as     *apptest.User
		status int
		body   string
	}{
		{"/api/v1/instance/rules", nil, 200, "[]"},
		{"/api/v1/instance/peers", nil, 200, "[]"},
		{"/api/v1/suggestions", nil, 200, "[]"},
		{"/api/v2/suggestions", alice, 200, "[]"},
		{"/api/v1/trends", nil, 200, "[]"},
		{"/api/v1/trends/tags", nil, 200, "[]"},
		{"/api/v1/trends/statuses?limit=40", nil, 200, "[]"},
		{"/api/v1/trends/links", alice, 200, "[]"},
		{"/api/v1/identity_proofs", nil, 200, "[]"},
		{"/api/v1/endorsements", nil, 200, "[]"},
		{"/api/v1/announcements", alice, 200, "[]"},
		{"/api/v1/announcements", nil, 401, ""},
		{"/api/v1/followed_tags?limit=200", alice, 200, "[]"},
		{"/api/v1/followed_tags", nil, 401, ""},
		{"/api/v1/preferences", nil, 401, ""},
		{"/api/v1/featured_tags", alice, 200, "[]"},
		{"/api/v1/instance/privacy_policy", nil, 404, ""},
		{"/api/svc/frontend_configurations", nil, 200, "{}"},
		{"/api/v1/svc/frontend_configurations", nil, 200, "{}"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(tt.as).Get(tt.path).Want(tt.status)
			if tt.status == 200 && string(a.Body) != tt.body {
				t.Errorf("got %s", a.Body)
			}
			if got := a.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
				t.Errorf("Content-Type is %s", got)
			}
			if tt.status != 200 && a.Object().Str("error") == "" {
				t.Error("no error")
			}
		})
	}
}

func TestPreferences(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	want := `{"posting:default:visibility":"public","posting:default:sensitive":false,"posting:default:language":null,"posting:default:quote_policy":"public","reading:expand:media":"default","reading:expand:spoilers":false}`
	if got := alice.Get("/api/v1/preferences").Want(200); string(got.Body) != want {
		t.Errorf("got %s", got.Body)
	}
	var id store.AccountID
	id.UnmarshalText([]byte(alice.ID))
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		u, err := tx.User(t.Context(), id)
		if err != nil {
			return err
		}
		u.DefaultVisibility, u.DefaultSensitive, u.DefaultLanguage, u.DefaultQuotePolicy = store.Private, true, "de", store.QuotableByFollowers
		return tx.SaveUser(t.Context(), u)
	})
	if err != nil {
		t.Fatal(err)
	}
	want = `{"posting:default:visibility":"private","posting:default:sensitive":true,"posting:default:language":"de","posting:default:quote_policy":"followers","reading:expand:media":"default","reading:expand:spoilers":false}`
	if got := alice.Get("/api/v1/preferences").Want(200); string(got.Body) != want {
		t.Errorf("got %s", got.Body)
	}
	srv.NewToken(alice, "write").Get("/api/v1/preferences").Want(403)
}

// standardWord matches the standard name as an identifier or at the beginning of one.
var standardWord = regexp.MustCompile(`\bsvc`)

// TestOtherName checks that all identifiers use the configured API name.
func TestOtherName(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.API.Name, c.Instance.Name, c.Instance.ContactUsername = "other", "Example", "alice"
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	m := alice.Upload(apptest.PNG(3, 3))
	st := alice.Publish("hello @bob", "media_ids[]", m.ID())
	bob.Post("/api/v1/statuses/" + st.ID() + "/favourite").Want(200)
	for _, tt := range []struct {
		as   *apptest.User
		path string
		has  []string
	}{
		{nil, "/api/v1/instance", []string{"other.metadata.features", "other.vapid_public_key", "contact_account.other.relationship"}},
		{nil, "/api/v2/instance", []string{"other.metadata.features", "contact.account.other.tags"}},
		{nil, "/nodeinfo/2.0", []string{"metadata.features"}},
		{nil, "/nodeinfo/2.1.json", nil},
		{nil, "/.well-known/nodeinfo", nil},
		{nil, "/api/v1/other/emoji", nil},
		{nil, "/api/other/emoji.json", nil},
		{nil, "/api/other/frontend_configurations", nil},
		{nil, "/api/v1/other/healthcheck", []string{"healthy"}},
		{alice, "/api/v1/statuses/" + st.ID(), []string{"other.conversation_id", "account.other.relationship"}},
		{alice, "/api/v1/media/" + m.ID(), []string{"other.mime_type"}},
		{alice, "/api/v1/notifications", nil},
		{alice, "/api/v1/timelines/home", nil},
		{alice, "/api/v1/markers?timeline[]=notifications", nil},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(tt.as).Get(tt.path).Want(200)
			for _, path := range tt.has {
				a.Object().At(path)
			}
			if found := standardWord.FindIndex(a.Body); found != nil {
				t.Errorf("the response has the standard name: …%s…", a.Body[max(0, found[0]-40):min(len(a.Body), found[1]+40)])
			}
		})
	}
	o := srv.As(nil).Get("/api/v1/instance").Object()
	if got := o.Str("version"); got != "2.7.2 (compatible; other 1.2.3)" {
		t.Errorf("the version is %q", got)
	}
	features := o.At("other.metadata.features").([]any)
	for _, name := range []string{"other_api", "mastodon_api", "other_explicit_addressing", "other:api/v1/notifications:include_types_filter"} {
		if !slices.Contains(features, any(name)) {
			t.Errorf("the feature %s is missing", name)
		}
	}
	if got := srv.As(nil).Get("/nodeinfo/2.0").Object().Str("software.name"); got != "other" {
		t.Errorf("the software is %q", got)
	}
	notified := alice.Get("/api/v1/notifications").List()
	if len(notified) != 1 {
		t.Fatalf("%d notifications", len(notified))
	}
	notified[0].At("other.is_seen")
	for _, path := range []string{"/api/v1/svc/emoji", "/api/svc/emoji.json", "/api/v1/svc/healthcheck", "/api/svc/frontend_configurations"} {
		srv.As(nil).Get(path).WantError(404, "Record not found")
	}
	var any map[string]any
	if err := json.Unmarshal(srv.As(nil).Get("/api/other/emoji").Want(200).Body, &any); err != nil {
		t.Error(err)
	}
}

func TestCompatible(t *testing.T) {
	for compatible, want := range map[string]string{"": "2.7.2 (compatible; svc 1.2.3)", "Pleroma 2.7.1": "2.7.2 (compatible; Pleroma 2.7.1)"} {
		srv := apptest.Start(t, func(c *config.Config) { c.API.Compatible = compatible })
		for _, path := range []string{"/api/v1/instance", "/api/v2/instance"} {
			if got := srv.As(nil).Get(path).Want(200).Object().Str("version"); got != want {
				t.Errorf("%s with %q: got %q, want %q", path, compatible, got, want)
			}
		}
		node := srv.As(nil).Get("/nodeinfo/2.0").Want(200).Object()
		apptest.WantFields(t, "nodeinfo", node, apptest.Doc{"software.name": "svc", "software.version": "1.2.3"})
	}
}

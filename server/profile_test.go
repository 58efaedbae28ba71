package server_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// pngOf returns a picture of one colour.
func pngOf(t testing.TB, shade uint8, width, height int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = color.Gray{Y: shade}.Y
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fileOf(name, filename string, content []byte) apptest.FormPart {
	return apptest.FormPart{Name: name, Content: string(content), Filename: filename, Type: "application/octet-stream", IsFile: true}
}

func TestVerifyCredentials(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.UpdateProfile(map[string]any{"locked": true})
	bob.Publish("hello @alice")
	bob.AccountAction(alice.ID, "follow")
	o := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
	for path, want := range map[string]any{
		"id": alice.ID, "acct": "alice", "locked": true, "source.privacy": "public", "source.sensitive": false, "source.language": "", "source.note": "",
		"source.fields": []any{}, "source.follow_requests_count": 1.0, "follow_requests_count": 1.0, "svc.settings_store": map[string]any{},
		"svc.unread_notifications_count": 2.0, "svc.unread_conversation_count": 0.0, "svc.email": "alice@example.org", "svc.is_admin": false,
		"svc.notification_settings": map[string]any{"block_from_strangers": false, "hide_notification_contents": false},
		"svc.relationship":          map[string]any{}, "source.svc.actor_type": "Person", "role.permissions": "0",
	} {
		if got := o.At(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	srv.As(nil).Get("/api/v1/accounts/verify_credentials").WantError(401, "The access token is invalid")
	srv.As(nil).SendJSON("PATCH", apptest.UpdateCredentials, map[string]any{"note": "x"}).WantError(401, "The access token is invalid")
}

func TestUpdateCredentials(t *testing.T) {
	for _, tt := range []struct {
		name string
		body map[string]any
		want map[string]any
	}{
		{"display name", map[string]any{"display_name": " Alice\n <b> \u0007"}, map[string]any{"display_name": "Alice <b>"}},
		{"a hidden display name", map[string]any{"display_name": "\u202eAli\u200bce\u00ad", "fields_attributes": []map[string]any{{"name": "\u2066a\u2069", "value": "b\ufeff"}}},
			map[string]any{"display_name": "Alice", "fields": []any{map[string]any{"name": "a", "value": "b", "verified_at": nil}}}},
		{"no display name", map[string]any{"display_name": ""}, map[string]any{"display_name": "alice"}},
		{"bio", map[string]any{"note": "I <3 tea\n@bob #Tea"}, map[string]any{"source.note": "I <3 tea\n@bob #Tea"}},
		{"nulls", map[string]any{"display_name": nil, "note": nil, "locked": nil, "fields_attributes": nil, "also_known_as": nil, "source": nil, "avatar": nil, "svc_settings_store": nil},
			map[string]any{"display_name": "alice", "note": "", "locked": false}},
		{"bot", map[string]any{"bot": true}, map[string]any{"bot": true, "source.svc.actor_type": "Service"}},
		{"actor type before bot: a group is none", map[string]any{"bot": true, "actor_type": "Group"}, map[string]any{"bot": false, "group": true, "source.svc.actor_type": "Group"}},
		{"scope", map[string]any{"default_scope": "local"}, map[string]any{"source.privacy": "local"}},
		{"source", map[string]any{"source": map[string]any{"privacy": "unlisted", "sensitive": true, "language": "pt-br"}},
			map[string]any{"source.privacy": "unlisted", "source.sensitive": true, "source.language": "pt-BR"}},
		{"switches", map[string]any{"locked": "1", "discoverable": "on", "hide_favorites": true, "hide_followers": true, "hide_follows": true, "hide_followers_count": true,
			"hide_follows_count": true, "accepts_chat_messages": false, "no_rich_text": true, "show_role": false, "skip_thread_containment": true, "allow_following_move": true},
			map[string]any{"locked": true, "discoverable": true, "source.svc.discoverable": true, "svc.hide_favorites": true, "svc.hide_followers": true, "svc.hide_follows": true,
				"svc.hide_followers_count": true, "svc.hide_follows_count": true, "svc.accepts_chat_messages": false, "source.svc.no_rich_text": true,
				"source.svc.show_role": false, "svc.skip_thread_containment": true, "svc.allow_following_move": true}},
		{"no statement on search", map[string]any{"discoverable": true}, map[string]any{"indexable": true, "source.indexable": true}},
		{"no consent to search", map[string]any{"discoverable": true, "indexable": false}, map[string]any{"discoverable": true, "indexable": false, "source.indexable": false}},
		{"consent to search, in source", map[string]any{"source": map[string]any{"indexable": true}}, map[string]any{"discoverable": false, "indexable": true, "source.indexable": true}},
		{"both lists hidden", map[string]any{"hide_collections": true}, map[string]any{
			"hide_collections": true, "source.hide_collections": true, "svc.hide_followers": true, "svc.hide_follows": true, "svc.hide_followers_count": false}},
		{"one list hidden", map[string]any{"hide_collections": true, "hide_follows": false}, map[string]any{
			"hide_collections": false, "source.hide_collections": false, "svc.hide_followers": true, "svc.hide_follows": false}},
		{"aliases", map[string]any{"also_known_as": []string{"https://example.com/users/a", "https://example.com/users/a"}},
			map[string]any{"svc.also_known_as": []any{"https://example.com/users/a"}}},
		{"fields as a list", map[string]any{"fields_attributes": []map[string]any{{"name": "Site", "value": "https://example.com"}, {"name": " ", "value": "dropped"}, {"name": "Mood", "value": ""}}},
			map[string]any{"source.fields": []any{
				map[string]any{"name": "Site", "value": "https://example.com", "verified_at": nil}, map[string]any{"name": "Mood", "value": "", "verified_at": nil}}}},
		{"fields as an index map", map[string]any{"fields_attributes": map[string]any{"10": map[string]any{"name": "b", "value": "2"}, "2": map[string]any{"name": "a", "value": "1"}}},
			map[string]any{"fields": []any{
				map[string]any{"name": "a", "value": "1", "verified_at": nil}, map[string]any{"name": "b", "value": "2", "verified_at": nil}}}},
		{"front end settings", map[string]any{"svc_settings_store": map[string]any{"fe": map[string]any{"a": []int{1}}}},
			map[string]any{"svc.settings_store": map[string]any{"fe": map[string]any{"a": []any{1.0}}}}},
		{"unknown parameters", map[string]any{"no_such_thing": true, "followers_count": 12}, map[string]any{"followers_count": 0.0}},
		{"a picture without a file", map[string]any{"avatar": ""}, map[string]any{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t)
			alice := srv.SignUp("alice")
			srv.SignUp("bob")
			for i, o := range []*apptest.Object{alice.UpdateProfile(tt.body), alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()} {
				for path, want := range tt.want {
					if got := o.At(path); !reflect.DeepEqual(got, want) {
						t.Errorf("response %d: %s is %v, want %v", i, path, got, want)
					}
				}
			}
		})
	}
}

func TestUpdateCredentialsRenders(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.AddRemoteAccount("dave", "example.com")
	alice.UpdateProfile(map[string]any{
		"note":              "hi @bob and @dave@example.com, not @nobody <script>\n\nhttps://example.org/x #Tea",
		"fields_attributes": []map[string]any{{"name": "<Site>", "value": "https://example.com/<me>"}, {"name": "with", "value": "@bob"}},
	})
	o := srv.As(nil).Get("/api/v1/accounts/alice").Want(200).Object()
	note := o.Str("note")
	for _, part := range []string{
		`href="` + srv.URL + `/@bob"`, `@<span>bob</span>`, `@<span>dave@example.com</span>`, "not @nobody &lt;script&gt;</p>", `href="https://example.org/x"`, `/tags/tea"`,
	} {
		if !strings.Contains(note, part) {
			t.Errorf("%s is missing in %s", part, note)
		}
	}
	fields := o.At("fields").([]any)
	site := fields[0].(map[string]any)
	if site["name"] != "<Site>" || !strings.Contains(site["value"].(string), `rel="me nofollow noopener noreferrer"`) || !strings.Contains(site["value"].(string), "&lt;me&gt;") || site["verified_at"] != nil {
		t.Errorf("a field is %v", site)
	}
	if value := fields[1].(map[string]any)["value"].(string); !strings.Contains(value, srv.URL+"/@bob") {
		t.Errorf("a mention in a field is %s", value)
	}
	alice.UpdateProfile(map[string]any{"fields_attributes": []any{}})
	if got := srv.As(nil).Get("/api/v1/accounts/alice").Object().At("fields").([]any); len(got) != 0 {
		t.Errorf("fields remain: %v", got)
	}
	if got := bob.Get("/api/v1/notifications").IDs(); len(got) != 0 {
		t.Errorf("a mention in a profile caused a notification: %v", got)
	}
}

func TestUpdateCredentialsRefuses(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.BioLength, c.Accounts.NameLength, c.Accounts.MaxFields = 20, 10, 2 })
	alice := srv.SignUp("alice")
	field := func(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }
	long := strings.Repeat("x", 21)
	before := alice.Get("/api/v1/accounts/verify_credentials").Body
	for _, tt := range []struct {
		name   string
		body   map[string]any
		status int
		want   string
	}{
		{"a long name", map[string]any{"display_name": long}, 413, "Name is too long"},
		{"a long bio", map[string]any{"note": long, "locked": true}, 413, "Bio is too long"},
		{"both", map[string]any{"note": long, "display_name": long}, 413, "Name is too long"},
		{"a long field name", map[string]any{"fields_attributes": []any{field(strings.Repeat("x", 513), "")}}, 413, "One or more field entries are too long"},
		{"a long field value", map[string]any{"fields_attributes": []any{field("a", strings.Repeat("x", 2049))}}, 413, "One or more field entries are too long"},
		{"many fields", map[string]any{"fields_attributes": []any{field("a", ""), field("b", ""), field("c", "")}}, 413, "Too many field entries"},
		{"an actor type that is not allowed", map[string]any{"actor_type": "Application"}, 422, `actor_type - Invalid value "Application": must be Person, Service or Group.`},
		{"an unknown scope", map[string]any{"default_scope": "list"}, 422, `default_scope - Invalid value "list": must be public, unlisted, local, private or direct.`},
		{"an unknown scope, in source", map[string]any{"source": map[string]any{"privacy": "secret"}}, 422, `source[privacy] - Invalid value "secret": must be public, unlisted, local, private or direct.`},
		{"an unknown language", map[string]any{"source": map[string]any{"language": "nonsense!"}}, 403, "Invalid request"},
		{"an alias that is not a URL", map[string]any{"also_known_as": []string{"alice@example.com"}}, 403, "Invalid request"},
		{"settings that are not an object", map[string]any{"svc_settings_store": []int{1}}, 403, "Invalid request"},
		{"large settings", map[string]any{"svc_settings_store": map[string]string{"fe": strings.Repeat("x", 600_000)}}, 413, "The settings of all front ends would take 600004 bytes, the limit is 500000"},
		{"a picture that is a text", map[string]any{"avatar": "https://example.com/a.png"}, 403, "Invalid request"},
		{"an invalid picture", map[string]any{"avatar": "data:image/png;base64,aGVsbG8="}, 422, "Files of this type are not accepted"},
		{"a name of another type", map[string]any{"display_name": []string{"a"}}, 400, "display_name - Invalid string. Got: array."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alice.SendJSON("PATCH", apptest.UpdateCredentials, tt.body).WantError(tt.status, tt.want)
		})
	}
	if after := alice.Get("/api/v1/accounts/verify_credentials").Body; !bytes.Equal(before, after) {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}

func TestProfilePictures(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Media.AvatarLimit = 20_000 })
	alice := srv.SignUp("alice")
	small, other := pngOf(t, 10, 20, 20), pngOf(t, 200, 20, 20)
	standard := alice.Get("/api/v1/accounts/verify_credentials").Object()
	patch := func(parts ...apptest.FormPart) *apptest.Response {
		return alice.SendForm("PATCH", apptest.UpdateCredentials, parts...)
	}

	o := patch(fileOf("avatar", "a.png", small), fileOf("header", "blob", other), fileOf("svc_background_image", "", small)).Want(200).Object()
	for _, path := range []string{"avatar", "avatar_static", "header", "header_static", "svc.background_image"} {
		if got := o.Str(path); !strings.HasPrefix(got, srv.URL+"/media/") || !strings.HasSuffix(got, ".png") {
			t.Errorf("%s is %q", path, got)
		}
	}
	avatar, header := o.Str("avatar"), o.Str("header")
	if avatar == header {
		t.Error("different pictures have the same URL")
	}

	o = patch(fileOf("avatar", "", nil), fileOf("header", "", nil), apptest.FormPart{Name: "display_name", Content: "Al"}).Want(200).Object()
	if o.Str("avatar") != avatar || o.Str("header") != header || o.Str("display_name") != "Al" {
		t.Errorf("empty file inputs changed something: %v", o.Fields)
	}
	patch(fileOf("avatar", "a.png", append(small, make([]byte, 30_000)...))).WantError(413, "File is too large")
	patch(fileOf("avatar", "a.png", small[:len(small)/2])).WantError(422, "The file is damaged or incomplete")

	o = patch(apptest.FormPart{Name: "avatar"}, apptest.FormPart{Name: "header"}, apptest.FormPart{Name: "svc_background_image"}).Want(200).Object()
	if o.Str("avatar") != standard.Str("avatar") || o.Str("header") != standard.Str("header") || o.At("svc.background_image") != nil {
		t.Errorf("empty texts did not reset the pictures: %v", o.Fields)
	}
	o = alice.UpdateProfile(map[string]any{"avatar": "data:image/png;base64," + base64.StdEncoding.EncodeToString(small)})
	if o.Str("avatar") != avatar {
		t.Errorf("avatar is %q, want %q", o.Str("avatar"), avatar)
	}
	if o := alice.UpdateProfile(map[string]any{"avatar": ""}); o.Str("avatar") != standard.Str("avatar") {
		t.Errorf("avatar is %q", o.Str("avatar"))
	}
}

// TestPicturesOfOtherTypes checks that a profile refuses files that are no pictures like POST /api/v1/media does.
func TestPicturesOfOtherTypes(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	before := alice.Get("/api/v1/accounts/verify_credentials").Body
	ftyp := func(brand string) []byte {
		return slices.Concat(mp4Box("ftyp", []byte(brand), words(0), []byte(brand+"mif1isom")), mp4File("vide")[24:])
	}
	for name, tt := range map[string]struct {
		content  []byte
		accepted bool // as an attachment
	}{
		"a.aac":  {content: bytes.Repeat([]byte("\xff\xf1\x50\x80\x02\x1f\xfc\x21"), 100)},
		"a.3gp":  {content: ftyp("3gp5")},
		"b.3gp":  {content: ftyp("3gp4")},
		"a.heic": {content: ftyp("heic"), accepted: true},
		"a.avif": {content: ftyp("avif"), accepted: true},
		"a.mp4":  {content: mp4File("vide"), accepted: true},
		"a.svg":  {content: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")},
		"a.png":  {content: []byte("no picture")},
	} {
		const refused = "Files of this type are not accepted"
		for _, key := range []string{"avatar", "header", "svc_background_image"} {
			alice.SendForm("PATCH", apptest.UpdateCredentials, fileOf(key, name, tt.content)).WantError(422, refused)
		}
		for path, key := range map[string]string{"update_avatar": "img", "update_banner": "banner", "update_background": "img"} {
			alice.SendForm("PATCH", "/api/v1/svc/accounts/"+path, fileOf(key, name, tt.content)).WantError(422, refused)
		}
		if !tt.accepted {
			alice.SendForm("POST", "/api/v1/media", fileOf("file", name, tt.content)).WantError(422, refused)
		}
	}
	if after := alice.Get("/api/v1/accounts/verify_credentials").Body; !bytes.Equal(before, after) {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}

func TestPictureEndpoints(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	content := pngOf(t, 99, 30, 30)
	data := "data:image/png;base64," + base64.StdEncoding.EncodeToString(content)
	shown := func(path string) any { return alice.Get("/api/v1/accounts/alice").Object().At(path) }
	for _, tt := range []struct{ path, param, member string }{
		{"/api/v1/svc/accounts/update_avatar", "img", "avatar"},
		{"/api/v1/svc/accounts/update_banner", "banner", "header"},
		{"/api/svc/accounts/update_background", "img", "svc.background_image"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			reset := shown(tt.member)
			url := alice.SendForm("PATCH", tt.path, fileOf(tt.param, "x", content)).Want(200).Object().Str("url")
			if got := shown(tt.member); got != url {
				t.Errorf("the account has %v, want %q", got, url)
			}
			if got := alice.SendJSON("PATCH", tt.path, map[string]any{tt.param: ""}).Want(200).Object().At("url"); got != nil {
				t.Errorf("cleared is %v, want null", got)
			}
			if got := shown(tt.member); got != reset {
				t.Errorf("the account has %v, want %v", got, reset)
			}
			if got := alice.SendJSON("PATCH", tt.path, map[string]any{tt.param: data}).Want(200).Object().Str("url"); got != url {
				t.Errorf("by data URL: got %q, want %q", got, url)
			}
			if got := alice.SendForm("PATCH", tt.path, fileOf("file", "x", content)).Want(200).Object().Str("url"); got != url {
				t.Errorf("by file: got %q, want %q", got, url)
			}
			alice.SendJSON("PATCH", tt.path, nil).WantError(400, "Missing field: "+tt.param+".")
			alice.SendJSON("PATCH", tt.path, map[string]any{tt.param: "x"}).WantError(403, "Invalid request")
			srv.As(nil).SendJSON("PATCH", tt.path, nil).WantError(403, "Invalid credentials.")
		})
	}
}

// TestRemovePicture resets pictures by the reference API's endpoints.
func TestRemovePicture(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	reading := srv.NewToken(alice, "read")
	for _, member := range []string{"avatar", "header"} {
		t.Run(member, func(t *testing.T) {
			path := "/api/v1/profile/" + member
			reset := alice.Get("/api/v1/accounts/alice").Object().Str(member)
			own := alice.SendForm("PATCH", "/api/v1/accounts/update_credentials", fileOf(member, "x", pngOf(t, 99, 30, 30))).Want(200).Object().Str(member)
			srv.As(nil).Do("DELETE", path, "", nil).Want(401)
			reading.Do("DELETE", path, "", nil).Want(403)
			if got := alice.Get("/api/v1/accounts/alice").Object().Str(member); got != own || got == reset {
				t.Errorf("before: %s", got)
			}
			for range 2 { // again is not an error
				o := alice.Do("DELETE", path, "", nil).Want(200).Object()
				if o.Str(member) != reset || !o.Has("source") {
					t.Errorf("the answer is %v", o.Fields)
				}
			}
		})
	}
}

func TestFrontendSettings(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for _, tt := range []struct {
		name  string
		store any
		want  map[string]any
	}{
		{"one front end", map[string]any{"fe": map[string]any{"a": 1, "b": 2}}, map[string]any{"fe": map[string]any{"a": 1.0, "b": 2.0}}},
		{"the same front end, replaced", map[string]any{"fe": map[string]any{"a": 3}}, map[string]any{"fe": map[string]any{"a": 3.0}}},
		{"another", map[string]any{"other": "text"}, map[string]any{"fe": map[string]any{"a": 3.0}, "other": "text"}},
		{"null removes", map[string]any{"fe": nil}, map[string]any{"other": "text"}},
		{"as a text", `{"fe":[1]}`, map[string]any{"fe": []any{1.0}, "other": "text"}},
		{"an empty text", "", map[string]any{"fe": []any{1.0}, "other": "text"}},
	} {
		o := alice.UpdateProfile(map[string]any{"svc_settings_store": tt.store})
		if got := o.At("svc.settings_store"); !reflect.DeepEqual(got, any(tt.want)) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	alice.SendJSON("PATCH", "/api/v1/svc/settings/other", map[string]any{"a": 4}).Want(200)
	if got := alice.Get("/api/v1/accounts/verify_credentials").Object().At("svc.settings_store.other.a"); got != 4.0 {
		t.Errorf("after a merge: got %v, want 4", got)
	}
	alice.SendJSON("PATCH", "/api/v1/svc/settings/other", map[string]any{"a": 5}).Want(200)
	if got := alice.Get("/api/v1/accounts/verify_credentials").Object().At("svc.settings_store.other.a"); got != 5.0 {
		t.Errorf("after another merge: got %v, want 5", got)
	}
	large := strings.Repeat("x", 400_000)
	alice.UpdateProfile(map[string]any{"svc_settings_store": map[string]any{"fe": large}})
	if got := alice.Get("/api/v1/accounts/verify_credentials").Object().At("svc.settings_store.fe"); got != large {
		t.Error("large settings are not kept")
	}
}

func TestNotificationSettings(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	put := func(path string, body any) *apptest.Response { return alice.SendJSON("PUT", path, body) }
	for _, tt := range []struct {
		path string
		body any
		want map[string]any
	}{
		{"/api/svc/notification_settings", map[string]any{"block_from_strangers": true}, map[string]any{"block_from_strangers": true, "hide_notification_contents": false}},
		{"/api/v1/svc/notification_settings?hide_notification_contents=1", nil, map[string]any{"block_from_strangers": true, "hide_notification_contents": true}},
		{"/api/v1/svc/notification_settings", map[string]any{"hide_notification_contents": "false"}, map[string]any{"block_from_strangers": true, "hide_notification_contents": false}},
	} {
		if got := put(tt.path, tt.body).Want(200).Object().Str("status"); got != "success" {
			t.Errorf("%s: status %q", tt.path, got)
		}
		if got := alice.Get("/api/v1/accounts/verify_credentials").Object().At("svc.notification_settings"); !reflect.DeepEqual(got, any(tt.want)) {
			t.Errorf("%s: got %v, want %v", tt.path, got, tt.want)
		}
	}
	bob.AccountAction(alice.ID, "follow")
	bob.Publish("hello @alice")
	if got := alice.Get("/api/v1/notifications").IDs(); len(got) != 0 {
		t.Errorf("notifications of an account that she does not follow: %v", got)
	}
	srv.As(nil).SendJSON("PUT", "/api/svc/notification_settings", nil).WantError(403, "Invalid credentials.")
}

// TestVerifyCredentialsCounts checks that the counters of the viewer's own account are current.
func TestVerifyCredentialsCounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	counts := func() [3]int {
		o := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
		return [3]int{o.Int("followers_count"), o.Int("following_count"), o.Int("statuses_count")}
	}
	for _, tt := range []struct {
		name string
		do   func()
		want [3]int
	}{
		{"at first", func() {}, [3]int{}},
		{"followed", func() { bob.AccountAction(alice.ID, "follow") }, [3]int{1, 0, 0}},
		{"following", func() { alice.AccountAction(bob.ID, "follow") }, [3]int{1, 1, 0}},
		{"a post", func() { alice.Publish("hello") }, [3]int{1, 1, 1}},
		{"unfollowed", func() { bob.AccountAction(alice.ID, "unfollow") }, [3]int{0, 1, 1}},
	} {
		if tt.do(); counts() != tt.want {
			t.Errorf("%s: counts are %v, want %v", tt.name, counts(), tt.want)
		}
	}
	if alice.Get("/api/v1/accounts/verify_credentials").Object().At("last_status_at") == nil {
		t.Error("last_status_at is not set")
	}
}

// TestAccountRoles checks the roles that everyone sees of an account.
func TestAccountRoles(t *testing.T) {
	srv := apptest.Start(t)
	root, mod, hidden, alice := srv.SignUpAdmin(), srv.SignUp("mod"), srv.SignUp("hidden"), srv.SignUp("alice")
	srv.SetRole(mod, false, true)
	srv.SetRole(hidden, true, false)
	hidden.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"show_role": false}).Want(200)
	role := func(id, name string) []any { return []any{map[string]any{"id": id, "name": name, "color": ""}} }
	for id, want := range map[string]any{
		root.ID: role("3", "Admin"), mod.ID: role("2", "Moderator"), hidden.ID: []any{}, alice.ID: []any{}, srv.AddRemoteAccount("far", "far.example"): nil,
	} {
		if got := srv.As(nil).Get("/api/v1/accounts/" + id).Want(200).Object().At("roles"); !reflect.DeepEqual(got, want) {
			t.Errorf("the roles of %s are %v, want %v", id, got, want)
		}
	}
	if got := root.Get("/api/v1/accounts/verify_credentials").Want(200).Object().At("roles"); !reflect.DeepEqual(got, role("3", "Admin")) {
		t.Errorf("for the account itself, the roles are %v", got)
	}
}

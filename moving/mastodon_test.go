package moving_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/keys"
	"svc/moving"
	"svc/store"
)

// settings returns the settings of a server at an address, with its data in a temporary folder.
func settings(t *testing.T, address string) *config.Config {
	t.Helper()
	c := config.Default()
	c.Server.URL = address
	c.Data.Dir = filepath.Join(t.TempDir(), "data")
	return c
}

func options(t *testing.T) app.Options {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return app.Options{Schema: string(schema)}
}

// takeOver takes a source over, and returns the server that has it and the report.
func takeOver(t *testing.T, c *config.Config, s moving.Source) (*app.Server, *moving.Report) {
	t.Helper()
	report, err := app.Takeover(t.Context(), c, options(t), s, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, c), report
}

func open(t *testing.T, c *config.Config) *app.Server {
	t.Helper()
	srv, err := app.New(t.Context(), c, options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// encrypt encrypts a column as Rails does.
func encrypt(t *testing.T, text string) string {
	t.Helper()
	key, err := pbkdf2.Key(sha256.New, "primary", []byte("salt"), 1<<16, 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	iv := []byte("twelve bytes")
	sealed := gcm.Seal(nil, iv, []byte(text), nil)
	b64 := base64.StdEncoding.EncodeToString
	cut := len(sealed) - gcm.Overhead()
	return fmt.Sprintf(`{"p":%q,"h":{"iv":%q,"at":%q}}`, b64(sealed[:cut]), b64(iv), b64(sealed[cut:]))
}

// writePicture writes a small picture below a folder.
func writePicture(t *testing.T, dir, name string) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 {
		img.Set(i, i%30, color.RGBA{uint8(i * 6), 90, 30, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// filledDump adds posts and what belongs to them.
func filledDump(t *testing.T) *dump {
	d := mastodonDump(t)
	d.row("follows", map[string]string{"id": "1", "created_at": someTime, "account_id": "3", "target_account_id": "1", "show_reblogs": "t", "uri": "https://remote.example/follows/1"})
	d.row("follows", map[string]string{"id": "2", "created_at": someTime, "account_id": "1", "target_account_id": "2", "show_reblogs": "f", "notify": "t"})
	d.row("follow_requests", map[string]string{"id": "1", "created_at": someTime, "account_id": "2", "target_account_id": "3", "show_reblogs": "t"})
	d.row("tags", map[string]string{"id": "5", "name": "world", "display_name": "World"})
	d.row("media_attachments", map[string]string{
		"id": "109612104811129202", "status_id": "111", "file_file_name": "a.png", "file_content_type": "image/png", "remote_url": "", "created_at": someTime, "type": "0",
		"file_meta": `{"focus":{"x":0.5,"y":-0.25},"original":{"width":40,"height":30}}`, "account_id": "1", "description": "a\tpicture\nof \\ something", "blurhash": "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
	})
	d.status("111", "1", "Hello #World, @bob and @carol@remote.example", map[string]string{"ordered_media_attachment_ids": "{109612104811129202}", "edited_at": someTime, "application_id": "4"})
	d.row("statuses_tags", map[string]string{"status_id": "111", "tag_id": "5"})
	d.row("mentions", map[string]string{"id": "1", "status_id": "111", "account_id": "2"})
	d.row("mentions", map[string]string{"id": "2", "status_id": "111", "account_id": "3"})
	d.row("status_edits", map[string]string{"id": "1", "status_id": "111", "text": "Helo", "spoiler_text": "", "created_at": someTime, "sensitive": "f"})
	d.status("112", "1", "Tea?", map[string]string{"poll_id": "6"})
	d.row("polls", map[string]string{"id": "6", "status_id": "112", "options": `{tea,"coffee, black"}`, "cached_tallies": "{0,1}", "multiple": "f", "hide_totals": "f", "voters_count": "1"})
	d.row("poll_votes", map[string]string{"id": "1", "account_id": "2", "poll_id": "6", "choice": "1"})
	d.status("113", "2", "@alice psst", map[string]string{"visibility": "3"})
	d.row("mentions", map[string]string{"id": "3", "status_id": "113", "account_id": "1"})
	d.status("114", "3", "<p>from afar <script>alert(1)</script></p>", map[string]string{"local": "f", "uri": "https://remote.example/posts/1", "url": "https://remote.example/@carol/1"})
	d.status("115", "3", "<p>of no interest</p>", map[string]string{"local": "f", "uri": "https://remote.example/posts/2"})
	d.status("116", "2", "", map[string]string{"reblog_of_id": "111", "uri": "https://old.example.org/users/bob/statuses/116/activity"})
	d.status("117", "1", "answer", map[string]string{"in_reply_to_id": "114", "in_reply_to_account_id": "3"})
	d.status("118", "1", "deleted", map[string]string{"deleted_at": someTime})
	d.row("favourites", map[string]string{"id": "1", "created_at": someTime, "account_id": "3", "status_id": "111"})
	d.row("favourites", map[string]string{"id": "2", "created_at": someTime, "account_id": "3", "status_id": "115"})
	d.row("bookmarks", map[string]string{"id": "1", "created_at": someTime, "account_id": "2", "status_id": "111"})
	d.row("status_pins", map[string]string{"id": "1", "created_at": someTime, "account_id": "1", "status_id": "111"})
	d.row("lists", map[string]string{"id": "1", "account_id": "1", "title": "friends", "created_at": someTime, "replies_policy": "1", "exclusive": "t"})
	d.row("list_accounts", map[string]string{"id": "1", "list_id": "1", "account_id": "2"})
	d.row("custom_filters", map[string]string{"id": "1", "account_id": "1", "phrase": "no", "context": "{home,notifications}", "created_at": someTime, "action": "1"})
	d.row("custom_filter_keywords", map[string]string{"id": "1", "custom_filter_id": "1", "keyword": "finale", "whole_word": "t"})
	d.row("oauth_applications", map[string]string{"id": "4", "name": "App", "uid": "client", "secret": "s3cret", "redirect_uri": "app://back", "scopes": "read write", "created_at": someTime})
	d.row("oauth_access_tokens", map[string]string{"id": "1", "token": "valid-token", "created_at": someTime, "scopes": "read write:statuses", "application_id": "4", "resource_owner_id": "1"})
	d.row("oauth_access_tokens", map[string]string{"id": "2", "token": "revoked-token", "revoked_at": someTime, "created_at": someTime, "scopes": "read", "application_id": "4", "resource_owner_id": "1"})
	d.row("oauth_access_tokens", map[string]string{"id": "3", "token": "expired-token", "expires_in": "60", "created_at": someTime, "scopes": "read", "application_id": "4", "resource_owner_id": "1"})
	d.row("rules", map[string]string{"id": "7", "priority": "0", "text": "be kind", "hint": "always"})
	d.row("reports", map[string]string{"id": "1", "status_ids": "{114}", "comment": "spam", "created_at": someTime, "account_id": "1", "target_account_id": "3", "category": "2000", "rule_ids": "{7}", "forwarded": "f"})
	d.row("report_notes", map[string]string{"id": "1", "content": "seen", "report_id": "1", "account_id": "2", "created_at": someTime})
	d.row("custom_emojis", map[string]string{"id": "1", "shortcode": "blob", "image_file_name": "blob.png", "disabled": "f"})
	d.row("domain_blocks", map[string]string{"id": "1", "domain": "bad.example", "severity": "1", "reject_media": "f", "reject_reports": "f", "private_comment": "spam"})
	d.row("account_conversations", map[string]string{"id": "1", "account_id": "1", "conversation_id": "1113", "unread": "f"})
	return d
}

func TestMastodon(t *testing.T) {
	files := t.TempDir()
	writePicture(t, files, "media_attachments/files/109/612/104/811/129/202/original/a.png")
	writePicture(t, files, "custom_emojis/images/000/000/001/original/blob.png")
	c := settings(t, "https://old.example.org")
	c.Instance.ConfigurableFromDatabase = true
	srv, report := takeOver(t, c, moving.Source{Database: writeFile(t, "dump.sql", string(filledDump(t).bytes())), Media: files, Admins: []string{"alice"}})
	ctx := t.Context()
	for _, l := range report.LeftOut {
		t.Logf("left out: %+v", *l)
	}

	alice, err := srv.DB.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	if alice.URI != "https://old.example.org/users/alice" || alice.FollowersCount != 1 || alice.StatusesCount != 3 {
		t.Errorf("alice is %+v", alice)
	}
	if !strings.Contains(alice.Note, "hashtag") || !strings.Contains(alice.Fields.V[0].Value, `href="https://example.org"`) {
		t.Errorf("the profile is %q, %v", alice.Note, alice.Fields.V)
	}
	user, err := srv.DB.User(ctx, alice.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !user.IsAdmin || user.DefaultVisibility != store.Unlisted || user.DefaultLanguage != "de" || user.PasswordHash != testHash() || !user.CanSignIn() {
		t.Errorf("the user is %+v", user)
	}
	actorKeys, err := srv.DB.ActorKeys(ctx, alice.ID)
	if err != nil || len(actorKeys) != 1 || actorKeys[0].URI != alice.URI+"#main-key" {
		t.Errorf("the keys are %v, %v", actorKeys, err)
	} else if _, err := srv.Keys.Unseal(keys.ActorKeys, actorKeys[0].Private); err != nil {
		t.Error(err)
	}

	hello, err := srv.DB.StatusByURI(ctx, "https://old.example.org/users/alice/statuses/111")
	if err != nil || hello == nil {
		t.Fatal(hello, err)
	}
	for _, want := range []string{`href="https://remote.example/@carol"`, `href="https://old.example.org/@bob"`, "/tags/world"} {
		if !strings.Contains(strings.ToLower(hello.Content), want) {
			t.Errorf("the content %q has no %s", hello.Content, want)
		}
	}
	if hello.FavouritesCount != 1 || hello.ReblogsCount != 1 || !hello.HasMedia || hello.EditedAt == nil || hello.ID.Time().Year() != 2021 {
		t.Errorf("the post is %+v", hello)
	}
	media, err := srv.DB.MediaOf(ctx, []store.StatusID{hello.ID})
	if err != nil || len(media) != 1 {
		t.Fatal(media, err)
	}
	if m := media[0]; m.Description != "a\tpicture\nof \\ something" || m.Width != 40 || m.FocusX != 0.5 || m.File == "" {
		t.Errorf("the attachment is %+v", m)
	}
	const oldPath = "/system/media_attachments/files/109/612/104/811/129/202/"
	for _, style := range []string{"original", "small"} {
		if path, err := srv.DB.OldMedia(ctx, oldPath+style+"/a.png"); err != nil || !strings.HasPrefix(path, "/media/") {
			t.Errorf("%s is %q, %v", style, path, err)
		}
	}
	if path, err := srv.DB.OldMedia(ctx, "/system/custom_emojis/images/000/000/001/original/blob.png"); err != nil || path != "/emoji/custom/blob.png" {
		t.Errorf("the emoji is %q, %v", path, err)
	}
	if id, err := srv.DB.StatusIDByOldPath(ctx, "/@alice/111"); err != nil || id != hello.ID {
		t.Errorf("the page is of %v, %v", id, err)
	}
	if far, err := srv.DB.StatusByURI(ctx, "https://remote.example/posts/1"); err != nil || far == nil || far.Content != "<p>from afar </p>" {
		t.Errorf("the remote post is %+v, %v", far, err)
	}
	if none, err := srv.DB.StatusByURI(ctx, "https://remote.example/posts/2"); err != nil || none != nil {
		t.Errorf("a post of no interest is %+v, %v", none, err)
	}
	for token, want := range map[string]bool{"valid-token": true, "revoked-token": false, "expired-token": false} {
		if found, err := srv.DB.TokenByHash(ctx, keys.HashToken(token)); err != nil || (found != nil) != want {
			t.Errorf("%s: %v, %v", token, found, err)
		}
	}
	poll, err := srv.DB.PollOf(ctx, statusID(t, srv, "https://old.example.org/users/alice/statuses/112"))
	if err != nil || poll.Options.V[1] != (store.PollOption{Title: "coffee, black", Votes: 1}) {
		t.Errorf("the poll is %+v, %v", poll, err)
	}
	blocks, err := srv.Admin.HostBlocks(ctx, struct{}{})
	if err != nil || len(blocks) != 1 || blocks[0].Host != "bad.example" {
		t.Errorf("the blocked servers are %v, %v", blocks, err)
	}
	if n := slices.IndexFunc(report.Counts, func(c moving.Count) bool { return c.Kind == "posts" && c.Taken == 4 }); n < 0 {
		t.Errorf("the report has %v", report.Counts)
	}
	verified, err := app.VerifyData(ctx, c, admin.VerifyOptions{DataDir: c.Data.Dir})
	if err != nil || verified.Left != 0 {
		t.Errorf("the verification has %v, %v", verified, err)
		for _, f := range verified.Findings {
			t.Errorf("%+v", *f)
		}
	}
}

func statusID(t *testing.T, srv *app.Server, uri string) store.StatusID {
	t.Helper()
	id, err := srv.DB.StatusIDByURI(t.Context(), uri)
	if err != nil || id == 0 {
		t.Fatalf("there is no %s: %v", uri, err)
	}
	return id
}

func TestSecondFactors(t *testing.T) {
	d := mastodonDump(t)
	d.tables["users"].rows = nil
	const secret = "JBSWY3DPEHPK3PXP"
	d.row("users", map[string]string{
		"id": "1", "email": "alice@example.org", "created_at": someTime, "encrypted_password": testHash(), "confirmed_at": someTime, "account_id": "1",
		"otp_required_for_login": "t", "otp_secret": encrypt(t, secret), "disabled": "f", "approved": "t",
	})
	dump := writeFile(t, "dump.sql", string(d.bytes()))
	for _, tt := range []struct {
		name, secrets string
		want          string
	}{
		{"with the keys", "# keys\nACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY=primary\nACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT='salt'\n", secret},
		{"with other keys", "ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY=other\nACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT=salt\n", ""},
		{"without", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := moving.Source{Database: dump}
			if tt.secrets != "" {
				s.Secrets = writeFile(t, ".env.production", tt.secrets)
			}
			srv, report := takeOver(t, settings(t, "https://old.example.org"), s)
			alice, err := srv.DB.AccountByName(context.Background(), "alice", "")
			if err != nil {
				t.Fatal(err)
			}
			u, err := srv.DB.User(context.Background(), alice.ID)
			if err != nil {
				t.Fatal(err)
			}
			if u.TOTPSecret != tt.want {
				t.Errorf("the secret is %q, want %q", u.TOTPSecret, tt.want)
			}
			lost := slices.ContainsFunc(report.Notes, func(n string) bool {
				return strings.Contains(n, "second factor whose secret") && strings.Contains(n, "alice")
			})
			if lost != (tt.want == "") || lost != (u.PasswordHash == "") || lost != u.ResetRequired {
				t.Errorf("without the secret nobody must get in by the password: %v, %+v", lost, u)
			}
		})
	}
}

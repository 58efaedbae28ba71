package moving_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/moving"
	"svc/store"
)

// filledPleroma adds posts and what belongs to them.
func filledPleroma(t *testing.T) *dump {
	d := pleromaDump(t)
	alice, bob, carol := oldHost+"/users/alice", oldHost+"/users/bob", farHost+"/users/carol"
	row := func(table string, values map[string]string) {
		values["inserted_at"] = someTime
		d.row(table, values)
	}
	hello := d.note("111", alice, `<p>Hello <a class="hashtag" href="https://old.example.org/tag/world">#World</a> <script>alert(1)</script></p>`, map[string]any{
		"to": []string{toEverybody, bob, carol}, "summary": "greeting", "source": map[string]any{"content": "Hello #World", "mediaType": "text/markdown"}, "updated": "2021-03-03T04:05:06Z",
		"tag": []any{
			map[string]any{"type": "Mention", "href": bob, "name": "@bob"}, map[string]any{"type": "Mention", "href": carol, "name": "@carol@remote.example"},
			map[string]any{"type": "Hashtag", "name": "#World", "href": oldHost + "/tags/world"}, "world",
		},
		"attachment": []any{map[string]any{"type": "Document", "mediaType": "image/png", "name": "a\tpicture", "blurhash": "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "url": []any{
			map[string]any{"type": "Link", "mediaType": "image/png", "href": oldHost + "/media/4a5b/my%20picture.png?name=my%20picture.png", "width": 40, "height": 30},
		}}},
		"formerRepresentations": map[string]any{"type": "OrderedCollection", "totalItems": 1, "orderedItems": []any{
			map[string]any{"type": "Note", "content": "<p>Helo</p>", "source": "Helo", "published": "2021-02-03T04:05:11Z", "summary": "", "attachment": "x", "oneOf": 7},
		}},
	})
	question := d.note("112", alice, "Tea?", map[string]any{
		"type": "Question", "closed": "2021-02-04T04:05:06Z", "voters": []string{bob},
		"oneOf": []any{
			map[string]any{"type": "Note", "name": "tea", "replies": map[string]any{"type": "Collection", "totalItems": 0}},
			map[string]any{"type": "Note", "name": "coffee, black", "replies": map[string]any{"type": "Collection", "totalItems": 1}},
		},
	})
	d.object(map[string]any{"type": "Answer", "id": oldHost + "/objects/vote", "actor": bob, "name": "coffee, black", "inReplyTo": question})
	d.note("113", bob, "psst", map[string]any{"to": []string{alice}, "cc": []string{}, "directMessage": true})
	far := d.note("114", carol, "<p>from afar :blob:</p>", map[string]any{"emoji": map[string]any{"blob": farHost + "/blob.png", "bad": 7}, "url": farHost + "/@carol/1"})
	d.note("115", carol, "<p>of no interest</p>", nil)
	d.note("117", alice, "answer", map[string]any{"inReplyTo": far, "to": []string{alice + "/followers", carol}, "cc": []string{}})
	d.note("118", alice, "for bob's followers", map[string]any{"to": []string{bob + "/followers"}, "cc": []string{}})
	d.note("119", bob, "here only", map[string]any{"to": []string{oldHost + "/#Public"}})
	d.note("120", bob, "quiet", map[string]any{"to": []string{bob + "/followers"}, "cc": []string{toEverybody}})
	d.object(map[string]any{"type": "Note", "id": farHost + "/objects/forged", "actor": alice, "content": "I am not alice", "to": []string{toEverybody}})
	d.object(map[string]any{"type": "Tombstone", "id": oldHost + "/objects/gone", "formerType": "Note"})
	d.chats(alice, bob, carol)
	d.object(map[string]any{"type": "Image", "url": []any{map[string]any{"href": oldHost + "/media/x.png"}}})
	d.activity("b1", map[string]any{"type": "Announce", "id": oldHost + "/activities/b1", "actor": bob, "object": hello, "to": []string{bob + "/followers", alice}, "cc": []string{toEverybody}})
	d.activity("f1", map[string]any{"type": "Like", "id": farHost + "/likes/1", "actor": carol, "object": hello})
	d.activity("d1", map[string]any{"type": "EmojiReact", "id": oldHost + "/activities/r1", "actor": bob, "object": hello, "content": "🔥"})
	d.activity("d2", map[string]any{"type": "EmojiReact", "id": farHost + "/reactions/2", "actor": carol, "object": hello, "content": ":blob:", "tag": []any{
		map[string]any{"type": "Emoji", "name": ":blob:", "icon": map[string]any{"type": "Image", "url": farHost + "/blob.png"}}}})
	d.activity("d3", map[string]any{"type": "EmojiReact", "id": farHost + "/reactions/3", "actor": carol, "object": hello, "content": "no emoji at all"})
	d.activity("f0", map[string]any{"type": "Follow", "id": farHost + "/follows/1", "actor": carol, "object": alice, "state": "accept"})
	d.activity("ee", map[string]any{"type": "Flag", "id": oldHost + "/activities/ee", "actor": alice, "content": "spam", "state": "open", "object": []any{carol, map[string]any{"type": "Note", "id": far}}, "rules": []any{"7"}})
	row("report_notes", map[string]string{"id": "1", "user_id": uuid("b"), "activity_id": uuid("ee"), "content": "seen"})
	row("rules", map[string]string{"id": "7", "priority": "0", "text": "be kind"})
	row("following_relationships", map[string]string{"id": "1", "follower_id": uuid("c"), "following_id": uuid("a"), "state": "2"})
	row("following_relationships", map[string]string{"id": "2", "follower_id": uuid("a"), "following_id": uuid("b"), "state": "2"})
	row("following_relationships", map[string]string{"id": "3", "follower_id": uuid("b"), "following_id": uuid("c"), "state": "1"})
	row("following_relationships", map[string]string{"id": "4", "follower_id": uuid("b"), "following_id": uuid("a"), "state": "3"})
	for i, r := range [][3]string{{"b", "c", "1"}, {"a", "c", "2"}, {"a", "c", "4"}, {"a", "b", "3"}, {"b", "a", "5"}, {"a", "b", "7"}} {
		row("user_relationships", map[string]string{"id": fmt.Sprint(i), "source_id": uuid(r[0]), "target_id": uuid(r[1]), "relationship_type": r[2]})
	}
	row("user_notes", map[string]string{"id": "1", "source_id": uuid("a"), "target_id": uuid("b"), "comment": "a friend"})
	row("bookmarks", map[string]string{"id": "1", "user_id": uuid("b"), "activity_id": uuid("111")})
	row("lists", map[string]string{"id": "1", "user_id": uuid("a"), "title": "friends", "following": "{" + bob + "/followers}"})
	row("filters", map[string]string{"id": "1", "user_id": uuid("a"), "filter_id": "1", "phrase": "finale", "context": "{home,notifications}", "hide": "t", "whole_word": "t"})
	row("hashtags", map[string]string{"id": "9", "name": "gardening"})
	d.row("user_follows_hashtag", map[string]string{"user_id": uuid("a"), "hashtag_id": "9"})
	d.row("thread_mutes", map[string]string{"id": "1", "user_id": uuid("b"), "context": oldHost + "/contexts/112"})
	row("conversations", map[string]string{"id": "5", "ap_id": oldHost + "/contexts/113"})
	row("conversation_participations", map[string]string{"id": "1", "user_id": uuid("a"), "conversation_id": "5", "read": "t"})
	row("apps", map[string]string{"id": "4", "client_name": "App", "redirect_uris": "app://back", "scopes": "{read,write}", "client_id": "client", "client_secret": "s3cret"})
	for token, until := range map[string]string{"valid-token": "2999-01-01 00:00:00", "expired-token": "2020-01-03 00:00:00"} {
		row("oauth_tokens", map[string]string{"id": token, "app_id": "4", "user_id": uuid("a"), "token": token, "refresh_token": "r-" + token, "valid_until": until, "scopes": "{read,write:statuses}"})
	}
	row("announcements", map[string]string{"id": uuid("aa"), "data": `{"content": "moving", "all_day": false}`, "updated_at": someTime})
	row("user_invite_tokens", map[string]string{"id": "1", "token": "come-in", "used": "f", "uses": "0", "invite_type": "one_time"})
	row("user_invite_tokens", map[string]string{"id": "2", "token": "came-in", "used": "t", "uses": "0", "invite_type": "one_time"})
	d.pleromaAccount("d", "dave", oldHost, map[string]string{"is_active": "f"})
	d.row("users", map[string]string{"id": uuid("e"), "nickname": "erin", "ap_id": oldHost + "/users/erin", "local": "t", "is_active": "f", "inserted_at": someTime, "follower_address": oldHost + "/users/erin/followers"})
	return d
}

// chats adds a chat of alice with bob, and one with carol: four messages, one of which nobody has any more, and one that is forged.
func (d *dump) chats(alice, bob, carol string) {
	d.t.Helper()
	for i, m := range []struct{ host, from, to, content string }{
		{oldHost, alice, bob, "tea at <b>five</b>?<script>alert(1)</script>"}, {oldHost, bob, alice, ""}, {farHost, carol, alice, "hello :blob:"}, {oldHost, alice, bob, "deleted by both"},
		{farHost, alice, bob, "I am not alice"},
	} {
		data := map[string]any{
			"type": "ChatMessage", "id": fmt.Sprintf("%s/objects/chat%d", m.host, i), "actor": m.from, "content": m.content, "to": []string{m.to}, "published": fmt.Sprintf("2021-05-06T07:08:%02dZ", i),
			"emoji": map[string]any{"blob": farHost + "/blob.png"},
		}
		if m.content == "" {
			data["attachment"] = map[string]any{"type": "Document", "mediaType": "image/png", "name": "a cup", "url": []any{map[string]any{"type": "Link", "href": oldHost + "/media/cup.png"}}}
		}
		d.document("objects", fmt.Sprint(100+i), data)
	}
	for end, of := range map[string][2]string{"a1": {"a", bob}, "b1": {"b", alice}, "a2": {"a", carol}} {
		d.row("chats", map[string]string{"id": uuid(end), "user_id": uuid(of[0]), "recipient": of[1], "inserted_at": someTime, "updated_at": someTime})
	}
	for i, c := range [][3]string{{"a1", "100", "f"}, {"b1", "100", "f"}, {"a1", "101", "t"}, {"b1", "101", "f"}, {"a2", "102", "t"}, {"a2", "100", "t"}, {"b1", "777", "t"}} {
		d.row("chat_message_references", map[string]string{
			"id": uuid(fmt.Sprint("c", i)), "chat_id": uuid(c[0]), "object_id": c[1], "unread": c[2], "inserted_at": fmt.Sprintf("2021-05-06 07:08:%02d", i), "updated_at": someTime,
		})
	}
}

// checkPleromaChats looks at the chats of filledPleroma. A copy of a message that is of another chat does not come along.
func checkPleromaChats(t *testing.T, srv *app.Server) {
	t.Helper()
	ctx := t.Context()
	for name, want := range map[string]string{
		"alice": "carol: hello :blob: with blob unread; bob: tea at <b>five</b>? | picture a cup unread",
		"bob":   "alice: tea at <b>five</b>? | picture a cup",
	} {
		owner, err := srv.DB.AccountByName(ctx, name, "")
		if err != nil {
			t.Fatal(err)
		}
		part, err := srv.DB.Chats(ctx, owner.ID, true, store.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range part.Rows {
			other, err := srv.DB.Account(ctx, c.OtherID)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := srv.DB.ChatEntries(ctx, c.ID, store.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(entries)
			var texts []string
			for _, e := range entries {
				texts = append(texts, chatText(t, srv, e))
			}
			got = append(got, other.Nickname+": "+strings.Join(texts, " | "))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s has the chats %q, want %q", name, text, want)
		}
	}
}

// chatText describes a message with its picture and its custom emoji.
func chatText(t *testing.T, srv *app.Server, e *store.ChatEntry) string {
	t.Helper()
	text := e.Content
	media, err := srv.DB.MediaOfMessages(t.Context(), []store.MessageID{e.MessageID})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range media {
		text += "picture " + m.Description
	}
	if e.Emojis != nil {
		for _, emoji := range e.Emojis.V {
			text += " with " + emoji.Shortcode
		}
	}
	if e.Unread {
		text += " unread"
	}
	return text
}

// edit changes the row of an account.
func (d *dump) edit(name, column, value string) {
	d.t.Helper()
	x := d.tables["users"]
	for i, r := range x.rows {
		fields := strings.Split(r, "\t")
		if fields[slices.Index(x.columns, "nickname")] == name {
			fields[slices.Index(x.columns, column)] = value
			x.rows[i] = strings.Join(fields, "\t")
			return
		}
	}
	d.t.Fatalf("no account %s", name)
}

func TestPleroma(t *testing.T) {
	files := t.TempDir()
	writePicture(t, files, "4a5b/my picture.png")
	writePicture(t, files, "face.png")
	writePicture(t, files, "cup.png")
	d := filledPleroma(t)
	d.edit("alice", "pinned_objects", `{"`+oldHost+`/objects/112": "2021-02-03T04:05:06.789"}`)
	d.edit("alice", "domain_blocks", "{bad.example}")
	d.edit("alice", "avatar", `{"type": "Image", "url": [{"href": "https://media.example.org/face.png", "type": "Link"}]}`)
	d.edit("bob", "tags", "{mrf_tag:force-unlisted}")
	c := settings(t, oldHost)
	srv, report := takeOver(t, c, moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes())), Media: files, Admins: []string{"alice"}})
	ctx := t.Context()
	for _, l := range report.LeftOut {
		t.Logf("left out: %+v", *l)
	}
	checkPleromaAccounts(t, srv)
	checkPleromaPosts(t, srv)
	checkPleromaChats(t, srv)
	for token, want := range map[string]bool{"valid-token": true, "expired-token": false} {
		if found, err := srv.DB.TokenByHash(ctx, keys.HashToken(token)); err != nil || (found != nil) != want {
			t.Errorf("%s: %v, %v", token, found, err)
		}
	}
	left := func(kind string) (n int64) {
		for _, l := range report.LeftOut {
			if l.Kind == kind {
				n += l.Count
			}
		}
		return n
	}
	if left("chat messages") != 2 || left("reactions") != 1 || left("tokens") != 1 {
		t.Error("the report does not count what is left out")
	}
	taken := make(map[string]int64)
	for _, k := range report.Counts {
		taken[k.Kind] = k.Taken
	}
	for kind, want := range map[string]int64{
		"accounts": 3, "remote accounts": 1, "posts": 7, "remote posts": 1, "boosts": 1, "follows": 3, "blocks": 1, "mutes": 1, "favourites": 1, "reactions": 2, "bookmarks": 1, "pins": 1,
		"lists": 1, "filters": 1, "reports": 1, "rules": 1, "announcements": 1, "invites": 1, "polls": 1, "attachments": 1, "chat messages": 3,
	} {
		if taken[kind] != want {
			t.Errorf("%d %s, want %d", taken[kind], kind, want)
		}
	}
	verified, err := app.VerifyData(ctx, c, admin.VerifyOptions{DataDir: c.Data.Dir})
	if err != nil || verified.Left != 0 {
		t.Errorf("the verification has %v, %v", verified, err)
		for _, f := range verified.Findings {
			t.Errorf("%+v", *f)
		}
	}
}

func checkPleromaAccounts(t *testing.T, srv *app.Server) {
	t.Helper()
	ctx := t.Context()
	alice, err := srv.DB.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	if alice.URI != oldHost+"/users/alice" || alice.FollowersCount != 1 || alice.Avatar == "" || alice.Note != "<p>I am alice</p>" || !strings.Contains(alice.Fields.V[0].Value, `href="https://example.org"`) {
		t.Errorf("alice is %+v", alice)
	}
	user, err := srv.DB.User(ctx, alice.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !user.IsAdmin || user.DefaultVisibility != store.Unlisted || user.PasswordHash != pleromaHash || !user.CanSignIn() || user.Note != "I am alice" || user.Fields.V[0].Value != "https://example.org" {
		t.Errorf("the user is %+v", user)
	}
	slot, err := password.New(password.DefaultCost).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer slot.Release()
	if ok, outdated := slot.Verify(user.PasswordHash, testPassword); !ok || !outdated {
		t.Errorf("the password is accepted: %v, and renewed: %v", ok, outdated)
	}
	actorKeys, err := srv.DB.ActorKeys(ctx, alice.ID)
	if err != nil || len(actorKeys) != 1 || actorKeys[0].URI != alice.URI+"#main-key" {
		t.Errorf("the keys are %v, %v", actorKeys, err)
	} else if _, err := srv.Keys.Unseal(keys.ActorKeys, actorKeys[0].Private); err != nil {
		t.Error(err)
	}
	bob, err := srv.DB.AccountByName(ctx, "bob", "")
	if err != nil || !slices.Equal(bob.Tags.V, []string{"mrf_tag:force-unlisted"}) {
		t.Errorf("bob is %+v, %v", bob, err)
	}
	dave, err := srv.DB.AccountByName(ctx, "dave", "")
	if err != nil || !dave.Unavailable {
		t.Errorf("dave, who was deactivated, is %+v, %v", dave, err)
	}
	if path, err := srv.DB.OldMedia(ctx, "/face.png"); err != nil || !strings.HasPrefix(path, "/media/") {
		t.Errorf("the avatar is at %q, %v", path, err)
	}
	if dead, err := srv.DB.IsDeadAddress(ctx, "/users/erin"); err != nil || !dead {
		t.Errorf("the deleted account: %v, %v", dead, err)
	}
}

func checkPleromaPosts(t *testing.T, srv *app.Server) {
	t.Helper()
	ctx := t.Context()
	hello, err := srv.DB.StatusByURI(ctx, oldHost+"/objects/111")
	if err != nil || hello == nil {
		t.Fatal(hello, err)
	}
	if hello.FavouritesCount != 1 || hello.ReblogsCount != 1 || !hello.HasMedia || hello.EditedAt == nil || hello.ID.Time().Year() != 2021 || hello.SpoilerText != "greeting" ||
		hello.Text != "Hello #World" || hello.ContentType != "text/markdown" || strings.Contains(hello.Content, "alert") {
		t.Errorf("the post is %+v", hello)
	}
	media, err := srv.DB.MediaOf(ctx, []store.StatusID{hello.ID})
	if err != nil || len(media) != 1 || media[0].Description != "a\tpicture" || media[0].Width != 40 || media[0].File == "" {
		t.Errorf("the attachments are %+v, %v", media, err)
	}
	if path, err := srv.DB.OldMedia(ctx, "/media/4a5b/my picture.png"); err != nil || !strings.HasPrefix(path, "/media/") {
		t.Errorf("the file is at %q, %v", path, err)
	}
	if id, err := srv.DB.StatusIDByOldPath(ctx, "/activities/111"); err != nil || id != hello.ID {
		t.Errorf("the Create is of %v, %v", id, err)
	}
	if id, err := srv.DB.StatusIDByOldPath(ctx, "/notice/9pQtDGXuq4b2aUV1RR"); err != nil || id != hello.ID || hello.URL != oldHost+"/notice/9pQtDGXuq4b2aUV1RR" {
		t.Errorf("the page %s is of %v, %v", hello.URL, id, err)
	}
	for end, want := range map[string]store.Visibility{
		"111": store.Public, "113": store.Direct, "117": store.Private, "118": store.Direct, "119": store.Local, "120": store.Unlisted,
	} {
		if st, err := srv.DB.StatusByURI(ctx, oldHost+"/objects/"+end); err != nil || st == nil || st.Visibility != want {
			t.Errorf("%s is %+v, %v, want %v", end, st, err, want)
		}
	}
	far, err := srv.DB.StatusByURI(ctx, farHost+"/objects/114")
	if err != nil || far == nil || len(far.Emojis.V) != 1 || far.URL != farHost+"/@carol/1" {
		t.Fatalf("the remote post is %+v, %v", far, err)
	}
	if answer, err := srv.DB.StatusByURI(ctx, oldHost+"/objects/117"); err != nil || answer.InReplyToID == nil || *answer.InReplyToID != far.ID {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	for _, uri := range []string{farHost + "/objects/115", farHost + "/objects/forged"} {
		if none, err := srv.DB.StatusByURI(ctx, uri); err != nil || none != nil {
			t.Errorf("%s is %+v, %v", uri, none, err)
		}
	}
	poll, err := srv.DB.PollOf(ctx, statusID(t, srv, oldHost+"/objects/112"))
	if err != nil || poll.Options.V[1] != (store.PollOption{Title: "coffee, black", Votes: 1}) {
		t.Errorf("the poll is %+v, %v", poll, err)
	}
}

// TestPleromaSecondFactors takes over an account whose second factor is in use, is being set up, and cannot be read.
func TestPleromaSecondFactors(t *testing.T) {
	for _, tt := range []struct{ name, settings, secret string }{
		{"in use", `{"enabled": true, "totp": {"secret": "JBSWY3DPEHPK3PXP", "confirmed": true}, "backup_codes": []}`, "JBSWY3DPEHPK3PXP"},
		{"being set up", `{"enabled": false, "totp": {"secret": "JBSWY3DPEHPK3PXP", "confirmed": false}}`, ""},
		{"unreadable", `{"enabled": true, "totp": {"secret": 7, "confirmed": true}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := pleromaDump(t)
			d.edit("alice", "multi_factor_authentication_settings", tt.settings)
			srv, _ := takeOver(t, settings(t, oldHost), moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes()))})
			alice, err := srv.DB.AccountByName(context.Background(), "alice", "")
			if err != nil {
				t.Fatal(err)
			}
			u, err := srv.DB.User(context.Background(), alice.ID)
			if err != nil || u.TOTPSecret != tt.secret || u.ResetRequired != (tt.name == "unreadable") {
				t.Errorf("the user is %+v, %v", u, err)
			}
		})
	}
}

// TestPleromaHostile reads documents of other servers in which everything has another type than expected.
func TestPleromaHostile(t *testing.T) {
	d := filledPleroma(t)
	long := make([]string, 20_000)
	for i := range long {
		long[i] = fmt.Sprintf("%s/users/%d", farHost, i)
	}
	for i, data := range []string{
		`null`, `7`, `"x"`, `[]`, `{}`, `{"type":7}`, `{"type":"Note"}`, `{"type":"Note","id":{},"actor":[]}`, `{"Type":"Note","ID":"https://remote.example/x","actor":"x"}`,
		`{"type":"Create","actor":null,"object":null}`, `{"type":"Announce","id":"x","actor":"y","object":{"id":7}}`, `{"type":"Flag","actor":"x","object":[]}`,
		`{"type":"Flag","actor":"` + farHost + `/users/carol","object":"x","rules":{"a":1},"content":[]}`, `{"type":"EmojiReact","actor":"x","object":"y","tag":{"type":"Emoji","icon":7}}`,
		`{"type":"Answer","actor":"x","inReplyTo":[],"name":{}}`, `{"type":"Tombstone","id":[]}`,
		`{"type":"Question","id":"` + farHost + `/objects/odd","actor":"` + farHost + `/users/carol","to":{"a":1},"cc":7,"tag":[7,null,[],"",{"type":"Mention","href":{}}],"oneOf":[7,{"name":[],"replies":7}],` +
			`"attachment":[7,{"url":"file:///etc/passwd"},{"url":[{"href":"../../etc/passwd"}]}],"emoji":[],"formerRepresentations":{"orderedItems":[{},7]},"published":"yesterday","context":{},"summary":[]}`,
		`{"type":"Note","id":"` + farHost + `/objects/wide","actor":"` + farHost + `/users/carol","to":["` + strings.Join(long, `","`) + `"],"content":"` + strings.Repeat("x", 500_000) + `"}`,
		`{"type":"Note","id":"` + oldHost + `/objects/deep","actor":"` + oldHost + `/users/alice","tag":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,` +
			`"attachment":[{"url":[{"href":"` + oldHost + `/media/../../../etc/passwd"}]}]}`,
	} {
		for _, table := range []string{"objects", "activities"} {
			d.row(table, map[string]string{"id": uuid(fmt.Sprintf("cc%d", i)), "data": data, "inserted_at": someTime, "updated_at": someTime})
		}
	}
	c := settings(t, oldHost)
	srv, _ := takeOver(t, c, moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes())), Media: t.TempDir()})
	if st, err := srv.DB.StatusByURI(t.Context(), oldHost+"/objects/deep"); err != nil || st == nil || st.Visibility != store.Direct {
		t.Errorf("a post without addressing is %+v, %v", st, err)
	}
	verified, err := app.VerifyData(t.Context(), c, admin.VerifyOptions{DataDir: c.Data.Dir})
	if err != nil || verified.Left != 0 {
		t.Errorf("the verification has %+v, %v", verified, err)
	}
}

// TestPleromaKeys takes keys from the table that Akkoma has for them.
func TestPleromaKeys(t *testing.T) {
	d := pleromaDump(t)
	private, public := testKeyPEM()
	d.edit("alice", "keys", `\N`)
	d.row("signing_keys", map[string]string{"user_id": uuid("a"), "key_id": oldHost + "/users/alice#main-key", "public_key": public, "private_key": private})
	d.row("signing_keys", map[string]string{"user_id": uuid("b"), "key_id": "https://other.example/users/bob#main-key", "public_key": public})
	srv, _ := takeOver(t, settings(t, oldHost), moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes()))})
	for _, name := range []string{"alice", "bob"} {
		a, err := srv.DB.AccountByName(t.Context(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		list, err := srv.DB.ActorKeys(t.Context(), a.ID)
		if err != nil || len(list) != 1 || list[0].URI != a.URI+"#main-key" {
			t.Errorf("the keys of %s are %v, %v", name, list, err)
		}
	}
}

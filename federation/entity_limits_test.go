package federation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/text"
	"svc/store"
)

// send delivers an activity as other servers write JSON, without \u0026 for &, and processes it.
func send(t *testing.T, peer *apptest.FakeServer, srv *apptest.Server, d apptest.Doc) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		t.Fatal(err)
	}
	if answer := peer.DeliverRaw(srv, "/inbox", d["actor"].(string), b.Bytes()); answer.Status != 202 {
		t.Fatalf("%d bytes: %d %s", b.Len(), answer.Status, answer.Body)
	}
	apptest.Settle(srv)
}

// statusBytes returns the size of a status as JSON without accounts and other statuses.
func statusBytes(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	var st map[string]json.RawMessage
	if err := json.Unmarshal(raw, &st); err != nil {
		t.Fatal(err)
	}
	var extension map[string]json.RawMessage
	if err := json.Unmarshal(st["svc"], &extension); err != nil {
		t.Fatal(err)
	}
	return len(raw) - len(st["account"]) - len(st["reblog"]) - len(st["quote"]) - len(extension["quote"])
}

// wantSmallEntities checks all statuses and accounts in a response: their size, and that the HTML of statuses is well-formed.
func wantSmallEntities(t *testing.T, what string, raw json.RawMessage) {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			wantSmallEntities(t, what, e)
		}
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return
	}
	switch {
	case members["content"] != nil && members["reblogs_count"] != nil:
		limit := store.MaxRemoteStatus
		if strings.Contains(string(members["svc"]), `"local":true`) {
			limit = store.MaxLocalStatus
		}
		if n := statusBytes(t, raw); n > limit {
			t.Errorf("%s: a status of %d bytes, the limit is %d", what, n, limit)
		}
		if n := len(members["content"]); n > store.MaxRemoteContent+2 {
			t.Errorf("%s: content of %d bytes", what, n)
		}
		var emojis []any
		json.Unmarshal(members["emojis"], &emojis)
		if len(emojis) > store.MaxStatusEmojis {
			t.Errorf("%s: a status with %d emoji", what, len(emojis))
		}
	case members["acct"] != nil && members["note"] != nil:
		size := len(raw) - len(members["moved"])
		if size > store.MaxRemoteAccount {
			t.Errorf("%s: an account of %d bytes", what, size)
		}
		for member, limit := range map[string]int{"note": store.MaxRemoteNote, "fields": store.MaxRemoteFields, "emojis": store.MaxRemoteEmojis} {
			if n := len(members[member]); n > limit+2 {
				t.Errorf("%s: %s of %d bytes, the limit is %d", what, member, n, limit)
			}
		}
	case members["chat_id"] != nil && len(raw) > store.MaxChatMessage:
		t.Errorf("%s: a chat message of %d bytes", what, len(raw))
	}
	for _, v := range members {
		wantSmallEntities(t, what, v)
	}
}

// hostileEmojis returns custom emoji with long addresses, and a text in which all occur.
func hostileEmojis(peer *apptest.FakeServer) (tags []any, use string) {
	for i := range 200 {
		tags = append(tags, apptest.Doc{"type": "Emoji", "name": fmt.Sprintf(":e%d:", i), "icon": apptest.Doc{
			"type": "Image", "url": peer.URL + "/" + strings.Repeat("e", 1900) + fmt.Sprint(i),
		}})
		use += fmt.Sprintf(":e%d: ", i)
	}
	return tags, use
}

// hostilePosts are changes of a Note of which each makes some member as large as it can be.
func hostilePosts(peer *apptest.FakeServer) map[string]apptest.Doc {
	tags, use := hostileEmojis(peer)
	attachments := func(n int, description string) (list []any) {
		for i := range n {
			list = append(list, apptest.Doc{"type": "Document", "mediaType": "image/png", "name": description,
				"url": peer.URL + "/" + strings.Repeat("a", 1900) + fmt.Sprint(i)})
		}
		return list
	}
	options := func(title string) (list []any) {
		for i := range 100 {
			list = append(list, apptest.Doc{"type": "Note", "name": fmt.Sprint(i) + title})
		}
		return list
	}
	hashtags := []any{}
	for i := range 100 {
		hashtags = append(hashtags, apptest.Doc{"type": "Hashtag", "name": "#" + strings.Repeat("日", 90) + fmt.Sprint("x", i)})
	}
	long := strings.Repeat(`\"`, 900)
	return map[string]apptest.Doc{
		"ampersands":          {"content": strings.Repeat("&", 400_000)},
		"quotation marks":     {"content": strings.Repeat(`"`, 400_000)},
		"line separators":     {"content": strings.Repeat("\u2028", 100_000)},
		"control characters":  {"content": strings.Repeat("\x01a", 60_000), "summary": strings.Repeat("\x01a", 60_000)},
		"12 000 links":        {"content": strings.Repeat(`<a href="https://x.example/a">a</a> `, 12_000)},
		"12 000 mentions":     {"content": strings.Repeat(`<a class="mention" href="https://x.example/a">a</a>`, 8_000)},
		"nested tags":         {"content": strings.Repeat("<blockquote><b>", 25_000) + "x"},
		"empty paragraphs":    {"content": strings.Repeat("<p>", 130_000)},
		"one long attribute":  {"content": `<a href="https://x.example/` + strings.Repeat("x", 390_000) + `">x</a>`},
		"many attributes":     {"content": "<a " + strings.Repeat("x=1 ", 95_000) + ">x</a>"},
		"markdown":            {"content": strings.Repeat("[a](https://x.example/a) ", 15_000), "mediaType": "text/markdown"},
		"a long media type":   {"mediaType": "text/html" + strings.Repeat(";a=1", 150_000)},
		"200 emoji":           {"content": use, "summary": use, "tag": tags},
		"60 attachments":      {"attachment": attachments(60, strings.Repeat("&", 10_000))},
		"attachments in JSON": {"attachment": attachments(40, strings.Repeat("\"\x01", 2000))},
		"one attachment":      {"attachment": attachments(1, strings.Repeat("\x01", 39_000))},
		"a poll":              {"type": "Question", "oneOf": options(strings.Repeat("\"", 490)), "tag": tags, "name": use},
		"a poll of marks":     {"type": "Question", "anyOf": options("a" + strings.Repeat("\u0301", 1500))},
		"a poll of emoji":     {"type": "Question", "anyOf": options(use), "tag": tags},
		"a content warning":   {"summary": strings.Repeat("\"", 20_000)},
		"a warning of marks":  {"summary": "a" + strings.Repeat("\u0301", 10_000)},
		"hashtags":            {"tag": hashtags},
		"a long address":      {"url": peer.URL + "/" + strings.Repeat(`"`, 1900)},
		"a title":             {"type": "Article", "name": strings.Repeat(`"`, 5_000), "content": strings.Repeat("&", 300_000)},
		"an event":            {"type": "Event", "name": "x", "summary": strings.Repeat("&", 100_000), "content": strings.Repeat("<", 300_000), "startTime": strings.Repeat("2", 100_000)},
		"times":               {"published": strings.Repeat("2024-01-01T00:00:00.", 1) + strings.Repeat("1", 400_000) + "Z", "updated": strings.Repeat("1", 300_000)},
		"a language":          {"contentMap": apptest.Doc{strings.Repeat("en-", 100_000): "hello"}, "content": "hello"},
		"everything": {"type": "Question", "content": strings.Repeat("&", 90_000) + use, "summary": strings.Repeat("\"", 5000) + use, "tag": append(tags[:100:100], hashtags...),
			"attachment": attachments(20, strings.Repeat("\"", 5_000)), "oneOf": options(long[:300]), "url": peer.URL + "/" + strings.Repeat(`"`, 1900)},
	}
}

// TestHostilePostsStaySmall stores the largest posts that another server can make, and an edit of each, and checks every entity that shows
// them. The CPU for each is small.
func TestHostilePostsStaySmall(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, plain := srv.SignUp("alice"), srv.SignUp("plain")
	plain.Do("PATCH", "/api/v1/accounts/update_credentials", "application/json", strings.NewReader(`{"no_rich_text": true}`)).Want(200)
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	const most = 5 * time.Second // of a machine that does much else; each took up to a minute without bounds on what is parsed
	for name, changes := range hostilePosts(peer) {
		t.Run(name, func(t *testing.T) {
			note := peer.Note(bob, "hello", changes)
			start := time.Now()
			send(t, peer, srv, peer.Create(note))
			if took := time.Since(start); took > most {
				t.Errorf("it took %v", took)
			}
			st := alice.FindPost(note["id"])
			if st == nil {
				t.Fatalf("it is not stored: %s", srv.Refusals(note["id"]))
			}
			if content := st.Str("content"); len(content) > 60_000 {
				if !strings.HasSuffix(content, "</a></p>") || !strings.Contains(content[len(content)-6*2048:], `<p>… <a href="`+peer.URL) {
					t.Errorf("content does not end with a link to the original: …%q", content[len(content)-200:])
				}
				if text.Sanitize(content) != content {
					t.Error("cut content is not well-formed")
				}
			}
			edit := apptest.With(note, apptest.Doc{"sensitive": true, "updated": time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano)})
			send(t, peer, srv, peer.Activity("Update", bob, edit))
			path := "/api/v1/statuses/" + st.ID()
			for _, path := range []string{path, path + "/context", path + "/history", path + "/source", "/api/v1/timelines/home?limit=1", "/api/v1/accounts/" + st.Str("account.id") + "/statuses?limit=1"} {
				wantSmallEntities(t, path, alice.Get(path).Want(200).Body)
			}
			wantSmallEntities(t, "without rich text", plain.Get(path).Want(200).Body)
			for _, v := range alice.Get(path + "/history").List() {
				if n := len(apptest.MustJSON(v.Fields)); n > 2*store.MaxRemoteStatus {
					t.Errorf("a version of %d bytes", n)
				}
			}
			if n := len(alice.Get(path + "/source").Body); n > store.MaxRemoteStatus {
				t.Errorf("a source of %d bytes", n)
			}
			if st.Str("svc.content.text/plain") == "" && st.Str("content") != "" && name != "nested tags" && name != "empty paragraphs" {
				t.Log("no plain text")
			}
		})
	}
}

// TestHostileAccountsStaySmall stores the largest profiles that another server can make, and checks them wherever they are shown.
func TestHostileAccountsStaySmall(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	tags, use := hostileEmojis(peer)
	fields := func(name, value string) (list []any) {
		for range 50 {
			list = append(list, apptest.Doc{"type": "PropertyValue", "name": name, "value": value})
		}
		return list
	}
	aliases := []any{}
	for i := range 256 {
		aliases = append(aliases, peer.URL+"/"+strings.Repeat(`"`, 1900)+fmt.Sprint(i))
	}
	long := peer.URL + "/" + strings.Repeat(`"`, 1900)
	n := 0
	for name, changes := range map[string]apptest.Doc{
		"a bio":           {"summary": strings.Repeat("&", 20_000)},
		"a bio of quotes": {"summary": strings.Repeat(`"`, 20_000)},
		"a name":          {"name": strings.Repeat("a\u0301\u0301\u0301", 2000)},
		"emoji":           {"summary": use, "tag": tags},
		"fields":          {"attachment": fields("name", strings.Repeat("&", 2000))},
		"names of fields": {"attachment": fields(strings.Repeat(`"`, 2000), strings.Repeat(`<a href="https://x.example/">a</a>`, 60))},
		"aliases":         {"alsoKnownAs": aliases},
		"addresses":       {"url": long, "icon": apptest.Doc{"type": "Image", "url": long}, "image": apptest.Doc{"type": "Image", "url": long}},
		"a birthday":      {"vcard:bday": "2000-01-01" + strings.Repeat("0", 400_000)},
		"everything": {"summary": strings.Repeat("&", 15_000) + use, "name": use, "tag": tags, "attachment": fields(use, use), "alsoKnownAs": aliases[:50],
			"url": long, "icon": apptest.Doc{"type": "Image", "url": long}, "image": apptest.Doc{"type": "Image", "url": long}},
	} {
		t.Run(name, func(t *testing.T) {
			n++
			id := peer.AddFollower(srv, fmt.Sprint("bob", n), alice)
			peer.AddActor(fmt.Sprint("bob", n), changes)
			send(t, peer, srv, peer.Activity("Update", id, apptest.Doc{"id": id, "type": "Person"}))
			fresh := peer.AddActor(fmt.Sprint("new", n), changes)
			account := srv.FetchActor(fresh)
			note := peer.Note(fresh, "<p>hello</p>", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "tag": apptest.Doc{"type": "Mention", "href": alice.URI()}})
			send(t, peer, srv, peer.Create(note))
			for _, path := range []string{
				"/api/v1/accounts/" + account, "/api/v1/accounts/" + srv.KnownID(id), "/api/v1/accounts/" + alice.ID + "/followers", "/api/v1/notifications",
				"/api/v2/search?q=bob&type=accounts",
			} {
				wantSmallEntities(t, path, alice.Get(path).Want(200).Body)
			}
			if st := alice.FindPost(note["id"]); st == nil {
				t.Error("its post is not stored")
			}
		})
	}
}

// TestOtherHostileTextsStaySmall stores what else another server chooses: chat messages, scrobbles, reports, reactions.
func TestOtherHostileTextsStaySmall(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	tags, use := hostileEmojis(peer)
	for name, changes := range map[string]apptest.Doc{
		"a chat message": {"content": strings.Repeat("&", 90_000) + use, "tag": tags}, "of marks": {"content": strings.Repeat("\u2028", 90_000)},
		"with an attachment": {"attachment": apptest.Doc{"type": "Document", "mediaType": "image/png" + strings.Repeat(";a=1", 100_000), "url": peer.URL + "/" + strings.Repeat("a", 1900), "name": strings.Repeat("\x01", 40_000)}},
	} {
		send(t, peer, srv, peer.ChatMessage(bob, alice.URI(), changes))
		chats := alice.Get("/api/v2/svc/chats").Want(200)
		wantSmallEntities(t, name, chats.Body)
		wantSmallEntities(t, name, alice.Get("/api/v1/svc/chats/"+chats.List()[0].ID()+"/messages").Want(200).Body)
	}

	marks := "a" + strings.Repeat("\u0301", 150_000)
	send(t, peer, srv, peer.Activity("Listen", bob, apptest.Doc{
		"id": peer.NewID("tracks"), "type": "Audio", "title": marks, "artist": marks, "album": strings.Repeat("\"", 10_000), "to": []any{apptest.Public},
	}, apptest.Doc{"to": []any{apptest.Public}}))
	if body := alice.Get("/api/v1/svc/accounts/" + srv.KnownID(bob) + "/scrobbles").Want(200).Body; len(body) > store.MaxRemoteAccount+4*4_100 || !strings.Contains(string(body), "artist") {
		t.Errorf("scrobbles of %d bytes", len(body))
	}

	post := alice.Publish("react to this")
	for i := range 5 {
		actor := peer.AddActor(fmt.Sprint("fan", i))
		for k := range 20 {
			code := fmt.Sprintf("%s%d", strings.Repeat("r", 50), 20*i+k)
			peer.Post(srv, peer.Activity("EmojiReact", actor, post.Str("uri"), apptest.Doc{"content": ":" + code + ":", "tag": []any{apptest.Doc{
				"type": "Emoji", "name": ":" + code + ":", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/" + strings.Repeat("r", 1900) + code},
			}}}))
		}
	}
	peer.Post(srv, peer.Activity("EmojiReact", bob, post.Str("uri"), apptest.Doc{"content": strings.Repeat("🔥", 100_000)}))
	apptest.Settle(srv)
	shown := alice.Get("/api/v1/statuses/" + post.ID()).Want(200)
	if n := len(apptest.MustJSON(shown.Object().At("svc.emoji_reactions"))); n < 1000 || n > 20_000 {
		t.Errorf("reactions of %d bytes", n)
	}
	wantSmallEntities(t, "reactions", shown.Body)

	send(t, peer, srv, peer.Activity("Flag", bob, []any{alice.URI()}, apptest.Doc{"content": strings.Repeat("&", 900_000)}))
	if got := srv.Count("SELECT count(*) FROM reports WHERE length(comment) <= 5000"); got != 1 {
		t.Errorf("%d reports with a short comment, want 1", got)
	}
}

// TestQuotesEndInside checks that a chain of quotes is shown as a boost of a quote of a post.
func TestQuotesEndInside(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	var last apptest.Doc
	for range 6 {
		note := peer.Note(bob, strings.Repeat("&", 100_000))
		if last != nil {
			note["quote"], note["quoteUrl"] = last["id"], last["id"]
		}
		send(t, peer, srv, peer.Create(note))
		last = note
	}
	send(t, peer, srv, peer.Activity("Announce", bob, last["id"], apptest.Doc{"to": []any{apptest.Public}}))
	body := alice.Get("/api/v1/timelines/home?limit=1").Want(200).Body
	wantSmallEntities(t, "a boost", body)
	if most := 3*store.MaxRemoteStatus + 5*store.MaxRemoteAccount; len(body) > most {
		t.Errorf("a boost of a chain of quotes takes %d bytes, at most %d can be", len(body), most)
	}
}

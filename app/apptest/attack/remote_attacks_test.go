package attack_test

import (
	"fmt"
	"strings"

	"svc/app/apptest"
)

// many returns how many entities of a kind are stored: all, or a third where the test has little time.
func (w *world) many(all int) int {
	if w.few {
		return all / 3
	}
	return all
}

// What remote servers store. Each document is just below the largest that an inbox takes, 1 MiB.

func (w *world) storeAmpersands() {
	p := w.remotes[0]
	author := w.followed(p)
	for range w.many(45) {
		w.create(p, p.Note(author, strings.Repeat("&", 400_000)))
	}
}

func (w *world) storeEmojiPosts() {
	p := w.remotes[1]
	author := w.followed(p, profile(p))
	tags, text := emojis(p, 200)
	for range w.many(45) {
		w.create(p, p.Note(author, text+strings.Repeat("&", 400_000), doc{"tag": tags}))
	}
}

func (w *world) storeFollowers() {
	for i := range w.many(85) {
		p := w.remotes[i%len(w.remotes)]
		w.deliver(p, p.Activity("Follow", w.actor(p, profile(p)), w.aliceURI()))
	}
}

func (w *world) storeReplies() {
	post := w.alicePost()
	for i := range w.many(45) {
		p := w.remotes[i%len(w.remotes)]
		tags, text := emojis(p, 200)
		w.create(p, p.Note(w.actor(p, profile(p)), text+strings.Repeat("&", 400_000), doc{"tag": tags, "inReplyTo": post}))
	}
}

func (w *world) storeAttachments() {
	p := w.remotes[2]
	author := w.followed(p)
	for n := range w.many(30) {
		var files []any
		for i := range 60 {
			files = append(files, doc{"type": "Document", "mediaType": "image/png", "name": strings.Repeat("&", 10_000) + strings.Repeat("\U0001f600", 1000),
				"url": fmt.Sprintf("%s/%s/%d/%d.png", p.URL, strings.Repeat("f", 1900), n, i)})
		}
		w.create(p, p.Note(author, "look", doc{"attachment": files}))
	}
}

func (w *world) storeQuotes() {
	p := w.remotes[3]
	author := w.followed(p)
	tags, text := emojis(p, 100)
	last := ""
	for range w.many(40) {
		note := p.Note(author, text+strings.Repeat("&", 300_000), doc{"tag": tags})
		if last != "" {
			note["quoteUrl"], note["quoteUri"], note["quote"], note["_misskey_quote"] = last, last, last, last
		}
		p.Respond(strings.TrimPrefix(note["id"].(string), p.URL), 200, "application/activity+json", encode(apptest.With(note, doc{"@context": "https://www.w3.org/ns/activitystreams"})))
		last = w.create(p, note)
	}
}

func (w *world) storeBoosts() {
	p, other := w.remotes[4], w.remotes[5]
	booster := w.followed(p)
	author := w.actor(other, profile(other))
	tags, text := emojis(other, 200)
	for range w.many(40) {
		note := other.Note(author, text+strings.Repeat("&", 400_000), doc{"tag": tags})
		other.Respond(strings.TrimPrefix(note["id"].(string), other.URL), 200, "application/activity+json", encode(apptest.With(note, doc{"@context": "https://www.w3.org/ns/activitystreams"})))
		w.deliver(p, p.Activity("Announce", booster, note["id"], doc{"to": []any{apptest.Public}, "cc": []any{booster + "/followers"}}))
	}
}

func (w *world) storeDirect() {
	for i := range w.many(45) {
		p := w.remotes[i%len(w.remotes)]
		tags, text := emojis(p, 200)
		tags = append(tags, doc{"type": "Mention", "href": w.aliceURI(), "name": "@alice"})
		w.create(p, p.Note(w.actor(p, profile(p)), text+strings.Repeat("&", 400_000), doc{"tag": tags, "to": []any{w.aliceURI()}, "cc": []any{}}))
	}
}

func (w *world) storePolls() {
	p := w.remotes[6]
	author := w.followed(p)
	for range w.many(40) {
		var options []any
		for i := range 100 {
			options = append(options, doc{"type": "Note", "name": fmt.Sprint(i, strings.Repeat("\U0001f600", 490)), "replies": doc{"type": "Collection", "totalItems": 5}})
		}
		w.create(p, p.Note(author, strings.Repeat("&", 300_000), doc{"type": "Question", "oneOf": options, "endTime": apptest.FromNow(1e15)}))
	}
}

func (w *world) storeLinks() {
	p := w.remotes[7]
	author := w.followed(p)
	links := strings.Repeat(`<a href="`+p.URL+`/a">b</a> `, 12_000)
	for range w.many(30) {
		w.create(p, p.Note(author, links))
	}
}

func (w *world) storeMentions() {
	p := w.remotes[0]
	author := w.followed(p)
	post := w.alicePost()
	tags, text := emojis(p, 200)
	note := p.Note(author, text+strings.Repeat("&", 280_000), w.mention(), doc{"inReplyTo": post})
	note["tag"] = append(tags, note["tag"].([]any)...)
	for range w.many(20) {
		n := apptest.With(note, doc{"id": p.NewID("notes")})
		w.create(p, n)
	}
	last := w.alicePost()
	for i := range w.many(80) { // one post in many notifications
		q := w.remotes[i%len(w.remotes)]
		w.deliver(q, q.Activity("Like", w.actor(q, profile(q)), last))
	}
}

func (w *world) storeThread() {
	p := w.remotes[1]
	author := w.actor(p, profile(p))
	last := w.alicePost()
	first := last
	for i := range w.many(700) {
		parent := first
		if i%2 == 0 {
			parent = last
		}
		last = w.create(p, p.Note(author, strings.Repeat("&", 20_000), doc{"inReplyTo": parent}))
	}
}

func (w *world) storeChats() {
	for i := range w.many(45) {
		p := w.remotes[i%len(w.remotes)]
		tags, text := emojis(p, 200)
		w.deliver(p, p.ChatMessage(w.actor(p, profile(p)), w.aliceURI(), doc{"content": text + strings.Repeat("&", 90_000), "tag": tags}))
	}
}

// storeParsed sends what is costly to parse.
func (w *world) storeParsed() {
	p := w.remotes[2]
	author := w.followed(p)
	parameters := "text/plain" + strings.Repeat(";a=b", 200_000)
	long := p.URL + "/" + strings.Repeat("%41", 300_000)
	host := "http://" + strings.Repeat("xn--a.", 150_000) + "example/"
	for _, change := range []doc{
		{"mediaType": parameters},
		{"attachment": []any{doc{"type": "Document", "mediaType": parameters, "url": p.URL + "/a.png"}}},
		{"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": long}}},
		{"url": long}, {"url": host}, {"inReplyTo": host}, {"quoteUrl": long}, {"context": long}, {"conversation": host},
		{"tag": []any{doc{"type": "Mention", "href": host, "name": "@" + strings.Repeat("a.", 100_000)}}},
		{"tag": []any{doc{"type": "Hashtag", "href": long, "name": "#" + strings.Repeat("a", 800_000)}}},
		{"published": strings.Repeat("2", 900_000)}, {"updated": strings.Repeat("2026-", 180_000)}, {"endTime": strings.Repeat("T", 900_000), "type": "Question"},
		{"content": strings.Repeat("<p><b>", 150_000)}, {"content": strings.Repeat("<a href='", 100_000)}, {"content": strings.Repeat("&amp", 200_000)},
		{"content": strings.Repeat("*_", 400_000), "mediaType": "text/markdown"}, {"content": strings.Repeat("[a](b", 160_000), "mediaType": "text/markdown"},
		{"summary": strings.Repeat("<i>", 300_000)}, {"to": strings.Fields(strings.Repeat(apptest.Public+" ", 20_000))},
		{"attachment": []any{doc{"type": "Document", "mediaType": "video/mp4", "url": p.URL + "/v.mp4", "duration": "PT" + strings.Repeat("9", 900_000) + "S"}}},
	} {
		for range 3 {
			w.create(p, p.Note(author, "hello", change))
		}
	}
	deep := strings.Repeat(`{"object":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	keys := make([]string, 60_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("%q:%d", fmt.Sprint("k", i), i)
	}
	for _, member := range []string{`"object":` + deep, `"object":{` + strings.Join(keys, ",") + "}", `"object":[` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + "]",
		`"object":[` + strings.Repeat("{},", 300_000) + "{}]"} {
		for range 3 {
			w.deliverBody(p, author, []byte(`{"id":"`+p.NewID("activities")+`","type":"Create","actor":"`+author+`",`+member+"}"))
		}
	}
}

// storeSome stores a few entities of each kind, of ordinary size.
func (w *world) storeSome() {
	for i := range 40 {
		p := w.remotes[i%len(w.remotes)]
		author := w.actor(p)
		post := w.alicePost()
		w.deliver(p, p.Activity("Follow", author, w.aliceURI()))
		w.create(p, p.Note(author, "hello", w.mention(), doc{"inReplyTo": post, "attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": p.URL + "/a.png"}}}))
		w.create(p, p.Note(author, "hello", w.mention(), doc{"to": []any{w.aliceURI()}, "cc": []any{}}))
		w.deliver(p, p.ChatMessage(author, w.aliceURI()))
	}
	w.sendJSON(w.mallory[0], "POST", "/api/v1/lists", doc{"title": "friends"})
	w.sendJSON(w.mallory[0], "POST", "/api/v1/reports", doc{"account_id": w.dummy.id, "comment": "look"})
	w.sendJSON(w.mallory[0], "POST", "/api/v1/statuses", doc{"status": "a or b?", "poll": doc{"options": []string{"a", "b"}, "expires_in": 86400}})
}

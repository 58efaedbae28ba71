package attack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

type doc = apptest.Doc

// startRemote starts a remote server whose actors accept follows.
func startRemote(w *world) *apptest.FakeServer {
	p := apptest.StartFake(w.t)
	p.Check = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		var a doc
		if r.Method != http.MethodPost || json.Unmarshal(body, &a) != nil {
			return true
		}
		if target, ok := a["object"].(string); ok && a["type"] == "Follow" {
			go w.deliver(p, p.Activity("Accept", target, a))
		}
		rw.WriteHeader(http.StatusAccepted) // not recorded
		return false
	}
	return p
}

// deliver signs and sends an activity to the shared inbox. It tries again while the server is busy.
func (w *world) deliver(p *apptest.FakeServer, activity doc) {
	w.deliverBody(p, fmt.Sprint(activity["actor"]), encode(activity))
}

func (w *world) deliverBody(p *apptest.FakeServer, actor string, body []byte) {
	for range 20 {
		req, err := http.NewRequest("POST", w.url+"/inbox", bytes.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set("Content-Type", "application/activity+json")
		if err := p.Signer(actor).Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
			panic(err)
		}
		ctx, cancel := context.WithTimeout(w.attacking(), time.Minute)
		status, _ := w.do(setUpClient, req.WithContext(ctx))
		cancel()
		switch {
		case w.attacking().Err() != nil:
			return
		case status == http.StatusAccepted:
			return
		case status == 503 || status == 429:
			time.Sleep(100 * time.Millisecond)
		default:
			w.failed.Add(1)
			return
		}
	}
	w.failed.Add(1)
}

// actor adds an actor to a remote server, and serves its document as it is. changes are added to that.
func (w *world) actor(p *apptest.FakeServer, changes ...doc) string {
	name := fmt.Sprint("attacker", w.next.Add(1))
	id := p.AddActor(name)
	if len(changes) > 0 {
		key, err := httpsig.FormatPublicKey(apptest.SharedKey().Public())
		if err != nil {
			panic(err)
		}
		d := doc{
			"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "preferredUsername": name, "inbox": id + "/inbox",
			"outbox": id + "/outbox", "followers": id + "/followers", "url": p.URL + "/@" + name, "endpoints": doc{"sharedInbox": p.URL + "/inbox"},
			"publicKey": doc{"id": id + "#main-key", "owner": id, "publicKeyPem": key},
		}
		for _, c := range changes {
			maps.Copy(d, c)
		}
		p.Respond("/users/"+name, http.StatusOK, "application/activity+json", encode(d))
	}
	return id
}

// followed returns an actor that alice and erin follow.
func (w *world) followed(p *apptest.FakeServer, changes ...doc) string {
	w.t.Helper()
	id := w.actor(p, changes...)
	for _, by := range []*person{w.alice, w.erin} {
		w.follow(by, id)
	}
	return id
}

func (w *world) follow(by *person, id string) {
	w.t.Helper()
	var found struct{ Accounts []struct{ ID string } }
	w.decode(&found, by, "GET", "/api/v2/search?"+url.Values{"q": {id}, "resolve": {"true"}, "type": {"accounts"}}.Encode(), nil)
	if len(found.Accounts) == 0 {
		w.t.Fatalf("the account %s is not found", id)
	}
	w.must(by, "POST", "/api/v1/accounts/"+found.Accounts[0].ID+"/follow", nil)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var r []struct{ Following bool }
		w.decode(&r, by, "GET", "/api/v1/accounts/relationships?id="+found.Accounts[0].ID, nil)
		if len(r) == 1 && r[0].Following {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not accept the follow", id)
		}
	}
}

// alicePost publishes a post of alice and returns its ActivityPub id.
func (w *world) alicePost() string {
	w.t.Helper()
	var st struct{ URI string }
	w.decode(&st, w.alice, "POST", "/api/v1/statuses", url.Values{"status": {"What do you all think?"}})
	return st.URI
}

func (w *world) aliceURI() string { return w.url + "/users/" + w.alice.id }

// create delivers a post.
func (w *world) create(p *apptest.FakeServer, note doc) string {
	w.deliver(p, p.Create(note))
	return note["id"].(string)
}

// mention returns the members of a post that mentions alice.
func (w *world) mention() doc {
	return doc{"tag": []any{doc{"type": "Mention", "href": w.aliceURI(), "name": "@alice"}}, "cc": []any{w.aliceURI()}}
}

// emojis returns the tags of n custom emoji with long URLs, and a text that uses them.
func emojis(p *apptest.FakeServer, n int) (tags []any, text string) {
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("e%03d", i)
		address := p.URL + "/emoji/" + strings.Repeat("x", 1850) + name + ".png"
		tags = append(tags, doc{"type": "Emoji", "id": p.URL + "/emoji/" + name, "name": ":" + name + ":", "icon": doc{"type": "Image", "mediaType": "image/png", "url": address}})
		b.WriteString(":" + name + ": ")
	}
	return tags, b.String()
}

// profile returns the members of a profile that is as large as a document may be.
func profile(p *apptest.FakeServer) doc {
	tags, text := emojis(p, 200)
	var fields, aliases []any
	for i := range 50 {
		fields = append(fields, doc{"type": "PropertyValue", "name": fmt.Sprint(i, strings.Repeat("&", 2000)), "value": strings.Repeat(text, 2)[:2000]})
	}
	for i := range 50 {
		aliases = append(aliases, fmt.Sprintf("%s/users/%s%d", p.URL, strings.Repeat("a", 1900), i))
	}
	return doc{"name": strings.Repeat(text, 2)[:2000], "summary": strings.Repeat("&", 15_000) + text, "tag": tags, "attachment": fields, "alsoKnownAs": aliases,
		"icon": doc{"type": "Image", "url": p.URL + "/" + strings.Repeat("i", 1900) + ".png"}, "image": doc{"type": "Image", "url": p.URL + "/" + strings.Repeat("h", 1900) + ".png"}}
}

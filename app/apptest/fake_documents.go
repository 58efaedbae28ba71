package apptest

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/internal/httpsig"
)

// AddActor serves a Person with a WebFinger resource and returns its id. changes replace members of the document; nil removes one.
func (p *FakeServer) AddActor(name string, changes ...Doc) string {
	p.T.Helper()
	id := p.URL + "/users/" + name
	key := p.keyOf(id)
	pem, err := httpsig.FormatPublicKey(key.Public())
	if err != nil {
		p.T.Fatal(err)
	}
	d := Doc{
		"@context": []any{"https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"},
		"id":       id, "type": "Person", "preferredUsername": name, "name": strings.ToUpper(name[:1]) + name[1:],
		"inbox": id + "/inbox", "outbox": id + "/outbox", "followers": id + "/followers", "following": id + "/following",
		"url": p.URL + "/@" + name, "endpoints": Doc{"sharedInbox": p.URL + "/inbox"},
		"publicKey": Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": pem},
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	p.Serve(d)
	p.AddWebFinger(name, id)
	return id
}

// keyOf returns the key of an actor, the shared one for a new actor.
func (p *FakeServer) keyOf(id string) crypto.Signer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Keys[id] == nil {
		p.Keys[id] = SharedKey()
	}
	return p.Keys[id]
}

// AddWebFinger serves the WebFinger resource of an actor.
func (p *FakeServer) AddWebFinger(name, id string) {
	finger := Doc{
		"subject": "acct:" + name + "@" + p.Host,
		"links":   []any{Doc{"rel": "self", "type": "application/activity+json", "href": id}},
	}
	b, _ := json.Marshal(finger)
	handle := name + "%40" + p.Host
	for _, resource := range []string{"acct:" + name + "@" + p.Host, "acct:" + handle, "acct%3A" + name + "@" + p.Host, "acct%3A" + url.QueryEscape(name+"@"+p.Host)} {
		p.Respond("/.well-known/webfinger?resource="+resource, http.StatusOK, "application/jrd+json", b)
	}
}

// RotateKey gives an actor a new key and serves its updated document.
func (p *FakeServer) RotateKey(name string) {
	p.T.Helper()
	key, err := Key()
	if err != nil {
		p.T.Fatal(err)
	}
	p.Keys[p.URL+"/users/"+name] = key
	p.AddActor(name)
}

// AddEd25519Key makes an actor sign with Ed25519, and returns the members that its document needs for that.
func (p *FakeServer) AddEd25519Key(name string) Doc {
	p.T.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		p.T.Fatal(err)
	}
	id := p.URL + "/users/" + name
	p.Keys[id+"#ed25519-key"] = private
	return Doc{"assertionMethod": []any{Doc{
		"id": id + "#ed25519-key", "type": "Multikey", "controller": id, "publicKeyMultibase": httpsig.FormatMultikey(public),
	}}}
}

// AddFollower adds an actor that follows a user, and returns its id.
func (p *FakeServer) AddFollower(srv *Server, name string, m *User) string {
	p.T.Helper()
	id := p.AddActor(name)
	p.PostAndSettle(srv, p.Activity("Follow", id, srv.URL+"/users/"+m.ID))
	if _, err := srv.DB.AccountByURI(p.T.Context(), id); err != nil {
		p.T.Fatal(err)
	}
	return id
}

// NewID returns an unused id.
func (p *FakeServer) NewID(kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	return fmt.Sprintf("%s/%s/%d", p.URL, kind, p.lastID)
}

// Note returns a public Note, as most servers send it. changes replace members; nil removes one.
func (p *FakeServer) Note(actor, content string, changes ...Doc) Doc {
	id := p.NewID("notes")
	d := Doc{
		"id": id, "type": "Note", "attributedTo": actor, "content": content, "published": time.Now().UTC().Format(time.RFC3339),
		"to": []any{Public}, "cc": []any{actor + "/followers"}, "url": id + ".html",
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// Activity returns an activity. It has the addressing of an embedded object. changes replace members; nil removes one.
func (p *FakeServer) Activity(activityType, actor string, object any, changes ...Doc) Doc {
	d := Doc{
		"@context": "https://www.w3.org/ns/activitystreams", "id": p.NewID("activities"), "type": activityType, "actor": actor, "object": object,
	}
	if o, ok := object.(Doc); ok {
		for _, key := range []string{"to", "cc"} {
			if v, ok := o[key]; ok {
				d[key] = v
			}
		}
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// Create returns the Create of a note.
func (p *FakeServer) Create(note Doc, changes ...Doc) Doc {
	actor, _ := note["attributedTo"].(string)
	return p.Activity("Create", actor, note, changes...)
}

// ChatMessage returns the Create of a chat message, as most servers send it. changes replace members of the message; nil removes one.
func (p *FakeServer) ChatMessage(from, to string, changes ...Doc) Doc {
	m := Doc{
		"id": p.NewID("messages"), "type": "ChatMessage", "attributedTo": from, "actor": from, "to": []any{to},
		"content": "hello", "published": time.Now().UTC().Format(time.RFC3339), "tag": []any{},
	}
	for _, c := range changes {
		for key, v := range c {
			if m[key] = v; v == nil {
				delete(m, key)
			}
		}
	}
	return p.Activity("Create", from, m)
}

// With returns a copy of a document with other members.
func With(d Doc, changes Doc) Doc {
	d = maps.Clone(d)
	maps.Copy(d, changes)
	return d
}

// FromNow returns a time relative to now in the format of ActivityPub documents and the client API.
func FromNow(d time.Duration) string {
	return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// MustJSON returns v as JSON.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

package remote

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
)

// TestActorCosts checks that an unknown actor costs two requests, for its document and for its handle.
func TestActorCosts(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	a.wait(0)
	if n := p.requests(); n != 2 {
		t.Errorf("%d requests for an actor, want 2", n)
	}
	again, err := a.Actors.Actor(t.Context(), id)
	if err != nil || again.ID != first.ID || again.Acct() != "alice@"+p.host {
		t.Errorf("got %v, %v", again, err)
	}
	if n := p.requests(); n != 0 {
		t.Errorf("%d requests for a known actor", n)
	}
	if _, err := a.Actors.Actor(WithoutFetching(t.Context()), p.url+"/users/other"); !errors.Is(err, ErrFetchNeeded) {
		t.Errorf("without fetching: got %v", err)
	}
}

// TestActorShapes parses the forms of actor documents of several kinds of servers (federation 1.7, 7.1).
func TestActorShapes(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.url + "/users/x"
	yes := true
	for _, tt := range []struct {
		name   string
		change jsonObject
		check  func(*parsedActor) bool
	}{
		{"the usual form", jsonObject{}, func(p *parsedActor) bool { return p.account.Nickname == "x" && len(p.keys) == 1 }},
		{"types in an array", jsonObject{"type": []any{"Object", "Service"}}, func(p *parsedActor) bool { return p.account.ActorType == "Service" }},
		{"a group", jsonObject{"type": "Group"}, func(p *parsedActor) bool { return p.account.ActorType == "Group" }},
		{"an empty name", jsonObject{"name": ""}, func(p *parsedActor) bool { return p.account.DisplayName == "x" }},
		{"no name", jsonObject{"name": nil}, func(p *parsedActor) bool { return p.account.DisplayName == "x" }},
		{"names in languages", jsonObject{"name": nil, "nameMap": jsonObject{"de": "Ex"}}, func(p *parsedActor) bool { return p.account.DisplayName == "Ex" }},
		{"a name on two lines", jsonObject{"name": "a\n\x00b\u0007"}, func(p *parsedActor) bool { return p.account.DisplayName == "a \ufffdb\ufffd" }},
		{"hidden characters", jsonObject{"name": "\u202eAli\u200bce", "attachment": []any{jsonObject{"type": "PropertyValue", "name": "\u2066a", "value": "b\u202ec"}}}, func(p *parsedActor) bool {
			return p.account.DisplayName == "Alice" && p.account.Fields.V[0].Name == "a" && p.account.Fields.V[0].Value == "bc"
		}},
		{"a very long name", jsonObject{"name": strings.Repeat("n", 100_000)}, func(p *parsedActor) bool { return len(p.account.DisplayName) < maxName+3 }},
		{"a name with markup is text", jsonObject{"name": "<b>x</b>"}, func(p *parsedActor) bool { return p.account.DisplayName == "<b>x</b>" }},
		{"no summary", jsonObject{"summary": nil}, func(p *parsedActor) bool { return p.account.Note == "" }},
		{"a hostile summary", jsonObject{"summary": `<p onclick="x">hi<script>alert(1)</script><a href="javascript:x">l</a>`}, func(p *parsedActor) bool {
			return !strings.Contains(p.account.Note, "script") && !strings.Contains(p.account.Note, "onclick") && strings.Contains(p.account.Note, "hi")
		}},
		{"a very long summary", jsonObject{"summary": strings.Repeat("<p>y</p>", 20_000)}, func(p *parsedActor) bool { return len(p.account.Note) <= 2*maxSummary }},
		{"icon as an object", jsonObject{"icon": jsonObject{"type": "Image", "url": "https://m.example/a.png"}}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/a.png" }},
		{"icon as text", jsonObject{"icon": "https://m.example/a.png"}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/a.png" }},
		{"icons", jsonObject{"icon": []any{jsonObject{"url": "ftp://x/"}, jsonObject{"url": []any{jsonObject{"href": "https://m.example/b.png"}}}}}, func(p *parsedActor) bool {
			return p.account.Avatar == "https://m.example/b.png"
		}},
		{"icon with a link", jsonObject{"icon": jsonObject{"url": jsonObject{"href": "https://m.example/c.png"}}}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/c.png" }},
		{"an icon that is a video", jsonObject{"icon": jsonObject{"mediaType": "video/mp4", "url": "https://m.example/a.mp4"}}, func(p *parsedActor) bool { return p.account.Avatar == "" }},
		{"an icon with a private address", jsonObject{"icon": jsonObject{"url": "https://10.0.0.1/a.png"}}, func(p *parsedActor) bool { return p.account.Avatar == "" }},
		{"a javascript: image", jsonObject{"image": jsonObject{"url": "javascript:alert(1)"}}, func(p *parsedActor) bool { return p.account.Header == "" }},
		{"a page", jsonObject{"url": p.url + "/@x"}, func(pp *parsedActor) bool { return pp.account.URL == p.url+"/@x" }},
		{"pages", jsonObject{"url": []any{jsonObject{"href": p.url + "/x.json", "mediaType": "application/json"}, jsonObject{"href": p.url + "/@x", "mediaType": "text/html"}}}, func(pp *parsedActor) bool {
			return pp.account.URL == p.url+"/@x"
		}},
		{"a page on another host", jsonObject{"url": "https://other.example/@x"}, func(p *parsedActor) bool { return p.account.URL == id }},
		{"a javascript: page", jsonObject{"url": "javascript:x"}, func(p *parsedActor) bool { return p.account.URL == id }},
		{"locked", jsonObject{"manuallyApprovesFollowers": true}, func(p *parsedActor) bool { return p.account.Locked }},
		{"discoverable null", jsonObject{"discoverable": nil, "indexable": "true"}, func(p *parsedActor) bool {
			return !p.account.Discoverable && p.account.Indexable != nil && *p.account.Indexable
		}},
		{"chats", jsonObject{"capabilities": jsonObject{"acceptsChatMessages": true}}, func(p *parsedActor) bool { return *p.account.AcceptsChatMessages == yes }},
		{"no setting for chats", jsonObject{}, func(p *parsedActor) bool { return p.account.AcceptsChatMessages == nil }},
		{"a birthday", jsonObject{"vcard:bday": "1990-04-01"}, func(p *parsedActor) bool { return p.account.Birthday == "1990-04-01" && p.account.ShowBirthday }},
		{"an invalid birthday", jsonObject{"vcard:bday": "1990-04-31"}, func(p *parsedActor) bool { return p.account.Birthday == "" }},
		{"published", jsonObject{"published": "2020-01-02T03:04:05Z"}, func(p *parsedActor) bool { return p.account.CreatedAt.Time().Year() == 2020 }},
		{"published in the future", jsonObject{"published": "9999-01-02T03:04:05Z"}, func(p *parsedActor) bool { return p.account.CreatedAt == 0 }},
		{"one alias", jsonObject{"alsoKnownAs": "https://a.example/u"}, func(p *parsedActor) bool { return len(p.account.AlsoKnownAs.V) == 1 }},
		{"invalid aliases", jsonObject{"alsoKnownAs": []any{"acct:x@y", 7, "http://[::1]:1x/", "https://a.example/u"}}, func(p *parsedActor) bool {
			return len(p.account.AlsoKnownAs.V) == 1
		}},
		{"a shared inbox outside endpoints", jsonObject{"sharedInbox": p.url + "/inbox"}, func(pp *parsedActor) bool { return pp.actor.SharedInbox == p.url+"/inbox" }},
		{"shared inbox on another host", jsonObject{"endpoints": jsonObject{"sharedInbox": "https://other.example/inbox"}}, func(p *parsedActor) bool { return p.actor.SharedInbox == "" }},
		{"collections on another host", jsonObject{"followers": "https://other.example/f", "outbox": "https://other.example/o", "featured": "https://other.example/p"}, func(p *parsedActor) bool {
			return p.actor.Followers == "" && p.actor.Outbox == "" && p.actor.Featured == ""
		}},
		{"followers with the id of the actor", jsonObject{"followers": id}, func(p *parsedActor) bool { return p.actor.Followers == "" }},
		{"no collections", jsonObject{"followers": nil, "following": nil, "outbox": nil}, func(p *parsedActor) bool { return p.actor.Outbox == "" }},
		{"one field", jsonObject{"attachment": jsonObject{"type": "PropertyValue", "name": "web", "value": `<a href="https://x.example" rel="me">x</a><script>`}}, func(p *parsedActor) bool {
			return len(p.account.Fields.V) == 1 && strings.Contains(p.account.Fields.V[0].Value, `href="https://x.example"`) && !strings.Contains(p.account.Fields.V[0].Value, "script")
		}},
		{"attachments of other kinds", jsonObject{"attachment": []any{jsonObject{"type": "IdentityProof", "name": "a"}, "text", jsonObject{"type": "PropertyValue", "name": "b", "value": "c"}}}, func(p *parsedActor) bool {
			return len(p.account.Fields.V) == 1
		}},
		{"many fields", jsonObject{"attachment": repeated(200, jsonObject{"type": "PropertyValue", "name": strings.Repeat("a", 2500), "value": strings.Repeat("v", 90)})}, func(p *parsedActor) bool {
			return len(p.account.Fields.V) == maxFields && len(p.account.Fields.V[0].Name) < maxField+3
		}},
		{"one emoji", jsonObject{"tag": emojiTag(":cat:", "https://m.example/cat.png")}, func(p *parsedActor) bool {
			return len(p.account.Emojis.V) == 1 && p.account.Emojis.V[0].Shortcode == "cat"
		}},
		{"emoji with invalid names", jsonObject{"tag": []any{emojiTag(":cat@.:", "https://m.example/cat.png"), emojiTag("dog", "https://m.example/dog.png")}}, func(p *parsedActor) bool {
			return len(p.account.Emojis.V) == 2 && p.account.Emojis.V[0].Shortcode == "cat"
		}},
		{"invalid emoji (72)", jsonObject{"tag": []any{emojiTag(":../x:", "https://m.example/cat.png"), emojiTag(":a:", "javascript:x"), jsonObject{"type": "Hashtag", "name": "#x"}, 5}}, func(p *parsedActor) bool {
			return len(p.account.Emojis.V) == 0
		}},
		{"moved", jsonObject{"movedTo": "https://new.example/u"}, func(p *parsedActor) bool { return p.actor.MovedTo == "https://new.example/u" }},
		{"moved to itself", jsonObject{"movedTo": id}, func(p *parsedActor) bool { return p.actor.MovedTo == "" }},
		{"unknown members", jsonObject{"interactionPolicy": []any{1}, "memorial": "x", "suspended": 3, "generator": nil, "@language": "de"}, func(p *parsedActor) bool { return !p.actor.Suspended }},
		{"the actor of a server without a name", jsonObject{"type": "Application", "preferredUsername": nil}, func(pp *parsedActor) bool { return pp.account.Nickname == "127.0.0.1" }},
		{"a name with dots", jsonObject{"preferredUsername": "instance.actor"}, func(p *parsedActor) bool { return p.account.Nickname == "instance.actor" }},

		{"not an actor", jsonObject{"type": "Note"}, nil},
		{"no type", jsonObject{"type": nil}, nil},
		{"two actor types", jsonObject{"type": []any{"Person", "Group"}}, nil},
		{"no username", jsonObject{"preferredUsername": nil}, nil},
		{"a username that is a handle", jsonObject{"preferredUsername": "x@other.example"}, nil},
		{"a username with markup", jsonObject{"preferredUsername": "<x>"}, nil},
		{"a username as an array", jsonObject{"preferredUsername": []any{"x"}}, nil},
		{"a very long username", jsonObject{"preferredUsername": strings.Repeat("x", 3000)}, nil},
		{"no inbox", jsonObject{"inbox": nil}, nil},
		{"an inbox on another host (107)", jsonObject{"inbox": "https://other.example/inbox"}, nil},
		{"a javascript: inbox", jsonObject{"inbox": "javascript:x"}, nil},
		{"an id in an array", jsonObject{"id": []any{id}}, nil},
		{"an id as an object", jsonObject{"id": jsonObject{"id": id}}, nil},
		{"no id", jsonObject{"id": nil}, nil},
		{"a relative id", jsonObject{"id": "/users/x"}, nil},
		{"an id with a fragment", jsonObject{"id": id + "#me"}, nil},
		{"an id of this server", jsonObject{"id": "http://localhost:4/users/x"}, nil},
		{"an id with a user", jsonObject{"id": "https://peer.example@evil.example/x", "inbox": "https://evil.example/i"}, nil},
		{"an id with a number for a host", jsonObject{"id": "https://192.0.2.1/x", "inbox": "https://192.0.2.1/i"}, nil},
		{"an id with a host of one word", jsonObject{"id": "https://intern/x", "inbox": "https://intern/i"}, nil},
		{"an id with a dot at the end", jsonObject{"id": "https://peer.example./x", "inbox": "https://peer.example./i"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(p.person("x", tt.change))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := activity.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Reader.parseActor(doc)
			switch {
			case tt.check == nil && err == nil:
				t.Errorf("accepted: %+v", got)
			case tt.check != nil && err != nil:
				t.Error(err)
			case tt.check != nil && !tt.check(got):
				t.Errorf("got %+v %+v", got.account, got.actor)
			}
			if err == nil {
				if _, err := a.Actors.importActor(t.Context(), doc, &webFinger{nick: got.account.Nickname, domain: p.host, Actor: doc.ID()}, false); err != nil {
					t.Errorf("not stored: %v", err)
				}
			}
		})
	}
}

func emojiTag(name, address string) jsonObject {
	return jsonObject{"type": "Emoji", "name": name, "icon": jsonObject{"type": "Image", "url": address}}
}

func repeated(n int, v any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// TestActorKeys parses the forms of keys (40), and keys that are not the actor's (39).
func TestActorKeys(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.url + "/users/x"
	key := peerKey()
	good := pemOf(key)
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&key.PublicKey)}))
	short, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 511, 1), E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	weak := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: short}))
	of := func(id, owner, text string) jsonObject {
		return jsonObject{"id": id, "owner": owner, "publicKeyPem": text}
	}
	multi := func(controller any) jsonObject {
		return jsonObject{"id": id + "#ed", "type": "Multikey", "controller": controller, "publicKeyMultibase": "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"}
	}
	for _, tt := range []struct {
		name   string
		change jsonObject
		keys   int
	}{
		{"an object", jsonObject{"publicKey": of(id+"#main-key", id, good)}, 1},
		{"an array", jsonObject{"publicKey": []any{of(id+"#a", id, good), of(id+"#b", id, good)}}, 2},
		{"an id like the actor's", jsonObject{"publicKey": of(id, id, good)}, 1},
		{"no id", jsonObject{"publicKey": jsonObject{"owner": id, "publicKeyPem": good}}, 1},
		{"no owner", jsonObject{"publicKey": jsonObject{"id": id + "#main-key", "publicKeyPem": good}}, 1},
		{"PKCS 1", jsonObject{"publicKey": of(id+"#k", id, pkcs1)}, 1},
		{"other line ends", jsonObject{"publicKey": of(id+"#k", id, strings.ReplaceAll(good, "\n", "\r\n"))}, 1},
		{"no line end at the end", jsonObject{"publicKey": of(id+"#k", id, strings.TrimSpace(good))}, 1},
		{"4096 bits", jsonObject{"publicKey": of(id+"#k", id, pemOf(bigKey()))}, 1},
		{"512 bits", jsonObject{"publicKey": of(id+"#k", id, weak)}, 0},
		{"no key", jsonObject{"publicKey": of(id+"#k", id, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----")}, 0},
		{"of another host", jsonObject{"publicKey": of("https://other.example/users/y#main-key", id, good)}, 0},
		{"of another owner", jsonObject{"publicKey": of(id+"#k", p.url+"/users/y", good)}, 0},
		{"named only", jsonObject{"publicKey": id + "/main-key"}, 0},
		{"Ed25519", jsonObject{"assertionMethod": []any{multi(id), id + "#other"}}, 2},
		{"Ed25519 of another", jsonObject{"assertionMethod": multi(p.url + "/users/y")}, 1},
		{"Ed25519 without an owner", jsonObject{"assertionMethod": multi(nil)}, 1},
		{"too many", jsonObject{"publicKey": manyKeys(id, good)}, maxActorKeys},
		{"none", jsonObject{"publicKey": nil}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, _ := json.Marshal(p.person("x", tt.change))
			doc, err := activity.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Reader.parseActor(doc)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.keys) != tt.keys {
				t.Errorf("%d keys, want %d", len(got.keys), tt.keys)
			}
			for _, k := range got.keys {
				if _, err := parseStoredKey(k.Public); err != nil {
					t.Errorf("%s: %v", k.URI, err)
				}
			}
		})
	}
}

func manyKeys(id, text string) []any {
	var list []any
	for i := range 100 {
		list = append(list, jsonObject{"id": fmt.Sprintf("%s#%d", id, i), "owner": id, "publicKeyPem": text})
	}
	return list
}

// TestActorForged checks that documents with another id than their URL, or another media type, are refused (113, 114, 116).
func TestActorForged(t *testing.T) {
	a, p, evil := newHarness(t), newFakePeer(t), newFakePeer(t)
	victim := p.actor("victim")
	body, _ := json.Marshal(p.person("victim"))
	evil.serve("/users/victim", p.person("victim"))
	evil.on("/hop", redirectTo(victim))
	p.on("/open", redirectTo(evil.url+"/users/victim"))
	p.serve("/copy", p.person("victim", jsonObject{"name": "copy"}))
	p.serve("/wrong", p.person("nobody"))
	for i, kind := range []string{"text/plain", "application/json", "image/png", "application/ld+json", "application/ld+json; profile=\"https://other.example\"", "text/html"} {
		p.on(fmt.Sprint("/kind", i), response(200, kind, string(body)))
	}
	p.on("/private", redirectTo("http://10.0.0.1/users/victim"))
	p.on("/loop", redirectTo(p.url+"/loop"))
	p.on("/long", response(200, "application/activity+json", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`))
	p.on("/twice", response(200, "application/activity+json", `{"id":"`+victim+`","id":"`+victim+`"}`))
	p.on("/graph", response(200, "application/activity+json", `{"id":"`+victim+`","@graph":[]}`))
	for _, path := range []string{
		evil.url + "/users/victim", p.url + "/open", p.url + "/wrong", p.url + "/private", p.url + "/loop", p.url + "/long", p.url + "/twice", p.url + "/graph",
		p.url + "/kind0", p.url + "/kind1", p.url + "/kind2", p.url + "/kind3", p.url + "/kind4", p.url + "/kind5",
		"http://localhost:4/users/x", "ap://x/y", "https://user@peer.example/", "https://10.1.2.3/", "https://intern/",
	} {
		if got, err := a.Actors.Actor(t.Context(), path); err == nil {
			t.Errorf("%s: got %s", path, got.URI)
		}
	}
	if _, err := a.db.AccountByURI(t.Context(), victim); !errs.IsNotFound(err) {
		t.Errorf("an account was stored: %v", err)
	}
	for _, path := range []string{p.url + "/copy", evil.url + "/hop"} { // other URLs of the document
		got, err := a.Actors.FetchActor(t.Context(), path)
		if err != nil || got.URI != victim || got.DisplayName != "victim" {
			t.Errorf("%s: got %v, %v", path, got, err)
		}
	}
	p.on("/main-typed", response(200, `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`, string(body)))
	if got, err := a.Actors.FetchActor(t.Context(), p.url+"/main-typed"); err != nil || got.URI != victim {
		t.Errorf("ld+json with the profile: %v, %v", got, err)
	}
}

// TestLearnKey checks which account owns the key of a signature (28, 29, 30, 39).
func TestLearnKey(t *testing.T) {
	a, p, evil := newHarness(t), newFakePeer(t), newFakePeer(t)
	key := peerKey()
	caller := func(keyID string) string {
		t.Helper()
		signer, err := a.Verifier.VerifyRequest(t.Context(), a.signed(keyID, key))
		if err != nil {
			return "?"
		}
		return strings.TrimPrefix(strings.TrimPrefix(signer.URI, p.url), evil.url)
	}
	stub := func(name string, changes ...jsonObject) jsonObject {
		id := p.url + "/users/" + name
		return p.person(name, append([]jsonObject{{"publicKey": jsonObject{"id": id + "/main-key", "owner": id, "publicKeyPem": pemOf(key)}}}, changes...)...)
	}
	alice := p.actor("alice")

	p.actor("gts", stub("gts")) // the key id serves a stub of the actor
	p.serve("/users/gts/main-key", stub("gts", jsonObject{"inbox": nil, "followers": nil}))

	bare := p.url + "/users/bare"
	p.actor("bare", jsonObject{"publicKey": bare + "/key"})
	p.serve("/users/bare/key", jsonObject{"id": bare + "/key", "type": "Key", "owner": bare, "publicKeyPem": pemOf(key)})

	p.actor("innocent") // does not list the key that names it as owner
	p.serve("/stray", jsonObject{"id": p.url + "/stray", "owner": p.url + "/users/innocent", "publicKeyPem": pemOf(key)})
	evil.serve("/key", jsonObject{"id": evil.url + "/key", "owner": alice, "publicKeyPem": pemOf(key)})

	evil.actor("mallory", jsonObject{"publicKey": jsonObject{"id": alice + "#main-key", "owner": evil.url + "/users/mallory", "publicKeyPem": pemOf(key)}})

	odd := p.actor("odd", jsonObject{"publicKey": jsonObject{"id": p.url + "/users/odd", "owner": p.url + "/users/odd", "publicKeyPem": pemOf(key)}})
	for _, tt := range []struct{ name, keyID, want string }{
		{"the usual form", alice + "#main-key", "/users/alice"},
		{"a stub at the key id", p.url + "/users/gts/main-key", "/users/gts"},
		{"a key in its own document", bare + "/key", "/users/bare"},
		{"a key with the id of its actor", odd, "/users/odd"},
		{"a key that its owner does not list", p.url + "/stray", "?"},
		{"a key of another host", evil.url + "/key", "?"},
		{"a key that does not exist", p.url + "/none", "?"},
		{"a key of this server", "http://localhost:4/internal/fetch#main-key", "?"},
		{"not a URL", "acct:x@y.example", "?"},
		{"another key", alice + "#other", "?"},
	} {
		if got := caller(tt.keyID); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	p.requests()
	if _, err := a.Actors.Actor(t.Context(), evil.url+"/users/mallory"); err != nil {
		t.Fatal(err)
	}
	if k, err := a.db.ActorKey(t.Context(), alice+"#main-key"); err != nil || k == nil || k.AccountID != a.row(alice).ID {
		t.Errorf("the key of alice is %v, %v", k, err)
	}
	if got := caller(bare + "/key"); got != "/users/bare" || p.requests() != 0 {
		t.Errorf("a known key: %s", got)
	}
	if _, err := a.Actors.FetchActor(t.Context(), bare); err != nil { // its document has only the id of the key
		t.Fatal(err)
	}
	p.requests()
	if got := caller(bare + "/key"); got != "/users/bare" || p.requests() != 0 {
		t.Errorf("a key fetched separately is lost: %s", got)
	}

	old := key
	key = newRSA(2048)
	p.actor("alice", jsonObject{"publicKey": jsonObject{"id": alice + "#main-key", "owner": alice, "publicKeyPem": pemOf(key)}})
	if got := caller(alice + "#main-key"); got != "/users/alice" {
		t.Errorf("after a rotation of keys: %s", got)
	}
	p.requests()
	key = old
	if got := caller(alice + "#main-key"); got != "?" || p.requests() != 0 {
		t.Errorf("the old key: %s", got)
	}
}

// TestKeyTaken checks that an actor cannot claim the key id of another actor of the same server.
func TestKeyTaken(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	for _, end := range []string{"#main-key", "/main-key"} {
		name := map[string]string{"#main-key": "bob", "/main-key": "carol"}[end]
		owner, thief := p.url+"/users/"+name, p.url+"/users/thief-of-"+name
		p.actor("thief-of-"+name, jsonObject{"publicKey": jsonObject{"id": owner + end, "owner": thief, "publicKeyPem": pemOf(bigKey())}})
		if _, err := a.Actors.Actor(t.Context(), thief); err != nil {
			t.Fatal(err)
		}
		key := jsonObject{"publicKey": jsonObject{"id": owner + end, "owner": owner, "publicKeyPem": pemOf(peerKey())}}
		p.actor(name, key)
		p.serve("/users/"+name+"/main-key", p.person(name, key))
		for range 2 {
			if signer, err := a.Verifier.VerifyRequest(t.Context(), a.signed(owner+end, peerKey())); err != nil || signer.URI != owner {
				t.Errorf("%s: got %v, %v", end, signer, err)
			}
			if _, err := a.Actors.FetchActor(t.Context(), thief); err != nil { // tries again
				t.Fatal(err)
			}
		}
		if signer, err := a.Verifier.VerifyRequest(t.Context(), a.signed(owner+end, bigKey())); err == nil {
			t.Errorf("%s: the signer with the false key is %s", end, signer.URI)
		}
	}
}

// TestKeyTakenByPrefix checks that an actor whose id is a prefix of the key id cannot claim it either.
func TestKeyTakenByPrefix(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	owner, thief := p.url+"/users/bob", p.url+"/users"
	p.actor("bob", jsonObject{"publicKey": jsonObject{"id": owner + "#main-key", "owner": owner, "publicKeyPem": pemOf(peerKey())}})
	if signer, err := a.Verifier.VerifyRequest(t.Context(), a.signed(owner+"#main-key", peerKey())); err != nil || signer.URI != owner {
		t.Fatalf("got %v, %v", signer, err)
	}
	p.serve("/users", p.person("thief", jsonObject{
		"id": thief, "inbox": thief + "/inbox", "publicKey": jsonObject{"id": owner + "#main-key", "owner": thief, "publicKeyPem": pemOf(bigKey())},
	}))
	if _, err := a.Actors.FetchActor(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	if signer, err := a.Verifier.VerifyRequest(t.Context(), a.signed(owner+"#main-key", bigKey())); err == nil {
		t.Errorf("the signer with the false key is %s", signer.URI)
	}
}

// TestUpdateActor checks which members an Update of an actor changes (107, 4.4).
func TestUpdateActor(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice")
	row, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p.requests()
	update := func(o any) error {
		b, err := json.Marshal(jsonObject{"type": "Update", "actor": id, "object": o})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := activity.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		return a.Actors.UpdateActor(WithoutFetching(t.Context()), row, doc.Object("object"))
	}
	err = update(p.person("alice", jsonObject{"name": "New", "icon": jsonObject{"url": "https://m.example/new.png"}, "inbox": id + "/inbox2"}))
	if got := a.row(id); err != nil || got.DisplayName != "New" || got.Avatar != "https://m.example/new.png" || got.ID != row.ID {
		t.Errorf("got %+v, %v", got, err)
	}
	a.wait(0)
	if n := p.requests(); n != 0 {
		t.Errorf("%d requests for an embedded profile", n)
	}
	if err := update(p.person("bob")); err == nil {
		t.Error("another actor was updated")
	}
	// Neither inbox, nor name, nor key: unexpected changes are fetched from the origin.
	other := newRSA(2048)
	for _, change := range []jsonObject{
		{"inbox": "https://other.example/inbox"},
		{"preferredUsername": "root"},
		{"publicKey": jsonObject{"id": id + "#main-key", "owner": id, "publicKeyPem": pemOf(other)}},
	} {
		p.actor("alice", jsonObject{"name": "Origin"})
		if err := update(p.person("alice", change)); err != nil {
			t.Error(err)
		}
		key, err := a.db.ActorKey(t.Context(), id+"#main-key")
		if err != nil || key == nil || key.Public != pemOf(peerKey()) {
			t.Errorf("the key is %v, %v", key, err)
		}
		a.wait(minRefreshInterval)
		actor, err := a.db.Actor(t.Context(), row.ID)
		if got := a.row(id); err != nil || got.DisplayName != "Origin" || got.Nickname != "alice" || !strings.HasPrefix(actor.Inbox, id) {
			t.Errorf("%v: got %+v %+v, %v", change, got, actor, err)
		}
	}
	p.requests()
	for range 50 { // the number of fetches is limited
		if err := update(id); err != nil {
			t.Error(err)
		}
	}
	a.wait(0)
	a.wait(minRefreshInterval)
	if n := p.requests(); n > 2 {
		t.Errorf("%d requests for fifty updates", n)
	}
}

// TestRefresh checks when accounts are refreshed, and deleted if they no longer exist (3.8, 51).
func TestRefresh(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice")
	if _, err := a.Actors.Actor(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	active := func() { // the account sends an activity
		t.Helper()
		for range 3 {
			if _, err := a.Actors.Actor(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		a.wait(0)
	}
	p.actor("alice", jsonObject{"name": "Later"})
	a.wait(12 * time.Hour)
	active()
	if p.requests(); a.row(id).DisplayName != "alice" {
		t.Error("refreshed too soon")
	}
	a.wait(13 * time.Hour)
	active()
	if got := a.row(id).DisplayName; got != "Later" || p.requests() != 1 {
		t.Errorf("after a day: %s", got)
	}

	p.on("/users/alice", response(500, "text/plain", ""))
	a.wait(25 * time.Hour)
	active()
	a.wait(60 * time.Hour)
	active()
	if a.row(id).DeletedAt != nil {
		t.Error("deleted because its server failed")
	}

	p.on("/users/alice", nil)
	a.wait(25 * time.Hour)
	active()
	if a.row(id).DeletedAt != nil {
		t.Error("deleted at the first 404")
	}
	p.actor("alice")
	a.wait(26 * time.Hour) // the account is found again
	p.on("/users/alice", nil)
	a.wait(25 * time.Hour)
	active()
	if a.row(id).DeletedAt != nil {
		t.Error("deleted at the first 404 after it was found again")
	}
	a.wait(26 * time.Hour)
	if a.row(id).DeletedAt == nil {
		t.Error("not deleted by two 404 a day apart")
	}

	// It stays deleted for a day, and is restored only when it is looked up.
	p.actor("alice", jsonObject{"name": "Restored"})
	p.requests()
	for _, fetchIt := range []func() error{
		func() error { _, err := a.Actors.Actor(t.Context(), id); return err },
		func() error { _, err := a.Actors.FetchActor(t.Context(), id); return err },
		func() error { return a.Actors.fetchKeyOwner(t.Context(), id+"#main-key") },
	} {
		if err := fetchIt(); !IsNotFoundOrGone(err) {
			t.Errorf("got %v", err)
		}
	}
	a.wait(25 * time.Hour)
	if _, err := a.Actors.Actor(t.Context(), id); !IsNotFoundOrGone(err) {
		t.Errorf("got %v", err)
	}
	if err := a.Actors.fetchKeyOwner(t.Context(), id+"#main-key"); !IsNotFoundOrGone(err) {
		t.Errorf("got %v", err)
	}
	got, err := a.Actors.FetchActor(t.Context(), id)
	if err != nil || got.DeletedAt != nil || got.Unavailable || got.DisplayName != "Restored" || got.Nickname != "alice" {
		t.Errorf("got %+v, %v", got, err)
	}

	p.on("/users/alice", response(410, "application/activity+json", `{"id":"`+id+`","type":"Tombstone"}`))
	a.wait(25 * time.Hour)
	active()
	if row := a.row(id); row.DeletedAt == nil || row.DisplayName != "" {
		t.Errorf("not deleted by 410: %+v", row)
	}
	if k, err := a.db.ActorKey(t.Context(), id+"#main-key"); k != nil || err != nil {
		t.Errorf("its key still exists: %v, %v", k, err)
	}
}

// TestSuspendedByItsServer checks that an account that its own server suspended is unavailable until that ends.
func TestSuspendedByItsServer(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice", jsonObject{"suspended": true})
	for _, suspended := range []bool{true, false, true} {
		p.actor("alice", jsonObject{"suspended": suspended})
		got, err := a.Actors.FetchActor(t.Context(), id)
		if err != nil || got.Unavailable != suspended {
			t.Errorf("suspended %v: %v, %v", suspended, got, err)
		}
	}
}

// TestConcurrentActorFetches checks that concurrent fetches of an actor make one request.
func TestConcurrentActorFetches(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice")
	failures := make(chan error)
	for range 20 {
		go func() {
			_, err := a.Actors.Actor(t.Context(), id)
			failures <- err
		}()
	}
	for range 20 {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	if n := p.requests(); n > 4 { // a caller just after the first response may fetch again
		t.Errorf("%d requests", n)
	}
}

// FuzzActor checks that no document makes the parser panic or return a URL that is not allowed.
func FuzzActor(f *testing.F) {
	a := newHarness(f)
	p := &fakePeer{url: "https://peer.example"}
	for _, change := range []jsonObject{
		{}, {"type": []any{"Person", "Group"}}, {"icon": []any{jsonObject{"url": jsonObject{"href": "https://10.0.0.1/"}}}}, {"url": []any{"javascript:x", jsonObject{"href": 1}}},
		{"tag": []any{emojiTag(":a:", "https://m.example/a")}, "attachment": jsonObject{"type": "PropertyValue", "name": "a", "value": "<a href=x>"}},
		{"assertionMethod": []any{"x", jsonObject{"id": "https://peer.example/k", "publicKeyMultibase": "z6Mk"}}}, {"endpoints": jsonObject{"sharedInbox": "https://[::1]/"}},
	} {
		b, _ := json.Marshal(p.person("x", change))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := activity.Parse(b)
		if err != nil {
			return
		}
		reader := *a.Reader
		reader.Settings = &config.Live{Site: a.Reader.Settings.Site}
		reader.Settings.AllowLoopback = false
		got, err := reader.parseActor(doc)
		if err != nil {
			return
		}
		addresses := []string{
			got.account.URI, got.account.URL, got.account.Avatar, got.account.Header, got.actor.Inbox, got.actor.SharedInbox, got.actor.Outbox, got.actor.Followers,
			got.actor.Following, got.actor.Featured, got.actor.MovedTo,
		}
		addresses = append(addresses, got.account.AlsoKnownAs.V...)
		for _, e := range got.account.Emojis.V {
			addresses = append(addresses, e.URL)
		}
		for _, k := range got.keys {
			addresses = append(addresses, activity.WithoutFragment(k.URI))
			if !activity.SameHost(activity.WithoutFragment(k.URI), got.account.URI, false) {
				t.Errorf("key %q of %q", k.URI, got.account.URI)
			}
		}
		for _, address := range addresses {
			if address == "" {
				continue
			}
			if _, err := activity.Host(address, false); err != nil {
				t.Errorf("%q: %v", address, err)
			}
		}
		if got.account.Nickname == "" || strings.ContainsAny(got.account.Nickname, "@/<> ") || len(got.account.Fields.V) > maxFields || len(got.keys) > maxActorKeys {
			t.Errorf("got %+v", got.account)
		}
	})
}

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
	"svc/internal/errs"
)

// A mention by an actor never seen costs two requests: for its document, and for its handle.
func TestActorCosts(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	a.wait(0)
	if n := p.asks(); n != 2 {
		t.Errorf("%d requests for an actor, want 2", n)
	}
	again, err := a.Actors.Actor(t.Context(), id)
	if err != nil || again.ID != first.ID || again.Acct() != "alice@"+p.host {
		t.Errorf("got %v, %v", again, err)
	}
	if n := p.asks(); n != 0 {
		t.Errorf("%d requests for a known actor", n)
	}
	if _, err := a.Actors.Actor(WithoutFetching(t.Context()), p.url+"/users/other"); !errors.Is(err, ErrFetchNeeded) {
		t.Errorf("got %v from who may not ask", err)
	}
}

// What servers send as actors (federation 1.7, 7.1), and what becomes of it.
func TestActorShapes(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.url + "/users/x"
	yes := true
	for _, tt := range []struct {
		name   string
		change jsonObject
		check  func(*parsedActor) bool
	}{
		{"as usual", jsonObject{}, func(p *parsedActor) bool { return p.account.Nickname == "x" && len(p.keys) == 1 }},
		{"types in an array", jsonObject{"type": []any{"Object", "Service"}}, func(p *parsedActor) bool { return p.account.ActorType == "Service" }},
		{"a group", jsonObject{"type": "Group"}, func(p *parsedActor) bool { return p.account.ActorType == "Group" }},
		{"an empty name", jsonObject{"name": ""}, func(p *parsedActor) bool { return p.account.DisplayName == "x" }},
		{"no name", jsonObject{"name": nil}, func(p *parsedActor) bool { return p.account.DisplayName == "x" }},
		{"names in languages", jsonObject{"name": nil, "nameMap": jsonObject{"de": "Ex"}}, func(p *parsedActor) bool { return p.account.DisplayName == "Ex" }},
		{"a name on two lines", jsonObject{"name": "a\n\x00b\u0007"}, func(p *parsedActor) bool { return p.account.DisplayName == "a b" }},
		{"an endless name", jsonObject{"name": strings.Repeat("n", 100_000)}, func(p *parsedActor) bool { return len(p.account.DisplayName) < maxName+3 }},
		{"a name with markup is text", jsonObject{"name": "<b>x</b>"}, func(p *parsedActor) bool { return p.account.DisplayName == "<b>x</b>" }},
		{"no summary", jsonObject{"summary": nil}, func(p *parsedActor) bool { return p.account.Note == "" }},
		{"a hostile summary", jsonObject{"summary": `<p onclick="x">hi<script>alert(1)</script><a href="javascript:x">l</a>`}, func(p *parsedActor) bool {
			return !strings.Contains(p.account.Note, "script") && !strings.Contains(p.account.Note, "onclick") && strings.Contains(p.account.Note, "hi")
		}},
		{"an endless summary", jsonObject{"summary": strings.Repeat("<p>y</p>", 20_000)}, func(p *parsedActor) bool { return len(p.account.Note) <= 2*maxSummary }},
		{"icon as an object", jsonObject{"icon": jsonObject{"type": "Image", "url": "https://m.example/a.png"}}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/a.png" }},
		{"icon as text", jsonObject{"icon": "https://m.example/a.png"}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/a.png" }},
		{"icons", jsonObject{"icon": []any{jsonObject{"url": "ftp://x/"}, jsonObject{"url": []any{jsonObject{"href": "https://m.example/b.png"}}}}}, func(p *parsedActor) bool {
			return p.account.Avatar == "https://m.example/b.png"
		}},
		{"icon with a link", jsonObject{"icon": jsonObject{"url": jsonObject{"href": "https://m.example/c.png"}}}, func(p *parsedActor) bool { return p.account.Avatar == "https://m.example/c.png" }},
		{"icon that is a film", jsonObject{"icon": jsonObject{"mediaType": "video/mp4", "url": "https://m.example/a.mp4"}}, func(p *parsedActor) bool { return p.account.Avatar == "" }},
		{"icon inside", jsonObject{"icon": jsonObject{"url": "https://10.0.0.1/a.png"}}, func(p *parsedActor) bool { return p.account.Avatar == "" }},
		{"image that runs", jsonObject{"image": jsonObject{"url": "javascript:alert(1)"}}, func(p *parsedActor) bool { return p.account.Header == "" }},
		{"a page", jsonObject{"url": p.url + "/@x"}, func(pp *parsedActor) bool { return pp.account.URL == p.url+"/@x" }},
		{"pages", jsonObject{"url": []any{jsonObject{"href": p.url + "/x.json", "mediaType": "application/json"}, jsonObject{"href": p.url + "/@x", "mediaType": "text/html"}}}, func(pp *parsedActor) bool {
			return pp.account.URL == p.url+"/@x"
		}},
		{"a page on another host", jsonObject{"url": "https://other.example/@x"}, func(p *parsedActor) bool { return p.account.URL == id }},
		{"a page that runs", jsonObject{"url": "javascript:x"}, func(p *parsedActor) bool { return p.account.URL == id }},
		{"locked", jsonObject{"manuallyApprovesFollowers": true}, func(p *parsedActor) bool { return p.account.Locked }},
		{"may be found, or not known", jsonObject{"discoverable": nil, "indexable": "true"}, func(p *parsedActor) bool { return !p.account.Discoverable && p.actor.Indexable }},
		{"chats", jsonObject{"capabilities": jsonObject{"acceptsChatMessages": true}}, func(p *parsedActor) bool { return *p.account.AcceptsChatMessages == yes }},
		{"no setting for chats", jsonObject{}, func(p *parsedActor) bool { return p.account.AcceptsChatMessages == nil }},
		{"a birthday", jsonObject{"vcard:bday": "1990-04-01"}, func(p *parsedActor) bool { return p.account.Birthday == "1990-04-01" && p.account.ShowBirthday }},
		{"no day", jsonObject{"vcard:bday": "1990-04-31"}, func(p *parsedActor) bool { return p.account.Birthday == "" }},
		{"since", jsonObject{"published": "2020-01-02T03:04:05Z"}, func(p *parsedActor) bool { return p.account.CreatedAt.Time().Year() == 2020 }},
		{"of the future", jsonObject{"published": "9999-01-02T03:04:05Z"}, func(p *parsedActor) bool { return p.account.CreatedAt == 0 }},
		{"one alias", jsonObject{"alsoKnownAs": "https://a.example/u"}, func(p *parsedActor) bool { return len(p.account.AlsoKnownAs.V) == 1 }},
		{"aliases that are none", jsonObject{"alsoKnownAs": []any{"acct:x@y", 7, "http://[::1]:1x/", "https://a.example/u"}}, func(p *parsedActor) bool {
			return len(p.account.AlsoKnownAs.V) == 1
		}},
		{"shared inbox beside", jsonObject{"sharedInbox": p.url + "/inbox"}, func(pp *parsedActor) bool { return pp.actor.SharedInbox == p.url+"/inbox" }},
		{"shared inbox on another host", jsonObject{"endpoints": jsonObject{"sharedInbox": "https://other.example/inbox"}}, func(p *parsedActor) bool { return p.actor.SharedInbox == "" }},
		{"collections on another host", jsonObject{"followers": "https://other.example/f", "outbox": "https://other.example/o", "featured": "https://other.example/p"}, func(p *parsedActor) bool {
			return p.actor.Followers == "" && p.actor.Outbox == "" && p.actor.Featured == ""
		}},
		{"followers that are itself", jsonObject{"followers": id}, func(p *parsedActor) bool { return p.actor.Followers == "" }},
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
		{"emoji of others", jsonObject{"tag": []any{emojiTag(":cat@.:", "https://m.example/cat.png"), emojiTag("dog", "https://m.example/dog.png")}}, func(p *parsedActor) bool {
			return len(p.account.Emojis.V) == 2 && p.account.Emojis.V[0].Shortcode == "cat"
		}},
		{"emoji that are none (72)", jsonObject{"tag": []any{emojiTag(":../x:", "https://m.example/cat.png"), emojiTag(":a:", "javascript:x"), jsonObject{"type": "Hashtag", "name": "#x"}, 5}}, func(p *parsedActor) bool {
			return len(p.account.Emojis.V) == 0
		}},
		{"moved", jsonObject{"movedTo": "https://new.example/u"}, func(p *parsedActor) bool { return p.actor.MovedTo == "https://new.example/u" }},
		{"moved nowhere", jsonObject{"movedTo": id}, func(p *parsedActor) bool { return p.actor.MovedTo == "" }},
		{"what nobody understands", jsonObject{"interactionPolicy": []any{1}, "memorial": "x", "suspended": 3, "generator": nil, "@language": "de"}, func(p *parsedActor) bool { return !p.actor.Suspended }},
		{"the actor of a server without a name", jsonObject{"type": "Application", "preferredUsername": nil}, func(pp *parsedActor) bool { return pp.account.Nickname == "127.0.0.1" }},
		{"a name with dots", jsonObject{"preferredUsername": "instance.actor"}, func(p *parsedActor) bool { return p.account.Nickname == "instance.actor" }},

		{"no actor", jsonObject{"type": "Note"}, nil},
		{"no type", jsonObject{"type": nil}, nil},
		{"two kinds at once", jsonObject{"type": []any{"Person", "Group"}}, nil},
		{"no username", jsonObject{"preferredUsername": nil}, nil},
		{"a username that is a handle", jsonObject{"preferredUsername": "x@other.example"}, nil},
		{"a username with markup", jsonObject{"preferredUsername": "<x>"}, nil},
		{"a username as an array", jsonObject{"preferredUsername": []any{"x"}}, nil},
		{"an endless username", jsonObject{"preferredUsername": strings.Repeat("x", 3000)}, nil},
		{"no inbox", jsonObject{"inbox": nil}, nil},
		{"an inbox on another host (107)", jsonObject{"inbox": "https://other.example/inbox"}, nil},
		{"an inbox that is a page", jsonObject{"inbox": "javascript:x"}, nil},
		{"an id in an array", jsonObject{"id": []any{id}}, nil},
		{"an id as an object", jsonObject{"id": jsonObject{"id": id}}, nil},
		{"no id", jsonObject{"id": nil}, nil},
		{"a relative id", jsonObject{"id": "/users/x"}, nil},
		{"an id with a fragment", jsonObject{"id": id + "#me"}, nil},
		{"an id of ours", jsonObject{"id": "http://localhost:4/users/x"}, nil},
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

// Keys as servers show them (40), and keys that are not theirs (39).
func TestActorKeys(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.url + "/users/x"
	key := stageKey()
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
		{"Ed25519 of nobody", jsonObject{"assertionMethod": multi(nil)}, 1},
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

// Documents that are not what their address says, or not shown as documents (113, 114, 116).
func TestActorForged(t *testing.T) {
	a, p, evil := newAsker(t), newStage(t), newStage(t)
	victim := p.actor("victim")
	body, _ := json.Marshal(p.person("victim"))
	evil.serve("/users/victim", p.person("victim"))
	evil.on("/hop", leadsTo(victim))
	p.on("/open", leadsTo(evil.url+"/users/victim"))
	p.serve("/copy", p.person("victim", jsonObject{"name": "copy"}))
	p.serve("/wrong", p.person("nobody"))
	for i, kind := range []string{"text/plain", "application/json", "image/png", "application/ld+json", "application/ld+json; profile=\"https://other.example\"", "text/html"} {
		p.on(fmt.Sprint("/kind", i), says(200, kind, string(body)))
	}
	p.on("/private", leadsTo("http://10.0.0.1/users/victim"))
	p.on("/loop", leadsTo(p.url+"/loop"))
	p.on("/long", says(200, "application/activity+json", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`))
	p.on("/twice", says(200, "application/activity+json", `{"id":"`+victim+`","id":"`+victim+`"}`))
	p.on("/graph", says(200, "application/activity+json", `{"id":"`+victim+`","@graph":[]}`))
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
		t.Errorf("something was stored: %v", err)
	}
	for _, path := range []string{p.url + "/copy", evil.url + "/hop"} { // other URLs of the document
		got, err := a.Actors.FetchActor(t.Context(), path)
		if err != nil || got.URI != victim || got.DisplayName != "victim" {
			t.Errorf("%s: got %v, %v", path, got, err)
		}
	}
	p.on("/main-typed", says(200, `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`, string(body)))
	if got, err := a.Actors.FetchActor(t.Context(), p.url+"/main-typed"); err != nil || got.URI != victim {
		t.Errorf("ld+json with the profile: %v, %v", got, err)
	}
}

// Whose signature is it (28, 29, 30, 39)?
func TestLearnKey(t *testing.T) {
	a, p, evil := newAsker(t), newStage(t), newStage(t)
	key := stageKey()
	caller := func(keyID string) string {
		t.Helper()
		who, err := a.Verifier.VerifyRequest(t.Context(), a.signed(keyID, key))
		if err != nil {
			return "?"
		}
		return strings.TrimPrefix(strings.TrimPrefix(who.URI, p.url), evil.url)
	}
	stub := func(name string, changes ...jsonObject) jsonObject {
		id := p.url + "/users/" + name
		return p.person(name, append([]jsonObject{{"publicKey": jsonObject{"id": id + "/main-key", "owner": id, "publicKeyPem": pemOf(key)}}}, changes...)...)
	}
	alice := p.actor("alice")

	p.actor("gts", stub("gts")) // its key's address shows the actor
	p.serve("/users/gts/main-key", stub("gts", jsonObject{"inbox": nil, "followers": nil}))

	bare := p.url + "/users/bare"
	p.actor("bare", jsonObject{"publicKey": bare + "/key"})
	p.serve("/users/bare/key", jsonObject{"id": bare + "/key", "type": "Key", "owner": bare, "publicKeyPem": pemOf(key)})

	p.actor("innocent") // does not list the key that says it is theirs
	p.serve("/stray", jsonObject{"id": p.url + "/stray", "owner": p.url + "/users/innocent", "publicKeyPem": pemOf(key)})
	evil.serve("/key", jsonObject{"id": evil.url + "/key", "owner": alice, "publicKeyPem": pemOf(key)})

	evil.actor("mallory", jsonObject{"publicKey": jsonObject{"id": alice + "#main-key", "owner": evil.url + "/users/mallory", "publicKeyPem": pemOf(key)}})

	odd := p.actor("odd", jsonObject{"publicKey": jsonObject{"id": p.url + "/users/odd", "owner": p.url + "/users/odd", "publicKeyPem": pemOf(key)}})
	for _, tt := range []struct{ name, keyID, want string }{
		{"as usual", alice + "#main-key", "/users/alice"},
		{"a stub at the address of the key", p.url + "/users/gts/main-key", "/users/gts"},
		{"a key by itself", bare + "/key", "/users/bare"},
		{"a key like its actor", odd, "/users/odd"},
		{"a key that its owner does not know", p.url + "/stray", "?"},
		{"a key of another host", evil.url + "/key", "?"},
		{"a key that is not there", p.url + "/none", "?"},
		{"a key of ours", "http://localhost:4/internal/fetch#main-key", "?"},
		{"no address", "acct:x@y.example", "?"},
		{"another key", alice + "#other", "?"},
	} {
		if got := caller(tt.keyID); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	p.asks()
	if _, err := a.Actors.Actor(t.Context(), evil.url+"/users/mallory"); err != nil {
		t.Fatal(err)
	}
	if k, err := a.db.ActorKey(t.Context(), alice+"#main-key"); err != nil || k == nil || k.AccountID != a.row(alice).ID {
		t.Errorf("the key of alice is %v, %v", k, err)
	}
	if got := caller(bare + "/key"); got != "/users/bare" || p.asks() != 0 {
		t.Errorf("a known key: %s", got)
	}
	if _, err := a.Actors.FetchActor(t.Context(), bare); err != nil { // its document names the key only
		t.Fatal(err)
	}
	p.asks()
	if got := caller(bare + "/key"); got != "/users/bare" || p.asks() != 0 {
		t.Errorf("a key fetched separately is lost: %s", got)
	}

	old := key
	key = newRSA(2048)
	p.actor("alice", jsonObject{"publicKey": jsonObject{"id": alice + "#main-key", "owner": alice, "publicKeyPem": pemOf(key)}})
	if got := caller(alice + "#main-key"); got != "/users/alice" {
		t.Errorf("after a rotation of keys: %s", got)
	}
	p.asks()
	key = old
	if got := caller(alice + "#main-key"); got != "?" || p.asks() != 0 {
		t.Errorf("the old key: %s", got)
	}
}

// Who says to have a key with the id of another's, of the same server, does not keep them from having it.
func TestKeyTaken(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	for _, end := range []string{"#main-key", "/main-key"} {
		name := map[string]string{"#main-key": "bob", "/main-key": "carol"}[end]
		bob, thief := p.url+"/users/"+name, p.url+"/users/thief-of-"+name
		p.actor("thief-of-"+name, jsonObject{"publicKey": jsonObject{"id": bob + end, "owner": thief, "publicKeyPem": pemOf(bigKey())}})
		if _, err := a.Actors.Actor(t.Context(), thief); err != nil {
			t.Fatal(err)
		}
		key := jsonObject{"publicKey": jsonObject{"id": bob + end, "owner": bob, "publicKeyPem": pemOf(stageKey())}}
		p.actor(name, key)
		p.serve("/users/"+name+"/main-key", p.person(name, key))
		for range 2 {
			if who, err := a.Verifier.VerifyRequest(t.Context(), a.signed(bob+end, stageKey())); err != nil || who.URI != bob {
				t.Errorf("%s: got %v, %v", end, who, err)
			}
			if _, err := a.Actors.FetchActor(t.Context(), thief); err != nil { // he tries again
				t.Fatal(err)
			}
		}
		if who, err := a.Verifier.VerifyRequest(t.Context(), a.signed(bob+end, bigKey())); err == nil {
			t.Errorf("%s: the thief is %s", end, who.URI)
		}
	}
}

// Nor does an actor whose id is a prefix of another's.
func TestKeyTakenFromBelow(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	bob, thief := p.url+"/users/bob", p.url+"/users"
	p.actor("bob", jsonObject{"publicKey": jsonObject{"id": bob + "#main-key", "owner": bob, "publicKeyPem": pemOf(stageKey())}})
	if who, err := a.Verifier.VerifyRequest(t.Context(), a.signed(bob+"#main-key", stageKey())); err != nil || who.URI != bob {
		t.Fatalf("got %v, %v", who, err)
	}
	p.serve("/users", p.person("thief", jsonObject{
		"id": thief, "inbox": thief + "/inbox", "publicKey": jsonObject{"id": bob + "#main-key", "owner": thief, "publicKeyPem": pemOf(bigKey())},
	}))
	if _, err := a.Actors.FetchActor(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	if who, err := a.Verifier.VerifyRequest(t.Context(), a.signed(bob+"#main-key", bigKey())); err == nil {
		t.Errorf("the key of bob is that of %s", who.URI)
	}
}

// Update(actor): what may change by it, and what not (107, 4.4).
func TestUpdateActor(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.actor("alice")
	row, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p.asks()
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
	if n := p.asks(); n != 0 {
		t.Errorf("%d requests for a profile that came whole", n)
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
		if err != nil || key == nil || key.Public != pemOf(stageKey()) {
			t.Errorf("the key is %v, %v", key, err)
		}
		a.wait(minRefreshInterval)
		actor, err := a.db.Actor(t.Context(), row.ID)
		if got := a.row(id); err != nil || got.DisplayName != "Origin" || got.Nickname != "alice" || !strings.HasPrefix(actor.Inbox, id) {
			t.Errorf("%v: got %+v %+v, %v", change, got, actor, err)
		}
	}
	p.asks()
	for range 50 { // nobody can have us ask as often as they like
		if err := update(id); err != nil {
			t.Error(err)
		}
	}
	a.wait(0)
	a.wait(minRefreshInterval)
	if n := p.asks(); n > 2 {
		t.Errorf("%d requests for fifty updates", n)
	}
}

// When accounts are refreshed, and deleted if they are gone (3.8, 51).
func TestRefresh(t *testing.T) {
	a, p := newAsker(t), newStage(t)
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
	if p.asks(); a.row(id).DisplayName != "alice" {
		t.Error("refreshed too soon")
	}
	a.wait(13 * time.Hour)
	active()
	if got := a.row(id).DisplayName; got != "Later" || p.asks() != 1 {
		t.Errorf("after a day: %s", got)
	}

	p.on("/users/alice", says(500, "text/plain", ""))
	a.wait(25 * time.Hour)
	active()
	a.wait(60 * time.Hour)
	active()
	if a.row(id).DeletedAt != nil {
		t.Error("deleted because its server was out of order")
	}

	p.on("/users/alice", nil)
	a.wait(25 * time.Hour)
	active()
	if a.row(id).DeletedAt != nil {
		t.Error("deleted at the first 404")
	}
	p.actor("alice")
	a.wait(26 * time.Hour) // is found again
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

	// It stays deleted for a day, and comes back only when it is looked up.
	p.actor("alice", jsonObject{"name": "Risen"})
	p.asks()
	for _, ask := range []func() error{
		func() error { _, err := a.Actors.Actor(t.Context(), id); return err },
		func() error { _, err := a.Actors.FetchActor(t.Context(), id); return err },
		func() error { return a.Actors.fetchKeyOwner(t.Context(), id+"#main-key") },
	} {
		if err := ask(); !IsNotFoundOrGone(err) {
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
	if err != nil || got.DeletedAt != nil || got.Unavailable || got.DisplayName != "Risen" || got.Nickname != "alice" {
		t.Errorf("got %+v, %v", got, err)
	}

	p.on("/users/alice", says(410, "application/activity+json", `{"id":"`+id+`","type":"Tombstone"}`))
	a.wait(25 * time.Hour)
	active()
	if row := a.row(id); row.DeletedAt == nil || row.DisplayName != "" {
		t.Errorf("not deleted by 410: %+v", row)
	}
	if k, err := a.db.ActorKey(t.Context(), id+"#main-key"); k != nil || err != nil {
		t.Errorf("its key is there: %v, %v", k, err)
	}
}

// An account that its own server has suspended is not shown until that ends.
func TestSuspendedElsewhere(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.actor("alice", jsonObject{"suspended": true})
	for _, suspended := range []bool{true, false, true} {
		p.actor("alice", jsonObject{"suspended": suspended})
		got, err := a.Actors.FetchActor(t.Context(), id)
		if err != nil || got.Unavailable != suspended {
			t.Errorf("suspended %v: %v, %v", suspended, got, err)
		}
	}
}

// An actor that is being asked for by many is asked for once.
func TestActorSharedFlight(t *testing.T) {
	a, p := newAsker(t), newStage(t)
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
	if n := p.asks(); n > 4 { // a caller just after the first response may fetch again
		t.Errorf("%d requests", n)
	}
}

// FuzzActor looks for documents that make the reader panic, or that have it return an address that is not allowed.
func FuzzActor(f *testing.F) {
	a := newAsker(f)
	p := &stage{url: "https://peer.example"}
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
		reader.AllowLoopback = false
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

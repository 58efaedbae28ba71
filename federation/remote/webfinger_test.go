package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
)

// TestLookup checks that a handle resolves to an actor if its server and the actor's server agree (federation 1.3).
func TestLookup(t *testing.T) {
	a, p, other, evil := newHarness(t), newFakePeer(t), newFakePeer(t), newFakePeer(t)
	alice := p.actor("alice")
	p.serveWebFinger("ALICE@"+p.host, "alice@"+p.host, alice)
	at := func(name string) string { return name + "@" + p.host }

	// other is the domain of handles, p that of actors.
	split := p.actor("split")
	other.on(webFingerPath("split@"+other.host), redirectTo(p.url+webFingerPath("split@"+other.host)))
	p.serveWebFinger("split@"+other.host, "split@"+other.host, split)
	p.serveWebFinger(at("split"), "split@"+other.host, split)
	claims := p.actor("claims", jsonObject{"webfinger": "claims@" + other.host})
	other.serveWebFinger("claims@"+other.host, "claims@"+other.host, claims)
	given := p.actor("given")
	other.serveWebFinger("given@"+other.host, "given@"+other.host, given)
	p.serveWebFinger(at("given"), "given@"+other.host, given)

	// evil claims handles of other servers.
	evil.serveWebFinger("alice@"+evil.host, "alice@"+evil.host, alice)
	evil.serveWebFinger("bob@"+evil.host, at("bob"), evil.url+"/users/bob")
	evil.actor("eve")
	evil.serveWebFinger("eve@"+evil.host, "eve@"+p.host, evil.url+"/users/eve")
	evil.actor("carol")
	p.serveWebFinger(at("carol"), at("carol"), evil.url+"/users/carol")
	evil.serveWebFinger("root@"+evil.host, "root@localhost:4", evil.url+"/users/eve")
	evil.serveWebFinger("local@"+evil.host, "local@"+evil.host, "http://localhost:4/users/x")
	evil.serveWebFinger("note@"+evil.host, "note@"+evil.host, evil.url+"/note")
	evil.serve("/note", jsonObject{"id": evil.url + "/note", "type": "Note"})
	evil.on(webFingerPath("private@"+evil.host), redirectTo("http://10.0.0.1/"))
	evil.on(webFingerPath("html@"+evil.host), response(200, "text/html", `{"subject":"acct:html@x"}`))
	evil.on(webFingerPath("big@"+evil.host), response(200, "application/jrd+json", `{"subject":"`+strings.Repeat("x", 300<<10)+`"}`))
	evil.on(webFingerPath("loop@"+evil.host), redirectTo(evil.url+webFingerPath("loop@"+evil.host)))

	for _, tt := range []struct{ name, handle, want, acct string }{
		{"as usual", "@" + at("alice"), alice, at("alice")},
		{"in another case", "ALICE@" + strings.ToUpper(p.host), alice, at("alice")},
		{"of a domain that redirects (18)", "split@" + other.host, split, "split@" + other.host},
		{"by the domain of the actor", at("split"), split, "split@" + other.host},
		{"claimed by the actor", "claims@" + other.host, claims, "claims@" + other.host},
		{"given by the actor's server", "given@" + other.host, given, "given@" + other.host},

		{"of an actor with a handle of another server", "alice@" + evil.host, alice, at("alice")}, // already known by its own handle
		{"whose subject is a handle of another server (17)", "bob@" + evil.host, "", ""},
		{"whose subject is a handle of another server that exists", "eve@" + evil.host, "", ""},
		{"of a server that names an actor of another server", at("carol"), "", ""},
		{"whose subject is a handle of this server", "root@" + evil.host, "", ""},
		{"whose actor is on this server", "local@" + evil.host, "", ""},
		{"whose actor is a post", "note@" + evil.host, "", ""},
		{"that redirects to a private address", "private@" + evil.host, "", ""},
		{"with an HTML response", "html@" + evil.host, "", ""},
		{"with a too large response", "big@" + evil.host, "", ""},
		{"with a redirect loop", "loop@" + evil.host, "", ""},
		{"of no account", at("nobody"), "", ""},
		{"of a host of one word", "x@intern", "", ""},
		{"of an IP address", "x@10.0.0.1", "", ""},
		{"of no local account", "nobody@localhost:4", "", ""},
		{"that is malformed", "x y@z", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.requests()
			got, err := a.Actors.Lookup(t.Context(), tt.handle)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("got %s", got.Acct())
			case tt.want != "" && (err != nil || got.URI != tt.want || got.Acct() != tt.acct):
				t.Errorf("got %+v, %v", got, err)
			}
			if n := p.requests(); tt.name == "as usual" && n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
	for _, domain := range []string{evil.host, p.host} {
		if _, err := a.db.AccountByName(t.Context(), "eve", domain); domain == p.host && !errs.IsNotFound(err) {
			t.Errorf("eve@%s is known: %v", domain, err)
		}
	}
}

// TestConfirm checks which handle an actor gets that is fetched by its id.
func TestConfirm(t *testing.T) {
	a, p, other := newHarness(t), newFakePeer(t), newFakePeer(t)
	withOtherHandle := func(name string) string { // its server returns a handle of other
		id := p.actor(name)
		p.serveWebFinger(name+"@"+p.host, name+"@"+other.host, id)
		return id
	}
	confirmed := withOtherHandle("confirmed")
	other.serveWebFinger("confirmed@"+other.host, "confirmed@"+other.host, confirmed)
	stolen := withOtherHandle("stolen")
	other.serveWebFinger("stolen@"+other.host, "stolen@"+other.host, other.url+"/users/stolen")
	unknown := withOtherHandle("unknown")
	broken := withOtherHandle("broken")
	other.on(webFingerPath("broken@"+other.host), response(500, "text/plain", ""))
	claimed := p.actor("claimed", jsonObject{"webfinger": "claimed@" + other.host})
	other.serveWebFinger("claimed@"+other.host, "claimed@"+other.host, claimed)
	unconfirmed := p.actor("unconfirmed", jsonObject{"webfinger": "unconfirmed@" + other.host})
	none := p.actor("none")
	p.on(webFingerPath("none@"+p.host), nil)
	down := p.actor("down")
	p.on(webFingerPath("down@"+p.host), response(503, "text/plain", ""))
	taken := p.actor("taken")
	p.serveWebFinger("taken@"+p.host, "taken@"+p.host, p.url+"/users/other")
	page := p.actor("page") // the handle resolves to another URL of the actor
	p.serveWebFinger("page@"+p.host, "page@"+p.host, p.url+"/@page")
	p.serve("/@page", p.person("page"))
	twin := p.actor("twin", jsonObject{"id": p.url + "/users/twin2", "inbox": p.url + "/twin2/inbox", "preferredUsername": "down"})
	p.on(webFingerPath("down@"+p.host), response(503, "text/plain", ""))
	for _, tt := range []struct{ name, id, want string }{
		{"of another domain that agrees", confirmed, "confirmed@" + other.host},
		{"of another domain that names another actor", stolen, ""},
		{"of another domain that does not know it (17)", unknown, ""},
		{"of another domain that fails", broken, "broken@" + p.host},
		{"claimed, and the domain agrees", claimed, "claimed@" + other.host},
		{"claimed, but the domain does not know", unconfirmed, "unconfirmed@" + p.host},
		{"without WebFinger", none, "none@" + p.host},
		{"with a failing WebFinger", down, "down@" + p.host},
		{"of another actor", taken, ""},
		{"by another URL", page, "page@" + p.host},
		{"that an account has and no server confirms", twin, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := a.Actors.Actor(t.Context(), tt.id)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("got %s", got.Acct())
			case tt.want != "" && (err != nil || got.Acct() != tt.want):
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestHandleConflict checks that two actors never have the same handle: the confirmed one gets it, the other is renamed and keeps its
func TestHandleConflict(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	old := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	young := p.actor("alice", jsonObject{"id": p.url + "/users/alice2", "inbox": p.url + "/users/alice2/inbox", "publicKey": nil})
	p.on("/users/alice", response(410, "text/plain", ""))
	second, err := a.Actors.Actor(t.Context(), young)
	if err != nil || second.Acct() != "alice@"+p.host || second.ID == first.ID {
		t.Fatalf("got %+v, %v", second, err)
	}
	if got := a.row(old); got.ID != first.ID || got.Nickname != first.ID.String()+".alice" || got.Domain != p.host {
		t.Errorf("the renamed account is %s", got.Acct())
	}
	if got, err := a.Actors.Lookup(t.Context(), "alice@"+p.host); err != nil || got.ID != second.ID {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestHandleChange checks that a renamed actor gets its new handle once that is confirmed.
func TestHandleChange(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	id := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p.serve("/users/alice", p.person("alice", jsonObject{"preferredUsername": "alicia"}))
	if got, err := a.Actors.FetchActor(t.Context(), id); err != nil || got.Acct() != "alice@"+p.host {
		t.Errorf("not confirmed: %v, %v", got, err)
	}
	p.serveWebFinger("alicia@"+p.host, "alicia@"+p.host, id)
	a.Fetcher.failures = newFailureCache()
	if got, err := a.Actors.FetchActor(t.Context(), id); err != nil || got.Acct() != "alicia@"+p.host || got.ID != first.ID {
		t.Errorf("confirmed: %v, %v", got, err)
	}
}

// TestHostMeta looks up handles with the template of host-meta, and in XML.
func TestHostMeta(t *testing.T) {
	a, p, other := newHarness(t), newFakePeer(t), newFakePeer(t)
	xrd := func(subject, href string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Subject>acct:` + subject +
			`</Subject><Alias>x</Alias><Link rel="self" type="text/html" href="x"/><Link rel="self" type="application/activity+json" href="` + href + `"/></XRD>`
	}
	template := func(address string) string {
		return `<XRD><Link rel="lrdd" type="application/xrd+xml" template="` + address + `"/></XRD>`
	}
	alice := p.actor("alice")
	p.on(webFingerPath("alice@"+p.host), response(404, "text/html", "no"))
	p.on("/.well-known/host-meta", response(200, "application/xrd+xml", template(p.url+"/finger?of={uri}")))
	p.on("/finger?of="+url.QueryEscape("acct:alice@"+p.host), response(200, "application/xrd+xml", xrd("alice@"+p.host, alice)))
	got, err := a.Actors.Lookup(t.Context(), "alice@"+p.host)
	if err != nil || got.URI != alice {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, meta := range []http.HandlerFunc{
		response(200, "application/xrd+xml", template("http://10.0.0.1/{uri}")),
		response(200, "application/xrd+xml", template("file:///etc/passwd?{uri}")),
		response(200, "application/xrd+xml", template("http://localhost:4/.well-known/webfinger?resource={uri}")),
		response(200, "application/xrd+xml", template(other.url+"/none")),
		response(200, "text/plain", template(p.url+"/finger?of={uri}")),
		response(200, "application/xrd+xml", `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><XRD><Subject>&b;</Subject></XRD>`),
	} {
		q := newFakePeer(t)
		q.actor("bob")
		q.on(webFingerPath("bob@"+q.host), nil)
		q.on("/.well-known/host-meta", meta)
		if got, err := a.Actors.Lookup(t.Context(), "bob@"+q.host); err == nil {
			t.Errorf("%d: got %v", i, got)
		}
	}
}

// TestDescriptorFiles looks up handles whose descriptors are files, which web servers declare as anything: so people keep a handle on their
// own domain.
func TestDescriptorFiles(t *testing.T) {
	const jrd = `{"subject":"acct:alice@HOST","links":[{"rel":"self","type":"application/activity+json","href":"ACTOR"}]}`
	const xrd = `<?xml version="1.0"?><XRD><Subject>acct:alice@HOST</Subject><Link rel="self" type="application/activity+json" href="ACTOR"/></XRD>`
	for _, tt := range []struct {
		name, declared, body string
		found                bool
	}{
		{"as bytes", "application/octet-stream", jrd, true},
		{"as text", "text/plain; charset=utf-8", jrd, true},
		{"as JSON", "application/json", jrd, true},
		{"as nothing", "", jrd, true},
		{"as rubbish", "json", jrd, true},
		{"after a byte order mark", "application/octet-stream", "\ufeff" + jrd, true},
		{"a subject without acct:", "text/plain", strings.Replace(jrd, "acct:", "", 1), true},
		{"a subject with @", "text/plain", strings.Replace(jrd, "acct:", "acct:@", 1), true},
		{"XML as bytes", "application/octet-stream", xrd, true},
		{"XML as text, after a byte order mark", "text/plain", "\ufeff\n" + xrd, true},
		{"XML as JSON", "application/jrd+json", xrd, true},
		{"JSON as HTML", "text/html", jrd, false},
		{"XML as XHTML", "application/xhtml+xml", xrd, false},
		{"a page as bytes", "application/octet-stream", "<!DOCTYPE html><html><body>" + jrd + "</body></html>", false},
		{"a page without a type", "", "<html><Subject>acct:alice@HOST</Subject></html>", false},
		{"another program's XML", "text/plain", strings.ReplaceAll(xrd, "XRD", "RDF"), false},
		{"a subject that is a page", "text/plain", strings.Replace(jrd, "acct:alice@HOST", "https://HOST/alice", 1), false},
		{"no subject", "text/plain", `{"links":[]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, home, p := newHarness(t), newFakePeer(t), newFakePeer(t)
			alice := p.actor("alice", jsonObject{"webfinger": "alice@" + home.host})
			file := strings.NewReplacer("HOST", home.host, "ACTOR", alice).Replace(tt.body)
			home.on(webFingerPath("alice@"+home.host), response(200, tt.declared, file))
			got, err := a.Actors.Lookup(t.Context(), "alice@"+home.host)
			if tt.found && (err != nil || got.URI != alice || got.Acct() != "alice@"+home.host) {
				t.Errorf("got %+v, %v", got, err)
			}
			if !tt.found && err == nil {
				t.Errorf("got %s", got.Acct())
			}
			template := `<XRD><Link rel="lrdd" template="` + p.url + `/finger?of={uri}"/></XRD>`
			meta := newFakePeer(t)
			meta.on("/.well-known/host-meta", response(200, tt.declared, template))
			p.on("/finger?of="+url.QueryEscape("acct:alice@"+meta.host), response(200, tt.declared, strings.NewReplacer("HOST", meta.host, "ACTOR", p.actor("alice", jsonObject{"webfinger": "alice@" + meta.host})).Replace(tt.body)))
			if got, err := a.Actors.Lookup(t.Context(), "alice@"+meta.host); (err == nil) != tt.found {
				t.Errorf("by host-meta: got %v, %v", got, err)
			}
		})
	}
}

// TestReadXRD checks that malformed and malicious XML descriptors are refused (20).
func TestReadXRD(t *testing.T) {
	deep := strings.Repeat("<a>", 100_000)
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `<Link rel="x" href="%d"/>`, i)
	}
	for _, bad := range []string{
		`<!DOCTYPE XRD [<!ENTITY x SYSTEM "file:///etc/passwd">]><XRD><Subject>&x;</Subject></XRD>`,
		`<!DOCTYPE lolz [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><XRD/>`,
		`<XRD><Subject>&unknown;</Subject></XRD>`, `<html><Subject>acct:a@b.example</Subject></html>`, `<XRD><Subject>`, `<XRD></LINK>`, deep, `<XRD>` + many.String() + `</XRD>`, `<XRD a=1/>`, "\xff\xfe",
		`<?xml version="1.0" encoding="UTF-16"?><XRD/>`,
	} {
		if d, err := parseXRD([]byte(bad)); err == nil || !errors.Is(err, activity.ErrMalformed) {
			t.Errorf("%.40q: got %v, %v", bad, d, err)
		}
	}
	d, err := parseXRD([]byte(`<XRD><Subject> acct:a@b.example </Subject><x><Link rel="self"/><Subject>no</Subject></x><Link rel="self" href="y"/></XRD>`))
	if err != nil || d.subject != "acct:a@b.example" || len(d.links) != 1 || d.links[0].href != "y" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// FuzzDescriptor checks that no WebFinger document makes the parser panic.
func FuzzDescriptor(f *testing.F) {
	f.Add([]byte(`<XRD><Subject>acct:a@b.example</Subject><Link rel="self" type="application/activity+json" href="https://b.example/a"/></XRD>`))
	f.Add([]byte(`{"subject":"acct:a@b.example","links":[{"rel":"self","type":"application/activity+json","href":"https://b.example/a"}]}`))
	reader := &Reader{Settings: new(config.Live)}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := reader.parseWebFinger(b)
		if err != nil {
			return
		}
		if _, err := activity.Host(got.Actor, false); err != nil || got.nick == "" || got.domain == "" {
			t.Errorf("got %+v", got)
		}
	})
}

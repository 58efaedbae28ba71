package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc/internal/activity"
	"svc/internal/errs"
)

// A handle leads to an actor if its server and the actor agree (federation 1.3).
func TestLookup(t *testing.T) {
	a, p, other, evil := newAsker(t), newStage(t), newStage(t), newStage(t)
	alice := p.actor("alice")
	p.finger("ALICE@"+p.host, "alice@"+p.host, alice)
	at := func(name string) string { return name + "@" + p.host }

	// other is the domain of handles, p that of actors.
	split := p.actor("split")
	other.on(fingerPath("split@"+other.host), leadsTo(p.url+fingerPath("split@"+other.host)))
	p.finger("split@"+other.host, "split@"+other.host, split)
	p.finger(at("split"), "split@"+other.host, split)
	claims := p.actor("claims", jsonObject{"webfinger": "claims@" + other.host})
	other.finger("claims@"+other.host, "claims@"+other.host, claims)
	says2 := p.actor("says")
	other.finger("says@"+other.host, "says@"+other.host, says2)
	p.finger(at("says"), "says@"+other.host, says2)

	// evil claims handles of others.
	evil.finger("alice@"+evil.host, "alice@"+evil.host, alice)
	evil.finger("bob@"+evil.host, at("bob"), evil.url+"/users/bob")
	evil.actor("eve")
	evil.finger("eve@"+evil.host, "eve@"+p.host, evil.url+"/users/eve")
	evil.actor("carol")
	p.finger(at("carol"), at("carol"), evil.url+"/users/carol")
	evil.finger("root@"+evil.host, "root@localhost:4", evil.url+"/users/eve")
	evil.finger("local@"+evil.host, "local@"+evil.host, "http://localhost:4/users/x")
	evil.finger("note@"+evil.host, "note@"+evil.host, evil.url+"/note")
	evil.serve("/note", jsonObject{"id": evil.url + "/note", "type": "Note"})
	evil.on(fingerPath("inside@"+evil.host), leadsTo("http://10.0.0.1/"))
	evil.on(fingerPath("html@"+evil.host), says(200, "text/html", `{"subject":"acct:html@x"}`))
	evil.on(fingerPath("big@"+evil.host), says(200, "application/jrd+json", `{"subject":"`+strings.Repeat("x", 300<<10)+`"}`))
	evil.on(fingerPath("loop@"+evil.host), leadsTo(evil.url+fingerPath("loop@"+evil.host)))

	for _, tt := range []struct{ name, handle, want, acct string }{
		{"as usual", "@" + at("alice"), alice, at("alice")},
		{"in another case", "ALICE@" + strings.ToUpper(p.host), alice, at("alice")},
		{"of a domain that leads on (18)", "split@" + other.host, split, "split@" + other.host},
		{"by the domain of the actor", at("split"), split, "split@" + other.host},
		{"claimed by the actor", "claims@" + other.host, claims, "claims@" + other.host},
		{"given by the actor's server", "says@" + other.host, says2, "says@" + other.host},

		{"of an actor with a handle of another server", "alice@" + evil.host, alice, at("alice")}, // known by now, under its own name
		{"that answers for a handle of others (17)", "bob@" + evil.host, "", ""},
		{"that answers for a handle of others, who exist", "eve@" + evil.host, "", ""},
		{"of a server that names an actor of another server", at("carol"), "", ""},
		{"that answers for ours", "root@" + evil.host, "", ""},
		{"that leads to us", "local@" + evil.host, "", ""},
		{"that leads to a post", "note@" + evil.host, "", ""},
		{"that leads inside", "inside@" + evil.host, "", ""},
		{"with a page", "html@" + evil.host, "", ""},
		{"with an endless answer", "big@" + evil.host, "", ""},
		{"that leads to itself", "loop@" + evil.host, "", ""},
		{"of nobody", at("nobody"), "", ""},
		{"of a host of one word", "x@intern", "", ""},
		{"of a number", "x@10.0.0.1", "", ""},
		{"of nobody here", "nobody@localhost:4", "", ""},
		{"that is none", "x y@z", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.asks()
			got, err := a.Actors.Lookup(t.Context(), tt.handle)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("got %s", got.Acct())
			case tt.want != "" && (err != nil || got.URI != tt.want || got.Acct() != tt.acct):
				t.Errorf("got %+v, %v", got, err)
			}
			if n := p.asks(); tt.name == "as usual" && n != 2 {
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

// An actor that is found by its id has the handle that its server gives it.
func TestConfirm(t *testing.T) {
	a, p, other := newAsker(t), newStage(t), newStage(t)
	elsewhere := func(name string) string { // whose server says that the handle is of another one
		id := p.actor(name)
		p.finger(name+"@"+p.host, name+"@"+other.host, id)
		return id
	}
	confirmed := elsewhere("confirmed")
	other.finger("confirmed@"+other.host, "confirmed@"+other.host, confirmed)
	stolen := elsewhere("stolen")
	other.finger("stolen@"+other.host, "stolen@"+other.host, other.url+"/users/stolen")
	unknown := elsewhere("unknown")
	broken := elsewhere("broken")
	other.on(fingerPath("broken@"+other.host), says(500, "text/plain", ""))
	claimed := p.actor("claimed", jsonObject{"webfinger": "claimed@" + other.host})
	other.finger("claimed@"+other.host, "claimed@"+other.host, claimed)
	boast := p.actor("boast", jsonObject{"webfinger": "boast@" + other.host})
	none := p.actor("none")
	p.on(fingerPath("none@"+p.host), nil)
	down := p.actor("down")
	p.on(fingerPath("down@"+p.host), says(503, "text/plain", ""))
	taken := p.actor("taken")
	p.finger("taken@"+p.host, "taken@"+p.host, p.url+"/users/other")
	page := p.actor("page") // the handle leads to another address of the actor
	p.finger("page@"+p.host, "page@"+p.host, p.url+"/@page")
	p.serve("/@page", p.person("page"))
	twin := p.actor("twin", jsonObject{"id": p.url + "/users/twin2", "inbox": p.url + "/twin2/inbox", "preferredUsername": "down"})
	p.on(fingerPath("down@"+p.host), says(503, "text/plain", ""))
	for _, tt := range []struct{ name, id, want string }{
		{"of another domain that agrees", confirmed, "confirmed@" + other.host},
		{"of another domain that names another actor", stolen, ""},
		{"of another domain that knows nothing of it (17)", unknown, ""},
		{"of another domain that is out of order", broken, "broken@" + p.host},
		{"claimed, and the domain agrees", claimed, "claimed@" + other.host},
		{"claimed, but the domain does not know", boast, "boast@" + p.host},
		{"nobody tells", none, "none@" + p.host},
		{"nobody can tell", down, "down@" + p.host},
		{"another actor's", taken, ""},
		{"by another address", page, "page@" + p.host},
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

// Two actors never have one handle: the confirmed one gets it, and the other is renamed and keeps its statuses (19).
func TestHandleConflict(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	old := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	young := p.actor("alice", jsonObject{"id": p.url + "/users/alice2", "inbox": p.url + "/users/alice2/inbox", "publicKey": nil})
	p.on("/users/alice", says(410, "text/plain", ""))
	second, err := a.Actors.Actor(t.Context(), young)
	if err != nil || second.Acct() != "alice@"+p.host || second.ID == first.ID {
		t.Fatalf("got %+v, %v", second, err)
	}
	if got := a.row(old); got.ID != first.ID || got.Nickname != first.ID.String()+".alice" || got.Domain != p.host {
		t.Errorf("the old one is %s", got.Acct())
	}
	if got, err := a.Actors.Lookup(t.Context(), "alice@"+p.host); err != nil || got.ID != second.ID {
		t.Errorf("got %+v, %v", got, err)
	}
}

// An actor that is called otherwise now gets its new handle once that is confirmed.
func TestHandleChange(t *testing.T) {
	a, p := newAsker(t), newStage(t)
	id := p.actor("alice")
	first, err := a.Actors.Actor(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p.serve("/users/alice", p.person("alice", jsonObject{"preferredUsername": "alicia"}))
	if got, err := a.Actors.FetchActor(t.Context(), id); err != nil || got.Acct() != "alice@"+p.host {
		t.Errorf("not confirmed: %v, %v", got, err)
	}
	p.finger("alicia@"+p.host, "alicia@"+p.host, id)
	a.Fetcher.failures = newFailureCache()
	if got, err := a.Actors.FetchActor(t.Context(), id); err != nil || got.Acct() != "alicia@"+p.host || got.ID != first.ID {
		t.Errorf("confirmed: %v, %v", got, err)
	}
}

// Servers that are asked for handles in the old way, or answer in XML.
func TestHostMeta(t *testing.T) {
	a, p, other := newAsker(t), newStage(t), newStage(t)
	xrd := func(subject, href string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Subject>acct:` + subject +
			`</Subject><Alias>x</Alias><Link rel="self" type="text/html" href="x"/><Link rel="self" type="application/activity+json" href="` + href + `"/></XRD>`
	}
	template := func(address string) string {
		return `<XRD><Link rel="lrdd" type="application/xrd+xml" template="` + address + `"/></XRD>`
	}
	alice := p.actor("alice")
	p.on(fingerPath("alice@"+p.host), says(404, "text/html", "no"))
	p.on("/.well-known/host-meta", says(200, "application/xrd+xml", template(p.url+"/finger?of={uri}")))
	p.on("/finger?of="+url.QueryEscape("acct:alice@"+p.host), says(200, "application/xrd+xml", xrd("alice@"+p.host, alice)))
	got, err := a.Actors.Lookup(t.Context(), "alice@"+p.host)
	if err != nil || got.URI != alice {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, meta := range []http.HandlerFunc{
		says(200, "application/xrd+xml", template("http://10.0.0.1/{uri}")),
		says(200, "application/xrd+xml", template("file:///etc/passwd?{uri}")),
		says(200, "application/xrd+xml", template("http://localhost:4/.well-known/webfinger?resource={uri}")),
		says(200, "application/xrd+xml", template(other.url+"/none")),
		says(200, "text/plain", template(p.url+"/finger?of={uri}")),
		says(200, "application/xrd+xml", `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><XRD><Subject>&b;</Subject></XRD>`),
	} {
		q := newStage(t)
		q.actor("bob")
		q.on(fingerPath("bob@"+q.host), nil)
		q.on("/.well-known/host-meta", meta)
		if got, err := a.Actors.Lookup(t.Context(), "bob@"+q.host); err == nil {
			t.Errorf("%d: got %v", i, got)
		}
	}
}

// Descriptors in XML that are no good, or worse (20).
func TestReadXRD(t *testing.T) {
	deep := strings.Repeat("<a>", 100_000)
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `<Link rel="x" href="%d"/>`, i)
	}
	for _, bad := range []string{
		`<!DOCTYPE XRD [<!ENTITY x SYSTEM "file:///etc/passwd">]><XRD><Subject>&x;</Subject></XRD>`,
		`<!DOCTYPE lolz [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><XRD/>`,
		`<XRD><Subject>&unknown;</Subject></XRD>`, `<XRD><Subject>`, `<XRD></LINK>`, deep, `<XRD>` + many.String() + `</XRD>`, `<XRD a=1/>`, "\xff\xfe",
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

// FuzzDescriptor looks for answers of WebFinger that make the reader panic.
func FuzzDescriptor(f *testing.F) {
	f.Add(true, []byte(`<XRD><Subject>acct:a@b.example</Subject><Link rel="self" type="application/activity+json" href="https://b.example/a"/></XRD>`))
	f.Add(false, []byte(`{"subject":"acct:a@b.example","links":[{"rel":"self","type":"application/activity+json","href":"https://b.example/a"}]}`))
	reader := &Reader{}
	f.Fuzz(func(t *testing.T, isXML bool, b []byte) {
		kind := "application/jrd+json"
		if isXML {
			kind = "application/xrd+xml"
		}
		got, err := reader.parseWebFinger(kind, b)
		if err != nil {
			return
		}
		if _, err := activity.Host(got.Actor, false); err != nil || got.nick == "" || got.domain == "" {
			t.Errorf("got %+v", got)
		}
	})
}

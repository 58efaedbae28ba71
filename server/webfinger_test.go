package server_test

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"svc/store"
)

// TestWebFinger looks people up in all ways (federation 7.2 case 1 to 4).
func TestWebFinger(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, gone, off := srv.signUp("Alice"), srv.signUp("gone"), srv.signUp("off")
	srv.leave(gone, true)
	srv.leave(off, false)
	far := srv.remote("far", "peer.example")
	host := strings.TrimPrefix(srv.url, "http://")
	id := srv.url + "/users/" + alice.id
	srv.changeAccount(alice, func(a *store.Account) { a.AlsoKnownAs.V = []string{"https://old.example/users/alice"} })

	want := fmt.Sprint(doc{
		"subject": "acct:Alice@" + host, "aliases": []any{id, srv.url + "/@Alice"},
		"links": []any{
			doc{"rel": "http://webfinger.net/rel/profile-page", "type": "text/html", "href": srv.url + "/@Alice"},
			doc{"rel": "self", "type": activityJSON, "href": id},
			doc{"rel": "self", "type": linkedJSON, "href": id},
			doc{"rel": "http://ostatus.org/schema/1.0/subscribe", "template": srv.url + "/authorize_interaction?uri={uri}"},
		},
	})
	for _, resource := range []string{
		"acct:Alice@" + host, "Alice@" + host, "@Alice@" + host, "acct:alice@" + host, "ACCT:ALICE@" + strings.ToUpper(host), "acct:@alice@" + host,
		id, srv.url + "/@Alice", srv.url + "/@alice", srv.url + "/users/alice", strings.ToUpper("http") + strings.TrimPrefix(id, "http"),
	} {
		for _, query := range []string{url.QueryEscape(resource), strings.ReplaceAll(resource, "@", "%40")} {
			a := srv.as(nil).get("/.well-known/webfinger?resource=" + query).want(200)
			if got := fmt.Sprint(a.document()); got != want {
				t.Errorf("%s: got %s, want %s", resource, got, want)
			}
			if media, origin := a.header.Get("Content-Type"), a.header.Get("Access-Control-Allow-Origin"); media != "application/jrd+json; charset=utf-8" || origin != "*" {
				t.Errorf("%s: type %q, origin %q", resource, media, origin)
			}
		}
	}
	for resource, status := range map[string]int{
		"": 400, "acct:nobody@" + host: 404, "acct:Alice@peer.example": 404, "acct:far@" + host: 404, "acct:far@peer.example": 404,
		"acct:off@" + host: 404, "acct:gone@" + host: 410, srv.url + "/users/" + gone.id: 410, srv.url + "/@gone": 410, srv.url + "/users/" + off.id: 404,
		srv.url + "/users/" + far: 404, srv.url + "/": 404, srv.url: 404, srv.url + "/users/": 404, "https://peer.example/users/" + alice.id: 404, id + "#main-key": 404,
		id + "?x=y": 404, id + "/outbox": 404, "acct:@" + host: 404, "acct:Alice": 404, "Alice": 404, "acct%3AAlice%40" + host: 404, "mailto:Alice@" + host: 404,
		"http://user@" + host + "/@Alice": 404, "://": 404, "acct:Alice@" + host + "@peer.example": 404,
	} {
		if a := srv.as(nil).get("/.well-known/webfinger", "resource", resource); a.status != status {
			t.Errorf("%q: got %d, want %d: %s", resource, a.status, status, a.body)
		}
	}
	srv.as(nil).get("/.well-known/webfinger").want(400)

	// The server's own actors are found, too: others ask who signs.
	for name, id := range map[string]string{"internal.fetch": srv.url + "/internal/fetch", "relay": srv.url + "/relay"} {
		for _, resource := range []string{"acct:" + name + "@" + host, id} {
			d := srv.as(nil).get("/.well-known/webfinger", "resource", resource).want(200).document()
			if self, ok := d["links"].([]any)[0].(doc); !ok || self["href"] != id || d["subject"] != "acct:"+name+"@"+host {
				t.Errorf("%s: got %v", resource, d)
			}
		}
	}

	for accept, media := range map[string]string{
		"application/xrd+xml": "application/xrd+xml", "application/xml": "application/xrd+xml", "application/xrd+xml, application/jrd+json;q=0.5": "application/xrd+xml",
		"application/jrd+json": "application/jrd+json", "application/json": "application/jrd+json", "*/*": "application/jrd+json",
		"application/jrd+json, application/xrd+xml": "application/jrd+json",
	} {
		a := srv.as(nil).request(srv.newGet(srv.url+"/.well-known/webfinger?resource=acct:alice@"+host, accept)).want(200)
		if got := a.header.Get("Content-Type"); got != media+"; charset=utf-8" {
			t.Errorf("%s: got %q", accept, got)
		}
		if media != "application/xrd+xml" {
			continue
		}
		var xrd struct {
			XMLName xml.Name `xml:"http://docs.oasis-open.org/ns/xri/xrd-1.0 XRD"`
			Subject string
			Alias   []string
			Link    []struct {
				Rel  string `xml:"rel,attr"`
				Type string `xml:"type,attr"`
				Href string `xml:"href,attr"`
			}
		}
		if err := xml.Unmarshal(a.body, &xrd); err != nil || xrd.Subject != "acct:Alice@"+host || len(xrd.Alias) != 2 || len(xrd.Link) != 4 || xrd.Link[2].Type != linkedJSON || xrd.Link[1].Href != id {
			t.Errorf("%v in %s", err, a.body)
		}
	}
}

// TestWellKnown reads what tells about the server (federation 7.2 case 5, 6).
func TestWellKnown(t *testing.T) {
	srv := startPeers(t, 1)[0]
	meta := srv.as(nil).get("/.well-known/host-meta").want(200)
	if !strings.Contains(string(meta.body), `template="`+srv.url+`/.well-known/webfinger?resource={uri}"`) || meta.header.Get("Content-Type") != "application/xrd+xml; charset=utf-8" {
		t.Errorf("host-meta is %q %s", meta.header.Get("Content-Type"), meta.body)
	}
	links := srv.as(nil).get("/.well-known/host-meta.json").want(200).document()["links"].([]any)
	if got := fmt.Sprint(links); got != fmt.Sprint([]any{doc{"rel": "lrdd", "type": "application/jrd+json", "template": srv.url + "/.well-known/webfinger?resource={uri}"}}) {
		t.Errorf("host-meta.json has %s", got)
	}
	info := srv.as(nil).get("/.well-known/nodeinfo").want(200).document()
	rels := make(map[string]string)
	for _, l := range info["links"].([]any) {
		rels[l.(doc)["rel"].(string)] = l.(doc)["href"].(string)
	}
	if got := rels["https://www.w3.org/ns/activitystreams#Application"]; got != srv.url+"/internal/fetch" {
		t.Errorf("the server's actor is %q", got)
	}
	for _, version := range []string{"2.0", "2.1"} {
		a := srv.as(nil).get(rels["http://nodeinfo.diaspora.software/ns/schema/"+version]).want(200)
		if got, want := a.header.Get("Content-Type"), `application/json; profile="http://nodeinfo.diaspora.software/ns/schema/`+version+`#"; charset=utf-8`; got != want {
			t.Errorf("%s: type %q", version, got)
		}
		a.is(doc{"version": version, "protocols": []any{"activitypub"}})
		d := a.document()
		if _, ok := d["software"].(doc)["repository"]; ok && version == "2.0" {
			t.Error("2.0 has a repository")
		}
		if _, ok := d["metadata"].(doc); !ok {
			t.Errorf("%s: metadata is %v", version, d["metadata"])
		}
	}
}

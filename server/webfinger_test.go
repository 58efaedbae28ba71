package server_test

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestWebFinger looks up accounts by all forms of handles and URLs (federation 7.2 case 1 to 4).
func TestWebFinger(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, deleted, deactivated := srv.SignUp("Alice"), srv.SignUp("deleted"), srv.SignUp("deactivated")
	srv.DeleteOrDeactivate(deleted, true)
	srv.DeleteOrDeactivate(deactivated, false)
	remote := srv.AddRemoteAccount("far", "peer.example")
	host := strings.TrimPrefix(srv.URL, "http://")
	id := srv.URL + "/users/" + alice.ID
	srv.ChangeAccount(alice, func(a *store.Account) { a.AlsoKnownAs.V = []string{"https://old.example/users/alice"} })

	want := fmt.Sprint(apptest.Doc{
		"subject": "acct:Alice@" + host, "aliases": []any{id, srv.URL + "/@Alice"},
		"links": []any{
			apptest.Doc{"rel": "http://webfinger.net/rel/profile-page", "type": "text/html", "href": srv.URL + "/@Alice"},
			apptest.Doc{"rel": "self", "type": apptest.ActivityJSON, "href": id},
			apptest.Doc{"rel": "self", "type": apptest.LinkedDataJSON, "href": id},
			apptest.Doc{"rel": "http://ostatus.org/schema/1.0/subscribe", "template": srv.URL + "/authorize_interaction?uri={uri}"},
		},
	})
	for _, resource := range []string{
		"acct:Alice@" + host, "Alice@" + host, "@Alice@" + host, "acct:alice@" + host, "ACCT:ALICE@" + strings.ToUpper(host), "acct:@alice@" + host,
		id, srv.URL + "/@Alice", srv.URL + "/@alice", srv.URL + "/users/alice", strings.ToUpper("http") + strings.TrimPrefix(id, "http"),
	} {
		for _, query := range []string{url.QueryEscape(resource), strings.ReplaceAll(resource, "@", "%40")} {
			a := srv.As(nil).Get("/.well-known/webfinger?resource=" + query).Want(200)
			if got := fmt.Sprint(a.Document()); got != want {
				t.Errorf("%s: got %s, want %s", resource, got, want)
			}
			if media, origin := a.Header.Get("Content-Type"), a.Header.Get("Access-Control-Allow-Origin"); media != "application/jrd+json; charset=utf-8" || origin != "*" {
				t.Errorf("%s: type %q, origin %q", resource, media, origin)
			}
		}
	}
	for resource, status := range map[string]int{
		"": 400, "Alice": 400, "acct:Alice": 400, "acct:@" + host: 400, "acct:Alice@": 400, "://": 400, "acct:Alice@" + host + "@peer.example": 400,
		"acct:Al ice@" + host: 400, "acct:": 400, "https:": 400, "1x:y": 400, "https://[::1": 400, "acct:nobody@" + host: 404, "acct:Alice@peer.example": 404, "acct:far@" + host: 404, "acct:far@peer.example": 404,
		"acct:deactivated@" + host: 404, "acct:deleted@" + host: 410, srv.URL + "/users/" + deleted.ID: 410, srv.URL + "/@deleted": 410, srv.URL + "/users/" + deactivated.ID: 404,
		srv.URL + "/users/" + remote: 404, srv.URL + "/": 404, srv.URL: 404, srv.URL + "/users/": 404, "https://peer.example/users/" + alice.ID: 404, id + "#main-key": 404,
		id + "?x=y": 404, id + "/outbox": 404, "acct%3AAlice%40" + host: 400, "mailto:Alice@" + host: 404, "http://user@" + host + "/@Alice": 404,
	} {
		if a := srv.As(nil).Get("/.well-known/webfinger", "resource", resource); a.Status != status {
			t.Errorf("%q: got %d, want %d: %s", resource, a.Status, status, a.Body)
		}
	}
	srv.As(nil).Get("/.well-known/webfinger").Want(400)

	// With rel, only links of these relations are listed (RFC 7033, 4.3).
	for query, want := range map[string]int{"&rel=self": 2, "&rel=self&rel=http%3A%2F%2Fwebfinger.net%2Frel%2Fprofile-page": 3, "&rel=avatar": 0, "&rel=": 0} {
		d := srv.As(nil).Get("/.well-known/webfinger?resource=acct:alice@" + host + query).Want(200).Document()
		if links, ok := d["links"].([]any); !ok || len(links) != want || d["subject"] != "acct:Alice@"+host {
			t.Errorf("%s: got %v, want %d links", query, d, want)
		}
	}

	// The server's own actors are found, too, because other servers look up the actor of a signature.
	for name, id := range map[string]string{"internal.fetch": srv.URL + "/internal/fetch", "relay": srv.URL + "/relay"} {
		for _, resource := range []string{"acct:" + name + "@" + host, id} {
			d := srv.As(nil).Get("/.well-known/webfinger", "resource", resource).Want(200).Document()
			if self, ok := d["links"].([]any)[0].(apptest.Doc); !ok || self["href"] != id || d["subject"] != "acct:"+name+"@"+host {
				t.Errorf("%s: got %v", resource, d)
			}
		}
	}

	for accept, media := range map[string]string{
		"application/xrd+xml": "application/xrd+xml", "application/xml": "application/xrd+xml", "application/xrd+xml, application/jrd+json;q=0.5": "application/xrd+xml",
		"application/jrd+json": "application/jrd+json", "application/json": "application/jrd+json", "*/*": "application/jrd+json",
		"application/jrd+json, application/xrd+xml": "application/jrd+json",
	} {
		a := srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/.well-known/webfinger?resource=acct:alice@"+host, accept)).Want(200)
		if got := a.Header.Get("Content-Type"); got != media+"; charset=utf-8" {
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
		if err := xml.Unmarshal(a.Body, &xrd); err != nil || xrd.Subject != "acct:Alice@"+host || len(xrd.Alias) != 2 || len(xrd.Link) != 4 || xrd.Link[2].Type != apptest.LinkedDataJSON || xrd.Link[1].Href != id {
			t.Errorf("%v in %s", err, a.Body)
		}
	}
}

// TestWellKnown reads the documents about the server (federation 7.2 case 5, 6).
func TestWellKnown(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	meta := srv.As(nil).Get("/.well-known/host-meta").Want(200)
	if !strings.Contains(string(meta.Body), `template="`+srv.URL+`/.well-known/webfinger?resource={uri}"`) || meta.Header.Get("Content-Type") != "application/xrd+xml; charset=utf-8" {
		t.Errorf("host-meta is %q %s", meta.Header.Get("Content-Type"), meta.Body)
	}
	links := srv.As(nil).Get("/.well-known/host-meta.json").Want(200).Document()["links"].([]any)
	if got := fmt.Sprint(links); got != fmt.Sprint([]any{apptest.Doc{"rel": "lrdd", "type": "application/jrd+json", "template": srv.URL + "/.well-known/webfinger?resource={uri}"}}) {
		t.Errorf("host-meta.json has %s", got)
	}
	info := srv.As(nil).Get("/.well-known/nodeinfo").Want(200).Document()
	rels := make(map[string]string)
	for _, l := range info["links"].([]any) {
		rels[l.(apptest.Doc)["rel"].(string)] = l.(apptest.Doc)["href"].(string)
	}
	if got := rels["https://www.w3.org/ns/activitystreams#Application"]; got != srv.URL+"/internal/fetch" {
		t.Errorf("the server's actor is %q", got)
	}
	for _, version := range []string{"2.0", "2.1"} {
		a := srv.As(nil).Get(rels["http://nodeinfo.diaspora.software/ns/schema/"+version]).Want(200)
		if got, want := a.Header.Get("Content-Type"), `application/json; profile="http://nodeinfo.diaspora.software/ns/schema/`+version+`#"; charset=utf-8`; got != want {
			t.Errorf("%s: type %q", version, got)
		}
		a.WantFields(apptest.Doc{"version": version, "protocols": []any{"activitypub"}})
		d := a.Document()
		if _, ok := d["software"].(apptest.Doc)["repository"]; ok && version == "2.0" {
			t.Error("2.0 has a repository")
		}
		if _, ok := d["metadata"].(apptest.Doc); !ok {
			t.Errorf("%s: metadata is %v", version, d["metadata"])
		}
	}
}

package federation_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"svc/app/apptest"
)

// TestIncomingProof checks that an activity sent by another account needs its actor's proof (FEP-8b32, case 31).
func TestIncomingProof(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob", peer.AddEd25519Key("bob"))
	alice.FollowRemote(bob)
	other := apptest.StartFake(t)
	carrier := other.AddActor("carrier")
	alice.FollowRemote(carrier)
	signAt := func(a apptest.Doc, at time.Time) apptest.Doc {
		t.Helper()
		return apptest.WithProof(t, a, peer.Keys[bob+"#ed25519-key"].(ed25519.PrivateKey), bob+"#ed25519-key", at)
	}
	sign := func(a apptest.Doc) apptest.Doc { return signAt(a, time.Now()) }
	for _, tt := range []struct {
		name   string
		change func(apptest.Doc) apptest.Doc
		want   bool
	}{
		{"proven", sign, true},
		{"not proven", func(d apptest.Doc) apptest.Doc { return d }, false},
		{"proven a day ago", func(d apptest.Doc) apptest.Doc { return signAt(d, time.Now().Add(-24*time.Hour)) }, true},
		{"proven long ago", func(d apptest.Doc) apptest.Doc { return signAt(d, time.Now().Add(-8*24*time.Hour)) }, false},
		{"proven tomorrow", func(d apptest.Doc) apptest.Doc { return signAt(d, time.Now().Add(24*time.Hour)) }, false},
		{"changed since", func(d apptest.Doc) apptest.Doc {
			d = sign(d)
			d["object"].(map[string]any)["content"] = "forged"
			return d
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "carried")
			other.Deliver(srv, "/inbox", carrier, tt.change(peer.Create(note)))
			apptest.Settle(srv)
			if got := alice.FindPost(note["id"]) != nil; got != tt.want {
				t.Errorf("stored: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestFetchedForgeries covers documents with false ids and authors (cases 113 and 118).
func TestFetchedForgeries(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := apptest.StartFake(t)
	bob, eve := peer.AddActor("bob"), other.AddActor("eve")
	alice.FollowRemote(bob)
	boost := func(uri string) {
		peer.PostAndSettle(srv, peer.Activity("Announce", bob, uri, apptest.Doc{"to": []any{apptest.Public}}))
	}
	t.Run("of another host", func(t *testing.T) {
		note := peer.Note(bob, "real")
		peer.Serve(note)
		forged := apptest.With(note, apptest.Doc{"content": "forged"})
		other.ServeAt(other.URL+"/forged", forged)
		boost(other.URL + "/forged")
		if alice.FindPost(note["id"]) != nil {
			t.Error("it is stored")
		}
	})
	t.Run("of another address of the same host", func(t *testing.T) {
		note := other.Note(eve, "real")
		other.Serve(note)
		other.ServeAt(other.URL+"/also", apptest.With(note, apptest.Doc{"content": "forged"}))
		boost(other.URL + "/also")
		if got := alice.WantPost(note["id"]).Str("content"); got != "real" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("by an author of another server", func(t *testing.T) {
		note := other.Note(bob, "forged")
		other.Serve(note)
		boost(note["id"].(string))
		if alice.FindPost(note["id"]) != nil {
			t.Error("it is stored")
		}
	})
	for name, body := range map[string]string{
		"actor twice":   `{"id":"%[1]s/1","type":"Create","actor":"%[2]s","actor":"%[2]s","object":"x"}`,
		"a graph":       `{"id":"%[1]s/2","type":"Create","actor":"%[2]s","@graph":[]}`,
		"reversed":      `{"id":"%[1]s/3","type":"Create","actor":"%[2]s","object":{"@reverse":{}}}`,
		"no object":     `{"id":"%[1]s/4","type":"Create","actor":"%[2]s"}`,
		"id as object":  `{"id":{"a":1},"type":"Create","actor":"%[2]s","object":{"id":{}, "type":"Note"}}`,
		"type as map":   `{"id":"%[1]s/6","type":{"a":1},"actor":"%[2]s","object":[]}`,
		"odd addresses": `{"id":"%[1]s/7","type":"Create","actor":"%[2]s","object":{"id":"%[1]s/8","type":"Note","to":[null,1,{}],"cc":{"a":[]},"tag":[[],1,null],"attachment":[null,[{}]],"attributedTo":"%[2]s"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			peer.DeliverRaw(srv, "/inbox", bob, fmt.Appendf(nil, body, peer.URL, bob))
			apptest.Settle(srv)
			if alice.FindPost(peer.URL+"/8") != nil {
				t.Error("it is stored")
			}
		})
	}
}

// TestFetchReplies checks that opening a thread fetches the replies to its post (federation 3.9).
func TestFetchReplies(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := apptest.StartFake(t)
	bob, eve := peer.AddActor("bob"), other.AddActor("eve")
	alice.FollowRemote(bob)
	root := peer.Note(bob, "root")
	root["replies"] = apptest.Doc{"id": root["id"].(string) + "/replies", "type": "Collection", "first": apptest.Doc{"type": "CollectionPage", "partOf": root["id"].(string) + "/replies"}}
	var items []any
	reply := func(p *apptest.FakeServer, actor string, to any) apptest.Doc {
		n := p.Note(actor, "reply", apptest.Doc{"inReplyTo": to})
		p.Serve(n)
		items = append(items, n["id"])
		return n
	}
	first := reply(peer, bob, root["id"])
	stray := reply(peer, bob, nil)
	for range 8 {
		reply(other, eve, root["id"])
	}
	last := peer.Note(bob, "on the next page", apptest.Doc{"inReplyTo": root["id"]})
	peer.Serve(last)
	replies := root["id"].(string) + "/replies"
	peer.Serve(apptest.Doc{"id": replies, "type": "Collection", "first": apptest.Doc{"type": "CollectionPage", "items": items, "next": replies + "/2"}})
	peer.Serve(apptest.Doc{"id": replies + "/2", "type": "CollectionPage", "items": last["id"], "next": replies + "/2"})
	peer.PostAndSettle(srv, peer.Create(root))
	st := alice.WantPost(root["id"])
	below := func() int {
		o := alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200).Object()
		apptest.Settle(srv)
		return len(o.At("descendants").([]any))
	}
	srv.As(nil).Get("/api/v1/statuses/" + st.ID() + "/context").Want(200)
	apptest.Settle(srv)
	if peer.Fetches(replies) != 0 {
		t.Error("an anonymous request caused a fetch")
	}
	below()
	if n := below(); n != 10 { // 2 of its own host, 8 of the other
		t.Errorf("%d replies are stored, want 10", n)
	}
	alice.WantPost(first["id"])
	alice.WantPost(last["id"])
	if alice.FindPost(stray["id"]) != nil {
		t.Error("a post that replies to another post was stored")
	}
	if n := peer.Fetches(replies); n != 1 {
		t.Errorf("the replies were read %d times", n)
	}
}

// TestUnknownMentionsAreFetched checks that unknown mentioned accounts are fetched, so that replies reach them.
func TestUnknownMentionsAreFetched(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := apptest.StartFake(t)
	bob, eve := peer.AddActor("bob"), other.AddActor("eve")
	alice.FollowRemote(bob)
	tag := []any{apptest.Doc{"type": "Mention", "href": eve}, apptest.Doc{"type": "Mention", "href": other.URL + "/users/nobody"}}
	note := peer.Note(bob, "hey", apptest.Doc{"tag": tag})
	peer.PostAndSettle(srv, peer.Create(note))
	if got := alice.WantPost(note["id"]).Find("mentions.0.acct"); got != "eve@"+other.Host {
		t.Errorf("mentions %v", got)
	}
	frank := other.AddActor("frank")
	direct := peer.Note(bob, "psst", apptest.Doc{"to": []any{alice.URI(), frank}, "cc": nil, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}, apptest.Doc{"type": "Mention", "href": frank}}})
	peer.PostAndSettle(srv, peer.Create(direct))
	got := alice.WantPost(direct["id"])
	if n := len(got.At("mentions").([]any)); n != 2 {
		t.Errorf("%d are mentioned, want 2", n)
	}
}

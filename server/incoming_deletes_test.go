package server_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"svc/store"
)

// heardLongAgo has what is known of a poll be of some minutes ago.
func (a *api) heardLongAgo(uri any) {
	a.t.Helper()
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		st, err := tx.StatusByURI(a.t.Context(), uri.(string))
		if err != nil {
			return err
		}
		p, err := tx.PollOf(a.t.Context(), st.ID)
		if err != nil {
			return err
		}
		at := store.At(time.Now().Add(-5 * time.Minute))
		p.FetchedAt = &at
		return tx.SavePoll(a.t.Context(), p)
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// Cases 49, 108, 109: what is deleted is gone, if who says so has a right to.
func TestIncomingDelete(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	other := startFake(t)
	mallory := other.actor("mallory")
	for _, actor := range []string{bob, eve, mallory} {
		alice.follows(actor)
	}
	for _, tt := range []struct {
		name   string
		by     string
		peer   *fakePeer
		object func(string) any
		serve  int // what the origin answers; 200: the post
		want   bool
	}{
		{"by id", bob, peer, func(id string) any { return id }, 200, true},
		{"as a Tombstone", bob, peer, func(id string) any { return doc{"id": id, "type": "Tombstone"} }, 200, true},
		{"by another on its server", eve, peer, func(id string) any { return id }, 200, false},
		{"by another on its server, and it is gone", eve, peer, func(id string) any { return id }, 410, true},
		{"by another on its server, and it is not found", eve, peer, func(id string) any { return id }, 404, true},
		{"by another on its server, and nobody answers", eve, peer, func(id string) any { return id }, 500, false},
		{"by somebody elsewhere", mallory, other, func(id string) any { return id }, 410, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "to be gone", doc{"to": []any{toPublic, alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}})
			peer.receive(srv, peer.create(note))
			st := alice.wantPost(note["id"])
			peer.serve(note)
			if tt.serve != 200 {
				peer.remove(note["id"].(string), tt.serve)
			}
			stream := srv.listen(alice.caller, "stream", "user")
			tt.peer.receive(srv, tt.peer.activity("Delete", tt.by, tt.object(note["id"].(string))))
			if gone := alice.postOf(note["id"]) == nil; gone != tt.want {
				t.Errorf("it is gone: %v, want %v", gone, tt.want)
			}
			if !tt.want {
				return
			}
			stream.wantAmong("user: delete " + st.id())
			if slices.Contains(alice.told(), "mention") && len(alice.told()) > 2 {
				t.Errorf("told %v of what is gone", alice.told())
			}
			peer.receive(srv, peer.create(note))
			if alice.postOf(note["id"]) != nil {
				t.Error("it has come back")
			}
		})
	}
	// In the name of this server nobody is shown what is for few: that it is not found says nothing.
	for name, to := range map[string][]any{"for followers": {bob + "/followers"}, "direct": {alice.uri()}} {
		for status, want := range map[int]bool{404: false, 403: false, 410: true} {
			t.Run(fmt.Sprintf("by another on its server, %s, and it answers %d", name, status), func(t *testing.T) {
				note := peer.note(bob, "for few", doc{"to": to, "cc": nil})
				peer.receive(srv, peer.create(note))
				alice.wantPost(note["id"])
				peer.remove(note["id"].(string), status)
				peer.receive(srv, peer.activity("Delete", eve, note["id"]))
				peer.receive(srv, peer.activity("Update", bob, note["id"]))
				if gone := alice.postOf(note["id"]) == nil; gone != want {
					t.Errorf("it is gone: %v, want %v", gone, want)
				}
			})
		}
	}
	// Servers pass on what is said of answers to those who follow who was answered.
	for status, want := range map[int]bool{200: false, 404: true, 410: true, 500: false} {
		t.Run(fmt.Sprintf("passed on by somebody else, and it answers %d", status), func(t *testing.T) {
			note := peer.note(bob, "an answer")
			peer.receive(srv, peer.create(note))
			peer.serve(note)
			if status != 200 {
				peer.remove(note["id"].(string), status)
			}
			a := peer.activity("Delete", bob, doc{"id": note["id"], "type": "Tombstone"})
			other.deliver(srv, "/inbox", mallory, a).want(http.StatusAccepted)
			settle(srv)
			if gone := alice.postOf(note["id"]) == nil; gone != want {
				t.Errorf("it is gone: %v, want %v", gone, want)
			}
			peer.post(srv, a)
			settle(srv)
			if alice.postOf(note["id"]) != nil {
				t.Error("what its author says of it later does not count")
			}
		})
	}
	t.Run("before it came", func(t *testing.T) {
		note := peer.note(bob, "late")
		peer.receive(srv, peer.activity("Delete", bob, note["id"]))
		peer.receive(srv, peer.create(note))
		if alice.postOf(note["id"]) != nil {
			t.Error("it has come")
		}
	})
	t.Run("by another before it came", func(t *testing.T) {
		note := peer.note(bob, "late")
		peer.receive(srv, peer.activity("Delete", eve, note["id"]))
		peer.receive(srv, peer.create(note))
		if alice.postOf(note["id"]) == nil {
			t.Error("somebody else has kept it away")
		}
	})
	t.Run("of a post of here", func(t *testing.T) {
		st := alice.publish("mine")
		peer.receive(srv, peer.activity("Delete", bob, st.str("uri")))
		alice.get("/api/v1/statuses/" + st.id()).want(200)
	})
}

// Cases 50 and 51: accounts that delete themselves.
func TestIncomingDeleteActor(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	note := peer.note(bob, "hello")
	peer.receive(srv, peer.create(note))

	before := peer.askedAll()
	for i := range 100 {
		stranger := fmt.Sprintf("%s/users/stranger%d", peer.url, i)
		a := peer.activity("Delete", stranger, stranger)
		peer.keys[stranger] = peer.keys[bob]
		peer.post(srv, a)
	}
	settle(srv)
	if n := peer.askedAll() - before; n != 0 {
		t.Errorf("%d requests because of strangers", n)
	}

	t.Run("by another", func(t *testing.T) {
		peer.receive(srv, peer.activity("Delete", eve, bob))
		alice.wantPost(note["id"])
	})
	t.Run("its key is gone", func(t *testing.T) {
		peer.keys[bob+"2"] = peer.keys[bob]
		peer.remove(bob, http.StatusGone)
		a := peer.activity("Delete", bob, bob)
		b, _ := json.Marshal(a)
		peer.rotateSilently(bob) // nobody can find out with what it is signed
		peer.deliverRaw(srv, "/inbox", bob, b).want(202)
		settle(srv)
		if alice.postOf(note["id"]) != nil {
			t.Error("its post is here")
		}
	})
}

// rotateSilently has an actor sign with another key than its document tells.
func (p *fakePeer) rotateSilently(actor string) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys[actor] = key
}

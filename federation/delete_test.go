package federation_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// ageSeenActivity makes the last fetch of a poll some minutes old.
func ageSeenActivity(a *apptest.Server, uri any) {
	a.T.Helper()
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		st, err := tx.StatusByURI(a.T.Context(), uri.(string))
		if err != nil {
			return err
		}
		p, err := tx.PollOf(a.T.Context(), st.ID)
		if err != nil {
			return err
		}
		at := store.At(time.Now().Add(-5 * time.Minute))
		p.FetchedAt = &at
		return tx.SavePoll(a.T.Context(), p)
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// TestIncomingDelete checks that a post is deleted if the sender of the Delete may delete it (cases 49, 108, 109).
func TestIncomingDelete(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	other := apptest.StartFake(t)
	mallory := other.AddActor("mallory")
	for _, actor := range []string{bob, eve, mallory} {
		alice.FollowRemote(actor)
	}
	for _, tt := range []struct {
		name   string
		by     string
		peer   *apptest.FakeServer
		object func(string) any
		serve  int // what the origin answers; 200: the post
		want   bool
	}{
		{"by id", bob, peer, func(id string) any { return id }, 200, true},
		{"as a Tombstone", bob, peer, func(id string) any { return apptest.Doc{"id": id, "type": "Tombstone"} }, 200, true},
		{"by another on its server", eve, peer, func(id string) any { return id }, 200, false},
		{"by another on its server, and it is gone", eve, peer, func(id string) any { return id }, 410, true},
		{"by another on its server, and it is not found", eve, peer, func(id string) any { return id }, 404, true},
		{"by another account of its server, which answers 500", eve, peer, func(id string) any { return id }, 500, false},
		{"by an account of another server", mallory, other, func(id string) any { return id }, 410, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "to be gone", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})
			peer.PostAndSettle(srv, peer.Create(note))
			st := alice.WantPost(note["id"])
			peer.Serve(note)
			if tt.serve != 200 {
				peer.Remove(note["id"].(string), tt.serve)
			}
			stream := srv.OpenStream(alice.Client, "stream", "user")
			tt.peer.PostAndSettle(srv, tt.peer.Activity("Delete", tt.by, tt.object(note["id"].(string))))
			if gone := alice.FindPost(note["id"]) == nil; gone != tt.want {
				t.Errorf("it is gone: %v, want %v", gone, tt.want)
			}
			if !tt.want {
				return
			}
			stream.WantEvent("user: delete " + st.ID())
			if slices.Contains(alice.NotificationTypes(), "mention") && len(alice.NotificationTypes()) > 2 {
				t.Errorf("notifications of a deleted post: %v", alice.NotificationTypes())
			}
			peer.PostAndSettle(srv, peer.Create(note))
			if alice.FindPost(note["id"]) != nil {
				t.Error("it is stored again")
			}
		})
	}
	// The instance actor cannot read private posts: a 404 does not mean that they are deleted.
	for name, to := range map[string][]any{"for followers": {bob + "/followers"}, "direct": {alice.URI()}} {
		for status, want := range map[int]bool{404: false, 403: false, 410: true} {
			t.Run(fmt.Sprintf("by another on its server, %s, and it answers %d", name, status), func(t *testing.T) {
				note := peer.Note(bob, "private", apptest.Doc{"to": to, "cc": nil})
				peer.PostAndSettle(srv, peer.Create(note))
				alice.WantPost(note["id"])
				peer.Remove(note["id"].(string), status)
				peer.PostAndSettle(srv, peer.Activity("Delete", eve, note["id"]))
				peer.PostAndSettle(srv, peer.Activity("Update", bob, note["id"]))
				if gone := alice.FindPost(note["id"]) == nil; gone != want {
					t.Errorf("it is gone: %v, want %v", gone, want)
				}
			})
		}
	}
	// Servers forward activities on replies to the followers of the parent's author.
	for status, want := range map[int]bool{200: false, 404: true, 410: true, 500: false} {
		t.Run(fmt.Sprintf("forwarded by another account, and the origin answers %d", status), func(t *testing.T) {
			note := peer.Note(bob, "an answer")
			peer.PostAndSettle(srv, peer.Create(note))
			peer.Serve(note)
			if status != 200 {
				peer.Remove(note["id"].(string), status)
			}
			a := peer.Activity("Delete", bob, apptest.Doc{"id": note["id"], "type": "Tombstone"})
			other.Deliver(srv, "/inbox", mallory, a).Want(http.StatusAccepted)
			apptest.Settle(srv)
			if gone := alice.FindPost(note["id"]) == nil; gone != want {
				t.Errorf("it is gone: %v, want %v", gone, want)
			}
			peer.Post(srv, a)
			apptest.Settle(srv)
			if alice.FindPost(note["id"]) != nil {
				t.Error("a later Delete by its author is ignored")
			}
		})
	}
	t.Run("before the post", func(t *testing.T) {
		note := peer.Note(bob, "late")
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, note["id"]))
		peer.PostAndSettle(srv, peer.Create(note))
		if alice.FindPost(note["id"]) != nil {
			t.Error("it is stored")
		}
	})
	t.Run("by another account before the post", func(t *testing.T) {
		note := peer.Note(bob, "late")
		peer.PostAndSettle(srv, peer.Activity("Delete", eve, note["id"]))
		peer.PostAndSettle(srv, peer.Create(note))
		if alice.FindPost(note["id"]) == nil {
			t.Error("a Delete by another account prevented it")
		}
	})
	t.Run("of a local post", func(t *testing.T) {
		st := alice.Publish("mine")
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, st.Str("uri")))
		alice.Get("/api/v1/statuses/" + st.ID()).Want(200)
	})
}

// TestIncomingDeleteActor covers accounts that delete themselves (cases 50 and 51).
func TestIncomingDeleteActor(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	note := peer.Note(bob, "hello")
	peer.PostAndSettle(srv, peer.Create(note))

	before := peer.AllFetches()
	for i := range 100 {
		unknown := fmt.Sprintf("%s/users/unknown%d", peer.URL, i)
		a := peer.Activity("Delete", unknown, unknown)
		peer.Keys[unknown] = peer.Keys[bob]
		peer.Post(srv, a)
	}
	apptest.Settle(srv)
	if n := peer.AllFetches() - before; n != 0 {
		t.Errorf("%d requests because of unknown accounts", n)
	}

	t.Run("by another", func(t *testing.T) {
		peer.PostAndSettle(srv, peer.Activity("Delete", eve, bob))
		alice.WantPost(note["id"])
	})
	t.Run("its key is gone", func(t *testing.T) {
		peer.Keys[bob+"2"] = peer.Keys[bob]
		peer.Remove(bob, http.StatusGone)
		a := peer.Activity("Delete", bob, bob)
		b, _ := json.Marshal(a)
		rotateKeySilently(peer, bob) // its key cannot be fetched
		peer.DeliverRaw(srv, "/inbox", bob, b).Want(202)
		apptest.Settle(srv)
		if alice.FindPost(note["id"]) != nil {
			t.Error("its post is stored")
		}
	})
}

// rotateKeySilently lets an actor sign with a key that its document does not have.
func rotateKeySilently(p *apptest.FakeServer, actor string) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Keys[actor] = key
}

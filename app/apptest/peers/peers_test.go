package peers_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/app/apptest/peers"
)

// TestRefusals checks that the simulated servers refuse what their software refuses, because tests rely on that.
func TestRefusals(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	sender := apptest.StartFake(t) // whose documents the others fetch
	eve := sender.AddActor("eve")
	sign := func(r *http.Request, mediaType string) { // which the signature does not cover
		body, _ := r.GetBody()
		b, _ := io.ReadAll(body)
		if err := (apptest.Signing{KeyID: eve + "#main-key", Key: sender.Keys[eve], Headers: "(request-target) host date digest"}).Sign(r, b); err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", mediaType)
	}
	post := func(s *peers.Server, path string, d peers.Doc, change func(*http.Request)) int {
		t.Helper()
		body := string(apptest.MustJSON(d))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/activity+json")
		if err := (apptest.Signing{KeyID: eve + "#main-key", Key: sender.Keys[eve]}).Sign(req, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(req)
		}
		return srv.As(nil).DoRequest(req).Status
	}
	for _, tt := range []struct {
		name    string
		profile *peers.Profile
		want    int
		changes peers.Doc
		request func(*http.Request)
	}{
		{"nothing wrong", peers.Misskey, 202, nil, nil},
		{"another @context", peers.Misskey, 400, peers.Doc{"@context": "https://example.org/context"}, nil},
		{"an id with a fragment", peers.Misskey, 400, peers.Doc{"id": eve + "#likes/1"}, nil},
		{"an id of another host", peers.Misskey, 400, peers.Doc{"id": "https://other.example/likes/1"}, nil},
		{"an embedded object", peers.Misskey, 400, peers.Doc{"object": peers.Doc{"id": "OBJECT"}}, nil},
		{"too large", peers.Misskey, 413, peers.Doc{"summary": strings.Repeat("x", 65<<10)}, nil},
		{"of another actor", peers.Misskey, 401, peers.Doc{"actor": sender.URL + "/users/bob"}, nil},
		{"not addressed", peers.GoToSocial, 400, peers.Doc{"to": nil}, nil},
		{"another media type", peers.Pleroma, 400, nil, func(r *http.Request) { sign(r, "application/json") }},
		{"the Undo of a bare id", peers.Snac, 400, peers.Doc{"type": "Undo", "object": "https://example.org/1"}, nil},
		{"without a signature", peers.Mastodon, 401, nil, func(r *http.Request) { r.Header.Del("Signature") }},
		{"another digest", peers.Mastodon, 401, nil, func(r *http.Request) {
			r.Header.Set("Digest", "SHA-256="+strings.Repeat("A", 43)+"=")
		}},
		{"a signature that does not cover the digest", peers.Mastodon, 401, nil, func(r *http.Request) {
			sign := apptest.Signing{KeyID: eve + "#main-key", Key: sender.Keys[eve], Headers: "(request-target) host date"}
			sign.Sign(r, []byte("{}"))
		}},
		{"another media type for Threads", peers.Threads, 400, nil, func(r *http.Request) { sign(r, "application/json") }},
		{"an embedded object for Ghost", peers.Ghost, 400, peers.Doc{"object": peers.Doc{"id": "OBJECT"}}, nil},
		{"RFC 9421 for Threads", peers.Threads, 401, nil, func(r *http.Request) { r.Header.Set("Signature-Input", "sig1=()") }},
		{"RFC 9421", peers.Pleroma, 401, nil, func(r *http.Request) { r.Header.Set("Signature-Input", "sig1=()") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := peers.Start(t, tt.profile)
			ben := s.AddActor("ben")
			d := peers.Copy(sender.Activity("Like", eve, ben+"/1", peers.Doc{"to": []any{ben}}), tt.changes)
			if o, ok := d["object"].(peers.Doc); ok {
				o["id"] = ben + "/1"
			}
			if got := post(s, "/inbox", d, tt.request); got != tt.want {
				t.Errorf("%s answers with %d, want %d: %v", tt.profile.Name, got, tt.want, s.Refused())
			}
		})
	}
	for _, p := range []*peers.Profile{peers.GoToSocial, peers.Threads} {
		t.Run("an unsigned fetch of "+p.Name, func(t *testing.T) {
			s := peers.Start(t, p)
			ben := s.AddActor("ben")
			if got := srv.As(nil).Get(ben).Status; got != http.StatusUnauthorized {
				t.Errorf("answers with %d", got)
			}
			if strings.HasPrefix(p.KeyID, "/") {
				srv.As(nil).Get(ben + p.KeyID).Want(200)
			}
			srv.FetchActor(ben) // signed
		})
	}
	t.Run("a key that it does not have", func(t *testing.T) {
		s := peers.Start(t, peers.Snac)
		ben := s.AddActor("ben")
		like := func() int {
			return post(s, "/inbox", sender.Activity("Like", eve, ben+"/1", peers.Doc{"to": []any{ben}}), nil)
		}
		if got := like(); got != 202 {
			t.Fatalf("answers with %d", got)
		}
		sender.RotateKey("eve")
		if got := like(); got != 401 {
			t.Errorf("a new key is answered with %d", got)
		}
	})
}

// TestRetries checks that a delivery whose sender cannot be verified yet is repeated with the same id, as often as the software does, and
// counts once.
func TestRetries(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	for _, p := range peers.All {
		t.Run(p.Name, func(t *testing.T) {
			s := peers.Start(t, p)
			s.Now = srv.DB.Now
			cleo := s.AddActor("cleo")
			st := alice.Publish("like me")
			s.SetDown(http.StatusBadGateway) // for fetches of the key
			like := s.Act("Like", cleo, st.Str("uri"))
			var answers []int
			s.Answered = func(status int) {
				if answers = append(answers, status); len(answers) == 2 {
					s.SetDown(0)
					srv.Advance(11 * time.Minute) // failed fetches are repeated after ten
				}
			}
			if status := s.Send(srv, alice, like); status != http.StatusAccepted || !slices.Contains(answers, http.StatusServiceUnavailable) {
				t.Fatalf("the attempts are answered with %v", answers)
			}
			s.Send(srv, alice, like)
			if n := alice.Favourites(st.ID()); n != 1 {
				t.Errorf("%d favourites, want 1", n)
			}
		})
	}
}

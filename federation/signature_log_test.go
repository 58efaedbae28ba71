package federation_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"svc/app"
	"svc/app/apptest"
)

// logText collects what a server logs.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// lines returns the lines that contain a text.
func (l *logText) lines(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// TestFailedSignaturesAreLogged checks that the key id and the reason of failed signatures are logged, of deliveries and of fetches, but
// not more than a few for one domain.
func TestFailedSignaturesAreLogged(t *testing.T) {
	log := new(logText)
	srv := apptest.StartWith(t, app.Options{Log: slog.New(slog.NewTextHandler(log, nil))}, apptest.AllowLoopback)
	alice := srv.SignUp("alice")
	peer := apptest.StartFake(t)
	bob := peer.AddActor("bob")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	if got := log.lines("signature"); len(got) > 0 {
		t.Fatalf("logged %q", got)
	}
	key, err := apptest.Key()
	if err != nil {
		t.Fatal(err)
	}
	peer.Keys[bob] = key // which is not in its document
	peer.Deliver(srv, "/inbox", bob, peer.Activity("Like", bob, alice.URI())).Want(401)
	secret := alice.Publish("for followers", "visibility", "private").ID()
	peer.FetchAs(srv, "/objects/"+secret, bob, apptest.ActivityJSON).Want(401)
	got := log.lines("signature not verified")
	if len(got) != 2 {
		t.Fatalf("logged %q, want a line for the delivery and one for the fetch", got)
	}
	for _, line := range got {
		if !strings.Contains(line, "key="+bob+"#main-key") || !strings.Contains(line, "signature does not match the key") {
			t.Errorf("logged %s", line)
		}
	}
	for range 20 {
		peer.Deliver(srv, "/inbox", bob, peer.Activity("Like", bob, alice.URI())).Want(401)
	}
	if got := log.lines("signature not verified"); len(got) != 3 {
		t.Errorf("%d lines are logged", len(got))
	}
}

package command_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc/internal/httpsig"
)

// TestKilledWhileReceiving kills the server repeatedly while it receives activities: each accepted activity is processed once after a
// restart.
func TestKilledWhileReceiving(t *testing.T) {
	p := newWorkspace(t, "[federation]\nallow_loopback = true", "[rate_limit]\nenabled = false")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := httpsig.FormatPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	var peer *httptest.Server
	peer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/users/") {
			http.NotFound(w, r)
			return
		}
		id := peer.URL + r.URL.Path
		w.Header().Set("Content-Type", "application/activity+json")
		json.NewEncoder(w).Encode(map[string]any{
			"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "inbox": id + "/inbox",
			"preferredUsername": strings.TrimPrefix(r.URL.Path, "/users/"),
			"publicKey":         map[string]any{"id": id + "#main-key", "owner": id, "publicKeyPem": text},
		})
	}))
	defer peer.Close()

	s := p.serve()
	var alice struct{ ID string }
	_, body := p.get("/api/v1/accounts/lookup?acct=alice", "")
	if err := json.Unmarshal([]byte(body), &alice); err != nil || alice.ID == "" {
		t.Fatalf("%s: %v", body, err)
	}
	to := p.url + "/users/" + alice.ID
	send := func(n int) (uri string, ok bool) {
		actor := fmt.Sprintf("%s/users/bob%d", peer.URL, n%7)
		uri = fmt.Sprintf("%s/notes/%d", peer.URL, n)
		body, _ := json.Marshal(map[string]any{
			"@context": "https://www.w3.org/ns/activitystreams", "id": uri + "/create", "type": "Create", "actor": actor, "to": []any{to},
			"object": map[string]any{
				"id": uri, "type": "Note", "attributedTo": actor, "to": []any{to}, "content": "hi", "tag": []any{map[string]any{"type": "Mention", "href": to}},
			},
		})
		req, err := http.NewRequestWithContext(context.Background(), "POST", p.url+"/inbox", bytes.NewReader(body))
		if err != nil {
			return "", false
		}
		req.Header.Set("Content-Type", "application/activity+json")
		signer := httpsig.Signer{KeyID: actor + "#main-key", Key: key}
		if err := signer.Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
			return "", false
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", false
		}
		resp.Body.Close()
		return uri, resp.StatusCode == http.StatusAccepted
	}

	var mu sync.Mutex
	accepted := make(map[string]bool)
	next := 0
	for range 3 {
		stop := make(chan struct{})
		var senders sync.WaitGroup
		for range 8 {
			senders.Go(func() {
				for {
					mu.Lock()
					next++
					n := next
					mu.Unlock()
					uri, ok := send(n)
					if !ok {
						return
					}
					mu.Lock()
					accepted[uri] = true
					mu.Unlock()
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		want := len(accepted) + 150
		s.waitUntil("activities to be accepted", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(accepted) >= want
		})
		s.signal(syscall.SIGKILL)
		<-s.done
		close(stop)
		senders.Wait()
		s = p.serve()
	}
	s.waitUntil("the inbox to be empty", func() bool {
		return p.queryInt(`SELECT count(*) FROM queued_activities`) == 0
	})
	for uri := range accepted {
		posts := p.queryInt(`SELECT count(*) FROM statuses WHERE uri = ?`, uri)
		notified := p.queryInt(`SELECT count(*) FROM notifications n JOIN statuses s ON s.id = n.status_id WHERE s.uri = ? AND n.type = 'mention'`, uri)
		if posts != 1 || notified != 1 {
			t.Errorf("%s was accepted: it has %d statuses and %d notifications, want 1 each", uri, posts, notified)
		}
	}
	if refused := p.queryInt(`SELECT count(*) FROM refusals`); refused != 0 {
		t.Errorf("%d were refused", refused)
	}
	start := time.Now()
	s.stop()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the server took %v to stop", took)
	}
}

package federation_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/httpsig"
)

// SignedByHand makes a request to an inbox.
func SignedByHand(t testing.TB, url string, body []byte, s apptest.Signing) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sign(req, body); err != nil {
		t.Fatal(err)
	}
	return req
}

// TestInboxCavage covers the rules for draft-cavage signatures (cases 21 to 27, 35).
func TestInboxCavage(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	bob := peer.AddActor("bob")
	now := time.Now()
	unix := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	const created = "(request-target) host (created) digest"
	for _, tt := range []struct {
		name string
		sign apptest.Signing
		path string
		want int
	}{
		{"as most do", apptest.Signing{}, "/inbox", 202},
		{"hs2019", apptest.Signing{Algorithm: "hs2019"}, "/inbox", 202},
		{"hs2019 with SHA-512", apptest.Signing{Algorithm: "hs2019", Hash: crypto.SHA512}, "/inbox", 202},
		{"no algorithm", apptest.Signing{Algorithm: "none"}, "/inbox", 202},
		{"an algorithm of no kind", apptest.Signing{Algorithm: "hmac-sha256"}, "/inbox", 401},
		{"created", apptest.Signing{Algorithm: "hs2019", Headers: created, Created: unix(0), Params: ",created=" + unix(0)}, "/inbox", 202},
		{"created and expires", apptest.Signing{Algorithm: "hs2019", Headers: created + " (expires)", Created: unix(0), Expires: unix(time.Minute),
			Params: ",created=" + unix(0) + ",expires=" + unix(time.Minute)}, "/inbox", 202},
		{"expired", apptest.Signing{Algorithm: "hs2019", Headers: created + " (expires)", Created: unix(-3 * time.Hour), Expires: unix(-2 * time.Hour),
			Params: ",created=" + unix(-3*time.Hour) + ",expires=" + unix(-2*time.Hour)}, "/inbox", 401},
		{"created with rsa-sha256", apptest.Signing{Headers: created, Created: unix(0), Params: ",created=" + unix(0)}, "/inbox", 401},
		{"the digest of another body", apptest.Signing{Digest: "SHA-256=" + base64.StdEncoding.EncodeToString(make([]byte, 32))}, "/inbox", 401},
		{"no digest", apptest.Signing{Digest: "none", Headers: "(request-target) host date"}, "/inbox", 401},
		{"a digest that is not signed", apptest.Signing{Headers: "(request-target) host date"}, "/inbox", 401},
		{"a digest of another kind", apptest.Signing{Digest: "MD5=abc"}, "/inbox", 401},
		{"no host", apptest.Signing{Headers: "(request-target) date digest"}, "/inbox", 401},
		{"no target", apptest.Signing{Headers: "host date digest"}, "/inbox", 401},
		{"no date", apptest.Signing{Headers: "(request-target) host digest"}, "/inbox", 401},
		{"13 hours old", apptest.Signing{Date: now.Add(-13 * time.Hour)}, "/inbox", 401},
		{"11 hours old", apptest.Signing{Date: now.Add(-11 * time.Hour)}, "/inbox", 202},
		{"2 hours ahead", apptest.Signing{Date: now.Add(2 * time.Hour)}, "/inbox", 401},
		{"for another host", apptest.Signing{Host: "social.example"}, "/inbox", 401},
		{"for another path", apptest.Signing{Target: "/users/x/inbox"}, "/inbox", 401},
		{"for the path without the query", apptest.Signing{Target: "/inbox"}, "/inbox?x=1", 202},
		{"for the path with the query", apptest.Signing{}, "/inbox?x=1", 202},
		{"with an unknown key", apptest.Signing{KeyID: peer.URL + "/users/nobody#main-key"}, "/inbox", 401},
		{"with a key that is no address", apptest.Signing{KeyID: "bob"}, "/inbox", 401},
		{"with a key of this server", apptest.Signing{KeyID: srv.URL + "/users/" + alice.ID + "#main-key"}, "/inbox", 401},
		{"by another key", apptest.Signing{Key: apptest.ForeignKey()}, "/inbox", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.Favourites(st.ID())
			name := "n" + fmt.Sprint(len(tt.name)) + strings.ReplaceAll(tt.name, " ", "_")
			actor := peer.AddActor(strings.NewReplacer(",", "", "-", "").Replace(name))
			if tt.sign.Key == nil {
				tt.sign.Key = apptest.SharedKey()
			}
			if tt.sign.KeyID == "" {
				tt.sign.KeyID = actor + "#main-key"
			}
			body, _ := json.Marshal(peer.Activity("Like", actor, st.Str("uri")))
			srv.As(nil).DoRequest(SignedByHand(t, srv.URL+tt.path, body, tt.sign)).Want(tt.want)
			want := before
			if tt.want == 202 {
				want++
			}
			if got := alice.Favourites(st.ID()); got != want {
				t.Errorf("%d favourites, want %d", got, want)
			}
		})
	}
	t.Run("not signed", func(t *testing.T) {
		srv.As(nil).Do("POST", "/inbox", "application/activity+json", bytes.NewReader(apptest.MustJSON(peer.Activity("Like", bob, st.Str("uri"))))).Want(401)
	})
}

// TestSignatureAge checks the setting for the maximal age of a signature.
func TestSignatureAge(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.SignatureAge = time.Hour })
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	st := alice.Publish("a post").Str("uri")
	for age, want := range map[time.Duration]int{30 * time.Minute: 202, 90 * time.Minute: 401} {
		body := apptest.MustJSON(peer.Activity("Like", bob, st))
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/inbox", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", apptest.ActivityJSON)
		if err := peer.Signer(bob).Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now().Add(-age)}); err != nil {
			t.Fatal(err)
		}
		srv.As(nil).DoRequest(req).Want(want)
	}
}

// TestInboxRFC9421 covers the rules for RFC 9421 signatures (cases 33 and 34).
func TestInboxRFC9421(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	rsaKey, edPublic := apptest.SharedKey(), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))
	for i, tt := range []struct {
		name       string
		ed         bool
		components []string
		uri        string
		alg        string
		want       int
	}{
		{"RSA", false, []string{"@method", "@target-uri", "content-digest"}, "", "rsa-v1_5-sha256", 202},
		{"the algorithm not named", false, []string{"@method", "@target-uri", "content-digest"}, "", "", 202},
		{"the host and path apart", false, []string{"@method", "@authority", "@path", "content-digest"}, "", "", 202},
		{"Ed25519", true, []string{"@method", "@target-uri", "content-digest"}, "", "ed25519", 202},
		{"no digest", false, []string{"@method", "@target-uri"}, "", "rsa-v1_5-sha256", 401},
		{"no method", false, []string{"@target-uri", "content-digest"}, "", "rsa-v1_5-sha256", 401},
		{"for another host", false, []string{"@method", "@target-uri", "content-digest"}, "https://social.example/inbox", "rsa-v1_5-sha256", 401},
		{"a shared secret", false, []string{"@method", "@target-uri", "content-digest"}, "", "hmac-sha256", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.Favourites(st.ID())
			name := fmt.Sprint("bob", i)
			actor := peer.URL + "/users/" + name
			keyID := actor + "#main-key"
			if tt.ed {
				keyID = actor + "#ed25519-key"
				peer.AddActor(name, apptest.Doc{"assertionMethod": []any{apptest.Doc{
					"id": keyID, "type": "Multikey", "controller": actor, "publicKeyMultibase": httpsig.FormatMultikey(edPublic.Public().(ed25519.PublicKey)),
				}}})
			} else {
				peer.AddActor(name)
			}
			body := apptest.MustJSON(peer.Activity("Like", actor, st.Str("uri")))
			sum := sha256.Sum256(body)
			if tt.uri == "" {
				tt.uri = srv.URL + "/inbox"
			}
			values := map[string]string{
				"@method": "POST", "@target-uri": tt.uri, "@authority": strings.TrimPrefix(srv.URL, "http://"), "@path": "/inbox",
				"content-digest": "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":",
			}
			params := `("` + strings.Join(tt.components, `" "`) + fmt.Sprintf(`");created=%d;keyid="%s"`, time.Now().Unix(), keyID)
			if tt.alg != "" {
				params += `;alg="` + tt.alg + `"`
			}
			var base strings.Builder
			for _, c := range tt.components {
				fmt.Fprintf(&base, "%q: %s\n", c, values[c])
			}
			base.WriteString(`"@signature-params": ` + params)
			var signature []byte
			if tt.ed {
				signature = ed25519.Sign(edPublic, []byte(base.String()))
			} else {
				sum := sha256.Sum256([]byte(base.String()))
				signature, _ = rsa.SignPKCS1v15(nil, rsaKey, crypto.SHA256, sum[:])
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/inbox", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/activity+json")
			req.Header.Set("Content-Digest", values["content-digest"])
			req.Header.Set("Signature-Input", "sig1="+params)
			req.Header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(signature)+":")
			srv.As(nil).DoRequest(req).Want(tt.want)
			want := before
			if tt.want == 202 {
				want++
			}
			if got := alice.Favourites(st.ID()); got != want {
				t.Errorf("%d favourites, want %d", got, want)
			}
		})
	}
}

// TestInboxKeys covers where keys are found, and who owns them (cases 28, 29, 39, 40).
func TestInboxKeys(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	pkix := func(bits int) (crypto.Signer, string) {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		return key, block("PUBLIC KEY", der)
	}
	standard, standardPEM := apptest.SharedKey(), ""
	standardPEM, err := httpsig.FormatPublicKey(standard.Public())
	if err != nil {
		t.Fatal(err)
	}
	long, longPEM := pkix(4096)
	t.Setenv("GODEBUG", "rsa1024min=0")
	short, shortPEM := pkix(512)
	victim := other.AddActor("victim")
	srv.FetchActor(victim)
	for i, tt := range []struct {
		name string
		key  crypto.Signer
		make func(name, id string) (keyID string)
		want int
	}{
		{"a stub of the actor", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": id + "/main-key", "owner": id, "publicKeyPem": standardPEM}})
			peer.ServeAt(id+"/main-key", apptest.Doc{"id": id, "type": "Person", "preferredUsername": name, "publicKey": apptest.Doc{"id": id + "/main-key", "owner": id, "publicKeyPem": standardPEM}})
			return id + "/main-key"
		}, 202},
		{"the key alone, listed by its owner", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": id + "/key"})
			peer.Serve(apptest.Doc{"id": id + "/key", "type": "Key", "owner": id, "publicKeyPem": standardPEM})
			return id + "/key"
		}, 202},
		{"the key alone, not listed by its owner", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": nil})
			peer.Serve(apptest.Doc{"id": id + "/key", "type": "Key", "owner": id, "publicKeyPem": standardPEM})
			return id + "/key"
		}, 401},
		{"a key with an owner on another host", standard, func(name, id string) string {
			peer.Serve(apptest.Doc{"id": id + "/key", "type": "Key", "owner": victim, "publicKeyPem": standardPEM})
			return id + "/key"
		}, 401},
		{"an actor with the key of an actor on another host", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": victim + "#main-key", "owner": id, "publicKeyPem": standardPEM}})
			return id + "#main-key"
		}, 401},
		{"several keys", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": []any{
				apptest.Doc{"id": id + "#long", "owner": id, "publicKeyPem": longPEM}, apptest.Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": standardPEM},
			}})
			return id + "#main-key"
		}, 202},
		{"PKCS #1", standard, func(name, id string) string {
			text := block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&standard.PublicKey))
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": text}})
			return id + "#main-key"
		}, 202},
		{"lines that end as in DOS", standard, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": strings.ReplaceAll(standardPEM, "\n", "\r\n")}})
			return id + "#main-key"
		}, 202},
		{"4096 bits", long, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": longPEM}})
			return id + "#main-key"
		}, 202},
		{"512 bits", short, func(name, id string) string {
			peer.AddActor(name, apptest.Doc{"publicKey": apptest.Doc{"id": id + "#main-key", "owner": id, "publicKeyPem": shortPEM}})
			return id + "#main-key"
		}, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.Favourites(st.ID())
			name := fmt.Sprint("bob", i)
			id := peer.URL + "/users/" + name
			keyID := tt.make(name, id)
			body := apptest.MustJSON(peer.Activity("Like", id, st.Str("uri")))
			srv.As(nil).DoRequest(SignedByHand(t, srv.URL+"/inbox", body, apptest.Signing{KeyID: keyID, Key: tt.key})).Want(tt.want)
			want := before
			if tt.want == 202 {
				want++
			}
			if got := alice.Favourites(st.ID()); got != want {
				t.Errorf("%d favourites, want %d", got, want)
			}
		})
	}
	row, err := srv.DB.ActorKey(t.Context(), victim+"#main-key")
	if err != nil || row == nil || row.AccountID.String() != srv.KnownID(victim) {
		t.Errorf("the key of the victim is %+v, %v", row, err)
	}
}

// TestInboxKeyChanged checks that a changed key is fetched once, and not again soon after a wrong signature. Concurrent requests share
// the result (case 30).
func TestInboxKeyChanged(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	srv.FetchActor(bob)
	old := peer.Keys[bob]
	fetches := peer.Fetches(bob)
	peer.RotateKey("bob")
	var all sync.WaitGroup
	likes := make([]*http.Request, 20)
	for i := range likes {
		st := alice.Publish(fmt.Sprint("post ", i))
		likes[i] = SignedByHand(t, srv.URL+"/inbox", apptest.MustJSON(peer.Activity("Like", bob, st.Str("uri"))), apptest.Signing{KeyID: bob + "#main-key", Key: peer.Keys[bob]})
	}
	for _, req := range likes {
		all.Go(func() {
			if a := srv.As(nil).DoRequest(req); a.Status != 202 {
				t.Errorf("got %d: %s", a.Status, a.Body)
			}
		})
	}
	all.Wait()
	if n := peer.Fetches(bob) - fetches; n != 1 {
		t.Errorf("the actor was fetched %d times, want 1", n)
	}
	for range 2 {
		body := apptest.MustJSON(peer.Activity("Like", bob, alice.Publish("another").Str("uri")))
		srv.As(nil).DoRequest(SignedByHand(t, srv.URL+"/inbox", body, apptest.Signing{KeyID: bob + "#main-key", Key: old})).Want(401)
	}
	if n := peer.Fetches(bob) - fetches; n != 1 {
		t.Errorf("after wrong signatures, the actor was fetched %d times, want 1", n)
	}
}

// TestConcurrentKeyFetches checks that concurrent activities of an unknown actor cause one fetch.
func TestConcurrentKeyFetches(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	peer.OnRequest("/users/bob", func(*http.Request) { time.Sleep(50 * time.Millisecond) })
	st := alice.Publish("a post")
	var all sync.WaitGroup
	for range 50 {
		like := peer.Activity("Like", bob, st.Str("uri"))
		all.Go(func() { peer.Post(srv, like) })
	}
	all.Wait()
	if n := peer.Fetches(bob); n != 1 {
		t.Errorf("the actor was fetched %d times, want 1", n)
	}
	if n := alice.Favourites(st.ID()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
}

// TestInboxKeyUnavailable covers keys that cannot be fetched or refreshed (case 32).
func TestInboxKeyUnavailable(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	for i, tt := range []struct {
		name         string
		status, want int
		fetches      int // for two activities
	}{
		{"trouble", 500, 503, 1},
		{"too many requests", 429, 503, 1},
		{"gone", 410, 401, 1},
		{"not found", 404, 401, 1},
		{"not for us", 403, 401, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := fmt.Sprint("bob", i)
			bob := peer.AddActor(name)
			peer.Remove(bob, tt.status)
			for range 2 {
				a := peer.Deliver(srv, "/inbox", bob, peer.Activity("Like", bob, st.Str("uri"))).Want(tt.want)
				if wait := a.Header.Get("Retry-After"); (wait == "60") != (tt.want == 503) {
					t.Errorf("Retry-After: %q", wait)
				}
			}
			if n := peer.Fetches(bob); n != tt.fetches {
				t.Errorf("fetched %d times, want %d", n, tt.fetches)
			}
		})
	}
	t.Run("an unreachable host", func(t *testing.T) {
		gone := apptest.StartFake(t)
		bob := gone.AddActor("bob")
		like := gone.Activity("Like", bob, st.Str("uri"))
		gone.Close()
		gone.Deliver(srv, "/inbox", bob, like).Want(503)
	})
	if n := alice.Favourites(st.ID()); n != 0 {
		t.Errorf("%d favourites, want 0", n)
	}
}

// TestSignerIsActor checks that the signer must be the actor of the activity (case 31 and others).
func TestSignerIsActor(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	bob, eve, mallory := peer.AddActor("bob"), peer.AddActor("eve"), other.AddActor("mallory")
	like := peer.Activity("Like", bob, st.Str("uri"))
	peer.Deliver(srv, "/inbox", eve, like).Want(202)
	other.Deliver(srv, "/inbox", mallory, like).Want(202)
	if n := alice.Favourites(st.ID()); n != 0 {
		t.Fatalf("%d favourites, want 0", n)
	}
	// Nor can they suppress an activity of bob's by using its id for one of theirs.
	taken := other.Activity("Like", mallory, st.Str("uri"), apptest.Doc{"id": like["id"]})
	other.Deliver(srv, "/inbox", mallory, taken).Want(202)
	apptest.Settle(srv)
	like["proof"] = apptest.Doc{"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022", "proofPurpose": "assertionMethod", "proofValue": "z1",
		"verificationMethod": bob + "#ed25519-key"} // a wrong proof is ignored if the actor signed the request (2.8)
	peer.Post(srv, like)
	if n := alice.Favourites(st.ID()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
	refusals, err := srv.DB.Refusals(t.Context(), like["id"].(string))
	if err != nil || len(refusals) != 3 {
		t.Errorf("got %d refusals, want 3: %v", len(refusals), err)
	}
}

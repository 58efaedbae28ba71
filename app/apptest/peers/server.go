package peers

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// Server is a remote server with the behaviour of its profile.
type Server struct {
	*apptest.FakeServer
	*Profile
	Answered func(status int)   // is called after each attempt of a delivery
	Now      func() time.Time   // of its signatures
	instance string             // the actor that signs fetches
	proofKey ed25519.PrivateKey // of all actors, if activities have proofs

	mu        sync.Mutex
	keys      map[string]string // PEM of the keys that it has, by actor
	seen      map[string]bool   // ids of activities
	took      []string          // effects of activities since the last Took
	refused   []string
	posts     map[string]*Post
	messages  map[string]string          // chat messages, their authors
	followers map[string]map[string]bool // of accounts, as this server sees it
	documents map[string]Doc             // served ones, by id
	nextKey   crypto.Signer              // of RotateKey
	numbers   map[string]int             // of actors, by name
	names     map[string]string          // of actors, by id
	lastID    int
	redirects map[string]string // by path
	down      int               // the status of all responses; 0: none
	inboxDown int               // that of responses to deliveries
}

// Start starts a server.
func Start(t testing.TB, p *Profile) *Server {
	t.Helper()
	s := &Server{
		Profile: p, FakeServer: apptest.StartFake(t), keys: make(map[string]string), seen: make(map[string]bool), posts: make(map[string]*Post),
		messages: make(map[string]string), followers: make(map[string]map[string]bool), numbers: make(map[string]int), names: make(map[string]string),
		Now: time.Now, redirects: make(map[string]string), documents: make(map[string]Doc),
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.proofKey = key
	s.Check = s.check
	s.serveNodeInfo()
	name, _, _ := strings.Cut(s.Host, ":") // as most servers name it
	s.instance = s.URL + "/actor"
	s.Keys[s.instance] = apptest.SharedKey()
	s.Serve(Doc{
		"@context": s.context(), "id": s.instance, "type": "Application", "preferredUsername": name, "inbox": s.instance + "/inbox",
		"outbox": s.instance + "/outbox", "publicKey": s.publicKey(s.instance),
	})
	s.AddWebFinger(name, s.instance)
	return s
}

func (s *Server) serveNodeInfo() {
	s.Respond("/.well-known/nodeinfo", http.StatusOK, "application/json", apptest.MustJSON(Doc{"links": []any{
		Doc{"rel": "http://nodeinfo.diaspora.software/ns/schema/2.0", "href": s.URL + "/nodeinfo/2.0"},
	}}))
	s.Respond("/nodeinfo/2.0", http.StatusOK, "application/json", apptest.MustJSON(Doc{
		"version": "2.0", "software": Doc{"name": s.Software, "version": s.Version}, "protocols": []any{"activitypub"}, "openRegistrations": false,
		"services": Doc{"inbound": []any{}, "outbound": []any{}}, "usage": Doc{"users": Doc{"total": 1}}, "metadata": Doc{},
	}))
}

// SetDown makes the server answer all requests with a status; 0 ends it.
func (s *Server) SetDown(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = status
}

// SetInboxDown makes the server answer deliveries with a status; 0 ends it.
func (s *Server) SetInboxDown(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inboxDown = status
}

// Arrived returns how many effects and refusals there are since the last call of Took.
func (s *Server) Arrived() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.took) + len(s.refused)
}

// Took returns the effects of the activities that it accepted since the last call, and fails the test if it refused one.
func (s *Server) Took() []string {
	s.T.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) > 0 {
		s.T.Errorf("%s refuses: %s", s.Name, strings.Join(s.refused, "; "))
	}
	took := s.took
	s.took, s.refused = nil, nil
	return took
}

// Refused returns why activities were refused since the last call.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	refused := s.refused
	s.refused = nil
	return refused
}

// WantTook fails the test unless the effects since the last call contain these, and no activity was refused.
func (s *Server) WantTook(want ...string) {
	s.T.Helper()
	took := s.Took()
	for _, effect := range want {
		if !slices.Contains(took, effect) {
			s.T.Errorf("%s took %q, want %q", s.Name, took, effect)
		}
	}
}

// Post returns a post that it received, and fails the test if it has none with the id.
func (s *Server) Post(uri string) *Post {
	s.T.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.posts[uri]
	if p == nil {
		s.T.Fatalf("%s does not have %s", s.Name, uri)
	}
	return p
}

// check answers deliveries, and fetches that it refuses.
func (s *Server) check(w http.ResponseWriter, r *http.Request, body []byte) bool {
	s.mu.Lock()
	down, target := s.down, s.redirects[r.URL.RequestURI()]
	if down == 0 && r.Method == http.MethodPost {
		down = s.inboxDown
	}
	s.mu.Unlock()
	switch {
	case down != 0:
		http.Error(w, "down", down)
		return false
	case target != "":
		http.Redirect(w, r, target, http.StatusFound)
		return false
	case r.Method != http.MethodPost:
		open := strings.HasPrefix(r.URL.Path, "/.well-known/") || strings.HasPrefix(r.URL.Path, "/nodeinfo/") || strings.HasSuffix(r.URL.Path, "/main-key") ||
			r.URL.Path == "/actor" || strings.HasPrefix(r.URL.Path, "/media/")
		if s.SignedFetch && !open {
			if _, _, err := s.verify(r, nil); err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return false
			}
		}
		return true
	}
	if status, err := s.receive(r, body); err != nil {
		s.mu.Lock()
		s.refused = append(s.refused, fmt.Sprintf("%v: %.2000s", err, body))
		s.mu.Unlock()
		http.Error(w, err.Error(), status)
		return false
	}
	return true
}

// fetch fetches a document as this server does, signed by its instance actor.
func (s *Server) fetch(address string) (Doc, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", apptest.LinkedDataJSON)
	if err := s.sign(req, nil, s.instance); err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // a signature covers one address, so redirects are not followed
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with %d", address, resp.StatusCode)
	}
	var d Doc
	return d, json.NewDecoder(resp.Body).Decode(&d)
}

// Fetch is fetch, but fails the test.
func (s *Server) Fetch(address string) Doc {
	s.T.Helper()
	d, err := s.fetch(address)
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// signatureTTL is how long (expires) allows a request.
const signatureTTL = 5 * time.Minute

// sign signs a request as this server does.
func (s *Server) sign(req *http.Request, body []byte, actor string) error {
	keyID, key := actor+s.KeyID, s.Keys[actor]
	if s.RFC9421 {
		return (&httpsig.Signer{KeyID: keyID, Key: key}).Sign(req, body, httpsig.Options{Scheme: httpsig.RFC9421, Now: s.Now()})
	}
	sign := apptest.Signing{KeyID: keyID, Key: key, Algorithm: s.Algorithm, Headers: s.Headers, Date: s.Now()}
	if body == nil {
		sign.Headers = s.FetchHeader
	} else if req.Header.Get(synchronizationHeader) != "" {
		sign.Headers += " " + strings.ToLower(synchronizationHeader)
	}
	if s.Created {
		now := s.Now()
		sign.Created, sign.Expires = fmt.Sprint(now.Unix()), fmt.Sprint(now.Add(signatureTTL).Unix())
		sign.Params = ",created=" + sign.Created + ",expires=" + sign.Expires
	}
	if s.PathOnly {
		sign.Target = req.URL.EscapedPath()
	}
	return sign.Sign(req, body)
}

// Proven returns an activity with an integrity proof, if the profile has them.
func (s *Server) Proven(activity Doc) Doc {
	s.T.Helper()
	if !s.Proofs {
		return activity
	}
	return apptest.WithProof(s.T, activity, s.proofKey, activity["actor"].(string)+proofKeyID, s.Now())
}

// Send delivers an activity to the shared inbox, or to the inbox of a user if direct or if the profile has no shared inboxes. It repeats
// the delivery while it is answered with a temporary error, as the profile says, and returns the last status.
func (s *Server) Send(to *apptest.Server, owner *apptest.User, activity Doc) int {
	s.T.Helper()
	path := "/inbox"
	if owner != nil {
		path = "/users/" + owner.ID + "/inbox"
	}
	body := apptest.MustJSON(s.Proven(activity))
	status := 0
	for range max(s.Attempts, 1) {
		req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, to.URL+path, strings.NewReader(string(body)))
		if err != nil {
			s.T.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/activity+json")
		s.setSynchronization(req, activity)
		if err := s.sign(req, body, activity["actor"].(string)); err != nil {
			s.T.Fatal(err)
		}
		status = to.As(nil).DoRequest(req).Status
		if s.Answered != nil {
			s.Answered(status)
		}
		if status < 500 && status != http.StatusTooManyRequests {
			break
		}
	}
	return status
}

// Deliver sends activities to a user's server and processes them. All must be accepted.
func (s *Server) Deliver(to *apptest.User, activities ...Doc) {
	s.T.Helper()
	for _, activity := range activities {
		owner := to
		if s.SharedInbox && !s.isDirect(activity) {
			owner = nil
		}
		if status := s.Send(to.Server, owner, activity); status != http.StatusAccepted {
			s.T.Fatalf("%s: %v of %s is answered with %d", s.Name, activity["type"], s.Name, status)
		}
	}
	apptest.Settle(to.Server)
	for _, activity := range activities {
		if id, _ := activity["id"].(string); id != "" {
			if reason := to.Server.Refusals(id); reason != "" {
				s.T.Errorf("%s: %v is refused: %s", s.Name, activity["type"], reason)
			}
		}
	}
}

// isDirect returns whether an activity has a single recipient. Such ones go to that account's own inbox.
func (s *Server) isDirect(activity Doc) bool {
	to, cc := values(activity["to"]), values(activity["cc"])
	return len(to) == 1 && len(cc) == 0 && to[0] != apptest.Public
}

package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"svc/internal/config"
	"svc/store"
	"sync"
	"testing"
	"time"
)

// InboxServer is a remote server that only records deliveries.
type InboxServer struct {
	T    testing.TB
	URL  string
	Host string

	mu         sync.Mutex
	deliveries []Delivery
	respond    func(http.ResponseWriter, *http.Request) // nil: 202
}

// Delivery is one recorded delivery.
type Delivery struct {
	Path   string
	Header http.Header
	Raw    string
	Object *Object
}

func StartInboxServer(t testing.TB) *InboxServer {
	t.Helper()
	l := &InboxServer{T: t}
	ts := httptest.NewServer(l)
	t.Cleanup(ts.Close)
	l.URL, l.Host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return l
}

// StartWithInboxServer starts a server with a user, and an InboxServer.
func StartWithInboxServer(t testing.TB, change ...func(*config.Config)) (*Server, *User, *InboxServer) {
	t.Helper()
	srv := StartPeers(t, 1, change...)[0]
	return srv, srv.SignUp("alice"), StartInboxServer(t)
}

func (l *InboxServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw)) // for respond
	o := &Object{T: l.T}
	if r.Method == http.MethodPost && json.Unmarshal(raw, &o.Fields) != nil {
		l.T.Errorf("%s: invalid JSON: %s", r.URL.Path, raw)
	}
	l.mu.Lock()
	if r.Method == http.MethodPost {
		l.deliveries = append(l.deliveries, Delivery{r.URL.Path, r.Header, string(raw), o})
	}
	reply := l.respond
	l.mu.Unlock()
	switch {
	case reply != nil:
		reply(w, r)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

// Respond sets the status and headers of responses to deliveries. headers are pairs.
func (l *InboxServer) Respond(status int, headers ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.respond = func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// Take returns the deliveries since its last call.
func (l *InboxServer) Take() []Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.deliveries
	l.deliveries = nil
	return list
}

// TakeOne returns the only delivery since the last Take, and fails the test if there is none or its type differs.
func (l *InboxServer) TakeOne(kind string) Delivery {
	l.T.Helper()
	list := l.Take()
	if len(list) != 1 || list[0].Object.Str("type") != kind {
		l.T.Fatalf("got %s, want one %s", DeliveredTypes(list), kind)
	}
	return list[0]
}

// DeliveredTypes returns the types and paths of deliveries.
func DeliveredTypes(list []Delivery) string {
	var names []string
	for _, m := range list {
		names = append(names, m.Object.Str("type")+" "+m.Path)
	}
	return strings.Join(names, ", ")
}

// AddAccount adds an account of the InboxServer to the database of a server, with a shared inbox if shared.
func (l *InboxServer) AddAccount(a *Server, nick string, shared bool) *store.Account {
	a.T.Helper()
	uri := l.URL + "/users/" + nick
	who := &store.Account{Nickname: nick, Domain: l.Host, URI: uri, URL: uri, ActorType: "Person"}
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		if err := tx.AddAccount(a.T.Context(), who); err != nil {
			return err
		}
		now := store.At(a.DB.Now())
		actor := &store.Actor{AccountID: who.ID, Inbox: uri + "/inbox", FetchedAt: now, AttemptedAt: now}
		if shared {
			actor.SharedInbox = l.URL + "/inbox"
		}
		return tx.SaveActor(a.T.Context(), actor)
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return who
}

// AddFollower adds a remote account that follows a user.
func (l *InboxServer) AddFollower(a *Server, nick string, shared bool, of *User) *store.Account {
	a.T.Helper()
	who := l.AddAccount(a, nick, shared)
	a.AddRemoteFollow(who, of, false)
	return who
}

// WantActivity checks the rules for all activities (federation 4, D5, D6).
func (m Delivery) WantActivity(t *testing.T, a *Server) {
	t.Helper()
	d := m.Object
	for _, hidden := range []string{`"bto"`, `"bcc"`} {
		if strings.Contains(m.Raw, hidden) {
			t.Errorf("%s has %s", m.Raw, hidden)
		}
	}
	if c, ok := d.At("@context").([]any); !ok || c[0] != "https://www.w3.org/ns/activitystreams" {
		t.Errorf("@context of %s is %v", d.Str("type"), d.At("@context"))
	}
	for _, key := range []string{"id", "actor"} {
		if !strings.HasPrefix(d.Str(key), a.URL+"/") || strings.Contains(d.Str(key), "#") {
			t.Errorf("%s of %s is %q", key, d.Str("type"), d.Str(key))
		}
	}
	if d.Str("published") == "" {
		t.Error("there is no time")
	}
	to, cc := Addresses(d)
	if o, ok := d.At("object").(map[string]any); ok && (d.Str("type") == "Create" || d.Str("type") == "Update" && o["attributedTo"] != nil) {
		embedded := &Object{T: t, Fields: o}
		oto, occ := Addresses(embedded)
		if !slices.Equal(to, oto) || o["cc"] != nil && !slices.Equal(cc, occ) {
			t.Errorf("the activity is for %v and %v, its object for %v and %v", to, cc, oto, occ)
		}
	}
	if !strings.HasPrefix(m.Header.Get("Content-Type"), "application/activity+json") || m.Header.Get("Content-Length") == "" ||
		!strings.Contains(m.Header.Get("Signature"), `keyId="`+d.Str("actor")+`#main-key"`) || m.Header.Get("Idempotency-Key") != "" {
		t.Errorf("headers of %s: %v", d.Str("type"), m.Header)
	}
}

// Addresses returns to and cc, which are lists of text.
func Addresses(o *Object) (to, cc []string) {
	o.T.Helper()
	read := func(key string) (list []string) {
		o.T.Helper()
		if !o.Has(key) && key == "cc" {
			return nil // a chat message has no cc
		}
		values, ok := o.At(key).([]any)
		if !ok {
			o.T.Fatalf("%s of %v is not a list", key, o.Fields)
		}
		for _, v := range values {
			list = append(list, v.(string))
		}
		return list
	}
	return read("to"), read("cc")
}

// RespondFunc sets the handler of all requests.
func (l *InboxServer) RespondFunc(f http.HandlerFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.respond = f
}

// WaitFor waits until n activities were delivered and returns the elapsed time. It fails the test after timeout.
func (l *InboxServer) WaitFor(n int, timeout time.Duration) time.Duration {
	l.T.Helper()
	start := time.Now()
	for {
		l.mu.Lock()
		got := len(l.deliveries)
		l.mu.Unlock()
		switch took := time.Since(start); {
		case got >= n:
			return took
		case took > timeout:
			l.T.Fatalf("%d of %d deliveries after %v", got, n, took)
		}
		time.Sleep(time.Millisecond)
	}
}

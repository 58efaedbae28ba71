package apptest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"svc/internal/httpsig"
	"testing"
	"time"
)

// FetchAs fetches a URL or path of srv with an Accept header, signed by signer unless that is "".
func (p *FakeServer) FetchAs(srv *Server, path, signer, accept string) *Response {
	srv.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = srv.URL + path
	}
	req := srv.NewGet(path, accept)
	if signer != "" {
		p.Sign(req, signer)
	}
	return srv.As(nil).DoRequest(req)
}

// Sign signs a request without a body.
func (p *FakeServer) Sign(req *http.Request, signer string) {
	p.T.Helper()
	if err := p.Signer(signer).Sign(req, nil, httpsig.Options{Scheme: p.Scheme, Now: time.Now()}); err != nil {
		p.T.Fatal(err)
	}
}

// AddFollower adds an actor that follows a user, and returns its id.
func (p *FakeServer) AddFollower(srv *Server, name string, m *User) string {
	p.T.Helper()
	id := p.AddActor(name)
	p.PostAndSettle(srv, p.Activity("Follow", id, srv.URL+"/users/"+m.ID))
	if _, err := srv.DB.AccountByURI(p.T.Context(), id); err != nil {
		p.T.Fatal(err)
	}
	return id
}

// ChatMessage returns the Create of a chat message, as most servers send it. changes replace members of the message; nil removes one.
func (p *FakeServer) ChatMessage(from, to string, changes ...Doc) Doc {
	m := Doc{
		"id": p.NewID("messages"), "type": "ChatMessage", "attributedTo": from, "actor": from, "to": []any{to},
		"content": "hello", "published": time.Now().UTC().Format(time.RFC3339), "tag": []any{},
	}
	for _, c := range changes {
		for key, v := range c {
			if m[key] = v; v == nil {
				delete(m, key)
			}
		}
	}
	return p.Activity("Create", from, m)
}

// OneDelivered returns the only delivered activity of a type, and fails the test if there is none or several.
func (p *FakeServer) OneDelivered(activityType string) Doc {
	p.T.Helper()
	list := p.Delivered(activityType)
	if len(list) != 1 {
		p.T.Fatalf("%d activities of type %s were delivered, want 1: %v", len(list), activityType, p.Delivered())
	}
	return list[0]
}

// ClearDelivered removes the recorded deliveries.
func (p *FakeServer) ClearDelivered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deliveries = nil
}

// LastDelivered returns the last delivered activity of a type.
func LastDelivered(t *testing.T, p *FakeServer, kind string) Doc {
	t.Helper()
	list := p.Delivered(kind)
	if len(list) == 0 {
		t.Fatalf("no %s was delivered, but %v", kind, p.Delivered())
	}
	return list[len(list)-1]
}

// With returns a copy of a document with other members.
func With(d Doc, changes Doc) Doc {
	d = maps.Clone(d)
	maps.Copy(d, changes)
	return d
}

// FromNow returns a time relative to now in the format of ActivityPub documents and the client API.
func FromNow(d time.Duration) string {
	return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// MustJSON returns v as JSON.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

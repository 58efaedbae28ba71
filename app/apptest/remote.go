package apptest

import (
	"net/http"
	"net/url"
	"strings"
	"svc/store"
	"testing"
)

// MakeDeliveriesDue makes all queued deliveries due now.
func (a *Server) MakeDeliveriesDue() {
	a.T.Helper()
	a.Exec(`UPDATE deliveries SET run_at = 1000 WHERE parked = 0`)
	a.Exec(`UPDATE hosts SET backoff_until = 0, due_at = 1000 WHERE domain IN (SELECT domain FROM deliveries WHERE parked = 0)`)
}

// AddRemoteFollow adds a follow, or a follow request if pending, of a remote account to a user.
func (a *Server) AddRemoteFollow(follower *store.Account, target *User, pending bool) {
	a.T.Helper()
	uri := follower.URI + "/follows/" + target.ID
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		return tx.AddFollow(a.T.Context(), &store.Follow{FollowerID: follower.ID, TargetID: target.AccountID(), URI: &uri, Pending: pending, ShowReblogs: true})
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// AddRemoteStatus adds a public status of a remote account.
func (a *Server) AddRemoteStatus(by *store.Account, change ...func(*store.Status)) *store.Status {
	a.T.Helper()
	st := &store.Status{AccountID: by.ID, Domain: by.Domain, Content: "<p>hello</p>"}
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		st.ID = tx.NewStatusID()
		st.URI = by.URI + "/notes/" + st.ID.String()
		st.ConversationID = store.ConversationID(st.ID)
		for _, f := range change {
			f(st)
		}
		return tx.AddStatus(a.T.Context(), st)
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return st
}

// GetDocument fetches an ActivityPub document without a signature.
func (a *Server) GetDocument(path string) *Response {
	a.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = a.URL + path
	}
	return a.As(nil).DoRequest(a.NewGet(path, ActivityJSON))
}

// NewGet returns a GET request with an Accept header, without one if accept is "".
func (a *Server) NewGet(address, accept string) *http.Request {
	a.T.Helper()
	req, err := http.NewRequestWithContext(a.T.Context(), http.MethodGet, address, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return req
}

const (
	ActivityJSON   = "application/activity+json"
	LinkedDataJSON = `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`
)

// KnownID returns the API id of the account with an ActivityPub id, "" if it is unknown.
func (a *Server) KnownID(uri string) string {
	a.T.Helper()
	list, err := a.DB.AccountsByURI(a.T.Context(), []string{uri})
	if err != nil {
		a.T.Fatal(err)
	}
	if list[uri] == nil {
		return ""
	}
	return list[uri].ID.String()
}

// FetchActor makes the server fetch a remote actor, and returns the id of its account.
func (a *Server) FetchActor(uri string) string {
	a.T.Helper()
	account, err := a.Federation.Actors.Actor(a.T.Context(), uri)
	if err != nil {
		a.T.Fatal(err)
	}
	return account.ID.String()
}

// Refusals returns the recorded reasons why an activity or object was refused.
func (a *Server) Refusals(uri any) string {
	a.T.Helper()
	list, err := a.DB.Refusals(a.T.Context(), uri.(string))
	if err != nil {
		a.T.Fatal(err)
	}
	var reasons []string
	for _, r := range list {
		reasons = append(reasons, r.Reason)
	}
	return strings.Join(reasons, "; ")
}

// FindPost returns the status with an ActivityPub id, nil if it is unknown or not visible to the client's user.
func (c *Client) FindPost(uri any) *Object {
	c.Server.T.Helper()
	st, err := c.Server.DB.StatusByURI(c.Server.T.Context(), uri.(string))
	if err != nil {
		c.Server.T.Fatal(err)
	}
	if st == nil {
		return nil
	}
	a := c.Get("/api/v1/statuses/" + st.ID.String())
	if a.Status == http.StatusNotFound {
		return nil
	}
	return a.Want(200).Object()
}

// WantPost is FindPost, but fails the test if there is no status.
func (c *Client) WantPost(uri any) *Object {
	c.Server.T.Helper()
	o := c.FindPost(uri)
	if o == nil {
		c.Server.T.Fatalf("there is no status %v", uri)
	}
	return o
}

// FollowRemote adds an accepted follow of a remote actor.
func (m *User) FollowRemote(actor string) {
	m.Server.T.Helper()
	target, err := m.Server.Federation.Actors.Actor(m.Server.T.Context(), actor)
	if err != nil {
		m.Server.T.Fatal(err)
	}
	err = m.Server.DB.Update(m.Server.T.Context(), func(tx *store.Tx) error {
		me, err := tx.AccountByName(m.Server.T.Context(), m.Nickname, "")
		if err != nil {
			return err
		}
		return tx.AddFollow(m.Server.T.Context(), &store.Follow{FollowerID: me.ID, TargetID: target.ID, FollowerLocal: true, ShowReblogs: true})
	})
	if err != nil {
		m.Server.T.Fatal(err)
	}
}

// FindRemote returns the id on this server of a user of another one. It resolves the handle by a search.
func (m *User) FindRemote(other *User) string {
	m.Server.T.Helper()
	u, err := url.Parse(other.Server.URL)
	if err != nil {
		m.Server.T.Fatal(err)
	}
	found := m.Get("/api/v2/search", "q", "@"+other.Nickname+"@"+u.Host, "resolve", "true", "type", "accounts").Want(200).Object().At("accounts").([]any)
	if len(found) != 1 {
		m.Server.T.Fatalf("%s finds %d accounts of %s", m.Nickname, len(found), other.Nickname)
	}
	return found[0].(map[string]any)["id"].(string)
}

func MustHost(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

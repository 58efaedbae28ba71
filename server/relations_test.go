package server_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"svc/store"
)

// What tests of statuses need of people is put straight into the database here, so that they test statuses only.

// Exec runs statements on the database, beside the server, and has the server forget what it knows of it.
func (a *Server) Exec(query string, args ...any) {
	a.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.Dir, store.File)+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	if err != nil {
		a.T.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		a.T.Fatalf("%s: %v", query, err)
	}
	err = a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		return tx.SetUnavailable(a.T.Context(), 0, false) // touches everything
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// Count reads a number from the database, beside the server.
func (a *Server) Count(query string, args ...any) (n int) {
	a.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.Dir, store.File)+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		a.T.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		a.T.Fatalf("%s: %v", query, err)
	}
	return n
}

func (m *User) AccountID() store.AccountID {
	var id store.AccountID
	id.UnmarshalText([]byte(m.ID))
	return id
}

func (a *Server) AddFollow(follower, target *User) {
	a.T.Helper()
	a.Exec(`INSERT INTO follows (id, follower_id, target_id) VALUES (abs(random() % 1000000000), ?, ?)`, follower.AccountID(), target.AccountID())
}

func (a *Server) AddBlock(m, target *User) {
	a.T.Helper()
	a.Exec(`INSERT INTO blocks (account_id, target_id) VALUES (?, ?)`, m.AccountID(), target.AccountID())
}

func (a *Server) AddMute(m, target *User) {
	a.T.Helper()
	a.Exec(`INSERT INTO mutes (account_id, target_id) VALUES (?, ?)`, m.AccountID(), target.AccountID())
}

func (a *Server) AddSubscription(m, target *User) {
	a.T.Helper()
	a.Exec(`INSERT INTO subscriptions (account_id, target_id) VALUES (?, ?)`, m.AccountID(), target.AccountID())
}

func (a *Server) MakeUnavailable(m *User) {
	a.T.Helper()
	a.Exec(`UPDATE accounts SET unavailable = 1 WHERE id = ?`, m.AccountID())
}

// AddList makes a list and returns its id.
func (a *Server) AddList(owner *User, members ...*User) string {
	a.T.Helper()
	id := store.ListID(time.Now().UnixMilli()<<10 | 5)
	a.Exec(`INSERT INTO lists (id, account_id, title) VALUES (?, ?, 'friends')`, id, owner.AccountID())
	for _, m := range members {
		a.Exec(`INSERT INTO list_members (list_id, account_id) VALUES (?, ?)`, id, m.AccountID())
	}
	return id.String()
}

// AddMedia makes an upload and returns its id. There is no file behind it.
func (a *Server) AddMedia(m *User) string {
	a.T.Helper()
	media := &store.Media{AccountID: m.AccountID(), Type: "image", Mime: "image/png", File: "aa/picture.png"}
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error { return tx.AddMedia(a.T.Context(), media) })
	if err != nil {
		a.T.Fatal(err)
	}
	return media.ID.String()
}

// Notifications returns what somebody was told, newest first, as "type nickname".
func (m *User) Notifications() []string {
	m.Server.T.Helper()
	list := []string{}
	for _, n := range m.Get("/api/v1/notifications", "with_muted", "true").Want(200).List() {
		list = append(list, n.Str("type")+" "+n.Str("account.username"))
	}
	return list
}

// WantIDs fails the test if a list has other ids.
func WantIDs(t testing.TB, what string, a *Response, want ...string) {
	t.Helper()
	if got := a.Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// SignUpMany signs up n people.
func SignUpMany(a *Server, n int) []*User {
	a.T.Helper()
	people := make([]*User, n)
	for i := range people {
		people[i] = a.SignUp(fmt.Sprintf("p%d", i))
	}
	return people
}

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

// insert runs statements on the database, beside the server, and has the server forget what it knows of it.
func (a *api) insert(query string, args ...any) {
	a.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.dir, store.File)+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		a.t.Fatalf("%s: %v", query, err)
	}
	err = a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		return tx.SetWithheld(a.t.Context(), 0, false) // touches everything
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// count reads a number from the database, beside the server.
func (a *api) count(query string, args ...any) (n int) {
	a.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.dir, store.File)+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		a.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (m *member) accountID() store.AccountID {
	var id store.AccountID
	id.UnmarshalText([]byte(m.id))
	return id
}

func (a *api) letFollow(follower, target *member) {
	a.t.Helper()
	a.insert(`INSERT INTO follows (id, follower_id, target_id) VALUES (abs(random() % 1000000000), ?, ?)`, follower.accountID(), target.accountID())
}

func (a *api) letBlock(m, target *member) {
	a.t.Helper()
	a.insert(`INSERT INTO blocks (account_id, target_id) VALUES (?, ?)`, m.accountID(), target.accountID())
}

func (a *api) letMute(m, target *member) {
	a.t.Helper()
	a.insert(`INSERT INTO mutes (account_id, target_id) VALUES (?, ?)`, m.accountID(), target.accountID())
}

func (a *api) letSubscribe(m, target *member) {
	a.t.Helper()
	a.insert(`INSERT INTO subscriptions (account_id, target_id) VALUES (?, ?)`, m.accountID(), target.accountID())
}

func (a *api) withhold(m *member) {
	a.t.Helper()
	a.insert(`UPDATE accounts SET withheld = 1 WHERE id = ?`, m.accountID())
}

// letList makes a list and returns its id.
func (a *api) letList(owner *member, members ...*member) string {
	a.t.Helper()
	id := store.ListID(time.Now().UnixMilli()<<10 | 5)
	a.insert(`INSERT INTO lists (id, account_id, title) VALUES (?, ?, 'friends')`, id, owner.accountID())
	for _, m := range members {
		a.insert(`INSERT INTO list_members (list_id, account_id) VALUES (?, ?)`, id, m.accountID())
	}
	return id.String()
}

// letUpload makes an upload and returns its id. There is no file behind it.
func (a *api) letUpload(m *member) string {
	a.t.Helper()
	media := &store.Media{AccountID: m.accountID(), Type: "image", Mime: "image/png", File: "aa/picture.png"}
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error { return tx.AddMedia(a.t.Context(), media) })
	if err != nil {
		a.t.Fatal(err)
	}
	return media.ID.String()
}

// notified returns what somebody was told, newest first, as "type nickname".
func (m *member) notified() []string {
	m.api.t.Helper()
	list := []string{}
	for _, n := range m.get("/api/v1/notifications", "with_muted", "true").want(200).list() {
		list = append(list, n.str("type")+" "+n.str("account.username"))
	}
	return list
}

// wantIDs fails the test if a list has other ids.
func wantIDs(t testing.TB, what string, a *answer, want ...string) {
	t.Helper()
	if got := a.want(200).ids(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// crowdOf signs up n people.
func crowdOf(a *api, n int) []*member {
	a.t.Helper()
	people := make([]*member, n)
	for i := range people {
		people[i] = a.signUp(fmt.Sprintf("p%d", i))
	}
	return people
}

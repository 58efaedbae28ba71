package apptest

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"svc/admin"
	"svc/internal/config"
	"svc/store"
	"testing"
	"time"
)

func StatusID(text string) store.StatusID {
	var id store.StatusID
	id.UnmarshalText([]byte(text))
	return id
}

// ChangeAccount updates an account's row.
func (a *Server) ChangeAccount(m *User, change func(context *store.Account)) {
	a.T.Helper()
	var id store.AccountID
	id.UnmarshalText([]byte(m.ID))
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		row, err := tx.Account(a.T.Context(), id)
		if err != nil {
			return err
		}
		change(row)
		return tx.SaveAccount(a.T.Context(), row)
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// ChangeUser updates a user's row.
func (a *Server) ChangeUser(nick string, change func(*store.User)) {
	a.T.Helper()
	ctx := a.T.Context()
	err := a.DB.Update(ctx, func(tx *store.Tx) error {
		account, err := tx.AccountByName(ctx, nick, "")
		if err != nil {
			return err
		}
		user, err := tx.User(ctx, account.ID)
		if err != nil {
			return err
		}
		change(user)
		return tx.SaveUser(ctx, user)
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// TagAccount sets the moderation tags of an account.
func (a *Server) TagAccount(m *User, tags ...string) {
	a.T.Helper()
	a.Exec(`UPDATE accounts SET tags = ? WHERE id = ?`, `["`+strings.Join(tags, `","`)+`"]`, m.AccountID())
}

// HasRow returns true if a query returns a row.
func (a *Server) HasRow(query string, args ...any) (bool, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.Dir, store.File)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}

// Account returns the row of an account.
func (a *Server) Account(t *testing.T, id string) *store.Account {
	t.Helper()
	account, err := a.DB.Account(t.Context(), (&User{ID: id}).AccountID())
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// AddRemoteAccount adds a remote account and returns its id.
func (a *Server) AddRemoteAccount(nick, domain string) string {
	a.T.Helper()
	acct := &store.Account{
		Nickname: nick, DisplayName: nick, Domain: domain, ActorType: "Person",
		URI: "https://" + domain + "/users/" + nick, URL: "https://" + domain + "/@" + nick,
	}
	if err := a.DB.Update(context.Background(), func(tx *store.Tx) error { return tx.AddAccount(context.Background(), acct) }); err != nil {
		a.T.Fatal(err)
	}
	return acct.ID.String()
}

// EndPoll ends the poll of a status.
func (a *Server) EndPoll(st *Object) {
	a.T.Helper()
	a.Exec(`UPDATE polls SET expires_at = 1000 WHERE status_id = ?`, StatusID(st.ID()))
	a.Exec(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "poll:"+st.ID())
	a.RunJobs()
}

// MakeDue makes scheduled statuses due.
func (a *Server) MakeDue(ids ...string) {
	a.T.Helper()
	for _, id := range ids {
		a.Exec(`UPDATE scheduled_statuses SET scheduled_at = 1000 WHERE id = ?`, int64(ScheduledID(id)))
		a.Exec(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "publish:"+id)
	}
	a.RunJobs()
}

// Exec runs statements on a database connection of its own, and then invalidates the server's caches.
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
		return tx.SetUnavailable(a.T.Context(), 0, false) // invalidates all caches
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// Count returns the number that a query returns.
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

// AddList adds a list and returns its id.
func (a *Server) AddList(owner *User, members ...*User) string {
	a.T.Helper()
	id := store.ListID(time.Now().UnixMilli()<<10 | 5)
	a.Exec(`INSERT INTO lists (id, account_id, title) VALUES (?, ?, 'friends')`, id, owner.AccountID())
	for _, m := range members {
		a.Exec(`INSERT INTO list_members (list_id, account_id) VALUES (?, ?)`, id, m.AccountID())
	}
	return id.String()
}

// AddMedia adds an upload without a file and returns its id.
func (a *Server) AddMedia(m *User) string {
	a.T.Helper()
	media := &store.Media{AccountID: m.AccountID(), Type: "image", Mime: "image/png", File: "aa/picture.png"}
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error { return tx.AddMedia(a.T.Context(), media) })
	if err != nil {
		a.T.Fatal(err)
	}
	return media.ID.String()
}

func ScheduledID(text string) store.ScheduledID {
	var id store.ScheduledID
	id.UnmarshalText([]byte(text))
	return id
}

// BlockHost adds rules for a host, as the command does, and applies them.
func (a *Server) BlockHost(host string, rules ...config.HostRule) {
	a.T.Helper()
	if _, err := a.Admin.BlockHost(a.T.Context(), admin.BlockChange{Host: host, Rules: rules}); err != nil {
		a.T.Fatal(err)
	}
	a.RunJobs()
}

// UnblockHost removes all rules for a host.
func (a *Server) UnblockHost(host string) {
	a.T.Helper()
	if _, err := a.Admin.UnblockHosts(a.T.Context(), []string{host}); err != nil {
		a.T.Fatal(err)
	}
	a.RunJobs()
}

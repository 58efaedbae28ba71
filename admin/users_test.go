package admin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// town is a house with people who know each other: alice, who will leave, and others.
type town struct {
	*house
	alice, bob, carol *store.Account
	kept              []*store.Status // posts of others
}

func newTown(t testing.TB) *town {
	h := newHouse(t)
	w := &town{house: h, alice: h.person("alice"), bob: h.person("bob"), carol: h.person("carol")}
	follow := func(a, b *store.Account) {
		t.Helper()
		must(h.social.Follow(h.ctx(), a, b.ID, social.FollowOptions{}))(t)
	}
	follow(w.alice, w.bob)
	follow(w.bob, w.alice)
	follow(w.carol, w.alice)
	follow(w.carol, w.bob)
	bobs := h.publish(w.bob, "hello @alice", store.Public, 0)
	w.kept = append(w.kept, bobs, h.publish(w.carol, "a secret for @alice", store.Direct, 0))
	hers := h.publish(w.alice, "hello @bob #tag", store.Public, bobs.ID)
	h.publish(w.alice, "for followers", store.Private, 0)
	w.kept = append(w.kept, h.publish(w.bob, "an answer", store.Public, hers.ID))
	must(h.social.Favourite(h.ctx(), w.alice, bobs.ID))(t)
	must(h.social.Favourite(h.ctx(), w.bob, hers.ID))(t)
	h.boost(w.alice, bobs)
	h.boost(w.bob, hers)
	h.do(h.social.Block(h.ctx(), h.person("dave"), w.alice.ID))
	h.do(h.social.Mute(h.ctx(), w.alice, w.carol.ID, true, 0))
	l := &store.List{Title: "friends"}
	h.do(h.social.CreateList(h.ctx(), w.alice, l))
	h.do(h.social.AddToList(h.ctx(), w.alice, l.ID, []store.AccountID{w.bob.ID}))
	return w
}

// signIn gives an account a token.
func (h *house) signIn(a *store.Account, token string) {
	h.t.Helper()
	h.do(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		return tx.AddToken(h.ctx(), &store.Token{Hash: []byte(token), AccountID: &a.ID, Scopes: store.ParseScopes("read")})
	}))
}

// revoked tells whether the events so far say that the tokens of an account are worth nothing.
func (h *house) revoked(id store.AccountID) bool {
	for _, e := range h.events {
		if r, ok := e.(store.TokensRevoked); ok && r.AccountID == id {
			return true
		}
	}
	return false
}

func TestDeleteUser(t *testing.T) {
	w := newTown(t)
	w.signIn(w.alice, "token")
	w.events = nil
	u := must(w.admin.DeleteUser(w.ctx(), "alice"))(t)
	if u.Nickname != "alice" || u.Email != "alice@example.org" {
		t.Errorf("got %+v", u)
	}

	// At once: nobody can sign in, and nobody sees her.
	if !w.revoked(w.alice.ID) {
		t.Error("open streams do not hear that her tokens are void")
	}
	if n := w.count(`SELECT (SELECT count(*) FROM users WHERE account_id = ?1) + (SELECT count(*) FROM oauth_tokens WHERE account_id = ?1)`, w.alice.ID); n != 0 {
		t.Errorf("%d rows by which she could sign in", n)
	}
	alice := w.account("alice")
	if !alice.Unavailable || alice.DeletedAt == nil || alice.DisplayName != "" || alice.URI != w.alice.URI {
		t.Errorf("got %+v", alice)
	}
	for _, st := range must(w.db.OldestStatuses(w.ctx(), w.alice.ID, 10))(t) {
		if _, err := w.db.VisibleStatus(w.ctx(), w.bob.ID, st.ID); !errs.IsNotFound(err) {
			t.Errorf("bob sees %q: %v", st.Text, err)
		}
	}

	// Later: all is gone, and the counters of others are right.
	w.settle()
	for _, query := range []string{
		`SELECT count(*) FROM statuses WHERE account_id = ?`,
		`SELECT count(*) FROM favourites WHERE account_id = ?`,
		`SELECT count(*) FROM follows WHERE ? IN (follower_id, target_id)`,
		`SELECT count(*) FROM blocks WHERE ? IN (account_id, target_id)`,
		`SELECT count(*) FROM mutes WHERE ? IN (account_id, target_id)`,
		`SELECT count(*) FROM notifications WHERE ? IN (account_id, from_id)`,
		`SELECT count(*) FROM home WHERE account_id = ?`,
		`SELECT count(*) FROM lists WHERE account_id = ?`,
		`SELECT count(*) FROM jobs WHERE ? > 0`,
	} {
		if n := w.count(query, w.alice.ID); n != 0 {
			t.Errorf("%s: got %d", query, n)
		}
	}
	w.wantCounters()
	for _, st := range w.kept {
		if _, err := w.db.Status(w.ctx(), st.ID); err != nil {
			t.Errorf("%q of another is gone: %v", st.Text, err)
		}
	}
	if n := w.count(`SELECT count(*) FROM accounts_fts WHERE accounts_fts MATCH 'alice'`); n != 0 {
		t.Error("she can still be found")
	}
	if open, err := w.db.SeesAllUnrestricted(w.ctx(), w.bob.ID); !open || err != nil {
		t.Errorf("every query looks for posts that are withheld, though there are none: %v", err)
	}

	// Her name stays hers.
	if _, err := w.admin.CreateUser(w.ctx(), admin.NewUser{Nickname: "ALICE", Email: "alice@example.org"}); err == nil {
		t.Error("her nickname was given away")
	}
	if _, err := w.admin.ShowUser(w.ctx(), "alice"); !errs.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := w.social.DeleteAccount(w.ctx(), w.alice.ID); err != nil {
		t.Errorf("again: %v", err)
	}
}

// wantCounters compares all counters with what they count.
func (h *house) wantCounters() {
	h.t.Helper()
	for _, query := range []string{
		`SELECT count(*) FROM accounts a WHERE followers_count <> (SELECT count(*) FROM follows WHERE target_id = a.id AND pending = 0)`,
		`SELECT count(*) FROM accounts a WHERE following_count <> (SELECT count(*) FROM follows WHERE follower_id = a.id AND pending = 0)`,
		`SELECT count(*) FROM accounts a WHERE statuses_count <> (SELECT count(*) FROM statuses WHERE account_id = a.id AND visibility < 3)`,
		`SELECT count(*) FROM statuses s WHERE favourites_count <> (SELECT count(*) FROM favourites WHERE status_id = s.id)`,
		`SELECT count(*) FROM statuses s WHERE reblogs_count <> (SELECT count(*) FROM statuses WHERE reblog_of_id = s.id)`,
		`SELECT count(*) FROM statuses s WHERE replies_count <> (SELECT count(*) FROM statuses WHERE in_reply_to_id = s.id)`,
	} {
		if n := h.count(query); n != 0 {
			h.t.Errorf("%d wrong: %s", n, query)
		}
	}
}

// TestDeleteIsInterrupted deletes somebody who posted and was liked much, in a process that is stopped again and again.
func TestDeleteIsInterrupted(t *testing.T) {
	h := newHouse(t)
	alice, bob := h.person("alice"), h.person("bob")
	popular := h.publish(alice, "popular", store.Public, 0)
	h.do(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		for i := range 500 {
			a := &store.Account{Nickname: fmt.Sprintf("fan%d", i), Domain: "example.com", URI: fmt.Sprintf("https://example.com/%d", i), ActorType: "Person"}
			if err := tx.AddAccount(h.ctx(), a); err != nil {
				return err
			}
			if _, err := tx.AddFavourite(h.ctx(), a.ID, popular.ID, nil); err != nil {
				return err
			}
			f := &store.Follow{FollowerID: a.ID, TargetID: alice.ID}
			if err := tx.AddFollow(h.ctx(), f); err != nil {
				return err
			}
			id := tx.NewStatusID()
			if err := tx.AddStatus(h.ctx(), &store.Status{ID: id, AccountID: a.ID, Domain: a.Domain, ReblogOfID: &popular.ID, ConversationID: popular.ConversationID, URI: "boost:" + id.String()}); err != nil {
				return err
			}
			if _, err := tx.AddNotification(h.ctx(), &store.Notification{AccountID: alice.ID, FromID: a.ID, Type: store.NotifyFavourite, StatusID: &popular.ID}); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range 200 {
		h.publish(alice, fmt.Sprint("post ", i), store.Public, 0)
	}
	left := func() int { return h.count(`SELECT count(*) FROM statuses WHERE account_id = ?`, alice.ID) }
	must(h.admin.DeleteUser(h.ctx(), "alice"))(t)

	// Others write meanwhile; nobody waits long.
	longest := make(chan time.Duration, 1)
	quit := make(chan struct{})
	go func() {
		var most time.Duration
		defer func() { longest <- most }()
		for {
			select {
			case <-quit:
				return
			default:
			}
			begun := time.Now()
			err := h.db.Update(h.ctx(), func(tx *store.Tx) error {
				return tx.SaveIdempotencyKey(h.ctx(), bob.ID, "key", 1)
			})
			if err != nil {
				t.Error(err)
				return
			}
			most = max(most, time.Since(begun))
		}
	}()
	jobs := func() int { return h.count(`SELECT count(*) FROM jobs WHERE kind = 'purge_account'`) }
	stops := 0
	for ; jobs() > 0; stops++ {
		ctx, stop := context.WithCancel(h.ctx())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			h.worker.Run(ctx)
		}()
		for before := left(); jobs() > 0 && left() > before-50; {
			time.Sleep(time.Millisecond)
		}
		stop()
		<-stopped
	}
	close(quit)
	t.Logf("stopped %d times; somebody waited %v", stops, <-longest)
	if stops < 2 {
		t.Errorf("stopped %d times: it was done at once", stops)
	}
	if n := left(); n != 0 {
		t.Errorf("%d posts are left", n)
	}
	h.wantCounters()
}

func TestDeleteNeverUsed(t *testing.T) {
	h := newHouse(t)
	a, _, err := h.social.SignUp(h.ctx(), social.Registration{Nickname: "alice", Email: "alice@example.org", Password: "correct horse", Approved: true})
	h.do(err)
	must(h.admin.DeleteUser(h.ctx(), "alice"))(t)
	if n := h.count(`SELECT count(*) FROM accounts WHERE id = ?`, a.ID); n != 0 {
		t.Error("the account is still there")
	}
	h.person("alice")
}

func TestDeactivateUser(t *testing.T) {
	w := newTown(t)
	w.signIn(w.alice, "token")
	must(w.social.StartPasswordReset(w.ctx(), w.alice.ID))(t)
	far := w.remote("far", "example.com")
	must(w.social.Follow(w.ctx(), w.alice, far.ID, social.FollowOptions{}))(t) // a request, since it is elsewhere
	w.events = nil
	change := must(w.admin.DeactivateUser(w.ctx(), "@alice"))(t)
	if !change.Changed || !change.Deactivated {
		t.Errorf("got %+v", change)
	}
	if !w.revoked(w.alice.ID) {
		t.Error("open streams do not hear that her tokens are void")
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM follows WHERE follower_id = ?`:             0, // of bob, and the request
		`SELECT count(*) FROM follows WHERE target_id = ?`:               2, // by bob and carol: kept
		`SELECT count(*) FROM oauth_tokens WHERE account_id = ?`:         1, // kept for when she comes back
		`SELECT count(*) FROM one_time_tokens WHERE account_id = ?`:      0,
		`SELECT count(*) FROM statuses WHERE account_id = ?`:             3,
		`SELECT count(*) FROM accounts WHERE id = ? AND unavailable = 1`: 1,
	} {
		if n := w.count(query, w.alice.ID); n != want {
			t.Errorf("%s: got %d, want %d", query, n, want)
		}
	}
	w.wantCounters()
	if change := must(w.admin.DeactivateUser(w.ctx(), "alice"))(t); change.Changed {
		t.Error("again: it says that something changed")
	}

	if change := must(w.admin.ActivateUser(w.ctx(), "alice"))(t); !change.Changed || change.Deactivated {
		t.Errorf("got %+v", change)
	}
	if a := w.account("alice"); a.Unavailable {
		t.Error("she is still withheld")
	}
	if change := must(w.admin.ActivateUser(w.ctx(), "alice"))(t); change.Changed {
		t.Error("again: it says that something changed")
	}
	w.wantCounters()
}

// remote inserts an account of another server.
func (h *house) remote(nick, domain string) *store.Account {
	h.t.Helper()
	a := &store.Account{Nickname: nick, Domain: domain, URI: "https://" + domain + "/users/" + nick, ActorType: "Person"}
	h.do(h.db.Update(h.ctx(), func(tx *store.Tx) error { return tx.AddAccount(h.ctx(), a) }))
	return a
}

func TestConfirmAndApprove(t *testing.T) {
	h := newHouse(t)
	_, _, err := h.social.SignUp(h.ctx(), social.Registration{Nickname: "alice", Email: "alice@example.org", Password: "correct horse"})
	h.do(err)
	for _, step := range []struct {
		do       func() (*admin.ChangedUser, error)
		changed  bool
		withheld bool
	}{
		{func() (*admin.ChangedUser, error) { return h.admin.ConfirmUser(h.ctx(), "alice") }, true, true},
		{func() (*admin.ChangedUser, error) { return h.admin.ConfirmUser(h.ctx(), "alice") }, false, true},
		{func() (*admin.ChangedUser, error) { return h.admin.DeactivateUser(h.ctx(), "alice") }, true, true},
		{func() (*admin.ChangedUser, error) { return h.admin.ActivateUser(h.ctx(), "alice") }, true, true},
		{func() (*admin.ChangedUser, error) { return h.admin.ApproveUser(h.ctx(), "alice") }, true, false},
		{func() (*admin.ChangedUser, error) { return h.admin.ApproveUser(h.ctx(), "alice") }, false, false},
	} {
		change := must(step.do())(t)
		if a := h.account("alice"); change.Changed != step.changed || a.Unavailable != step.withheld {
			t.Errorf("got %+v, withheld %v", change, a.Unavailable)
		}
	}
}

func TestLastAdmin(t *testing.T) {
	h := newHouse(t)
	must(h.admin.CreateUser(h.ctx(), admin.NewUser{Nickname: "alice", Email: "alice@example.org", Admin: true}))(t)
	h.person("bob")
	no, yes := false, true
	last := func() map[string]error {
		_, demote := h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "alice", Admin: &no})
		_, deactivate := h.admin.DeactivateUser(h.ctx(), "alice")
		_, remove := h.admin.DeleteUser(h.ctx(), "alice")
		return map[string]error{"demote": demote, "deactivate": deactivate, "delete": remove}
	}
	for what, err := range last() {
		if !errors.Is(err, social.ErrLastAdmin) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	must(h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "bob", Admin: &yes}))(t)
	must(h.admin.DeactivateUser(h.ctx(), "bob"))(t)
	for what, err := range last() {
		if !errors.Is(err, social.ErrLastAdmin) {
			t.Errorf("%s, with another who is deactivated: got %v", what, err)
		}
	}
	must(h.admin.ActivateUser(h.ctx(), "bob"))(t)
	must(h.admin.DeleteUser(h.ctx(), "alice"))(t)
}

func TestUsersAreListedInParts(t *testing.T) {
	h := newHouse(t)
	for i := range 7 {
		h.person(fmt.Sprintf("person%d", i))
	}
	h.remote("far", "example.com")
	must(h.admin.DeleteUser(h.ctx(), "person3"))(t)
	var got []string
	page := admin.UserPage{Limit: 4}
	for {
		list := must(h.admin.Users(h.ctx(), page))(t)
		if len(list) == 0 {
			break
		}
		for _, u := range list {
			got = append(got, u.Nickname)
			page.After = u.ID
		}
	}
	if want := "person0 person1 person2 person4 person5 person6"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestNewEmailVoidsLinks(t *testing.T) {
	h := newHouse(t)
	a := h.person("alice")
	token := must(h.social.StartPasswordReset(h.ctx(), a.ID))(t)
	address := "new@example.org"
	must(h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "alice", Email: &address}))(t)
	if _, err := h.social.PasswordResetAccount(h.ctx(), token); err == nil {
		t.Error("the link still works")
	}
}

func TestResetMFA(t *testing.T) {
	h := newHouse(t)
	bob := h.person("bob")
	h.signIn(bob, "by the password")
	if must(h.admin.ResetMFA(h.ctx(), "bob"))(t).Changed {
		t.Error("there was nothing to reset")
	}
	tokens := func() int { return h.count(`SELECT count(*) FROM oauth_tokens WHERE account_id = ?`, bob.ID) }
	if tokens() != 1 {
		t.Error("signed out though nothing was reset")
	}
	h.do(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		return tx.SetTOTP(h.ctx(), &store.User{AccountID: bob.ID, TOTPSecret: "SECRET"})
	}))
	if !must(h.admin.ResetMFA(h.ctx(), "bob"))(t).Changed || must(h.db.User(h.ctx(), bob.ID))(t).HasMFA() {
		t.Error("not reset")
	}
	if tokens() != 0 {
		t.Error("what was signed in is not signed out")
	}
}

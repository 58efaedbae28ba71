package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// fixture is a harness with accounts that follow each other: alice, which tests delete, and others.
type fixture struct {
	*harness
	alice, bob, carol *store.Account
	others            []*store.Status // statuses of the others
}

func newFixture(t testing.TB) *fixture {
	h := newHarness(t)
	w := &fixture{harness: h, alice: h.createUser("alice"), bob: h.createUser("bob"), carol: h.createUser("carol")}
	follow := func(a, b *store.Account) {
		t.Helper()
		must(h.social.Follow(h.ctx(), a, b.ID, social.FollowOptions{}))(t)
	}
	follow(w.alice, w.bob)
	follow(w.bob, w.alice)
	follow(w.carol, w.alice)
	follow(w.carol, w.bob)
	bobs := h.publish(w.bob, "hello @alice", store.Public, 0)
	w.others = append(w.others, bobs, h.publish(w.carol, "a secret for @alice", store.Direct, 0))
	hers := h.publish(w.alice, "hello @bob #tag", store.Public, bobs.ID)
	h.publish(w.alice, "for followers", store.Private, 0)
	w.others = append(w.others, h.publish(w.bob, "an answer", store.Public, hers.ID))
	must(h.social.Favourite(h.ctx(), w.alice, bobs.ID))(t)
	must(h.social.Favourite(h.ctx(), w.bob, hers.ID))(t)
	h.addReblog(w.alice, bobs)
	h.addReblog(w.bob, hers)
	h.check(h.social.Block(h.ctx(), h.createUser("dave"), w.alice.ID))
	h.check(h.social.Mute(h.ctx(), w.alice, w.carol.ID, true, 0))
	l := &store.List{Title: "friends"}
	h.check(h.social.CreateList(h.ctx(), w.alice, l))
	h.check(h.social.AddToList(h.ctx(), w.alice, l.ID, []store.AccountID{w.bob.ID}))
	return w
}

// addToken adds an access token of an account.
func (h *harness) addToken(a *store.Account, token string) {
	h.t.Helper()
	h.check(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		return tx.AddToken(h.ctx(), &store.Token{Hash: []byte(token), AccountID: &a.ID, Scopes: store.ParseScopes("read")})
	}))
}

// tokensRevoked returns true if an event says that the tokens of an account are revoked.
func (h *harness) tokensRevoked(id store.AccountID) bool {
	for _, e := range h.events {
		if r, ok := e.(store.TokensRevoked); ok && r.AccountID == id {
			return true
		}
	}
	return false
}

func TestDeleteUser(t *testing.T) {
	w := newFixture(t)
	w.addToken(w.alice, "token")
	w.events = nil
	u := must(w.admin.DeleteUsers(w.ctx(), []string{"alice"}))(t)[0]
	if u.Nickname != "alice" || u.Email != "alice@example.org" {
		t.Errorf("got %+v", u)
	}

	// At once nobody can sign in as alice or see her.
	if !w.tokensRevoked(w.alice.ID) {
		t.Error("no event says that her tokens are revoked")
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

	// The job removes her rows and updates the counters of others.
	w.runJobs()
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
	for _, st := range w.others {
		if _, err := w.db.Status(w.ctx(), st.ID); err != nil {
			t.Errorf("%q of another is gone: %v", st.Text, err)
		}
	}
	if n := w.count(`SELECT count(*) FROM accounts_fts WHERE accounts_fts MATCH 'alice'`); n != 0 {
		t.Error("she can still be found")
	}
	if open, err := w.db.SeesAllUnrestricted(w.ctx(), w.bob.ID); !open || err != nil {
		t.Errorf("queries look for restricted posts although there are none: %v", err)
	}

	// Her nickname stays taken.
	if _, err := w.admin.CreateUser(w.ctx(), admin.NewUser{Nickname: "ALICE", Email: "alice@example.org"}); err == nil {
		t.Error("her nickname is free")
	}
	if _, err := w.admin.ShowUser(w.ctx(), "alice"); !errs.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := w.social.DeleteAccount(w.ctx(), w.alice.ID); err != nil {
		t.Errorf("again: %v", err)
	}
}

// wantCounters compares all counters with the rows that they count.
func (h *harness) wantCounters() {
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

// TestDeleteIsInterrupted deletes an account with many statuses and favourites while the worker is stopped repeatedly.
func TestDeleteIsInterrupted(t *testing.T) {
	h := newHarness(t)
	alice, bob := h.createUser("alice"), h.createUser("bob")
	popular := h.publish(alice, "popular", store.Public, 0)
	h.check(h.db.Update(h.ctx(), func(tx *store.Tx) error {
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
			if err := tx.AddStatus(h.ctx(), &store.Status{ID: id, AccountID: a.ID, Domain: a.Domain, ReblogOfID: &popular.ID, ConversationID: popular.ConversationID, URI: "addReblog:" + id.String()}); err != nil {
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
	must(h.admin.DeleteUsers(h.ctx(), []string{"alice"}))(t)

	// Meanwhile other writers do not wait long.
	longest := make(chan time.Duration, 1)
	quit := make(chan struct{})
	go func() {
		var longestWait time.Duration
		defer func() { longest <- longestWait }()
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
			longestWait = max(longestWait, time.Since(begun))
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
	t.Logf("stopped %d times, longest wait of a writer %v", stops, <-longest)
	if stops < 2 {
		t.Errorf("stopped %d times, want at least 2", stops)
	}
	if n := left(); n != 0 {
		t.Errorf("%d statuses are left", n)
	}
	h.wantCounters()
}

func TestDeleteUnconfirmed(t *testing.T) {
	h := newHarness(t)
	a, _, err := h.social.SignUp(h.ctx(), social.Registration{Nickname: "alice", Email: "alice@example.org", Password: "correct horse", Approved: true})
	h.check(err)
	must(h.admin.DeleteUsers(h.ctx(), []string{"alice"}))(t)
	if n := h.count(`SELECT count(*) FROM accounts WHERE id = ?`, a.ID); n != 0 {
		t.Error("the account is still there")
	}
	h.createUser("alice")
}

func TestDeactivateUser(t *testing.T) {
	w := newFixture(t)
	w.addToken(w.alice, "token")
	must(w.social.StartPasswordReset(w.ctx(), w.alice.ID))(t)
	far := w.addRemoteAccount("far", "example.com")
	must(w.social.Follow(w.ctx(), w.alice, far.ID, social.FollowOptions{}))(t) // a request, because the target is remote
	w.events = nil
	change := must(w.admin.DeactivateUsers(w.ctx(), []string{"@alice"}))(t)[0]
	if !change.Changed || !change.Deactivated {
		t.Errorf("got %+v", change)
	}
	if !w.tokensRevoked(w.alice.ID) {
		t.Error("no event says that her tokens are revoked")
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM follows WHERE follower_id = ?`:             0, // her follow of bob and the request
		`SELECT count(*) FROM follows WHERE target_id = ?`:               2, // of bob and carol
		`SELECT count(*) FROM oauth_tokens WHERE account_id = ?`:         0,
		`SELECT count(*) FROM one_time_tokens WHERE account_id = ?`:      0,
		`SELECT count(*) FROM statuses WHERE account_id = ?`:             3,
		`SELECT count(*) FROM accounts WHERE id = ? AND unavailable = 1`: 1,
	} {
		if n := w.count(query, w.alice.ID); n != want {
			t.Errorf("%s: got %d, want %d", query, n, want)
		}
	}
	w.wantCounters()
	if change := must(w.admin.DeactivateUsers(w.ctx(), []string{"alice"}))(t)[0]; change.Changed {
		t.Error("a second call reports a change")
	}

	if change := must(w.admin.ActivateUsers(w.ctx(), []string{"alice"}))(t)[0]; !change.Changed || change.Deactivated {
		t.Errorf("got %+v", change)
	}
	if a := w.account("alice"); a.Unavailable {
		t.Error("she is still unavailable")
	}
	if change := must(w.admin.ActivateUsers(w.ctx(), []string{"alice"}))(t)[0]; change.Changed {
		t.Error("a second call reports a change")
	}
	w.wantCounters()
}

// addRemoteAccount inserts a remote account.
func (h *harness) addRemoteAccount(nick, domain string) *store.Account {
	h.t.Helper()
	a := &store.Account{Nickname: nick, Domain: domain, URI: "https://" + domain + "/users/" + nick, ActorType: "Person"}
	h.check(h.db.Update(h.ctx(), func(tx *store.Tx) error { return tx.AddAccount(h.ctx(), a) }))
	return a
}

func TestConfirmAndApprove(t *testing.T) {
	h := newHarness(t)
	_, _, err := h.social.SignUp(h.ctx(), social.Registration{Nickname: "alice", Email: "alice@example.org", Password: "correct horse"})
	h.check(err)
	for _, step := range []struct {
		do          func() ([]*admin.ChangedUser, error)
		changed     bool
		unavailable bool
	}{
		{func() ([]*admin.ChangedUser, error) { return h.admin.ConfirmUsers(h.ctx(), []string{"alice"}) }, true, true},
		{func() ([]*admin.ChangedUser, error) { return h.admin.ConfirmUsers(h.ctx(), []string{"alice"}) }, false, true},
		{func() ([]*admin.ChangedUser, error) { return h.admin.DeactivateUsers(h.ctx(), []string{"alice"}) }, true, true},
		{func() ([]*admin.ChangedUser, error) { return h.admin.ActivateUsers(h.ctx(), []string{"alice"}) }, true, true},
		{func() ([]*admin.ChangedUser, error) { return h.admin.ApproveUsers(h.ctx(), []string{"alice"}) }, true, false},
		{func() ([]*admin.ChangedUser, error) { return h.admin.ApproveUsers(h.ctx(), []string{"alice"}) }, false, false},
	} {
		change := must(step.do())(t)[0]
		if a := h.account("alice"); change.Changed != step.changed || a.Unavailable != step.unavailable {
			t.Errorf("got %+v, unavailable %v", change, a.Unavailable)
		}
	}
}

func TestLastAdmin(t *testing.T) {
	h := newHarness(t)
	must(h.admin.CreateUser(h.ctx(), admin.NewUser{Nickname: "alice", Email: "alice@example.org", Admin: true}))(t)
	h.createUser("bob")
	no, yes := false, true
	last := func() map[string]error {
		_, demote := h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "alice", Admin: &no})
		_, deactivate := h.admin.DeactivateUsers(h.ctx(), []string{"alice"})
		_, remove := h.admin.DeleteUsers(h.ctx(), []string{"alice"})
		return map[string]error{"demote": demote, "deactivate": deactivate, "delete": remove}
	}
	for what, err := range last() {
		if !errors.Is(err, social.ErrLastAdmin) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	must(h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "bob", Admin: &yes}))(t)
	must(h.admin.DeactivateUsers(h.ctx(), []string{"bob"}))(t)
	for what, err := range last() {
		if !errors.Is(err, social.ErrLastAdmin) {
			t.Errorf("%s, with a deactivated second admin: got %v", what, err)
		}
	}
	must(h.admin.ActivateUsers(h.ctx(), []string{"bob"}))(t)
	must(h.admin.DeleteUsers(h.ctx(), []string{"alice"}))(t)
}

func TestUsersPages(t *testing.T) {
	h := newHarness(t)
	for i := range 7 {
		h.createUser(fmt.Sprintf("user%d", i))
	}
	h.addRemoteAccount("far", "example.com")
	must(h.admin.DeleteUsers(h.ctx(), []string{"user3"}))(t)
	var got []string
	page := admin.UserQuery{Filters: []string{"local"}, Limit: 4}
	for {
		found := must(h.admin.Users(h.ctx(), page))(t)
		if len(found.Users) == 0 {
			break
		}
		for _, u := range found.Users {
			got = append(got, u.Nickname)
			page.Offset++
		}
		if found.Count != 6 {
			t.Errorf("the count is %d, want 6", found.Count)
		}
	}
	if want := "user6 user5 user4 user2 user1 user0"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestNewEmailInvalidatesLinks(t *testing.T) {
	h := newHarness(t)
	a := h.createUser("alice")
	token := must(h.social.StartPasswordReset(h.ctx(), a.ID))(t)
	address := "new@example.org"
	must(h.admin.UpdateUser(h.ctx(), admin.UserUpdate{Name: "alice", Email: &address}))(t)
	if _, _, err := h.social.PasswordResetAccount(h.ctx(), token); err == nil {
		t.Error("the link still works")
	}
}

func TestNewEmailIsMailedToTheOldAddress(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUp("bob")
	set := func(address string) error {
		_, err := srv.Admin.UpdateUser(t.Context(), admin.UserUpdate{Name: "bob", Email: &address})
		return err
	}
	old := must(srv.Admin.ShowUser(t.Context(), "bob"))(t).Email
	wantStatus(t, set("nonsense"), http.StatusUnprocessableEntity, "Email has invalid format.")
	if err := set(" " + old); err != nil {
		t.Error(err)
	}
	srv.WantMails() // none for the same address
	if err := set("new@example.net"); err != nil {
		t.Fatal(err)
	}
	if m := srv.WantMails(old + " The mail address")[0]; !strings.Contains(m.Text, "changed to new@example.net") {
		t.Error(m.Text)
	}
}

func TestResetMFA(t *testing.T) {
	h := newHarness(t)
	bob := h.createUser("bob")
	h.addToken(bob, "by the password")
	if must(h.admin.DisableMFA(h.ctx(), []string{"bob"}))(t)[0].Changed {
		t.Error("there was nothing to reset")
	}
	tokens := func() int { return h.count(`SELECT count(*) FROM oauth_tokens WHERE account_id = ?`, bob.ID) }
	if tokens() != 1 {
		t.Error("tokens are revoked although nothing was reset")
	}
	h.check(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		return tx.SetTOTP(h.ctx(), &store.User{AccountID: bob.ID, TOTPSecret: "SECRET"})
	}))
	if !must(h.admin.DisableMFA(h.ctx(), []string{"bob"}))(t)[0].Changed || must(h.db.User(h.ctx(), bob.ID))(t).HasMFA() {
		t.Error("not reset")
	}
	if tokens() != 0 {
		t.Error("tokens are not revoked")
	}
}

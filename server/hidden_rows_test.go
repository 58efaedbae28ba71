package server_test

import (
	"fmt"
	"strconv"
	"testing"

	"svc/app/apptest"
)

// addUnavailableAccounts adds n accounts of many.example, which is suspended, with ids after all others.
func addUnavailableAccounts(srv *apptest.Server, n int) {
	srv.T.Helper()
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at, unavailable)
		SELECT last + i, 'h' || i, 'h' || i, 'many.example', 'https://many.example/users/' || i, '', 1, 1
		FROM n, (SELECT max(id) AS last FROM accounts)`, n)
}

// TestHiddenReplies adds replies that only their author sees. The context looks at 3000 replies more than it may return.
func TestHiddenReplies(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("the root").ID()
	reply := func(n int) {
		srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content, in_reply_to_id, in_reply_to_account_id)
			SELECT last + i, ?2, 3, r.conversation_id, '', last >> 10, 'https://many.example/' || (last + i), '<p>words</p>', r.id, r.account_id
			FROM n, (SELECT max(id) AS last FROM statuses), (SELECT * FROM statuses WHERE id = ?3) r`, n, bob.AccountID(), int64(apptest.StatusID(post)))
	}
	reply(3000)
	visible := bob.Publish("seen by all", "in_reply_to_id", post).ID()
	below := func(as *apptest.User) string {
		t.Helper()
		list := srv.As(as).Get("/api/v1/statuses/" + post + "/context").Want(200).Object().At("descendants").([]any)
		if len(list) != 1 {
			return fmt.Sprint(len(list))
		}
		return list[0].(map[string]any)["id"].(string)
	}
	for _, as := range []*apptest.User{nil, alice} {
		if got := below(as); got != visible {
			t.Errorf("%v finds the replies %s after 3000 hidden ones, want %s", as != nil, got, visible)
		}
	}
	if n, _ := strconv.Atoi(below(bob)); n < 1000 || n > 3001 {
		t.Errorf("the author of the replies finds %d, want the first of 3001, as many as an answer may have", n)
	}
	reply(100)
	more := bob.Publish("after more of them", "in_reply_to_id", post).ID()
	srv.Exec(`DELETE FROM statuses WHERE id = ?`, int64(apptest.StatusID(visible)))
	if got := below(alice); got != more {
		t.Errorf("a member finds the replies %s after 3100 hidden ones, want %s", got, more)
	}
	if got := below(nil); got != "0" {
		t.Errorf("an anonymous client finds the replies %s after 3100 hidden ones, want none", got)
	}
}

// TestHiddenReactors adds reactions by accounts of a suspended domain after one that is shown.
func TestHiddenReactors(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("react to me").ID()
	bob.ReactWith(post, "🔥")
	addUnavailableAccounts(srv, 900)
	react := func(n int) {
		srv.Exec(`INSERT INTO reactions (id, account_id, status_id, emoji, url)
			SELECT max(r.id) + a.id, a.id, ?1, '🔥', '' FROM (SELECT * FROM accounts a WHERE domain = 'many.example' ORDER BY id LIMIT ?2) a,
				(SELECT max(id) AS id FROM reactions) r
			WHERE NOT EXISTS (SELECT 1 FROM reactions x WHERE x.account_id = a.id)
			GROUP BY a.id`, int64(apptest.StatusID(post)), n)
		srv.Exec(`UPDATE reaction_counts SET count = ?`, n+1)
	}
	for _, tt := range []struct{ hidden, want int }{{700, 1}, {900, 0}} {
		react(tt.hidden)
		list := srv.As(nil).Get("/api/v1/svc/statuses/" + post + "/reactions").Want(200).List()
		if got := len(list[0].At("accounts").([]any)); got != tt.want {
			t.Errorf("%d accounts are shown after %d hidden ones, want %d", got, tt.hidden, tt.want)
		}
	}
}

// TestManyFollowRequests checks that the number of follow requests, which each request of the own account counts, ends at 1000.
func TestManyFollowRequests(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	addUnavailableAccounts(srv, 1100)
	for _, want := range []int{900, 1000} {
		srv.Exec(`INSERT OR IGNORE INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs)
			SELECT id, id, ?, 1, 0, 1 FROM accounts WHERE domain = 'many.example' ORDER BY id LIMIT ?`, alice.AccountID(), want+want/1000*100)
		if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Int("source.follow_requests_count"); got != want {
			t.Errorf("%d follow requests are counted, want %d", got, want)
		}
	}
}

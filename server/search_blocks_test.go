package server_test

import (
	"testing"

	"svc/app/apptest"
)

// TestSearchForBlockedAccounts checks that blocked accounts are not found in either direction, except by the exact handle for the one who
// blocks, so that the block can be lifted.
func TestSearchForBlockedAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	remote := srv.AddRemoteAccount("bob", "other.example")
	alice.AccountAction(bob.ID, "block")
	alice.AccountAction(remote, "block")
	host := srv.Settings.Host()
	for _, tt := range []struct {
		as   *apptest.User
		text string
		want []string
	}{
		{alice, "bob", []string{bob.ID}}, // the exact handle of the local account only
		{alice, "@bob", []string{bob.ID}},
		{alice, "bob@" + host, []string{bob.ID}},
		{alice, "bob@other.example", []string{remote}},
		{alice, "bob@other", nil},
		{alice, "bo", nil},
		{bob, "alice", nil},
		{bob, "alice@" + host, nil},
		{bob, srv.URL + "/@alice", nil},
		{bob, "ali", nil},
		{srv.SignUp("carol"), "bob", []string{bob.ID, remote}},
	} {
		apptest.WantIDs(t, tt.as.Nickname+" searches for "+tt.text, tt.as.Get("/api/v1/accounts/search", "q", tt.text, "resolve", "true"), tt.want...)
		got := tt.as.Get("/api/v2/search", "q", tt.text, "type", "accounts", "resolve", "true").Want(200).Object()
		if n := len(got.At("accounts").([]any)); n != len(tt.want) {
			t.Errorf("%s searches everything for %s: %d accounts", tt.as.Nickname, tt.text, n)
		}
	}
}

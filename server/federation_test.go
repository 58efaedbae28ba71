package server_test

import (
	"testing"

	"svc/internal/config"
	"svc/store"
)

// startPeers starts servers that talk with one another.
func startPeers(t testing.TB, n int, change ...func(*config.Config)) []*api {
	t.Helper()
	var peers []*api
	for range n {
		peers = append(peers, startAPI(t, append(change, func(c *config.Config) { c.Federation.AllowLoopback = true })...))
	}
	return peers
}

// settle runs what is due on all of the servers, until nothing is.
func settle(peers ...*api) {
	for busy := true; busy; {
		busy = false
		for _, a := range peers {
			a.t.Helper()
			a.settle()
			if err := a.fed.Settle(a.t.Context()); err != nil {
				a.t.Fatal(err)
			}
		}
		for _, a := range peers {
			busy = busy || a.busy()
		}
	}
}

// busy tells whether anything is due.
func (a *api) busy() bool {
	a.t.Helper()
	overdue, err := a.db.JobsOverdue(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	received, err := a.db.DueReceived(a.t.Context(), 1)
	if err != nil {
		a.t.Fatal(err)
	}
	hosts := 0
	for _, standing := range []store.HostStanding{store.ReachedHosts, store.UnmetHosts, store.FailingHosts} {
		due, err := a.db.DueHosts(a.t.Context(), standing, 1)
		if err != nil {
			a.t.Fatal(err)
		}
		hosts += len(due)
	}
	return overdue > 0 || len(received) > 0 || hosts > 0
}

// uri returns the ActivityPub id of a member.
func (m *member) uri() string { return m.api.url + "/users/" + m.id }

package server_test

import (
	"testing"

	"svc/internal/config"
	"svc/store"
)

// StartPeers starts servers that talk with one another.
func StartPeers(t testing.TB, n int, change ...func(*config.Config)) []*Server {
	t.Helper()
	var peers []*Server
	for range n {
		peers = append(peers, Start(t, append(change, func(c *config.Config) { c.Federation.AllowLoopback = true })...))
	}
	return peers
}

// Settle runs what is due on all of the servers, until nothing is.
func Settle(peers ...*Server) {
	for busy := true; busy; {
		busy = false
		for _, a := range peers {
			a.T.Helper()
			a.RunJobs()
			if err := a.Federation.Settle(a.T.Context()); err != nil {
				a.T.Fatal(err)
			}
		}
		for _, a := range peers {
			busy = busy || a.hasWork()
		}
	}
}

// hasWork tells whether anything is due.
func (a *Server) hasWork() bool {
	a.T.Helper()
	overdue, err := a.DB.OldestDueJobAge(a.T.Context())
	if err != nil {
		a.T.Fatal(err)
	}
	received, err := a.DB.DueQueuedActivities(a.T.Context(), 1)
	if err != nil {
		a.T.Fatal(err)
	}
	hosts := 0
	for _, standing := range []store.HostState{store.HostReachable, store.HostUntried, store.HostFailing} {
		due, err := a.DB.DueHosts(a.T.Context(), standing, 1)
		if err != nil {
			a.T.Fatal(err)
		}
		hosts += len(due)
	}
	return overdue > 0 || len(received) > 0 || hosts > 0
}

// URI returns the ActivityPub id of a member.
func (m *User) URI() string { return m.Server.URL + "/users/" + m.ID }

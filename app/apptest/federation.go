package apptest

import (
	"context"
	"svc/internal/config"
	"svc/store"
	"testing"
	"time"
)

// RunFederation processes incoming activities and deliveries in the background until the test ends or stop is called.
func (a *Server) RunFederation() (stop func()) {
	a.T.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.T.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Federation.Run(ctx)
	}()
	stop = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			a.T.Error("federation does not stop")
		}
	}
	a.T.Cleanup(stop)
	return stop
}

// WantEmptyInbox waits until no incoming activity is queued.
func (a *Server) WantEmptyInbox() {
	a.T.Helper()
	var state store.QueuedActivityCounts
	for range 2000 {
		var err error
		if state, err = a.DB.QueuedActivityCounts(a.T.Context(), 100_000); err != nil {
			a.T.Fatal(err)
		}
		if state.Queued == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.T.Fatalf("incoming activities are still queued: %+v", state)
}

// StartWithFake starts a server and a FakeServer that can reach each other.
func StartWithFake(t *testing.T, change ...func(*config.Config)) (*Server, *FakeServer) {
	t.Helper()
	srv := StartPeers(t, 1, change...)[0]
	return srv, StartFake(t)
}

// StartPeers starts n servers that can reach each other.
func StartPeers(t testing.TB, n int, change ...func(*config.Config)) []*Server {
	t.Helper()
	var peers []*Server
	for range n {
		peers = append(peers, Start(t, append(change, func(c *config.Config) { c.Federation.AllowLoopback = true })...))
	}
	return peers
}

// StartWithLoopback is Start with federation.allow_loopback.
func StartWithLoopback(t testing.TB, change ...func(*config.Config)) *Server {
	return Start(t, append(change, func(c *config.Config) { c.Federation.AllowLoopback = true })...)
}

// Settle runs due jobs, incoming activities and deliveries on all servers until none is due.
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

// hasWork returns true if a job, an incoming activity or a delivery is due.
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
	for _, state := range []store.HostState{store.HostReachable, store.HostUntried, store.HostFailing} {
		due, err := a.DB.DueHosts(a.T.Context(), state, 1)
		if err != nil {
			a.T.Fatal(err)
		}
		hosts += len(due)
	}
	return overdue > 0 || len(received) > 0 || hosts > 0
}

// RunDelayedJobs makes delayed outbox jobs due, which combine several changes into one activity.
func (a *Server) RunDelayedJobs() {
	a.T.Helper()
	a.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'outbox'`)
}

// StartTwo starts two servers: alice on one, bob and carol on the other. Bob and carol follow alice, and alice follows bob.
func StartTwo(t *testing.T) (here, there *Server, alice, bob, carol *User) {
	t.Helper()
	peers := StartPeers(t, 2)
	here, there = peers[0], peers[1]
	alice, bob, carol = here.SignUp("alice"), there.SignUp("bob"), there.SignUp("carol")
	bob.AccountAction(bob.FindRemote(alice), "follow")
	carol.AccountAction(carol.FindRemote(alice), "follow")
	alice.AccountAction(alice.FindRemote(bob), "follow")
	Settle(here, there)
	return here, there, alice, bob, carol
}

// WaitFor waits until a condition holds.
func WaitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

func AllowLoopback(c *config.Config) { c.Federation.AllowLoopback = true }

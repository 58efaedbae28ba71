package attack_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
)

var attackTime = flag.Duration("duration", 0, "how long TestMemory attacks, and TestAttack by each attack; 0: both are skipped")

// need skips the test without -duration. It returns the path of the program: that of $SVC_BINARY, or a new one.
func need(t *testing.T) (binary string) {
	t.Helper()
	if *attackTime == 0 {
		t.Skip("SKIPPED: runs with -duration only, as .ci/memory does")
	}
	if binary = os.Getenv("SVC_BINARY"); binary != "" {
		binary, err := filepath.Abs(binary)
		if err != nil {
			t.Fatal(err)
		}
		return binary
	}
	binary, err := apptest.BuildProgram(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// TestMemory attacks the program in a memory cgroup of 256 MiB: remote servers and members store the largest entities that they can, then each
// attack runs alone, then all run together. The process lives, holds 230 MiB at most, and answers the home timelines of two members all the time:
// one who follows the attackers, and one who does not.
func TestMemory(t *testing.T) {
	binary := need(t)
	address := apptest.FreeAddress(t)
	r := &run{t: t, w: newWorld(t, newTemplate(t, binary, address), binary, address, readRoutes(t, binary))}
	r.w.few = *attackTime < time.Minute
	r.attack(attacks, *attackTime)
}

// TestAttack makes each attack alone, on a new server, and prints what it costs.
func TestAttack(t *testing.T) {
	binary := need(t)
	address := apptest.FreeAddress(t)
	template, routes := newTemplate(t, binary, address), readRoutes(t, binary)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			r := &run{t: t, w: newWorld(t, template, binary, address, routes)}
			r.attack([]attack{a.alone()}, *attackTime)
		})
	}
}

// run is one run of attacks against a server.
type run struct {
	t     *testing.T
	w     *world
	homes []*home
}

// attack stores what the attacks store, and then makes them for some time.
func (r *run) attack(list []attack, whole time.Duration) {
	r.t.Helper()
	if !r.store(list) {
		return
	}
	defer r.report()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	r.homes = []*home{{p: r.w.carol}, {p: r.w.erin}}
	var watchers sync.WaitGroup
	for _, h := range r.homes {
		watchers.Go(func() { h.watch(ctx, r.w) })
	}
	var loads []attack
	for _, a := range list {
		if a.load != nil {
			loads = append(loads, a)
		}
	}
	each, together := slots(whole, len(loads))
	if len(loads) > 1 {
		for _, a := range loads {
			if !r.load(ctx, each, a) {
				break
			}
		}
		whole = together
	}
	if !r.w.s.ended() {
		r.load(ctx, whole, loads...)
	}
	cancel()
	watchers.Wait()
}

// store makes the attacks' entities, and starts the server again with the rate limits of attacks.
func (r *run) store(list []attack) bool {
	r.t.Helper()
	begin := time.Now()
	for _, last := range []bool{false, true} {
		var storing sync.WaitGroup
		var names []string
		for _, a := range list {
			if a.store != nil && a.last == last {
				names = append(names, a.name)
				storing.Go(func() { a.store(r.w) })
			}
		}
		storing.Wait()
		r.w.settle()
		if r.w.s.ended() {
			r.t.Errorf("%s ended the server while it was stored", strings.Join(names, " or "))
			r.report()
			return false
		}
	}
	r.t.Logf("stored in %.1f s, %.1f s of processor time, %d requests refused; %d MiB at most so far", time.Since(begin).Seconds(), r.w.s.cpu().Seconds(), r.w.failed.Load(), r.w.s.peak.Load()>>20)
	if !r.w.s.stop() {
		r.t.Error("the server did not end in good order")
	}
	r.w.readIDs()
	for _, a := range list {
		if a.rows != nil {
			r.w.database(a.rows)
		}
	}
	r.w.s.start(settingsForAttacks)
	return true
}

// load makes attacks together. It returns false if the server has ended.
func (r *run) load(ctx context.Context, d time.Duration, list ...attack) bool {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-r.w.s.done:
			cancel()
		}
	}()
	r.w.until.Store(&ctx)
	cpu, begin := r.w.s.cpu(), time.Now()
	counts := make([]tally, len(list))
	var clients sync.WaitGroup
	var names []string
	for i, a := range list {
		names = append(names, a.name)
		for n := range a.clients {
			clients.Go(func() { a.load(r.w, ctx, n, &counts[i]) })
		}
	}
	clients.Wait()
	for i := range list {
		r.t.Logf("%-22s %s", names[i], &counts[i])
	}
	r.t.Logf("%-22s %.1f s, %.1f s of processor time, %d MiB at most so far", "", time.Since(begin).Seconds(), (r.w.s.cpu() - cpu).Seconds(), r.w.s.peak.Load()>>20)
	if r.w.s.ended() {
		r.t.Errorf("%s ended the server", strings.Join(names, " or "))
		return false
	}
	return true
}

// report compares what was observed with what is promised.
func (r *run) report() {
	r.t.Helper()
	s := r.w.s
	alive := s.stop()
	if !alive {
		r.t.Errorf("the server is not alive: %v; the end of its log:\n%s", s.cmd.ProcessState, s.logEnd())
	}
	if faults := s.logLines("level=ERROR"); len(faults) > 0 {
		r.t.Errorf("the server logged %d errors, the first: %.600s", len(faults), faults[0])
	}
	if kills := s.group.kills(); kills > 0 {
		r.t.Errorf("the kernel ended %d processes because 256 MiB were full", kills)
	}
	if s.peak.Load() > memoryLimit {
		r.t.Errorf("the server held %d MiB, want at most %d", s.peak.Load()>>20, int64(memoryLimit)>>20)
	}
	for _, h := range r.homes {
		r.t.Logf("home of %s: %v", h.p.name, h)
		if len(h.faults) > 0 {
			r.t.Errorf("home of %s: %d answers were not 200, the first: %s", h.p.name, len(h.faults), h.faults[0])
		}
		if h.later*20 > len(h.times) {
			r.t.Errorf("home of %s: %d of %d requests were asked to come back later, want at most one in 20", h.p.name, h.later, len(h.times))
		}
	}
	r.t.Logf("SUMMARY alive %v, %d MiB held at most (%d MiB with page cache), processor time %.1f s, %s", alive, s.peak.Load()>>20, s.group.highest()>>20, s.cpu().Seconds(), fmt.Sprint(r.homes))
}

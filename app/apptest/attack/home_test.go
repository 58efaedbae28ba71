package attack_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// homeWait is how long a member waits for the home timeline.
const homeWait = time.Minute

// home asks for a member's home timeline every 250 ms, from an address that no attacker has, and as apps do not before the last answer.
type home struct {
	p      *person
	mu     sync.Mutex
	times  []time.Duration
	later  int      // answers that ask to come back later: a member's turn does not come in time on a machine that does much else
	faults []string // other answers than those and 200
}

// watch asks until the context ends.
func (h *home) watch(ctx context.Context, w *world) {
	client := w.client(0, homeWait)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		h.ask(client, w)
		select {
		case <-ctx.Done():
			return
		case <-w.s.done:
			return
		case <-tick.C:
		}
	}
}

func (h *home) ask(client *http.Client, w *world) {
	req, err := http.NewRequest("GET", w.url+"/api/v1/timelines/home?limit=20", nil)
	if err != nil {
		return
	}
	authorize(req, h.p, false)
	begin, fault := time.Now(), ""
	resp, err := client.Do(req)
	if err != nil {
		fault = err.Error()
	} else {
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "" {
			h.mu.Lock()
			h.later++
			h.mu.Unlock()
		} else if err != nil || resp.StatusCode != 200 {
			fault = fmt.Sprintf("%d %.200s %v", resp.StatusCode, b, err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times = append(h.times, time.Since(begin))
	if fault != "" {
		h.faults = append(h.faults, fault)
	}
}

// String returns how long the answers took.
func (h *home) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.times) == 0 {
		return "never asked"
	}
	slices.Sort(h.times)
	round := func(i int) time.Duration { return h.times[min(i, len(h.times)-1)].Round(time.Millisecond) }
	return fmt.Sprintf("%d of %d answered, median %v, p99 %v, worst %v", len(h.times)-len(h.faults)-h.later, len(h.times), round(len(h.times)/2), round(len(h.times)*99/100), round(len(h.times)-1))
}

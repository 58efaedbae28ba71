package federation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/store"
)

const (
	atOnce        = 160 // deliveries under way
	atOncePerHost = 4
	deliveryTime  = 15 * time.Second
	recordEvery   = 10 * time.Millisecond
	circuitAfter  = 10 // failures in a row of what a reachable host answers, after which it rests
	maxBodies     = 64 // activities kept in memory
)

// pauses are how long a delivery waits after each failure (federation 3.4). After the last it is given up.
var pauses = []time.Duration{
	30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// unauthorizedTries is how often a delivery is tried that is answered with 401 or 403: perhaps our key has not got about.
const unauthorizedTries = 3

// courier delivers what is queued, host by host: what waits for one keeps nobody else waiting.
type courier struct {
	s     *Service
	slots chan struct{}
	done  chan *outcome

	again chan struct{} // a host has room again

	mu    sync.Mutex
	busy  map[string]int               // hosts that are being served, and how much is under way to each
	quiet map[string]bool              // hosts of which all that is due is under way
	going map[store.DeliveryID]bool    // under way
	body  map[store.ActivityID]*parcel // the latest, which go to many
}

// parcel is an activity that goes to many.
type parcel struct {
	*store.Activity
	body []byte
}

// outcome is how a delivery went.
type outcome struct {
	delivery *store.Delivery
	err      error // nil: delivered
	retry    time.Time
	lost     bool // for ever
	host     bool // it is the host that could not be reached
}

func newCourier(s *Service) *courier {
	return &courier{
		s: s, slots: make(chan struct{}, atOnce), done: make(chan *outcome, atOnce),
		again: make(chan struct{}, 1), quiet: make(map[string]bool),
		busy: make(map[string]int), going: make(map[store.DeliveryID]bool), body: make(map[store.ActivityID]*parcel),
	}
}

// run delivers until ctx ends, then waits for what is under way.
func (c *courier) run(ctx context.Context) {
	var under, clerk sync.WaitGroup
	clerk.Go(c.record)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.s.db.Post():
			c.mu.Lock()
			clear(c.quiet)
			c.mu.Unlock()
		case <-c.again:
		case <-timer.C:
		}
		pause, err := c.sendDue(ctx, &under)
		if err != nil && ctx.Err() == nil {
			c.s.log.Error("reading the deliveries", "err", err)
		}
		timer.Reset(pause)
	}
	under.Wait()
	close(c.done)
	clerk.Wait()
}

// sendDue starts what is due and has room. It returns how long nothing else will be.
func (c *courier) sendDue(ctx context.Context, under *sync.WaitGroup) (time.Duration, error) {
	c.mu.Lock()
	most := 2*atOnce + len(c.busy)
	c.mu.Unlock()
	hosts, err := c.s.db.DueHosts(ctx, most)
	if err != nil {
		return longestSleep, err
	}
	for _, host := range hosts {
		room := c.room(host)
		if room <= 0 {
			continue
		}
		due, err := c.s.db.DueDeliveries(ctx, host.Domain, 2*atOncePerHost)
		if err != nil {
			return longestSleep, err
		}
		for _, d := range due {
			if room == 0 {
				break
			}
			if !c.begin(d) {
				continue
			}
			room--
			select {
			case c.slots <- struct{}{}:
			case <-ctx.Done():
				c.end(d)
				return 0, ctx.Err()
			}
			under.Go(func() {
				defer func() { <-c.slots }()
				c.finish(ctx, c.deliver(ctx, host, d))
			})
		}
		if len(due) < 2*atOncePerHost && room > 0 {
			c.hush(host.Domain)
		}
	}
	next, err := c.s.db.NextDelivery(ctx)
	if err != nil || next.IsZero() {
		return longestSleep, err
	}
	return min(max(next.Sub(c.s.now()), time.Millisecond), longestSleep), nil
}

// room returns how many more deliveries may be under way to a host. One that failed the last time is tried with one.
func (c *courier) room(host *store.Host) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.quiet[host.Domain]:
		return 0
	case host.Failures > 0:
		return 1 - c.busy[host.Domain]
	}
	return atOncePerHost - c.busy[host.Domain]
}

// hush notes that all that is due for a host is under way.
func (c *courier) hush(domain string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[domain] > 0 {
		c.quiet[domain] = true
	}
}

// begin marks a delivery as under way, if it was not.
func (c *courier) begin(d *store.Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.going[d.ID] {
		return false
	}
	c.going[d.ID] = true
	c.busy[d.Domain]++
	return true
}

func (c *courier) end(d *store.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.going, d.ID)
	delete(c.quiet, d.Domain)
	if c.busy[d.Domain]--; c.busy[d.Domain] == 0 {
		delete(c.busy, d.Domain)
	}
}

// finish has it recorded how a delivery went. What was interrupted stays as it is: it is delivered again.
func (c *courier) finish(ctx context.Context, o *outcome) {
	if o.err != nil && ctx.Err() != nil {
		c.end(o.delivery)
		return
	}
	c.done <- o
}

// record writes down how deliveries went: many at a time, because each alone is little.
func (c *courier) record() {
	var some []*outcome
	timer := time.NewTimer(recordEvery)
	defer timer.Stop()
	for open := true; open; {
		select {
		case o, ok := <-c.done:
			if open = ok; ok {
				some = append(some, o)
			}
			if len(some) < atOnce && ok {
				continue
			}
		case <-timer.C:
			timer.Reset(recordEvery)
		}
		if len(some) > 0 {
			c.close(some)
			some = nil
		}
	}
}

// close removes what is delivered from the database and puts off what failed.
func (c *courier) close(some []*outcome) {
	ctx := context.Background()
	err := c.s.db.Update(ctx, func(tx *store.Tx) error {
		hosts := make(map[string]bool)
		for _, o := range some {
			if err := c.closeOne(ctx, tx, o, hosts); err != nil {
				return err
			}
		}
		for host := range hosts {
			if err := tx.ScheduleHost(ctx, host); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.s.log.Error("recording how deliveries went", "err", err)
	}
	for _, o := range some {
		c.end(o.delivery)
	}
	select {
	case c.again <- struct{}{}:
	default:
	}
}

func (c *courier) closeOne(ctx context.Context, tx *store.Tx, o *outcome, hosts map[string]bool) error {
	d := o.delivery
	first := !hosts[d.Domain]
	hosts[d.Domain] = true
	if o.err == nil {
		if first {
			if err := tx.HostReached(ctx, d.Domain); err != nil {
				return err
			}
		}
		return tx.DropDelivery(ctx, d)
	}
	if o.host {
		if first {
			h, err := tx.Host(ctx, d.Domain)
			if err != nil {
				return err
			}
			if err := tx.HostFailed(ctx, d.Domain, c.s.now().Add(hostPause(h.Failures)), o.err.Error()); err != nil {
				return err
			}
		}
	}
	if o.lost {
		c.s.log.Debug("delivery refused", "inbox", d.Inbox, "err", o.err)
		return tx.DropDelivery(ctx, d)
	}
	parked := d.Attempts >= len(pauses)
	if parked {
		c.s.log.Info("delivery given up", "inbox", d.Inbox, "err", o.err)
	}
	return tx.PutOffDelivery(ctx, d, o.retry, parked, o.err.Error())
}

// hostPause is how long a host is left alone that could not be reached so often before.
func hostPause(failures int) time.Duration {
	return jittered(pauses[min(failures, len(pauses)-1)])
}

func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5)
}

// deliver tries a delivery once.
func (c *courier) deliver(ctx context.Context, host *store.Host, d *store.Delivery) (o *outcome) {
	o = &outcome{delivery: d}
	defer func() {
		if p := recover(); p != nil {
			o.err = fmt.Errorf("panic: %v", p)
			o.retry = c.s.now().Add(pauses[0])
		}
	}()
	parcel, err := c.parcel(ctx, d.ActivityID)
	if err != nil {
		o.err, o.retry = err, c.s.now().Add(pauses[0])
		return o
	}
	if parcel == nil {
		return o // what it hands over is gone: so is the reason to
	}
	if _, err := c.s.hostToAsk(d.Inbox); err != nil {
		o.err, o.lost = err, true
		return o
	}
	status, header, err := c.post(ctx, host, d, parcel)
	c.judge(o, status, header, err)
	return o
}

// parcel returns an activity, nil if it hands over a post that is gone.
func (c *courier) parcel(ctx context.Context, id store.ActivityID) (*parcel, error) {
	c.mu.Lock()
	p := c.body[id]
	c.mu.Unlock()
	if p == nil {
		rows, err := c.s.db.Activities(ctx, []store.ActivityID{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		p = &parcel{rows[0], []byte(rows[0].Body)}
		c.mu.Lock()
		for other := range c.body {
			if len(c.body) < maxBodies {
				break
			}
			delete(c.body, other)
		}
		c.body[id] = p
		c.mu.Unlock()
	}
	if p.StatusID != nil {
		there, err := c.s.db.HasStatus(ctx, *p.StatusID)
		if err != nil || !there {
			return nil, err
		}
	}
	return p, nil
}

// post sends an activity, signed in one way after the other if it is not known which the host takes.
func (c *courier) post(ctx context.Context, host *store.Host, d *store.Delivery, p *parcel) (status int, header http.Header, err error) {
	signer, err := c.s.signer(ctx, p.AccountID)
	if err != nil {
		return 0, nil, err
	}
	ways := waysToSign(host, false, c.s.now())
	for i, o := range ways {
		o.Now = c.s.now()
		status, header, err = c.send(ctx, d.Inbox, p.body, signer, o)
		if err != nil || !unauthorized(status) {
			if err == nil && status < 300 && i > 0 {
				c.s.noteSignature(ctx, d.Domain, o)
			}
			return status, header, err
		}
	}
	if len(ways) > 1 && status == http.StatusUnauthorized {
		c.s.noteNeither(ctx, d.Domain)
	}
	return status, header, err
}

const maxAnswer = 64 << 10

func (c *courier) send(ctx context.Context, inbox string, body []byte, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, inbox, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %v", fetch.ErrRefused, err)
	}
	req.Header.Set("Content-Type", activity.ContentType)
	if err := signer.Sign(req, body, o); err != nil {
		return 0, nil, err
	}
	resp, err := c.s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, maxAnswer) // so that the connection can be used again
	return resp.StatusCode, resp.Header, nil
}

// judge says what the answer to a delivery means (federation 3.3).
func (c *courier) judge(o *outcome, status int, header http.Header, err error) {
	now, d := c.s.now(), o.delivery
	o.retry = now.Add(jittered(pauses[min(d.Attempts, len(pauses)-1)]))
	switch {
	case errors.Is(err, fetch.ErrRefused):
		o.err, o.lost = err, true
	case errors.Is(err, fetch.ErrBusy):
		o.err = err
	case err != nil:
		o.err, o.host = err, true
	case status < 300:
	default:
		o.err = fmt.Errorf("answered with status %d", status)
		switch {
		case status == http.StatusUnauthorized:
			o.lost = d.Attempts+1 >= unauthorizedTries
		case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
			o.retry = later(o.retry, retryAfter(header, now))
		case status == http.StatusNotImplemented, status >= 400 && status < 500 && status != http.StatusPaymentRequired:
			o.lost = true
		case status >= 500:
			o.retry = later(o.retry, retryAfter(header, now))
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// retryAfter returns when a host wants to be asked again, between a minute and a day from now; the zero time if it does not say.
func retryAfter(header http.Header, now time.Time) time.Time {
	text := header.Get("Retry-After")
	if text == "" {
		return time.Time{}
	}
	var wait time.Duration
	if n, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(n, 86_400)) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	} else {
		return time.Time{}
	}
	return now.Add(min(max(wait, time.Minute), 24*time.Hour))
}

// settle delivers all that is due, one after another.
func (c *courier) settle(ctx context.Context) error {
	for {
		hosts, err := c.s.db.DueHosts(ctx, atOnce)
		if err != nil || len(hosts) == 0 {
			return err
		}
		for _, host := range hosts {
			due, err := c.s.db.DueDeliveries(ctx, host.Domain, atOnce)
			if err != nil {
				return err
			}
			for _, d := range due {
				c.begin(d)
				c.close([]*outcome{c.deliver(ctx, host, d)})
			}
			if len(due) == 0 {
				if err := c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.ScheduleHost(ctx, host.Domain) }); err != nil {
					return err
				}
			}
		}
	}
}

// Package lease lets one server of several write under a name: the one that holds the lease at a place of package objects.
//
// The lease is a row of numbered objects. Who takes it writes the next number, on the condition that there is none; the highest number holds. So
// exactly one of several that take it at once succeeds, at every kind of place, and who holds it sees a higher number when it was taken over.
//
// A lease does not expire. It is taken from another holder only by a command (TakeOver), because a holder that does not reach the place cannot
// know whether it is alone, and a bucket that is down must not end the only server. So a holder goes on while the place cannot be reached,
// and stops as soon as it finds a higher number, which takes CheckEach at most once it reaches the place. Who takes the lease over waits until
// the holder before says that it has stopped, or for HandOver if that one was at the place within the last minutes: a holder that reaches the place has
// stopped by then. One that runs and does not reach it is what only people can know: they have to stop it before they take over.
//
// How recently a holder was seen is the difference of two times of the place; clocks of machines are not compared. In a folder on a network file system
// the times are those of the writers: there, clocks should agree within a minute.
//
// Each start takes a new number, so that a second process with a copy of the data directory, which knows an older number, is refused as another server is. So
// is one on another host that knows the newest, while that was seen within the last minutes and has not stopped.
//
// Limits: objects of 4 KiB, of which 16 older ones stay; one listing each CheckEach, one small object a minute.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"svc/internal/objects"
)

// Holder is a process that holds or held the lease.
type Holder struct {
	Number  uint64    `json:"number"`
	Token   string    `json:"token"` // random; no secret
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"` // by its own clock
}

// String describes a holder to people.
func (h Holder) String() string {
	return fmt.Sprintf("%s (process %d, svc %s, started %s)", h.Host, h.PID, h.Version, h.Started.UTC().Format(time.RFC3339))
}

// State describes the lease at the place.
type State struct {
	Holder   Holder    // of the highest number
	Since    time.Time // when it took the lease, by the clock of the place
	Seen     time.Time // when it was last at the place, by the same clock
	Released bool      // it has stopped
}

// Errors of Take and Watch.
var (
	// ErrHeld means that another server holds the lease, or has taken it over.
	ErrHeld = errors.New("another server holds the lease")
	// ErrUnknown means that the place was not reached, so that nobody knows who holds the lease, and that this data directory did not hold it last.
	ErrUnknown = errors.New("it is not known who holds the lease")
)

const (
	checkEach = 5 * time.Second
	seenEach  = time.Minute
	handOver  = 18 * time.Second
	takeLimit = 20 * time.Second // for requests, besides handOver
	recent    = 3                // times seenEach: a holder seen in that time may run
)

// Options are those of Take.
type Options struct {
	Open     func(ctx context.Context) (objects.Store, error) // the place; called again after it was not reached
	Prefix   string                                           // of the names, with a slash at its end
	Record   string                                           // file of the data directory that remembers the number
	Version  string                                           // of the program
	TakeOver bool                                             // from whomever holds it
	Log      *slog.Logger                                     // nil: no log

	CheckEach time.Duration // 0: 5 seconds
	SeenEach  time.Duration // 0: 1 minute
	HandOver  time.Duration // 0: 18 seconds
}

// Lease is held until it is released, or until Watch finds that it was taken over. Its methods may be called from any goroutine.
type Lease struct {
	Options
	me Holder // without a number until it was taken

	mu          sync.Mutex
	place       *place // nil: it is not reached
	record      record
	held        bool      // me.Number is at the place
	problem     error     // of the last request; nil: it succeeded
	unreachable time.Time // since when, by this clock; zero: it is reached
	seen        time.Time // when it was last written that this process runs
}

// Take takes the lease. The data directory must be locked. If the place is not reached, the holder of the last start goes on: Watch then
// takes the lease, or finds that another did. It waits for another holder to stop if it takes over from one that may run.
func Take(ctx context.Context, o Options) (*Lease, error) {
	o.CheckEach, o.SeenEach, o.HandOver = or(o.CheckEach, checkEach), or(o.SeenEach, seenEach), or(o.HandOver, handOver)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	l := &Lease{Options: o, me: Holder{Token: rand.Text(), Host: host, PID: os.Getpid(), Version: o.Version, Started: time.Now().UTC().Truncate(time.Second)}}
	if l.record, err = readRecord(o.Record); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	before, err := l.take(limited, o.TakeOver)
	switch {
	case err == nil && before != nil:
		err = l.waitForStop(ctx, before)
	case err == nil, errors.Is(err, ErrHeld), ctx.Err() != nil:
	case l.record.Held.Number > 0 && !o.TakeOver:
		l.failed(err)
		o.Log.Warn("the place of the lease cannot be reached: the server starts, because this data directory held the lease last, and stops if it turns out that another server has taken over",
			"err", err)
		return l, nil
	case o.TakeOver:
	default:
		err = fmt.Errorf("%w: the place cannot be reached, and this data directory has never held it: %w", ErrUnknown, err)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// take writes the next number, if this data directory has the highest, or if it takes over. before is the state of another holder that it took over from.
func (l *Lease) take(ctx context.Context, takeOver bool) (before *State, err error) {
	p, err := l.reach(ctx)
	if err != nil {
		return nil, err
	}
	for range attempts {
		all, err := p.read(ctx)
		if err != nil {
			return nil, err
		}
		highest := all.highest()
		if highest > 0 {
			s, err := p.state(ctx, all, highest)
			if err != nil {
				return nil, err
			}
			ours, err := l.isOurs(ctx, p, s)
			switch {
			case err != nil:
				return nil, err
			case ours:
			case !takeOver:
				return nil, heldBy(s)
			default:
				before = &s
			}
		}
		if err = l.write(ctx, p, highest+1); !errors.Is(err, objects.ErrCondition) {
			return before, err
		}
		// Another was faster, or the answer to an earlier request was lost.
	}
	return nil, fmt.Errorf("%w: %d others took it before this server", ErrHeld, attempts)
}

// attempts is how often a number is written if others are faster.
const attempts = 20

// isOurs returns true if the highest number is that of the last process with this data directory, and not of a copy that runs on another host.
func (l *Lease) isOurs(ctx context.Context, p *place, s State) (bool, error) {
	if !l.record.wrote(s.Holder) {
		return false, nil
	}
	if s.Released || s.Holder.Host == l.me.Host {
		return true, nil
	}
	now, err := p.now(ctx)
	return now.Sub(s.Seen) > recent*l.SeenEach, err
}

// heldBy returns the error for a lease of another holder.
func heldBy(s State) error {
	did := "was last seen at " + s.Seen.UTC().Format(time.RFC3339)
	if s.Released {
		did = "has stopped"
	}
	return fmt.Errorf("%w: %s, since %s; it %s", ErrHeld, s.Holder, s.Since.UTC().Format(time.RFC3339), did)
}

// write writes a number, after it was recorded that this process is about to.
func (l *Lease) write(ctx context.Context, p *place, number uint64) error {
	me := l.me
	me.Number = number
	next := record{Held: l.record.Held, Pending: mark{number, me.Token}}
	if err := next.write(l.Record); err != nil {
		return err
	}
	l.record = next
	if err := p.put(ctx, me); err != nil {
		return err
	}
	all, err := p.read(ctx)
	if err != nil {
		return err
	}
	if highest := all.highest(); highest != number { // such as one that was removed meanwhile
		s, err := p.state(ctx, all, highest)
		return errors.Join(err, heldBy(s))
	}
	next = record{Held: mark{number, me.Token}}
	if err := next.write(l.Record); err != nil {
		return err
	}
	l.record, l.me, l.held, l.seen = next, me, true, time.Now()
	p.prune(ctx, all, number)
	return nil
}

// waitForStop waits until the holder before has stopped, if it may run.
func (l *Lease) waitForStop(ctx context.Context, before *State) error {
	l.Log.Warn("the lease was taken over", "from", before.Holder.String(), "since", before.Since.UTC(), "last_seen", before.Seen.UTC(), "stopped", before.Released)
	if mine, err := l.place.since(ctx, l.me.Number); before.Released || err == nil && mine.Sub(before.Seen) > recent*l.SeenEach {
		return nil
	}
	l.Log.Info("the server before was seen recently: waiting until it has stopped", "at_most", l.HandOver)
	for deadline := time.Now().Add(l.HandOver); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(time.Second, l.CheckEach)):
		}
		if released, err := l.place.released(ctx, before.Holder.Number); err == nil && released {
			l.Log.Info("the server before has stopped")
			return nil
		}
	}
	return nil
}

// Holder returns this process as it is at the place.
func (l *Lease) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.me
}

// Problem returns why the place is not reached, and since when. nil: it is.
func (l *Lease) Problem() (since time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unreachable, l.problem
}

// Watch checks the lease until ctx ends, or until another server has taken it over: then the error is ErrHeld, and the caller must write nothing more.
func (l *Lease) Watch(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(l.CheckEach):
		}
		err := l.check(ctx)
		if errors.Is(err, ErrHeld) {
			return err
		}
		if ctx.Err() == nil {
			l.failed(err)
		}
	}
}

// failed remembers whether the place is reached, and logs when that changes.
func (l *Lease) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil && l.problem == nil:
		l.unreachable = time.Now()
		l.Log.Warn("the lease cannot be checked: the server goes on, because only a command takes it over", "err", err)
	case err == nil && l.problem != nil:
		l.Log.Info("the lease can be checked again", "after", time.Since(l.unreachable).Round(time.Second))
		l.unreachable = time.Time{}
	}
	l.problem = err
}

// check looks for a higher number.
func (l *Lease) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held { // the place was not reached at the start
		_, err := l.take(ctx, false)
		return l.broken(err)
	}
	p, err := l.reach(ctx)
	if err != nil {
		return err
	}
	all, err := p.read(ctx)
	if err != nil {
		return l.broken(err)
	}
	switch highest := all.highest(); {
	case highest < l.me.Number: // the place was emptied
		return l.broken(l.write(ctx, p, l.me.Number+1))
	case highest > l.me.Number:
		s, err := p.state(ctx, all, highest)
		if err != nil {
			l.Log.Warn("the server that has taken over is not known", "err", err)
		}
		return heldBy(s)
	}
	if time.Since(l.seen) < l.SeenEach {
		return nil
	}
	if err := p.note(ctx, l.me.Number, seenSuffix); err != nil {
		return l.broken(err)
	}
	l.seen = time.Now()
	return nil
}

// Release says at the place that this process has stopped, and closes it. The data must be closed. It waits for the place for some seconds at most.
func (l *Lease) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.me.Number > 0 {
		var p *place
		if p, err = l.reach(ctx); err == nil {
			err = p.note(ctx, l.me.Number, releasedSuffix)
		}
	}
	return errors.Join(err, l.close())
}

// reach opens the place, if it is not open.
func (l *Lease) reach(ctx context.Context) (*place, error) {
	if l.place == nil {
		store, err := l.Open(ctx)
		if err != nil {
			return nil, err
		}
		l.place = &place{store, l.Prefix}
	}
	return l.place, nil
}

// broken closes the place after an error, so that it is opened anew.
func (l *Lease) broken(err error) error {
	if err != nil && !errors.Is(err, ErrHeld) {
		l.close()
	}
	return err
}

func (l *Lease) close() error {
	if l.place == nil {
		return nil
	}
	err := l.place.store.Close()
	l.place = nil
	return err
}

// Read returns who holds the lease at a place. The error is fs.ErrNotExist if nobody ever did.
func Read(ctx context.Context, store objects.Store, prefix string) (State, error) {
	p := &place{store, prefix}
	all, err := p.read(ctx)
	if err != nil {
		return State{}, err
	}
	if all.highest() == 0 {
		return State{}, fmt.Errorf("lease: %w", os.ErrNotExist)
	}
	return p.state(ctx, all, all.highest())
}

// Held returns who holds the lease at a place, and whether that is a process with the data directory that has the record. Nothing is written. The error is
// fs.ErrNotExist if nobody ever held it.
func Held(ctx context.Context, store objects.Store, prefix, recordFile string) (s State, ours bool, err error) {
	r, err := readRecord(recordFile)
	if err != nil {
		return State{}, false, err
	}
	s, err = Read(ctx, store, prefix)
	return s, err == nil && r.wrote(s.Holder), err
}

// record is what a data directory remembers.
type record struct {
	Held    mark `json:"held"`
	Pending mark `json:"pending"` // was about to be written
}

// mark is a number, and what distinguishes who wrote it.
type mark struct {
	Number uint64 `json:"number"`
	Token  string `json:"token"`
}

// wrote returns true if a holder is the last process with the data directory.
func (r record) wrote(h Holder) bool {
	return h.Token != "" && (h.Token == r.Held.Token || h.Token == r.Pending.Token)
}

func readRecord(path string) (r record, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return record{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		err = fmt.Errorf("lease: %s: %w", path, err)
	}
	return r, err
}

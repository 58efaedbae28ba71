package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// sized reads a body that must have a size. It withholds the last bytes until the body is known to end there, so that a place never has a whole
// object that is wrong.
type sized struct {
	ctx  context.Context
	body io.Reader
	left int64 // -1: the size is not known
}

func newSized(ctx context.Context, body io.Reader, size int64) *sized {
	return &sized{ctx: ctx, body: body, left: max(size, -1)}
}

func (s *sized) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.left < 0 || len(p) == 0 {
		return s.body.Read(p)
	}
	if s.left == 0 {
		return 0, s.end()
	}
	n, err := s.body.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	switch {
	case s.left == 0 && (err == nil || err == io.EOF):
		if err := s.end(); err != io.EOF {
			return 0, err
		}
		return n, nil
	case err == io.EOF:
		return n, fmt.Errorf("%w: the body ends %d bytes early", ErrSize, s.left)
	}
	return n, err
}

// end returns io.EOF if the body has no more bytes.
func (s *sized) end() error {
	var one [1]byte
	for range 100 {
		n, err := s.body.Read(one[:])
		if n > 0 {
			return fmt.Errorf("%w: the body is longer than its size", ErrSize)
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// readSmall reads a whole body of at most MaxConditional bytes.
func readSmall(body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, MaxConditional+1))
	if err == nil && len(b) > MaxConditional {
		err = fmt.Errorf("%w: an object with a condition has at most %d bytes", ErrSize, MaxConditional)
	}
	return b, err
}

// errStalled is the cause of a context that ends because a place does not answer.
var errStalled = errors.New("no answer in time")

// watch ends a context if nothing makes progress.
type watch struct {
	stall      time.Duration
	timer, all *time.Timer
	cancel     context.CancelCauseFunc
}

// newWatch returns a context that ends with errStalled after stall without progress, or after limit in all. The watch must be stopped.
func newWatch(ctx context.Context, stall, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{
		stall:  stall,
		timer:  time.AfterFunc(stall, func() { cancel(errStalled) }),
		all:    time.AfterFunc(limit, func() { cancel(errStalled) }),
		cancel: cancel,
	}
}

// progress restarts the time, unless it is over or paused.
func (w *watch) progress() {
	if w.timer.Stop() {
		w.timer.Reset(w.stall)
	}
}

// pause stops the timers and never starts them again. The context stays valid.
func (w *watch) pause() {
	w.timer.Stop()
	w.all.Stop()
}

// stop ends the context.
func (w *watch) stop() {
	w.pause()
	w.cancel(nil)
}

// ended returns the error of an operation whose context has ended: that of the caller's context, or ErrUnreachable after a stall. Otherwise nil.
func ended(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case ctx.Err() == nil:
		return nil
	case errors.Is(cause, errStalled):
		return as(ErrUnreachable, cause)
	default:
		return ctx.Err()
	}
}

const (
	// attempts is how often an operation is made that is safe to repeat, if the server was not reached.
	attempts   = 3
	retryPause = 200 * time.Millisecond // doubled each time
)

// repeat calls attempt again while the place is not reached. It does not if the place hangs, because that took long enough.
func repeat(ctx context.Context, attempt func() error) error {
	pause := retryPause
	for i := 1; ; i++ {
		err := attempt()
		if i == attempts || !errors.Is(err, ErrUnreachable) || errors.Is(err, errStalled) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause *= 2
	}
}

package app

import (
	"context"
	"log/slog"
	"time"

	"svc/internal/cache"
	"svc/internal/limit"
)

// Limits of equal warnings and errors, so that a failure that every request meets does not fill the disk with its log.
var (
	equalLogRate   = limit.Rate{Count: 5, Window: time.Minute}  // lines with the same message and error
	messageLogRate = limit.Rate{Count: 60, Window: time.Minute} // lines with the same message
)

const (
	maxLogKeys  = 1000
	maxErrorKey = 200 // bytes of an error that make it equal to another
)

// repeated passes on the first lines of equal warnings and errors in a minute. One more line says how many were left out since, in the member
// "left_out". Other levels are not limited.
type repeated struct {
	slog.Handler
	shared *repeatedCounts
}

type repeatedCounts struct {
	rates   *limit.Window[string]
	leftOut *cache.Expiring[string, int]
}

// withoutRepetitions limits equal warnings and errors of a handler.
func withoutRepetitions(h slog.Handler) slog.Handler {
	return &repeated{h, &repeatedCounts{limit.NewWindow[string](maxLogKeys), cache.NewExpiring[string, int](maxLogKeys)}}
}

// Handle is for slog.Handler.
func (r *repeated) Handle(ctx context.Context, record slog.Record) error {
	if record.Level < slog.LevelWarn {
		return r.Handler.Handle(ctx, record)
	}
	now := time.Now()
	equal := record.Message + "\x00" + errorOf(record)
	_, allowed := r.shared.rates.Allow(equal, equalLogRate, now)
	if allowed {
		_, allowed = r.shared.rates.Allow(record.Message, messageLogRate, now)
	}
	if allowed {
		return r.Handler.Handle(ctx, record)
	}
	first := false
	r.shared.leftOut.Update(equal, now, func(n int, _ time.Time) (int, time.Time) {
		first = n == 0
		return n + 1, now.Add(2 * equalLogRate.Window)
	})
	if first {
		record = record.Clone()
		time.AfterFunc(equalLogRate.Window, func() { r.summarize(equal, record) })
	}
	return nil
}

// summarize writes how many lines were left out since the first one of them.
func (r *repeated) summarize(key string, record slog.Record) {
	n, _ := r.shared.leftOut.Get(key, time.Now())
	r.shared.leftOut.Delete(key)
	record.Time = time.Now()
	record.AddAttrs(slog.Int("left_out", n))
	r.Handler.Handle(context.Background(), record) // an error of the log has nowhere to go
}

// errorOf returns the text of the error of a line, "" if it has none.
func errorOf(record slog.Record) (text string) {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" || a.Key == "error" {
			text = a.Value.String()
			return false
		}
		return true
	})
	return text[:min(len(text), maxErrorKey)]
}

// WithAttrs is for slog.Handler.
func (r *repeated) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &repeated{r.Handler.WithAttrs(attrs), r.shared}
}

// WithGroup is for slog.Handler.
func (r *repeated) WithGroup(name string) slog.Handler {
	return &repeated{r.Handler.WithGroup(name), r.shared}
}

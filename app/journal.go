package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/coreos/go-systemd/v22/journal"
)

// toJournal returns true if the log goes to the journal of systemd.
func toJournal() bool {
	is, err := journal.StderrIsJournalStream()
	return err == nil && is
}

// journalHandler writes lines for the journal of systemd: each begins with its priority, and has no time, which the journal adds.
type journalHandler struct {
	slog.Handler // writes to line
	out          io.Writer
	mu           *sync.Mutex // held while line is used
	line         *bytes.Buffer
}

func newJournalHandler(out io.Writer, level slog.Leveler) slog.Handler {
	line := new(bytes.Buffer)
	withoutTime := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	inner := slog.NewTextHandler(line, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime})
	return journalHandler{inner, out, new(sync.Mutex), line}
}

func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line.Reset()
	fmt.Fprintf(h.line, "<%d>", priority(r.Level))
	if err := h.Handler.Handle(ctx, r); err != nil {
		return err
	}
	_, err := h.out.Write(h.line.Bytes())
	return err
}

func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

func (h journalHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// priority returns the priority of syslog for a level.
func priority(level slog.Level) journal.Priority {
	switch {
	case level >= slog.LevelError:
		return journal.PriErr
	case level >= slog.LevelWarn:
		return journal.PriWarning
	case level >= slog.LevelInfo:
		return journal.PriInfo
	}
	return journal.PriDebug
}

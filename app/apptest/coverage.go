package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc/server/rest"
)

// coverageDir is where servers record which test got which status from which endpoint; "": they do not. It is for .ci/api-coverage.
var coverageDir = os.Getenv("SVC_API_COVERAGE")

// coverageLog is a log handler that records endpoints and statuses from the log lines of requests, which have level debug. It passes on
// only what the handler below it accepts.
type coverageLog struct {
	slog.Handler
	record *coverageRecord
}

// coverageRecord has lines of test, method, path and status, or of method, path and a parameter.
type coverageRecord struct {
	test  string
	kind  string
	mu    sync.Mutex
	lines map[string]bool
}

// recordCoverage returns log with a record of the requests.
func recordCoverage(t testing.TB, log *slog.Logger) *slog.Logger {
	if coverageDir == "" {
		return log
	}
	return slog.New(coverageLog{log.Handler(), newCoverageRecord(t, "statuses")})
}

// recordParameters returns a function that records the parameters of an endpoint, nil if nothing is recorded.
func recordParameters(t testing.TB) func(endpoint string, list []rest.Parameter) {
	if coverageDir == "" {
		return nil
	}
	record := newCoverageRecord(t, "parameters")
	return func(endpoint string, list []rest.Parameter) {
		for _, p := range list {
			text, err := json.Marshal(p)
			if err != nil {
				t.Error(err)
			}
			record.addLine(endpoint + " " + string(text))
		}
	}
}

// newCoverageRecord returns a record that is written to a file of this test binary when the test ends. kind is a part of the file's name.
func newCoverageRecord(t testing.TB, kind string) *coverageRecord {
	test, _, _ := strings.Cut(t.Name(), "/")
	record := &coverageRecord{test: test, kind: kind, lines: make(map[string]bool)}
	t.Cleanup(func() {
		if err := record.write(); err != nil {
			t.Error(err)
		}
	})
	return record
}

func (r *coverageRecord) write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	file := filepath.Join(coverageDir, fmt.Sprintf("%s.%s.%d", r.kind, filepath.Base(os.Args[0]), os.Getpid()))
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for line := range r.lines {
		if _, err := fmt.Fprintln(f, line); err != nil {
			return err
		}
	}
	return f.Close()
}

func (h coverageLog) Enabled(context.Context, slog.Level) bool { return true }

func (h coverageLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelDebug && r.Message == "request" {
		h.record.add(r)
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h coverageLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return coverageLog{h.Handler.WithAttrs(attrs), h.record}
}

func (h coverageLog) WithGroup(name string) slog.Handler {
	return coverageLog{h.Handler.WithGroup(name), h.record}
}

func (r *coverageRecord) add(logged slog.Record) {
	values := make(map[string]string)
	logged.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value.String()
		return true
	})
	method := values["method"]
	if method == "HEAD" { // endpoints of GET
		method = "GET"
	}
	r.addLine(strings.Join([]string{r.test, method, values["route"], values["status"]}, " "))
}

func (r *coverageRecord) addLine(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines[line] = true
}

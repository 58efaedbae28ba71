package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/doctor"
)

const (
	standbyRequest = 5 * time.Second // for a request
	standbyHeaders = 16 << 10        // bytes
	standbyRetry   = "30"            // seconds after which clients should try again: as long as a promotion takes

	promoteCommand = "promote"
	standbyCommand = "standby status"
)

// commands are what the control socket of a standby answers.
func (s *Standby) commands() control.Commands {
	return control.Commands{
		promoteCommand: control.Command(func(context.Context, struct{}) (struct{}, error) {
			s.setPromoting(true)
			select {
			case s.promotions <- struct{}{}:
			default: // is requested already
			}
			return struct{}{}, nil
		}),
		standbyCommand: control.Command(func(context.Context, struct{}) (StandbyStatus, error) { return s.Status(), nil }),
		runDoctor.name: control.Command(func(context.Context, DoctorOptions) (*doctor.Report, error) { return s.Status().report(), nil }),
	}
}

// serveHealth answers requests until ctx ends: /health with the state, all else that the server is not available.
func (s *Standby) serveHealth(ctx context.Context, ln net.Listener) {
	srv := &http.Server{
		Handler: http.HandlerFunc(s.answer), ReadTimeout: standbyRequest, WriteTimeout: standbyRequest, MaxHeaderBytes: standbyHeaders,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(ln); err != nil && ctx.Err() == nil && !errors.Is(err, http.ErrServerClosed) {
		s.Log.Error("the standby cannot be asked for its health", "err", err)
	}
}

// answer is 503 for everything: a reverse proxy in front of two machines must not send requests to this one.
func (s *Standby) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", standbyRetry)
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/health" {
		http.Error(w, s.Status().String(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintln(w, `{"error":"This server is not available now"}`)
}

// SettingsNote says in a line which settings of this machine are not those of the server, "" if none are.
func (s StandbyStatus) SettingsNote() string {
	if len(s.Differ) > 0 {
		return "settings that differ from those of the server: " + strings.Join(s.Differ, ", ")
	}
	return s.Unread
}

// String describes the state in one line.
func (s StandbyStatus) String() string {
	lag := s.Lag(time.Now())
	switch {
	case s.Promoting:
		return "standby: takes over"
	case !s.Ready && s.Problem != "":
		return "standby: not ready: " + s.Problem
	case !s.Ready:
		return "standby: not ready"
	case s.Problem != "":
		return fmt.Sprintf("standby: %s behind: %s", lag.Round(time.Second), s.Problem)
	}
	return fmt.Sprintf("standby: %s behind", lag.Round(time.Second))
}

// standbyLate is the lag from which on svc doctor warns.
const standbyLate = time.Minute

// report is what svc doctor says of a standby.
func (s StandbyStatus) report() *doctor.Report {
	r := doctor.Result{Name: "standby", Status: doctor.OK, Seen: s.String()}
	switch {
	case !s.Ready:
		r.Status, r.Advice = doctor.Failure, "It cannot take over. Mend what it names; svc standby --status shows the state."
	case s.Problem != "" || s.Lag(time.Now()) > standbyLate:
		r.Status, r.Advice = doctor.Warning, "It could take over with data of that age. Check that this machine reaches replica.place."
	case s.SettingsNote() != "":
		r.Status, r.Seen, r.Advice = doctor.Warning, r.Seen+"; "+s.SettingsNote(), "After taking over, the server would run with the settings file of this machine. Copy what should be the same, and restart svc standby."
	}
	return &doctor.Report{Results: []doctor.Result{r}, Failed: r.Status == doctor.Failure}
}

// errNoStandby is the error of commands for a standby if none runs.
func errNoStandby(c *config.Config, err error) error {
	if errors.Is(err, control.ErrNotRunning) {
		return fmt.Errorf("no standby runs on %s: start svc standby first", c.Data.Dir)
	}
	return err
}

// AskStandby returns the state of the standby that runs on the data directory of the settings.
func AskStandby(ctx context.Context, c *config.Config) (status StandbyStatus, err error) {
	err = control.Call(ctx, c.Data.Dir, standbyCommand, struct{}{}, &status)
	return status, errNoStandby(c, err)
}

// Promote makes the standby that runs on the data directory of the settings take over, and waits until the server works.
func Promote(ctx context.Context, c *config.Config) error {
	if err := control.Call(ctx, c.Data.Dir, promoteCommand, struct{}{}, nil); err != nil {
		return errNoStandby(c, err)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if CheckHealth(ctx, c) == nil {
			return nil
		}
		status, err := AskStandby(ctx, c)
		if err == nil && !status.Promoting && status.Problem != "" {
			return errors.New(status.Problem)
		}
	}
}

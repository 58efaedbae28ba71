package app

import (
	"github.com/coreos/go-systemd/v22/daemon"

	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"svc/internal/control"
	"svc/internal/errs"
	"svc/internal/lease"
	"svc/server"
	"svc/store"
)

// jobStopTime bounds how long jobs may run after the last request has ended.
const jobStopTime = 1500 * time.Millisecond

// ErrRestart is the error of Run if an administrator has requested a restart.
var ErrRestart = errors.New("restart")

// Run serves requests and runs all background work until ctx ends. The error is lease.ErrHeld if another server has taken over. settingsFile is the file of the settings, "" if there is none: the
// log names it in the command that creates the first administrator.
func (s *Server) Run(ctx context.Context, settingsFile string) error {
	for _, w := range Warnings(s.Settings) {
		s.log.Warn(w)
	}
	if n := maxOpenFiles(); n/3 < maxOutbound {
		s.log.Warn("the limit of open files is low: deliveries to many servers take longer; raise it (LimitNOFILE in systemd)", "limit", n)
	}
	ctx, end := context.WithCancelCause(ctx)
	stop := func() { end(nil) }
	defer stop()
	var restart atomic.Bool

	calls, err := control.Listen(s.Settings.Data.Dir)
	if err != nil {
		return err
	}
	defer calls.Close()
	ln, closeListeners, err := listen(s.Settings, s.log)
	if err != nil {
		return err
	}
	defer closeListeners()
	stopMetrics, err := serveMetrics(s.Settings, s.Metrics, s.log)
	if err != nil {
		return err
	}
	defer stopMetrics()
	s.log.Info("svc is running", "version", s.version, "url", s.Settings.URL().String(), "listen", ln.Addr().String(), "data", s.Settings.Data.Dir)
	if err := s.prepare(ctx, settingsFile); err != nil {
		if ctx.Err() == nil { // ending before the first request is no failure
			return err
		}
		s.log.Info("ended during the start", "reason", err)
		return nil
	}

	s.running.Store(true)
	s.manager.notify(daemon.SdNotifyReady)
	defer context.AfterFunc(ctx, func() {
		s.stopping.Store(true)
		s.log.Info("stopping")
		if !restart.Load() {
			s.manager.notify(daemon.SdNotifyStopping)
		}
	})()
	var background sync.WaitGroup
	background.Go(func() { s.Worker.Run(ctx) })
	background.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.restarts:
			restart.Store(true)
			stop()
		}
	})
	if s.Settings.Federation.Enabled {
		background.Go(func() { s.Federation.Run(ctx) })
	}
	background.Go(func() { s.watchLease(ctx, end) })
	background.Go(func() { s.manager.watch(ctx, s.DB) })
	background.Go(func() { s.runDoctor(ctx) })
	background.Go(func() { s.runHousekeeping(ctx) })
	background.Go(func() { s.Admin.KeepStorageLimits(ctx) })
	background.Go(func() { s.Admin.ScheduleBackups(ctx, settingsFile) })
	background.Go(func() { s.runReplica(ctx, settingsFile) })
	background.Go(func() { control.Serve(ctx, s.Settings.Data.Dir, calls, s.commands(), s.log) })
	err = s.HTTP.Serve(ctx, ln)
	stop()
	if !waitTimeout(&background, jobStopTime) {
		s.log.Warn("some jobs did not end in time and will run again after the next start")
	}
	if lost := context.Cause(ctx); errors.Is(lost, lease.ErrHeld) {
		return errors.Join(err, lost)
	}
	if restart.Load() {
		err = errors.Join(err, ErrRestart)
	}
	return err
}

// prepare logs and applies the state of the database, before the first request.
func (s *Server) prepare(ctx context.Context, settingsFile string) error {
	if err := s.logFirstAdminLink(ctx, settingsFile); err != nil {
		return err
	}
	if err := s.Federation.Closer.LogState(ctx); err != nil {
		return err
	}
	if err := s.Admin.CheckHostRules(ctx); err != nil {
		if s.DB.Condition().State == store.Writable {
			return err
		}
		s.log.Warn("the rules for hosts could not be applied", "err", err)
	}
	return nil
}

// ready returns false once Run is about to end. Before Run nobody can ask.
func (s *Server) ready() bool { return !s.stopping.Load() }

// restart makes Run end with ErrRestart. Requests that are being answered are finished first.
func (s *Server) restart() {
	select {
	case s.restarts <- struct{}{}:
	default: // is requested already
	}
}

// restartByCommand restarts the running server, as the admin API does.
func (s *Server) restartByCommand(ctx context.Context, _ struct{}) (struct{}, error) {
	if !s.running.Load() {
		return struct{}{}, errs.BadRequest("the server does not run")
	}
	return struct{}{}, s.Admin.Restart(ctx)
}

// logFirstAdminLink logs how to create an administrator if there is none.
func (s *Server) logFirstAdminLink(ctx context.Context, settingsFile string) error {
	has, err := s.DB.HasAdmin(ctx)
	if err != nil || has {
		return err
	}
	s.log.Info("there is no administrator yet: open this one-time link in a browser to create the first account", "link", server.SetupURL(s.Settings, s.Keys))
	s.log.Info("or create the first account with this command", "command", WithSettingsFlag("svc user create NICK --email ADDRESS --admin", settingsFile))
	return nil
}

// waitTimeout waits for wg. It returns false after d.
func waitTimeout(wg *sync.WaitGroup, d time.Duration) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		wg.Wait()
	}()
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

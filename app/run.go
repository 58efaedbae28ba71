package app

import (
	"context"
	"sync"
	"time"

	"svc/internal/control"
	"svc/server"
)

// jobStopTime is how long jobs may take to end after the last request has.
const jobStopTime = 1500 * time.Millisecond

// Run listens and serves until ctx ends, and does all background work meanwhile. settingsFile is where the settings are from, "" if
// there is no file: the log names it in the command that makes the first administrator.
func (s *Server) Run(ctx context.Context, settingsFile string) error {
	for _, w := range Warnings(s.Settings) {
		s.log.Warn(w)
	}
	if n := maxOpenFiles(); n/3 < maxOutbound {
		s.log.Warn("this process may open few files: deliveries to many servers take longer", "limit", n)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()

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
	s.log.Info("svc is running", "version", s.version, "url", s.Settings.URL().String(), "listen", ln.Addr().String(), "data", s.Settings.Data.Dir)
	if err := s.logFirstAdminLink(ctx, settingsFile); err != nil {
		return err
	}

	defer context.AfterFunc(ctx, func() { s.log.Info("stopping") })()
	var background sync.WaitGroup
	background.Go(func() { s.Worker.Run(ctx) })
	if s.Settings.Federation.Enabled {
		background.Go(func() { s.Federation.Run(ctx) })
	}
	background.Go(func() { s.runHousekeeping(ctx) })
	background.Go(func() { control.Serve(ctx, s.Settings.Data.Dir, calls, s.commands(), s.log) })
	err = s.HTTP.Serve(ctx, ln)
	stop()
	if !waitTimeout(&background, jobStopTime) {
		s.log.Warn("some jobs did not end in time: they run again after the next start")
	}
	return err
}

// logFirstAdminLink logs how to make an administrator if there is none.
func (s *Server) logFirstAdminLink(ctx context.Context, settingsFile string) error {
	has, err := s.DB.HasAdmin(ctx)
	if err != nil || has {
		return err
	}
	s.log.Info("there is no administrator yet: make the first account in a browser, with this one-time link", "link", server.SetupURL(s.Settings, s.Keys))
	s.log.Info("or make it with a command", "command", WithSettingsFlag("svc user create NICK --email ADDRESS --admin", settingsFile))
	return nil
}

// waitTimeout waits for wg, at most d. It returns false if that was not enough.
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

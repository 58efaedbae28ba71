package app

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"svc/store"
)

// serviceManager tells systemd the state of the server, if systemd runs it as a unit of Type=notify: that it serves, that it reads its settings
// again, that it stops, and, with WatchdogSec=, that it is alive.
type serviceManager struct{ log *slog.Logger }

// notify sends a state. There is nothing to do for the caller if that fails.
func (m serviceManager) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Warn("the service manager could not be notified", "state", state, "err", err)
	}
}

// reloading says that the settings are read again, and done that they were.
func (m serviceManager) reloading() (done func()) {
	var now unix.Timespec
	state := daemon.SdNotifyReloading
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err == nil {
		state += "\nMONOTONIC_USEC=" + strconv.FormatInt(now.Nano()/int64(time.Microsecond), 10)
	}
	m.notify(state)
	return func() { m.notify(daemon.SdNotifyReady) }
}

// watch says that the server is alive for as long as it is, until ctx ends. systemd restarts a server that has not said so for WatchdogSec.
func (m serviceManager) watch(ctx context.Context, db *store.DB) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("the watchdog of the service manager is not served", "err", err)
	}
	if err != nil || interval == 0 {
		return
	}
	for {
		if isAlive(ctx, db, interval/2) {
			m.notify(daemon.SdNotifyWatchdog)
		} else if ctx.Err() == nil {
			m.log.Error("the database does not answer: the service manager restarts the server if that lasts", "timeout", interval/2)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval / 4):
		}
	}
}

// isAlive returns true if the database answers reads and writes in time. A refusal, as on a full disk, is an answer, too: a restart would not help.
func isAlive(ctx context.Context, db *store.DB, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := db.OldestDueJobAge(ctx)
	if err == nil {
		err = db.CheckWritable(ctx)
	}
	return !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

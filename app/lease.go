package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"svc/internal/config"
	"svc/internal/lease"
	"svc/internal/objects"
)

const (
	leaseFile   = "lease.json" // in the data directory
	leasePrefix = "lease/"     // of names at the place of the replica
)

// openReplica opens the place of the replica.
func openReplica(ctx context.Context, c *config.Config) (objects.Store, error) {
	l, err := objects.ParseLocation(c.Replica.Place)
	if err != nil {
		return nil, fmt.Errorf("replica.place: %w", err)
	}
	store, err := objects.Open(ctx, l, c.PlaceOptions())
	if err != nil {
		return nil, fmt.Errorf("replica.place: %w", err)
	}
	return store, nil
}

// takeLease takes the lease at the place of the replica, so that no other server writes under the same name. The data directory must be locked.
func takeLease(ctx context.Context, c *config.Config, version string, takeOver bool, log *slog.Logger) (*lease.Lease, error) {
	l, err := lease.Take(ctx, lease.Options{
		Open:   func(ctx context.Context) (objects.Store, error) { return openReplica(ctx, c) },
		Prefix: leasePrefix, Record: dataPath(c, leaseFile), Version: version, TakeOver: takeOver, Log: log,
	})
	switch {
	case errors.Is(err, lease.ErrHeld):
		return nil, fmt.Errorf("%w. Two servers must not run under one name: the copy of one would be mixed with that of the other, and other servers would see two. "+
			"If that one will not run again, svc serve --take-over makes this one the server, and that one refuses to start from then on", err)
	case errors.Is(err, lease.ErrUnknown):
		return nil, fmt.Errorf("%w. Start it again when the place can be reached; or, if you know that no other server runs, with replica.enabled = false", err)
	}
	return l, err
}

// admit takes the lease before the database is opened, if the options ask for it.
func (s *Server) admit(o Options) func(context.Context) error {
	if !o.Serves || !s.Settings.Replica.Enabled {
		return nil
	}
	return func(ctx context.Context) (err error) {
		s.lease, err = takeLease(ctx, s.Settings, s.version, o.TakeOver, s.log)
		return err
	}
}

// watchLease ends the server if another one has taken over. Without a lease it does nothing.
func (s *Server) watchLease(ctx context.Context, stop context.CancelCauseFunc) {
	if s.lease == nil {
		return
	}
	if err := s.lease.Watch(ctx); err != nil {
		s.log.Error("another server has taken over: this one stops, and will not start again without --take-over", "err", err)
		stop(err)
	}
}

// LeaseHolder says in a sentence who holds the lease at the place of the replica. The error wraps lease.ErrHeld if it is another data directory than this one, and
// lease.ErrUnknown if the place cannot be reached and this data directory has never held it.
func LeaseHolder(ctx context.Context, c *config.Config) (string, error) {
	if c.Replica.Place == "" {
		return "", errors.New("there is no lease without replica.place")
	}
	record := dataPath(c, leaseFile)
	store, err := openReplica(ctx, c)
	if err == nil {
		defer store.Close()
		var state lease.State
		var ours bool
		state, ours, err = lease.Held(ctx, store, leasePrefix, record)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "Nobody holds the lease at " + c.Replica.Place + ".", nil
		case err == nil && !ours:
			return "", fmt.Errorf("%w: %s", lease.ErrHeld, state.Holder)
		case err == nil:
			return fmt.Sprintf("This data directory holds the lease: %s.", state.Holder), nil
		}
	}
	if _, statErr := os.Stat(record); statErr != nil || ctx.Err() != nil {
		return "", fmt.Errorf("%w: %w", lease.ErrUnknown, err)
	}
	return fmt.Sprintf("%s cannot be reached, and this data directory held the lease when it last was: %v.", c.Replica.Place, err), nil
}

// leaseState describes the lease for svc doctor. problem is what the operator should know.
func (s *Server) leaseState(ctx context.Context) (seen, problem string, err error) {
	c := s.Settings
	if s.lease != nil {
		if since, err := s.lease.Problem(); err != nil {
			return "", fmt.Sprintf("%s was not reached since %s: %v", c.Replica.Place, since.UTC().Format(time.RFC3339), err), nil
		}
		return fmt.Sprintf("this server holds the lease at %s", c.Replica.Place), "", nil
	}
	store, err := openReplica(ctx, c)
	if err != nil {
		return "", "", err
	}
	defer store.Close()
	state, err := lease.Read(ctx, store, leasePrefix)
	if errors.Is(err, fs.ErrNotExist) {
		return "no server has taken the lease at " + c.Replica.Place, "", nil
	}
	if err != nil {
		return "", "", err
	}
	did := "last seen at " + state.Seen.UTC().Format(time.RFC3339)
	if state.Released {
		did = "stopped at " + state.Seen.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("no server runs here; the last one to take the lease at %s is %s, %s", c.Replica.Place, state.Holder, did), "", nil
}

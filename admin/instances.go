package admin

import (
	"context"
	"errors"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Limits of the purge of an instance, so that others can read and write in between.
const (
	purgeTransactionTime = 8 * time.Millisecond
	purgePause           = 12 * time.Millisecond // after each transaction
	purgeAccounts        = 100                   // ids that are read at once
	purgeMediaPage       = 500
	purgePoll            = 200 * time.Millisecond
)

// InstancePurge is the progress of the removal of everything that is stored of another server.
type InstancePurge struct {
	Host         string     `json:"host"`
	RequestedAt  time.Time  `json:"requested_at"`
	Accounts     int        `json:"accounts"` // when it began
	AccountsDone int        `json:"accounts_done"`
	Statuses     int        `json:"statuses"` // when it began, with boosts
	StatusesDone int        `json:"statuses_done"`
	FinishedAt   *time.Time `json:"finished_at"` // null: not yet
}

func newInstancePurge(p *store.InstancePurge) *InstancePurge {
	purge := &InstancePurge{
		Host: p.Domain, RequestedAt: p.RequestedAt.Time(), Accounts: p.Accounts, AccountsDone: p.AccountsDone, Statuses: p.Statuses, StatusesDone: p.StatusesDone,
	}
	if p.FinishedAt != nil {
		at := p.FinishedAt.Time()
		purge.FinishedAt = &at
	}
	return purge
}

// remoteHost returns the normalized host of another server.
func (s *Service) remoteHost(name string) (string, error) {
	host := text.NormalizeDomain(name)
	switch {
	case host == "":
		return "", errs.BadRequest("%q is not a host such as example.org", name)
	case s.social.Settings.IsOwnHost(host):
		return "", errs.BadRequest("%s is this server", host)
	}
	return host, nil
}

// PurgeInstance makes a job remove all accounts and posts of another server, and what belongs to them: attachments in the media cache,
// follows, notifications, deliveries. It federates nothing and blocks nothing. If such a job runs already, that is not an error.
func (s *Service) PurgeInstance(ctx context.Context, name string) (*InstancePurge, error) {
	host, err := s.remoteHost(name)
	if err != nil {
		return nil, err
	}
	var purge *store.InstancePurge
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		added, err := tx.AddInstancePurge(ctx, host)
		if err == nil && added {
			err = s.record(ctx, tx, "instance_delete", "deleted all accounts and posts of instance "+host, map[string]any{"instance": host})
		}
		if err != nil {
			return err
		}
		purge, err = tx.InstancePurge(ctx, host)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newInstancePurge(purge), nil
}

// InstancePurges returns the last 100 purges, the newest first.
func (s *Service) InstancePurges(ctx context.Context, _ struct{}) ([]*InstancePurge, error) {
	rows, err := s.db.InstancePurges(ctx, 100)
	list := make([]*InstancePurge, 0, len(rows))
	for _, p := range rows {
		list = append(list, newInstancePurge(p))
	}
	return list, err
}

// WaitForPurge waits up to d for the end of a purge, and runs its job if no server does.
func (s *Service) WaitForPurge(ctx context.Context, name string, d time.Duration) (*InstancePurge, error) {
	host, err := s.remoteHost(name)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(d); ; {
		row, err := s.db.InstancePurge(ctx, host)
		switch {
		case err != nil:
			return nil, err
		case row == nil:
			return nil, errs.NotFound("%s is not being purged", host)
		case row.FinishedAt != nil || time.Now().After(until):
			return newInstancePurge(row), nil
		}
		if !s.purges.running(host) {
			err := s.purgeInstance(ctx, store.PurgeInstance{Domain: host})
			if err == nil {
				err = s.db.Update(ctx, func(tx *store.Tx) error { return tx.DropJob(ctx, store.PurgeInstanceKey(host)) })
			}
			if err != nil && !errors.Is(err, errPurging) {
				return nil, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(purgePoll):
		}
	}
}

// runningPurges are the hosts whose purge runs, so that a command that waits does not run it a second time.
type runningPurges struct {
	mu    sync.Mutex
	hosts map[string]bool
}

var errPurging = errors.New("the instance is being purged already")

func (r *runningPurges) running(host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts[host]
}

func (r *runningPurges) begin(host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts[host] {
		return false
	}
	if r.hosts == nil {
		r.hosts = make(map[string]bool)
	}
	r.hosts[host] = true
	return true
}

func (r *runningPurges) end(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.hosts, host)
}

// purgeInstance is the job that removes everything of another server. After an interruption it continues.
func (s *Service) purgeInstance(ctx context.Context, w store.PurgeInstance) error {
	if !s.purges.begin(w.Domain) {
		return errPurging
	}
	defer s.purges.end(w.Domain)
	accounts, statuses, err := s.db.CountInstance(ctx, w.Domain)
	if err != nil {
		return err
	}
	if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.BeginInstancePurge(ctx, w.Domain, accounts, statuses) }); err != nil {
		return err
	}
	if err := s.purgeDeliveries(ctx, w.Domain); err != nil {
		return err
	}
	for after := store.AccountID(0); ; {
		ids, err := s.db.AccountsOfDomain(ctx, w.Domain, after, purgeAccounts)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		after = ids[len(ids)-1]
		if err := s.purgeAccounts(ctx, w.Domain, ids); err != nil {
			return err
		}
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error { return tx.EndInstancePurge(ctx, w.Domain) })
	if err == nil {
		s.log.Info("instance purged", "host", w.Domain, "accounts", accounts, "statuses", statuses)
	}
	return err
}

// purgeDeliveries drops the queued deliveries to a host.
func (s *Service) purgeDeliveries(ctx context.Context, host string) error {
	return pruneInBatches(ctx, s, struct{}{}, func(tx *store.Tx, ctx context.Context, from struct{}) (struct{}, bool, error) {
		more, err := tx.RemoveDeliveriesTo(ctx, host)
		return from, more, err
	})
}

// purgeAccounts removes accounts, several small ones in one transaction.
func (s *Service) purgeAccounts(ctx context.Context, host string, ids []store.AccountID) error {
	for _, id := range ids {
		if err := s.purgeCachedMedia(ctx, id); err != nil {
			return err
		}
	}
	for next := 0; next < len(ids); {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			statuses, begun, until := 0, next, time.Now().Add(purgeTransactionTime)
			for ; next < len(ids) && time.Now().Before(until); next++ {
				if relay, err := tx.IsRelayActor(ctx, ids[next]); relay || err != nil { // it goes when the relay is unfollowed
					if err != nil {
						return err
					}
					continue
				}
				n, done, err := s.social.PurgeRemoteAccountIn(ctx, tx, ids[next], until)
				statuses += n
				if err != nil || !done {
					return errors.Join(err, tx.CountPurged(ctx, host, next-begun, statuses))
				}
			}
			return tx.CountPurged(ctx, host, next-begun, statuses)
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(purgePause):
		}
	}
	return nil
}

// purgeCachedMedia removes copies of the pictures and attachments of an account from the cache of the media proxy.
func (s *Service) purgeCachedMedia(ctx context.Context, id store.AccountID) error {
	a, err := s.db.Account(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	addresses := a.PictureFiles()
	for _, e := range a.Emojis.V {
		addresses = append(addresses, e.URL)
	}
	for after := store.MediaID(0); ; {
		media, err := s.db.RemoteMediaOf(ctx, id, after, purgeMediaPage)
		if err != nil {
			return err
		}
		for _, m := range media {
			after = m.ID
			for _, address := range []string{m.RemoteURL, m.PreviewURL} {
				if address != "" {
					addresses = append(addresses, address)
				}
			}
		}
		if err := s.storage.Proxy.Purge(addresses); err != nil {
			return err
		}
		if len(media) < purgeMediaPage {
			return nil
		}
		addresses = addresses[:0]
	}
}

package admin

import (
	"context"
	"time"

	"svc/internal/config"
	"svc/media"
	"svc/store"
)

const (
	storageCheckEvery = 5 * time.Second
	pruneRemoteKey    = "prune remote posts"
	pruneRemotePause  = 20 * time.Millisecond // between batches, so that others can write
	pruneRemoteAgain  = time.Hour             // after a run that found nothing more to delete
)

// StorageConfig is what keeping the storage limits and making backups need.
type StorageConfig struct {
	Budget   *media.Budget
	Proxy    *media.Proxy
	Settings *config.Live
	Version  string // of the program
}

// limits are the limits of the moment.
func (c StorageConfig) limits() config.Storage { return c.Settings.Load().Storage }

// StorageUsage returns what the data directory takes.
func (s *Service) StorageUsage(ctx context.Context, _ struct{}) (*media.Usage, error) {
	u, err := s.storage.Budget.Usage(ctx, true)
	if err == nil {
		u.RemotePosts.Limit = s.storage.limits().RemotePosts
	}
	return u, err
}

// KeepStorageLimits keeps the data directory within its limits until ctx ends. It also writes while the disk is full, because it makes room.
func (s *Service) KeepStorageLimits(ctx context.Context) {
	ctx = store.AllowWhenFull(ctx)
	k := &storageKeeper{Service: s}
	for {
		if err := k.check(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("storage limits could not be checked", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(storageCheckEvery):
		}
	}
}

// storageKeeper is the state between two checks.
type storageKeeper struct {
	*Service
	checkedSize time.Time // when the size of remote posts was estimated
	released    time.Time // when unused space of the database was returned to the disk
}

// check makes the proxy cache give way. If that is not enough, it returns unused space of the database to the disk, and has remote posts
// deleted.
func (k *storageKeeper) check(ctx context.Context) error {
	p, err := k.storage.Budget.Pressure(ctx)
	if err != nil {
		return err
	}
	if err := k.alert(ctx, p.Refusing); err != nil {
		return err
	}
	if p.Bytes > 0 && time.Since(k.released) > time.Minute {
		k.released = time.Now()
		if err := k.db.ReleaseAllSpace(ctx); err != nil {
			return err
		}
		k.storage.Budget.Remeasure()
	}
	missing := max(0, p.Bytes-p.FreeSize)
	if limit := k.storage.limits().RemotePosts; limit > 0 && time.Since(k.checkedSize) > time.Minute {
		k.checkedSize = time.Now()
		u, err := k.storage.Budget.Usage(ctx, false)
		if err != nil {
			return err
		}
		missing = max(missing, u.RemotePosts.EstimatedBytes-limit)
	}
	if missing == 0 || k.pruned.wait(k.db.Now()) > 0 {
		return nil
	}
	return k.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnlessQueued(ctx, k.db.Now(), pruneRemoteKey, store.PruneRemotePosts{Bytes: missing})
	})
}

// alert notifies the staff when files begin to be refused, once until there has been room again.
func (s *Service) alert(ctx context.Context, refusing error) error {
	reason := ""
	if refusing != nil {
		reason = refusing.Error()
	}
	before, err := s.db.StorageAlert(ctx)
	if err != nil || (before == nil) == (reason == "") {
		return err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SetStorageAlert(ctx, reason); err != nil || reason == "" {
			return err
		}
		return s.social.MailStorageFullIn(ctx, tx, reason)
	})
	switch {
	case err != nil:
	case reason == "":
		s.log.Info("there is room for files again")
	default:
		s.log.Warn("uploads, backups and emoji packs are refused: "+reason, "see", "svc media usage")
	}
	return err
}

// pruneRemotePosts is the job that deletes old remote posts until enough is free, and returns their space to the disk. After a run that came
// to the end there is no other one for pruneRemoteAgain.
func (s *Service) pruneRemotePosts(ctx context.Context, w store.PruneRemotePosts) error {
	count, ended, err := s.deleteRemotePosts(ctx, s.db.Now().Add(-s.storage.limits().RemotePostsMinAge), w.Bytes)
	if err != nil {
		return err
	}
	if ended {
		s.pruned.endedAt(s.db.Now())
	}
	if count == 0 {
		return nil
	}
	s.log.Info("deleted old remote posts to make room", "posts", count)
	if err := s.db.ReleaseAllSpace(ctx); err != nil {
		return err
	}
	s.storage.Budget.Remeasure()
	return nil
}

// deleteRemotePosts deletes remote posts that arrived before a time until bytes are free. It continues after the last post of the run
// before. ended is true if there are no more.
func (s *Service) deleteRemotePosts(ctx context.Context, before time.Time, bytes int64) (count int, ended bool, err error) {
	var batch store.PrunedPosts
	for freed := int64(0); freed < bytes; freed += batch.Bytes {
		from := s.pruned.position()
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			batch, err = tx.PruneRemotePosts(ctx, from, before)
			return err
		})
		if err != nil {
			return count, false, err
		}
		count += batch.Count
		if !batch.More {
			s.pruned.moveTo(0)
			return count, true, nil
		}
		s.pruned.moveTo(batch.Next)
		select {
		case <-ctx.Done():
			return count, false, ctx.Err()
		case <-time.After(pruneRemotePause):
		}
	}
	return count, false, nil
}

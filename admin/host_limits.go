package admin

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/policy"
	"svc/store"
)

const (
	limitHostPostsKey = "limit host posts"
	limitPage         = 500 // ids that are read at once
)

// maxVisibility returns the largest audience that rules for a host leave to its posts.
func maxVisibility(rules policy.Restrictions) store.Visibility {
	switch {
	case rules.FollowersOnly:
		return store.Private
	case rules.Unlist:
		return store.Unlisted
	}
	return store.Public
}

// limitHostPosts is the job that makes stored posts unlisted or followers-only if the settings say so for their hosts, and gives posts of other
// hosts their former audience again. After an interruption it continues with the account that was not finished.
func (s *Service) limitHostPosts(ctx context.Context, _ store.LimitHostPosts) error {
	for after := store.AccountID(0); ; {
		page, err := s.db.HostAccounts(ctx, after, hostAccountPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		for _, a := range page {
			wanted := maxVisibility(s.social.Policies.Restrictions(a.Domain, a.URI))
			if !mustLimit(a, wanted) {
				continue
			}
			if err := s.limitPostsOf(ctx, a.ID, wanted); err != nil {
				return err
			}
		}
	}
}

// mustLimit returns true if not all posts of an account have the wanted audience.
func mustLimit(a store.HostAccount, wanted store.Visibility) bool {
	return a.Limiting || a.MaxVisibility != wanted
}

// limitPostsOf gives the posts of an account an audience up to wanted: first back to those that blocks have limited, then to those that have a
// larger one.
func (s *Service) limitPostsOf(ctx context.Context, account store.AccountID, wanted store.Visibility) error {
	record := func(limiting bool) error {
		return s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetMaxVisibility(ctx, account, wanted, limiting) })
	}
	if err := record(true); err != nil {
		return err
	}
	for _, next := range []func(after store.StatusID) ([]store.StatusID, error){
		func(after store.StatusID) ([]store.StatusID, error) {
			return s.db.LimitedStatuses(ctx, account, after, limitPage)
		},
		func(after store.StatusID) ([]store.StatusID, error) {
			return s.db.StatusesWiderThan(ctx, account, wanted, after, limitPage)
		},
	} {
		for after := store.StatusID(0); ; {
			ids, err := next(after)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			after = ids[len(ids)-1]
			if err := s.limitStatuses(ctx, ids, wanted); err != nil {
				return err
			}
		}
	}
	return record(false)
}

// limitStatuses changes statuses, as many in one transaction as take the time of a step of a purge.
func (s *Service) limitStatuses(ctx context.Context, ids []store.StatusID, wanted store.Visibility) error {
	for next := 0; next < len(ids); {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			for until := time.Now().Add(purgeTransactionTime); next < len(ids) && time.Now().Before(until); next++ {
				st, err := tx.Status(ctx, ids[next])
				if errs.IsNotFound(err) {
					continue // deleted meanwhile
				}
				if err == nil {
					err = s.social.LimitStatusIn(ctx, tx, st, wanted)
				}
				if err != nil {
					return err
				}
			}
			return nil
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

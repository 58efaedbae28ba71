package social

import (
	"context"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxDomainBlocks = 1000
	maxAccountNote  = 2000                       // characters
	endFollowsBatch = 200                        // follows ended in one transaction
	maxMuteDuration = 100 * 365 * 24 * time.Hour // a mute that would last longer has no end
)

// Block keeps two accounts apart: follows, requests, subscriptions and memberships in each other's lists end, and what actor was
// told of target's deeds is forgotten, and their conversations count as read. Blocking twice is no error.
func (s *Service) Block(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		return block(ctx, tx, actor, to)
	})
}

// block keeps two accounts apart.
func block(ctx context.Context, tx *store.Tx, actor, to *store.Account) error {
	added, err := tx.AddBlock(ctx, actor.ID, to.ID)
	if !added || err != nil {
		return err
	}
	if err := endRelationship(ctx, tx, actor.ID, to.ID, false); err != nil {
		return err
	}
	if err := endRelationship(ctx, tx, to.ID, actor.ID, true); err != nil {
		return err
	}
	if err := tx.ReadConversationsWith(ctx, actor.ID, to.ID); err != nil {
		return err
	}
	if err := tx.RemoveNotificationsFrom(ctx, actor.ID, to.ID); err != nil {
		return err
	}
	if err := revokeQuotes(ctx, tx, actor, to); err != nil {
		return err
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.BlockCreated, ActorID: actor.ID, TargetID: to.ID})
}

// endRelationship ends what one account has of the other. rejected says that it is the other who wants it so.
func endRelationship(ctx context.Context, tx *store.Tx, one, other store.AccountID, rejected bool) error {
	f, err := tx.FollowOf(ctx, one, other)
	if err != nil {
		return err
	}
	if f != nil {
		if err := endFollow(ctx, tx, f, rejected); err != nil {
			return err
		}
	}
	if err := tx.RemoveSubscription(ctx, one, other); err != nil {
		return err
	}
	lists, err := tx.ListsWith(ctx, one, other)
	if err != nil {
		return err
	}
	for _, l := range lists {
		if _, err := tx.RemoveListMember(ctx, l.ID, other); err != nil {
			return err
		}
		if err := tx.PruneList(ctx, l.ID); err != nil {
			return err
		}
	}
	return tx.ClearHome(ctx, one, other, true)
}

// Unblock ends a block. What it ended does not come back. It is no error if there was none.
func (s *Service) Unblock(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		if err := tx.RemoveBlock(ctx, actor.ID, to.ID); err != nil {
			return err
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.BlockDeleted, ActorID: actor.ID, TargetID: to.ID})
	})
}

// Mute hides target's posts from actor, and unless told otherwise its notifications, for some time or (0) for good. Muting again
// replaces the mute.
func (s *Service) Mute(ctx context.Context, actor *store.Account, target store.AccountID, notifications bool, lasts time.Duration) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		m := &store.Mute{AccountID: actor.ID, TargetID: to.ID, HideNotifications: notifications}
		if lasts <= 0 || lasts > maxMuteDuration {
			if err := tx.SetMute(ctx, m); err != nil {
				return err
			}
			return tx.DropJob(ctx, muteKey(m.AccountID, m.TargetID))
		}
		at := s.db.Now().Add(lasts)
		expires := store.At(at)
		m.ExpiresAt = &expires
		if err := tx.SetMute(ctx, m); err != nil {
			return err
		}
		return tx.EnqueueUnique(ctx, at, muteKey(m.AccountID, m.TargetID), store.ExpireMute{AccountID: m.AccountID, TargetID: m.TargetID})
	})
}

// Unmute ends a mute. It is no error if there was none.
func (s *Service) Unmute(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		if err := tx.RemoveMute(ctx, actor.ID, to.ID); err != nil {
			return err
		}
		return tx.DropJob(ctx, muteKey(actor.ID, to.ID))
	})
}

// expireMute is the job that ends a mute at the end of its time.
func (s *Service) expireMute(ctx context.Context, w store.ExpireMute) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.MuteOf(ctx, w.AccountID, w.TargetID)
		if m == nil || err != nil {
			return err
		}
		if m.ExpiresAt == nil || m.ExpiresAt.Time().After(s.db.Now()) {
			return nil
		}
		return tx.RemoveMute(ctx, w.AccountID, w.TargetID)
	})
}

func muteKey(account, target store.AccountID) string {
	return "mute:" + account.String() + ":" + target.String()
}

// BlockDomain hides all of a domain from actor and ends the follows in either direction. Blocking twice is no error.
func (s *Service) BlockDomain(ctx context.Context, actor *store.Account, domain string) error {
	domain, err := s.remoteDomain(domain)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		blocks, err := tx.DomainBlocks(ctx, actor.ID)
		if err != nil {
			return err
		}
		if slices.Contains(blocks, domain) {
			return nil
		}
		if len(blocks) >= maxDomainBlocks {
			return errs.Invalid("Validation failed: You block as many domains as one can")
		}
		if err := tx.AddDomainBlock(ctx, actor.ID, domain); err != nil {
			return err
		}
		key := "leave:" + actor.ID.String() + ":" + domain
		return tx.EnqueueUnique(ctx, s.db.Now(), key, store.UnfollowDomain{AccountID: actor.ID, Domain: domain})
	})
}

// UnblockDomain ends that. The follows do not come back. It is no error if the domain was not blocked.
func (s *Service) UnblockDomain(ctx context.Context, actor *store.Account, domain string) error {
	domain, err := s.remoteDomain(domain)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RemoveDomainBlock(ctx, actor.ID, domain) })
}

// remoteDomain returns the one form of a domain that is not this server's.
func (s *Service) remoteDomain(domain string) (string, error) {
	d := text.NormalizeDomain(domain)
	if d == "" || d == s.Domain {
		return "", errs.Invalid("Validation failed: Domain is not a valid domain name")
	}
	return d, nil
}

// endDomainFollows is the job that ends the follows between an account and a domain that it blocks.
func (s *Service) endDomainFollows(ctx context.Context, w store.UnfollowDomain) error {
	for {
		left := 0
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			left = 0
			blocked, err := tx.BlocksDomain(ctx, w.AccountID, w.Domain)
			if !blocked || err != nil {
				return err
			}
			follows, err := tx.FollowsWithDomain(ctx, w.AccountID, w.Domain, endFollowsBatch)
			if err != nil {
				return err
			}
			left = len(follows)
			for _, f := range follows {
				if err := endFollow(ctx, tx, f, f.TargetID == w.AccountID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || left < endFollowsBatch {
			return err
		}
	}
}

// SetAccountNote writes down what actor wants to remember of another account, for actor's eyes only. An empty note removes it.
func (s *Service) SetAccountNote(ctx context.Context, actor *store.Account, target store.AccountID, comment string) error {
	if text.Length(comment, "") > maxAccountNote {
		return errs.Invalid("Validation failed: Comment is too long (maximum is %d characters)", maxAccountNote)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		about, err := availableAccount(ctx, tx, target)
		if err != nil {
			return err
		}
		return tx.SetNote(ctx, actor.ID, about.ID, strings.TrimSpace(comment))
	})
}

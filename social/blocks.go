package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxDomainBlocks = 1000
	endFollowsBatch = 200 // follows ended in one transaction
)

// Block blocks target. It ends follows, requests, subscriptions and list memberships in both directions, removes target's notifications,
// and marks their conversations as read. Blocking twice is not an error.
func (s *Service) Block(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		added, err := block(ctx, tx, actor, to)
		if !added || err != nil || to.Local() {
			return err
		}
		uri := store.NewActivityURI(s.Settings.BaseURL, tx.NewStatusID()) // of the Block, which its Undo repeats
		if err := tx.SetBlockURI(ctx, actor.ID, to.ID, uri); err != nil {
			return err
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.BlockCreated, ActorID: actor.ID, TargetID: to.ID, URI: uri})
	})
}

// block returns false if actor has blocked the other account already.
func block(ctx context.Context, tx *store.Tx, actor, to *store.Account) (added bool, err error) {
	if added, err = tx.AddBlock(ctx, actor.ID, to.ID); !added || err != nil {
		return added, err
	}
	if err := endRelationship(ctx, tx, actor.ID, to.ID, false); err != nil {
		return false, err
	}
	if err := endRelationship(ctx, tx, to.ID, actor.ID, true); err != nil {
		return false, err
	}
	if err := tx.ReadConversationsWith(ctx, actor.ID, to.ID); err != nil {
		return false, err
	}
	if err := tx.RemoveNotificationsFrom(ctx, actor.ID, to.ID); err != nil {
		return false, err
	}
	if err := revokeQuotes(ctx, tx, actor, to); err != nil {
		return false, err
	}
	if err := leaveCollections(ctx, tx, actor, to); err != nil {
		return false, err
	}
	return true, rejectPendingInteractions(ctx, tx, actor, to)
}

// endRelationship ends follow, subscription and list memberships of one account towards other. rejected is true if other ends them.
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

// Unblock removes a block. It does not restore what the block ended. A missing block is not an error.
func (s *Service) Unblock(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		uri, removed, err := tx.RemoveBlock(ctx, actor.ID, to.ID)
		if !removed || err != nil {
			return err
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.BlockDeleted, ActorID: actor.ID, TargetID: to.ID, URI: uri})
	})
}

// BlockDomain hides a domain from actor and ends follows in both directions, by a job if there are many. Blocking twice is not an error.
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
			return errs.Invalid("Validation failed: You cannot block more than %d domains", maxDomainBlocks)
		}
		if err := tx.AddDomainBlock(ctx, actor.ID, domain); err != nil {
			return err
		}
		w := store.UnfollowDomain{AccountID: actor.ID, Domain: domain}
		if n, err := endDomainFollows(ctx, tx, w); err != nil || n < endFollowsBatch {
			return err
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), "leave:"+actor.ID.String()+":"+domain, w)
	})
}

// UnblockDomain removes a domain block. It does not restore follows. A missing block is not an error.
func (s *Service) UnblockDomain(ctx context.Context, actor *store.Account, domain string) error {
	domain, err := s.remoteDomain(domain)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RemoveDomainBlock(ctx, actor.ID, domain) })
}

// remoteDomain normalizes a domain and returns an error for the domain of this server.
func (s *Service) remoteDomain(domain string) (string, error) {
	d := text.NormalizeDomain(domain)
	if d == "" || s.Settings.IsOwnHost(d) {
		return "", errs.Invalid("Validation failed: Domain is not a valid domain name")
	}
	return d, nil
}

// endAllDomainFollows is the job that ends the follows between an account and a domain that it blocks, and leaves the collections of the domain.
func (s *Service) endAllDomainFollows(ctx context.Context, w store.UnfollowDomain) error {
	return s.inBatches(ctx, endFollowsBatch, func(tx *store.Tx) (int64, error) {
		blocked, err := tx.BlocksDomain(ctx, w.AccountID, w.Domain)
		if !blocked || err != nil {
			return 0, err
		}
		return endDomainFollows(ctx, tx, w)
	})
}

// endDomainFollows ends up to endFollowsBatch of these follows, and returns how many it ended.
func endDomainFollows(ctx context.Context, tx *store.Tx, w store.UnfollowDomain) (int64, error) {
	if err := leaveCollectionsOfDomain(ctx, tx, w.AccountID, w.Domain); err != nil {
		return 0, err
	}
	follows, err := tx.FollowsWithDomain(ctx, w.AccountID, w.Domain, endFollowsBatch)
	for _, f := range follows {
		if err := endFollow(ctx, tx, f, f.TargetID == w.AccountID); err != nil {
			return 0, err
		}
	}
	return int64(len(follows)), err
}

// ReceiveBlock blocks a local account for a remote actor, by the activity with this id. It ends follows, and notifies nobody.
func (s *Service) ReceiveBlock(ctx context.Context, actor *store.Account, target store.AccountID, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := tx.Account(ctx, target)
		if err != nil {
			return err
		}
		if _, err := block(ctx, tx, actor, to); err != nil {
			return err
		}
		return tx.SetBlockURI(ctx, actor.ID, to.ID, uri)
	})
}

// ReceiveUnblock removes a block by a remote actor. It returns false if there is none.
func (s *Service) ReceiveUnblock(ctx context.Context, actor *store.Account, target store.AccountID) (found bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		_, found, err = tx.RemoveBlock(ctx, actor.ID, target)
		return err
	})
	return found, err
}

// checkNotBlocked returns an error if actor is remote and the author of a status blocks it or its domain. It applies even where the
// settings let blocked accounts see the status (federation 4).
func checkNotBlocked(ctx context.Context, tx *store.Tx, actor *store.Account, st *store.Status) error {
	if actor.Local() {
		return nil
	}
	shunned, err := tx.BlocksAccountOrDomain(ctx, st.AccountID, actor)
	if err == nil && shunned {
		err = errs.ErrRecordNotFound
	}
	return err
}

// blocksDomainOfUnfollowed returns true if account blocks the domain of other and does not follow other.
func blocksDomainOfUnfollowed(ctx context.Context, tx *store.Tx, account store.AccountID, other *store.Account) (bool, error) {
	blocks, err := tx.BlocksDomain(ctx, account, other.Domain)
	if err != nil || !blocks {
		return false, err
	}
	follows, err := tx.Follows(ctx, account, other.ID)
	return !follows, err
}

package social

import (
	"context"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxLists       = 100  // of one account
	maxListTitle   = 256  // characters
	maxListMembers = 1000 // a post for a list is addressed to each of them
	backfillOnList = 2000 // posts that are put into a list's timeline at once
)

// CreateList makes a list for its owner. A list may have the title of another.
func (s *Service) CreateList(ctx context.Context, owner *store.Account, l *store.List) error {
	l.AccountID = owner.ID
	if err := checkList(l); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		lists, err := tx.Lists(ctx, owner.ID)
		if err != nil {
			return err
		}
		if len(lists) >= maxLists {
			return errs.Invalid("Validation failed: You have as many lists as one can")
		}
		return tx.AddList(ctx, l)
	})
}

// checkList checks what people choose of a list.
func checkList(l *store.List) error {
	l.Title = oneLine(l.Title)
	switch l.RepliesPolicy {
	case "":
		l.RepliesPolicy = store.RepliesToMembers
	case store.RepliesToFollowed, store.RepliesToMembers, store.NoReplies:
	default:
		return errs.Invalid("Validation failed: Replies policy is not included in the list")
	}
	switch {
	case l.Title == "":
		return errs.Invalid("Validation failed: Title can't be blank")
	case text.Length(l.Title, "") > maxListTitle:
		return errs.Invalid("Validation failed: Title is too long (maximum is %d characters)", maxListTitle)
	}
	return nil
}

// UpdateList has change alter title and policies of the owner's list. Another policy on replies remakes the list's timeline, and
// members of a list that becomes exclusive leave the owner's home, and come back when it no longer is.
func (s *Service) UpdateList(ctx context.Context, owner *store.Account, id store.ListID, change func(*store.List)) (*store.List, error) {
	var l *store.List
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if l, err = tx.OwnList(ctx, owner.ID, id); err != nil {
			return err
		}
		before := *l
		change(l)
		if err := checkList(l); err != nil {
			return err
		}
		if err := tx.SaveList(ctx, l); err != nil {
			return err
		}
		if l.RepliesPolicy == before.RepliesPolicy && l.Exclusive == before.Exclusive {
			return nil
		}
		members, err := tx.ListMemberIDs(ctx, l.ID)
		if err != nil {
			return err
		}
		if l.Exclusive != before.Exclusive {
			if err := s.updateHome(ctx, tx, owner.ID, members, !l.Exclusive); err != nil {
				return err
			}
		}
		if l.RepliesPolicy == before.RepliesPolicy {
			return nil
		}
		if err := tx.PruneList(ctx, l.ID); err != nil {
			return err
		}
		return backfillList(ctx, tx, l.ID, members)
	})
	return l, err
}

// updateHome puts the posts of members back into the owner's home (in), where no other list keeps them out, or takes them out of it.
func (s *Service) updateHome(ctx context.Context, tx *store.Tx, owner store.AccountID, members []store.AccountID, in bool) error {
	for _, id := range members {
		if id == owner {
			continue // one's own posts are always there
		}
		if !in {
			if err := tx.ClearHome(ctx, owner, id, true); err != nil {
				return err
			}
			continue
		}
		f, err := tx.FollowOf(ctx, owner, id)
		if err != nil {
			return err
		}
		if f == nil || f.Pending {
			continue
		}
		if err := tx.BackfillHome(ctx, f, min(s.BackfillOnFollow, backfillPerMember(len(members)))); err != nil {
			return err
		}
	}
	return nil
}

// backfillPerMember is how many posts of each of n members are looked up at once: the more there are, the less of each.
func backfillPerMember(n int) int { return max(5, min(100, backfillOnList/n)) }

// backfillList gives the timeline of a list what members have posted lately.
func backfillList(ctx context.Context, tx *store.Tx, id store.ListID, members []store.AccountID) error {
	for _, member := range members {
		if err := tx.BackfillList(ctx, id, member, backfillPerMember(len(members))); err != nil {
			return err
		}
	}
	return nil
}

// DeleteList removes the owner's list.
func (s *Service) DeleteList(ctx context.Context, owner *store.Account, id store.ListID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		l, err := tx.OwnList(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		if l.Exclusive {
			if err := s.endExclusive(ctx, tx, l); err != nil {
				return err
			}
		}
		return tx.RemoveList(ctx, l.ID)
	})
}

// endExclusive ends what an exclusive list that is about to go keeps out of the owner's home.
func (s *Service) endExclusive(ctx context.Context, tx *store.Tx, l *store.List) error {
	l.Exclusive = false
	if err := tx.SaveList(ctx, l); err != nil {
		return err
	}
	members, err := tx.ListMemberIDs(ctx, l.ID)
	if err != nil {
		return err
	}
	return s.updateHome(ctx, tx, l.AccountID, members, true)
}

// AddToList makes accounts members of the owner's list, and puts their latest posts into its timeline. They need not be followed.
// Those that are members already, not there, or kept apart from the owner by a block are passed over.
func (s *Service) AddToList(ctx context.Context, owner *store.Account, id store.ListID, accounts []store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		l, err := tx.OwnList(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		var added []store.AccountID
		for _, id := range accounts {
			ok, err := addToList(ctx, tx, l, id)
			if err != nil {
				return err
			}
			if ok {
				added = append(added, id)
			}
		}
		members, err := tx.ListMemberIDs(ctx, l.ID)
		if err != nil {
			return err
		}
		if len(members) > maxListMembers {
			return errs.Invalid("Validation failed: A list can have %d members", maxListMembers)
		}
		if l.Exclusive {
			if err := s.updateHome(ctx, tx, owner.ID, added, false); err != nil {
				return err
			}
		}
		return backfillList(ctx, tx, l.ID, added)
	})
}

func addToList(ctx context.Context, tx *store.Tx, l *store.List, id store.AccountID) (added bool, err error) {
	if _, err := availableAccount(ctx, tx, id); err != nil {
		return false, ignoreNotFound(err)
	}
	if blocked, err := tx.BlockBetween(ctx, l.AccountID, id); blocked || err != nil {
		return false, err
	}
	return tx.AddListMember(ctx, l.ID, id)
}

// RemoveFromList ends memberships of the owner's list, and takes what they put into its timeline out of it. Accounts that are no
// members are passed over.
func (s *Service) RemoveFromList(ctx context.Context, owner *store.Account, id store.ListID, accounts []store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		l, err := tx.OwnList(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		var removed []store.AccountID
		for _, id := range accounts {
			was, err := tx.RemoveListMember(ctx, l.ID, id)
			if err != nil {
				return err
			}
			if was {
				removed = append(removed, id)
			}
		}
		if len(removed) == 0 {
			return nil
		}
		if err := tx.PruneList(ctx, l.ID); err != nil {
			return err
		}
		if !l.Exclusive {
			return nil
		}
		return s.updateHome(ctx, tx, owner.ID, removed, true)
	})
}

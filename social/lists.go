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
	maxListMembers = 1000 // a list status is addressed to each of them
	backfillOnList = 2000 // statuses that are added to a list's timeline at once
)

// CreateList creates a list. Titles need not be unique.
func (s *Service) CreateList(ctx context.Context, owner *store.Account, l *store.List) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return createList(ctx, tx, owner, l) })
}

func createList(ctx context.Context, tx *store.Tx, owner *store.Account, l *store.List) error {
	l.AccountID = owner.ID
	if err := checkList(l); err != nil {
		return err
	}
	lists, err := tx.Lists(ctx, owner.ID)
	if err != nil {
		return err
	}
	if len(lists) >= maxLists {
		return errs.Invalid("Validation failed: You cannot have more than %d lists", maxLists)
	}
	return tx.AddList(ctx, l)
}

// checkList validates title and replies policy of a list.
func checkList(l *store.List) error {
	l.Title = text.OneLine(l.Title)
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

// UpdateList applies change to the owner's list. Another replies policy rebuilds the list's timeline. Posts of members leave the owner's
// home timeline if the list becomes exclusive, and return if it no longer is.
func (s *Service) UpdateList(ctx context.Context, owner *store.Account, id store.ListID, change func(*store.List)) (*store.List, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.List, error) {
		l, err := tx.OwnList(ctx, owner.ID, id)
		if err != nil {
			return nil, err
		}
		before := *l
		change(l)
		if err := checkList(l); err != nil {
			return nil, err
		}
		if err := tx.SaveList(ctx, l); err != nil {
			return nil, err
		}
		if l.RepliesPolicy == before.RepliesPolicy && l.Exclusive == before.Exclusive {
			return l, nil
		}
		members, err := tx.ListMemberIDs(ctx, l.ID)
		if err != nil {
			return nil, err
		}
		if l.Exclusive != before.Exclusive {
			if err := s.updateHome(ctx, tx, owner.ID, members, !l.Exclusive); err != nil {
				return nil, err
			}
		}
		if l.RepliesPolicy == before.RepliesPolicy {
			return l, nil
		}
		if err := tx.PruneList(ctx, l.ID); err != nil {
			return nil, err
		}
		return l, backfillList(ctx, tx, l.ID, members)
	})
}

// updateHome adds the posts of members to the owner's home timeline, unless another list is exclusive, or removes them.
func (s *Service) updateHome(ctx context.Context, tx *store.Tx, owner store.AccountID, members []store.AccountID, in bool) error {
	for _, id := range members {
		if id == owner {
			continue // own posts are always there
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
		if err := tx.BackfillHome(ctx, f, min(backfillOnFollow, backfillPerMember(len(members))), 0); err != nil {
			return err
		}
	}
	return nil
}

// backfillPerMember returns how many posts of each of n members are added at once.
func backfillPerMember(n int) int { return max(5, min(100, backfillOnList/n)) }

// backfillList adds recent posts of members to the timeline of a list.
func backfillList(ctx context.Context, tx *store.Tx, id store.ListID, members []store.AccountID) error {
	for _, member := range members {
		if err := tx.BackfillList(ctx, id, member, backfillPerMember(len(members))); err != nil {
			return err
		}
	}
	return nil
}

// DeleteList deletes the owner's list.
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

// endExclusive returns the posts of members of an exclusive list to the owner's home timeline.
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

// AddToList adds accounts to the owner's list, and their latest posts to its timeline. They need not be followed. Members, unavailable
// accounts and accounts that block or are blocked are skipped.
func (s *Service) AddToList(ctx context.Context, owner *store.Account, id store.ListID, accounts []store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		l, err := tx.OwnList(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		return s.addMembers(ctx, tx, l, accounts)
	})
}

// addMembers adds accounts to a list, and their latest posts to its timeline.
func (s *Service) addMembers(ctx context.Context, tx *store.Tx, l *store.List, accounts []store.AccountID) error {
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
		return errs.Invalid("Validation failed: A list cannot have more than %d members", maxListMembers)
	}
	if l.Exclusive {
		if err := s.updateHome(ctx, tx, l.AccountID, added, false); err != nil {
			return err
		}
	}
	return backfillList(ctx, tx, l.ID, added)
}

func addToList(ctx context.Context, tx *store.Tx, l *store.List, id store.AccountID) (added bool, err error) {
	if _, err := availableAccount(ctx, tx, id); err != nil {
		return false, errs.IgnoreNotFound(err)
	}
	if blocked, err := tx.BlockBetween(ctx, l.AccountID, id); blocked || err != nil {
		return false, err
	}
	return tx.AddListMember(ctx, l.ID, id)
}

// RemoveFromList removes accounts from the owner's list, and their posts from its timeline. Accounts that are not members are skipped.
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

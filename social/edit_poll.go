package social

import (
	"context"
	"slices"

	"svc/store"
)

// pollEdit is what an edit does to the poll of a status.
type pollEdit struct {
	before, next *store.Poll // nil: none
	changed      bool
	replaced     bool // it asks something else, so that the status has a new version and nobody has voted
}

// newPollEdit finds out what becomes of a poll. Whoever edits sends the whole status: a poll that is not sent is taken away. One with
// the same options keeps its votes (client API 4.8) and, unless another is given, its end; if it has ended it stays so.
func (s *Service) newPollEdit(ctx context.Context, tx *store.Tx, st *store.Status, d *PollDraft) (e pollEdit, err error) {
	if st.HasPoll {
		if e.before, err = tx.PollOf(ctx, st.ID); err != nil {
			return e, err
		}
	}
	if d == nil {
		e.replaced = e.before != nil
		e.changed = e.replaced
		return e, nil
	}
	if e.before != nil && e.before.Multiple == d.Multiple && slices.Equal(e.before.Titles(), optionTitles(d.Options)) {
		next := *e.before
		next.HideTotals = d.HideTotals
		if d.ExpiresIn != nil && !e.before.Ended(s.db.Now()) {
			if next.ExpiresAt, err = s.pollExpiry(*d.ExpiresIn); err != nil {
				return e, err
			}
		}
		e.next, e.changed = &next, next.HideTotals != e.before.HideTotals || next.ExpiresAt != e.before.ExpiresAt
		return e, nil
	}
	e.changed, e.replaced = true, true
	if e.next, err = s.newPoll(d); err == nil && e.before != nil {
		e.next.ID, e.next.StatusID = e.before.ID, st.ID
	}
	return e, err
}

// save stores what becomes of the poll of st.
func (e pollEdit) save(ctx context.Context, tx *store.Tx, st *store.Status) error {
	switch {
	case !e.changed:
		return nil
	case e.before == nil:
		return addPoll(ctx, tx, st, e.next)
	}
	if e.replaced {
		if err := tx.RemovePollNotifications(ctx, st.ID); err != nil {
			return err
		}
	}
	if e.next == nil {
		if err := tx.DropJob(ctx, pollKey(st.ID)); err != nil {
			return err
		}
		return tx.RemovePoll(ctx, e.before)
	}
	if e.replaced {
		if err := tx.DeleteAllVotes(ctx, e.before.ID); err != nil {
			return err
		}
	}
	if err := tx.SavePoll(ctx, e.next); err != nil {
		return err
	}
	return enqueuePollClose(ctx, tx, e.next)
}

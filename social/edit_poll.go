package social

import (
	"context"
	"slices"

	"svc/store"
)

// pollEdit is what an edit does to the poll of a status.
type pollEdit struct {
	was, next *store.Poll // nil: none
	changed   bool
	renewed   bool // it asks something else, so that the status has a new version and nobody has voted
}

// editPoll finds out what becomes of a poll. Whoever edits sends the whole status: a poll that is not sent is taken away. One with
// the same options keeps its votes (client API 4.8) and, unless another is given, its end; if it has ended it stays so.
func (s *Service) editPoll(ctx context.Context, tx *store.Tx, st *store.Status, d *PollDraft) (e pollEdit, err error) {
	if st.HasPoll {
		if e.was, err = tx.PollOf(ctx, st.ID); err != nil {
			return e, err
		}
	}
	if d == nil {
		e.renewed = e.was != nil
		e.changed = e.renewed
		return e, nil
	}
	if e.was != nil && e.was.Multiple == d.Multiple && slices.Equal(e.was.Titles(), optionTitles(d.Options)) {
		next := *e.was
		next.HideTotals = d.HideTotals
		if d.ExpiresIn != nil && !e.was.Ended(s.db.Now()) {
			if next.ExpiresAt, err = s.pollEnd(*d.ExpiresIn); err != nil {
				return e, err
			}
		}
		e.next, e.changed = &next, next.HideTotals != e.was.HideTotals || next.ExpiresAt != e.was.ExpiresAt
		return e, nil
	}
	e.changed, e.renewed = true, true
	if e.next, err = s.newPoll(d); err == nil && e.was != nil {
		e.next.ID, e.next.StatusID = e.was.ID, st.ID
	}
	return e, err
}

// save stores what becomes of the poll of st.
func (e pollEdit) save(ctx context.Context, tx *store.Tx, st *store.Status) error {
	switch {
	case !e.changed:
		return nil
	case e.was == nil:
		return addPoll(ctx, tx, st, e.next)
	}
	if e.renewed {
		if err := tx.WithdrawPollEnd(ctx, st.ID); err != nil {
			return err
		}
	}
	if e.next == nil {
		if err := tx.DropJob(ctx, pollKey(st.ID)); err != nil {
			return err
		}
		return tx.RemovePoll(ctx, e.was)
	}
	if e.renewed {
		if err := tx.ForgetAllVotes(ctx, e.was.ID); err != nil {
			return err
		}
	}
	if err := tx.SavePoll(ctx, e.next); err != nil {
		return err
	}
	return closeLater(ctx, tx, e.next)
}

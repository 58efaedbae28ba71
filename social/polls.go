package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// PollDraft is a poll of a draft.
type PollDraft struct {
	Options    []string       `json:"options"`
	ExpiresIn  *time.Duration `json:"expires_in"` // nil: unchanged; only for an existing poll
	Multiple   bool           `json:"multiple"`
	HideTotals bool           `json:"hide_totals"`
}

// newPoll makes a poll of a draft, with the checks and in the order of the extension API 17.2.
func (s *Service) newPoll(d *PollDraft) (*store.Poll, error) {
	if d.ExpiresIn == nil {
		return nil, errs.BadRequest("Missing field: expires_in.")
	}
	end, err := s.pollExpiry(*d.ExpiresIn)
	if err != nil {
		return nil, err
	}
	titles, limits := optionTitles(d.Options), s.Settings.Load().Polls
	switch {
	case len(titles) < 2:
		return nil, errs.Invalid("Poll must contain at least 2 options")
	case len(titles) > limits.MaxOptions:
		return nil, errs.Invalid("Poll can't contain more than %d options", limits.MaxOptions)
	}
	p := &store.Poll{Multiple: d.Multiple, HideTotals: d.HideTotals, ExpiresAt: end, VotersCount: new(int)}
	for _, title := range titles {
		if text.Length(title, "") > limits.MaxOptionLength {
			return nil, errs.Invalid("Poll options cannot be longer than %d characters each", limits.MaxOptionLength)
		}
		p.Options.V = append(p.Options.V, store.PollOption{Title: title})
	}
	return p, nil
}

// pollExpiry returns when a poll of this duration ends.
func (s *Service) pollExpiry(in time.Duration) (*store.Time, error) {
	switch limits := s.Settings.Load().Polls; {
	case in > limits.MaxExpiration:
		return nil, errs.Invalid("Expiration date is too far in the future")
	case in < limits.MinExpiration:
		return nil, errs.Invalid("Expiration date is too soon")
	}
	return new(store.At(s.db.Now().Add(in))), nil
}

// optionTitles returns the unique texts of options. Empty ones are skipped, because forms send their last, empty field.
func optionTitles(options []string) []string {
	titles := make([]string, 0, len(options))
	for _, o := range options {
		if o = removeControls(o); o != "" && !slices.Contains(titles, o) {
			titles = append(titles, o)
		}
	}
	return titles
}

// addPoll stores the poll of a status.
func addPoll(ctx context.Context, tx *store.Tx, st *store.Status, p *store.Poll) error {
	p.StatusID = st.ID
	if err := tx.AddPoll(ctx, p); err != nil {
		return err
	}
	return enqueuePollClose(ctx, tx, p)
}

// Vote votes in a poll that voter can see. choices are indices of options. Votes are final; a remote voter may send them one at a time.
func (s *Service) Vote(ctx context.Context, voter *store.Account, id store.PollID, choices []int) (*store.Poll, error) {
	choices = slices.Compact(slices.Sorted(slices.Values(choices)))
	return update(ctx, s.db, func(tx *store.Tx) (*store.Poll, error) {
		p, err := tx.Poll(ctx, id)
		if err != nil {
			return nil, err
		}
		st, err := tx.VisibleStatus(ctx, voter.ID, p.StatusID)
		if err != nil {
			return nil, err
		}
		if err := checkNotBlocked(ctx, tx, voter, st); err != nil {
			return nil, err
		}
		before, err := tx.VotesBy(ctx, voter.ID, []store.PollID{p.ID})
		if err != nil {
			return nil, err
		}
		if err := s.checkVote(voter, st, p, before, choices); err != nil {
			return nil, err
		}
		if err := tx.AddVotes(ctx, p, voter.ID, choices, len(before) > 0); err != nil {
			return nil, err
		}
		if st.Local() {
			return p, addTallyToOutbox(ctx, tx, st)
		}
		if !voter.Local() {
			return p, nil
		}
		entry := store.OutboxEntry{Type: store.VoteCreated, ActorID: voter.ID, TargetID: st.AccountID, StatusID: st.ID, Choices: choices}
		if err := tx.AddToOutbox(ctx, entry); err != nil {
			return nil, err
		}
		return p, enqueuePollClose(ctx, tx, p) // local voters are notified of the end
	})
}

// checkVote returns an error if a vote is not valid.
func (s *Service) checkVote(voter *store.Account, st *store.Status, p *store.Poll, before []store.PollVote, choices []int) error {
	duplicate := func(choice int) bool {
		return slices.ContainsFunc(before, func(v store.PollVote) bool { return v.Choice == choice })
	}
	switch {
	case st.AccountID == voter.ID:
		return errs.Invalid("Poll's author can't vote")
	case p.Ended(s.db.Now()):
		return errs.Invalid("The poll has already ended")
	case len(before) > 0 && (voter.Domain == "" || !p.Multiple || slices.ContainsFunc(choices, duplicate)):
		return errs.Invalid("Already voted")
	case len(choices) == 0 || choices[0] < 0 || choices[len(choices)-1] >= len(p.Options.V):
		return errs.Invalid("Invalid indices")
	case len(choices) > 1 && !p.Multiple:
		return errs.Invalid("Too many choices")
	}
	return nil
}

// closePoll is the job that closes a poll: it notifies a local author and local voters, and emits an event.
func (s *Service) closePoll(ctx context.Context, w store.ClosePoll) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		p, err := tx.PollOf(ctx, w.StatusID)
		if p == nil || err != nil || p.Closed || !p.Ended(s.db.Now()) {
			return err
		}
		st, err := tx.Status(ctx, p.StatusID)
		if err != nil {
			return err
		}
		p.Closed = true
		if err := tx.SavePoll(ctx, p); err != nil {
			return err
		}
		voters, err := tx.LocalVoters(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, id := range append([]store.AccountID{st.AccountID}, voters...) {
			if sees, err := tx.CanSee(ctx, id, st); err != nil {
				return err
			} else if !sees {
				continue
			}
			n := store.Notification{AccountID: id, Type: store.NotifyPoll, FromID: st.AccountID}
			if err := notify(ctx, tx, n, st); err != nil {
				return err
			}
		}
		tx.Emit(store.StatusEdited{Status: st})
		return addEditToOutbox(ctx, tx, st)
	})
}

// tallyDelay is how long votes are collected before the counts are federated (federation 4.3).
const tallyDelay = 3 * time.Minute

// addTallyToOutbox federates the counts of a poll after tallyDelay.
func addTallyToOutbox(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Federated() {
		return nil
	}
	entry := store.OutboxEntry{Type: store.StatusUpdated, ActorID: st.AccountID, StatusID: st.ID}
	return tx.AddToOutboxCoalesced(ctx, "tally:"+st.ID.String(), tallyDelay, entry)
}

// enqueuePollClose enqueues the job that closes a poll at its end.
func enqueuePollClose(ctx context.Context, tx *store.Tx, p *store.Poll) error {
	if p.ExpiresAt == nil {
		return tx.DropJob(ctx, pollKey(p.StatusID))
	}
	return tx.EnqueueUnique(ctx, p.ExpiresAt.Time(), pollKey(p.StatusID), store.ClosePoll{StatusID: p.StatusID})
}

func pollKey(id store.StatusID) string { return "poll:" + id.String() }

// pollEdit is what an edit does to the poll of a status.
type pollEdit struct {
	before, next *store.Poll // nil: none
	changed      bool
	replaced     bool // other options: the status gets a new version and votes are deleted
}

// newPollEdit returns what an edit does to the poll of a status. An edit without a poll removes it. A poll with the same options keeps
// its votes (client API 4.8) and, unless a new one is given, its end. An ended poll stays ended.
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

// save stores the changes to the poll of st.
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

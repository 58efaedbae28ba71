package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// PollDraft is what somebody wants to ask.
type PollDraft struct {
	Options    []string       `json:"options"`
	ExpiresIn  *time.Duration `json:"expires_in"` // nil: as it was, which only a poll can have that there is already
	Multiple   bool           `json:"multiple"`
	HideTotals bool           `json:"hide_totals"`
}

// newPoll makes the poll of a draft, as yet of no status. What it refuses, and in which order, is said by the extension API 17.2.
func (s *Service) newPoll(d *PollDraft) (*store.Poll, error) {
	if d.ExpiresIn == nil {
		return nil, errs.BadRequest("Missing field: expires_in.")
	}
	end, err := s.pollExpiry(*d.ExpiresIn)
	if err != nil {
		return nil, err
	}
	titles := optionTitles(d.Options)
	switch {
	case len(titles) < 2:
		return nil, errs.Invalid("Poll must contain at least 2 options")
	case len(titles) > s.MaxPollOptions:
		return nil, errs.Invalid("Poll can't contain more than %d options", s.MaxPollOptions)
	}
	p := &store.Poll{Multiple: d.Multiple, HideTotals: d.HideTotals, ExpiresAt: end, VotersCount: new(int)}
	for _, title := range titles {
		if text.Length(title, "") > s.MaxPollOptionLength {
			return nil, errs.Invalid("Poll options cannot be longer than %d characters each", s.MaxPollOptionLength)
		}
		p.Options.V = append(p.Options.V, store.PollOption{Title: title})
	}
	return p, nil
}

// pollExpiry returns when a poll ends that is to be open from now on for a time.
func (s *Service) pollExpiry(in time.Duration) (*store.Time, error) {
	switch {
	case in > s.MaxPollDuration:
		return nil, errs.Invalid("Expiration date is too far in the future")
	case in < s.MinPollDuration:
		return nil, errs.Invalid("Expiration date is too soon")
	}
	at := store.At(s.db.Now().Add(in))
	return &at, nil
}

// optionTitles returns the texts of options, each on one line and once. Those without text are left out: forms send their last,
// empty field too.
func optionTitles(options []string) []string {
	titles := make([]string, 0, len(options))
	for _, o := range options {
		if o = removeControls(o); o != "" && !slices.Contains(titles, o) {
			titles = append(titles, o)
		}
	}
	return titles
}

// addPoll gives a status its poll.
func addPoll(ctx context.Context, tx *store.Tx, st *store.Status, p *store.Poll) error {
	p.StatusID = st.ID
	if err := tx.AddPoll(ctx, p); err != nil {
		return err
	}
	return enqueuePollClose(ctx, tx, p)
}

// Vote has somebody, who may live elsewhere, choose options of a poll that they see, by their places. A vote is final; those from
// elsewhere may come one option at a time.
func (s *Service) Vote(ctx context.Context, voter *store.Account, id store.PollID, choices []int) (*store.Poll, error) {
	choices = slices.Clone(choices)
	slices.Sort(choices)
	choices = slices.Compact(choices)
	var p *store.Poll
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if p, err = tx.Poll(ctx, id); err != nil {
			return err
		}
		st, err := tx.VisibleStatus(ctx, voter.ID, p.StatusID)
		if err != nil {
			return err
		}
		if err := checkNotBlocked(ctx, tx, voter, st); err != nil {
			return err
		}
		before, err := tx.VotesBy(ctx, voter.ID, []store.PollID{p.ID})
		if err != nil {
			return err
		}
		if err := s.checkVote(voter, st, p, before, choices); err != nil {
			return err
		}
		if err := tx.AddVotes(ctx, p, voter.ID, choices, len(before) > 0); err != nil {
			return err
		}
		if st.Local() {
			return addTallyToOutbox(ctx, tx, st)
		}
		if !voter.Local() {
			return nil
		}
		deed := store.OutboxEntry{Type: store.VoteCreated, ActorID: voter.ID, TargetID: st.AccountID, StatusID: st.ID, Choices: choices}
		if err := tx.AddToOutbox(ctx, deed); err != nil {
			return err
		}
		return enqueuePollClose(ctx, tx, p) // somebody here wants to know now
	})
	return p, err
}

// checkVote tells why a vote does not count.
func (s *Service) checkVote(voter *store.Account, st *store.Status, p *store.Poll, before []store.PollVote, choices []int) error {
	again := func(choice int) bool {
		return slices.ContainsFunc(before, func(v store.PollVote) bool { return v.Choice == choice })
	}
	switch {
	case st.AccountID == voter.ID:
		return errs.Invalid("Poll's author can't vote")
	case p.Ended(s.db.Now()):
		return errs.Invalid("The poll has already ended")
	case len(before) > 0 && (voter.Domain == "" || !p.Multiple || slices.ContainsFunc(choices, again)):
		return errs.Invalid("Already voted")
	case len(choices) == 0 || choices[0] < 0 || choices[len(choices)-1] >= len(p.Options.V):
		return errs.Invalid("Invalid indices")
	case len(choices) > 1 && !p.Multiple:
		return errs.Invalid("Too many choices")
	}
	return nil
}

// closePoll is the job that tells of a poll's end: its author, if they are of here, and who voted here; and the open streams.
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

// tallyDelay is how long votes are gathered before other servers hear of the counts (federation 4.3).
const tallyDelay = 3 * time.Minute

// addTallyToOutbox has other servers told, soon, how a poll stands.
func addTallyToOutbox(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Visibility.Federated() {
		return nil
	}
	deed := store.OutboxEntry{Type: store.StatusUpdated, ActorID: st.AccountID, StatusID: st.ID}
	return tx.AddToOutboxCoalesced(ctx, "tally:"+st.ID.String(), tallyDelay, deed)
}

// enqueuePollClose has the end of a poll told of when it comes.
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

package social

import (
	"context"
	"slices"

	"svc/store"
)

// ReceiveStatusEdit stores a new version of a remote author's status, and notifies local accounts that reblogged it or are newly mentioned.
// Parent, quoted status and publication date never change (federation 4.4), and the audience becomes smaller or stays. A version that is not newer only updates poll
// counts; an older one is ignored. The quote authorization is always updated.
func (s *Service) ReceiveStatusEdit(ctx context.Context, author *store.Account, id store.StatusID, r IncomingStatus) (*store.Status, error) {
	r.cut()
	a, err := s.knownMentions(ctx, &r)
	if err != nil {
		return nil, err
	}
	return update(ctx, s.db, func(tx *store.Tx) (*store.Status, error) {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return nil, err
		}
		if st.AccountID != author.ID || st.ReblogOfID != nil {
			return nil, ErrNotOwner
		}
		latest := st.CreatedAt
		if st.EditedAt != nil {
			latest = *st.EditedAt
		}
		if err := setQuoteAuthorization(ctx, tx, st, r.QuoteAuthorization); err != nil {
			return nil, err
		}
		if err := setIncomingPolicies(ctx, tx, st, &r); err != nil {
			return nil, err
		}
		if st.EditedAt != nil && !r.Updated.IsZero() && store.At(r.Updated) < latest {
			return st, nil // a newer version arrived before
		}
		narrowed, err := s.narrowAudience(ctx, tx, st, &r, a) // before the new text, which only the new audience may see
		if err != nil {
			return nil, err
		}
		saved := false
		if store.At(r.Updated) > latest {
			saved, err = s.addIncomingVersion(ctx, tx, author, st, &r, a)
		} else {
			err = s.updateTally(ctx, tx, st, r.Poll)
		}
		if narrowed && !saved {
			tx.Emit(store.StatusEdited{Status: st})
		}
		return st, err
	})
}

// setIncomingPolicies stores who may quote a remote status and interact with it.
func setIncomingPolicies(ctx context.Context, tx *store.Tx, st *store.Status, r *IncomingStatus) error {
	if _, err := setQuotePolicy(ctx, tx, st, &r.QuotePolicy); err != nil {
		return err
	}
	_, err := setInteractionPolicy(ctx, tx, st, &r.InteractionPolicy)
	return err
}

// knownMentions looks up the mentioned accounts that are known, and those that a restricted version addresses.
func (s *Service) knownMentions(ctx context.Context, r *IncomingStatus) (*references, error) {
	a := new(references)
	var err error
	uris := r.Mentions
	if !r.Visibility.Unrestricted() {
		uris = slices.Concat(r.Audience, r.Mentions)
	}
	if len(uris) > 0 {
		a.accounts, err = s.db.AccountsByURI(ctx, uris)
	}
	return a, err
}

// addIncomingVersion stores a new version of st. It returns false if nothing but the tally of its poll differs.
func (s *Service) addIncomingVersion(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, r *IncomingStatus, a *references) (saved bool, err error) {
	oldMedia, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
	if err != nil {
		return false, err
	}
	poll, err := s.incomingPollEdit(ctx, tx, st, r.Poll)
	if err != nil {
		return false, err
	}
	next := *st
	r.setOn(&next)
	v := &version{Composed: &Composed{Status: &next, Tags: r.Tags, Link: r.Link, QuoteURI: r.QuoteURI}, oldMedia: oldMedia, poll: poll}
	if v.Quoted, err = quotedStatus(ctx, tx, st); err != nil {
		return false, err
	}
	if v.Quoted == nil && r.QuoteLinkRemoved && st.QuoteState < store.QuoteStateRevoked {
		next.Content = withQuoteLink(next.Content, &store.Status{URL: r.QuoteURI})
	}
	for _, uri := range r.Mentions {
		if p := a.accounts[uri]; p != nil {
			v.MentionedAccounts = append(v.MentionedAccounts, p)
		}
	}
	if err := s.addCard(ctx, tx, v.Composed); err != nil {
		return false, err
	}
	v.Media, v.described = matchMedia(oldMedia, r.Media)
	if v.sameMedia() && equalValues(st.CardID, next.CardID) && next.Content == st.Content && sameContent(st, &next) && !poll.replaced {
		return false, s.saveTally(ctx, tx, st, poll)
	}
	for _, m := range v.Media {
		if m.ID != 0 {
			continue
		}
		m.AccountID, m.StatusID, m.Position = st.AccountID, &st.ID, -1
		if err := tx.AddMedia(ctx, m); err != nil {
			return false, err
		}
	}
	mentioned, added, err := s.incomingEditMentions(ctx, tx, author, st, r, a)
	if err != nil {
		return false, err
	}
	if err := v.save(ctx, tx, st, min(store.At(r.Updated), store.At(s.db.Now())), mentioned); err != nil {
		return false, err
	}
	return true, notifyEdit(ctx, tx, st, added)
}

// matchMedia returns the attachments of the new version, reusing rows of the old one by URL, and those whose description or focus changed.
func matchMedia(had, wanted []*store.Media) (media, described []*store.Media) {
	used := make(map[*store.Media]bool)
	for _, w := range wanted {
		i := slices.IndexFunc(had, func(m *store.Media) bool { return m.RemoteURL == w.RemoteURL && !used[m] })
		if i < 0 {
			media = append(media, w)
			continue
		}
		m := *had[i] // a copy, because the edit history keeps the old one
		used[had[i]] = true
		if m.Description != w.Description || m.FocusX != w.FocusX || m.FocusY != w.FocusY {
			m.Description, m.FocusX, m.FocusY = w.Description, w.FocusX, w.FocusY
			described = append(described, &m)
		}
		media = append(media, &m)
	}
	return media, described
}

// incomingEditMentions returns the accounts that a new version mentions, and the local ones to notify because they are new. A restricted
// status gets no new recipients.
func (s *Service) incomingEditMentions(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, r *IncomingStatus, a *references) (mentioned, added []store.AccountID, err error) {
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, nil, err
	}
	wasMentioned, addressed := make(map[store.AccountID]bool), make(map[store.AccountID]bool)
	for _, to := range recipients {
		addressed[to.AccountID], wasMentioned[to.AccountID] = true, to.Mentioned
	}
	if to := st.InReplyToAccountID; to != nil && wasMentioned[*to] {
		mentioned = append(mentioned, *to)
	}
	for _, uri := range r.Mentions {
		p := a.accounts[uri]
		if p == nil || p.ID == st.AccountID || slices.Contains(mentioned, p.ID) || !st.Visibility.Unrestricted() && !addressed[p.ID] {
			continue
		}
		mentioned = append(mentioned, p.ID)
		if wasMentioned[p.ID] || !p.Local() || !slices.Contains(r.Audience, uri) || len(r.Mentions) > maxIncomingMentions {
			continue
		}
		notifies, err := s.notifiesMention(ctx, tx, author, p.ID, false)
		if err != nil {
			return nil, nil, err
		}
		if notifies {
			added = append(added, p.ID)
		}
	}
	return mentioned, added, nil
}

// incomingPollEdit returns what an edit does to a poll. A poll with the same options keeps local votes.
func (s *Service) incomingPollEdit(ctx context.Context, tx *store.Tx, st *store.Status, next *store.Poll) (e pollEdit, err error) {
	if st.HasPoll {
		if e.before, err = tx.PollOf(ctx, st.ID); err != nil {
			return e, err
		}
	}
	e.next = next
	switch {
	case e.before == nil || next == nil:
		e.replaced = e.before != next
	default:
		next.ID, next.StatusID = e.before.ID, st.ID
		e.replaced = e.before.Multiple != next.Multiple || !slices.Equal(e.before.Titles(), next.Titles())
		if !e.replaced {
			next.Closed = e.before.Closed
		}
	}
	e.changed = e.replaced || next != nil
	return e, nil
}

// updateTally updates the counts of a poll if its options are the same.
func (s *Service) updateTally(ctx context.Context, tx *store.Tx, st *store.Status, next *store.Poll) error {
	poll, err := s.incomingPollEdit(ctx, tx, st, next)
	if err != nil || poll.replaced {
		return err
	}
	return s.saveTally(ctx, tx, st, poll)
}

func (s *Service) saveTally(ctx context.Context, tx *store.Tx, st *store.Status, poll pollEdit) error {
	if poll.next == nil {
		return nil
	}
	if err := tx.SavePoll(ctx, poll.next); err != nil {
		return err
	}
	if !equalValues(poll.before.ExpiresAt, poll.next.ExpiresAt) {
		if err := enqueuePollClose(ctx, tx, poll.next); err != nil {
			return err
		}
	}
	if !slices.Equal(poll.before.Options.V, poll.next.Options.V) {
		tx.Emit(store.StatusEdited{Status: st})
	}
	return nil
}

// equalValues returns true if both are nil or point to equal values.
func equalValues[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

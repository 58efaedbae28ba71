package social

import (
	"context"
	"slices"

	"svc/store"
)

// ReceiveEdit gives a post of author's, who lives elsewhere, the version that its server has now: it keeps the old one, and tells those
// who boosted it and those mentioned newly. Whom the post is for, what it replies to and when it was published never change. Of a
// version that is not newer than what is here, only how the poll stands is taken, and of an older one nothing; and of each by what it
// is allowed to quote what it quotes. What that is never changes either (federation 4.4).
func (s *Service) ReceiveEdit(ctx context.Context, author *store.Account, id store.StatusID, r Received) (*store.Status, error) {
	a, err := s.mentionedIn(ctx, &r)
	if err != nil {
		return nil, err
	}
	var st *store.Status
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if st, err = tx.Status(ctx, id); err != nil {
			return err
		}
		if st.AccountID != author.ID || st.ReblogOfID != nil {
			return ErrNotTheirs
		}
		latest := st.CreatedAt
		if st.EditedAt != nil {
			latest = *st.EditedAt
		}
		if err := receiveAuthorization(ctx, tx, st, r.Authorization); err != nil {
			return err
		}
		switch {
		case store.At(r.Updated) > latest:
			return s.receiveVersion(ctx, tx, author, st, &r, a)
		case st.EditedAt != nil && !r.Updated.IsZero() && store.At(r.Updated) < latest:
			return nil // it was overtaken on its way
		}
		return s.receiveTally(ctx, tx, st, r.Poll)
	})
	return st, err
}

// mentionedIn returns whom a post names, as far as they are known here.
func (s *Service) mentionedIn(ctx context.Context, r *Received) (*acquaintances, error) {
	a := new(acquaintances)
	var err error
	if len(r.Mentions) > 0 {
		a.people, err = s.db.AccountsByURI(ctx, r.Mentions)
	}
	return a, err
}

// receiveVersion makes st its new version.
func (s *Service) receiveVersion(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, r *Received, a *acquaintances) error {
	had, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
	if err != nil {
		return err
	}
	poll, err := s.receivePoll(ctx, tx, st, r.Poll)
	if err != nil {
		return err
	}
	next := *st
	next.Content, next.SpoilerText, next.Language, next.Sensitive = r.Content, r.SpoilerText, r.Language, r.Sensitive
	next.URL = r.URL
	next.Emojis.V, next.HasMedia, next.HasPoll = r.Emojis, len(r.Media) > 0, r.Poll != nil
	c := &Composed{Status: &next, Tags: r.Tags, Link: r.Link}
	if c.Quoted, err = quotedIn(ctx, tx, st); err != nil {
		return err
	}
	if c.Quoted == nil && r.RE {
		next.Content += quoteLink(&store.Status{URL: r.Quote})
	}
	for _, uri := range r.Mentions {
		if p := a.people[uri]; p != nil {
			c.People = append(c.People, p)
		}
	}
	if err := s.addCard(ctx, tx, c); err != nil {
		return err
	}
	media, described := matchMedia(had, r.Media)
	same := slices.EqualFunc(had, media, func(x, y *store.Media) bool { return x.ID == y.ID }) && sameCard(st, &next)
	if same && len(described) == 0 && next.Content == st.Content && sameWording(st, &next) && !poll.renewed {
		return s.saveTally(ctx, tx, st, poll)
	}
	for _, m := range media {
		if m.ID != 0 {
			continue
		}
		m.AccountID, m.StatusID, m.Position = st.AccountID, &st.ID, -1
		if err := tx.AddMedia(ctx, m); err != nil {
			return err
		}
	}
	c.Media = media
	people, added, err := s.mentionAnew(ctx, tx, author, st, r, a)
	if err != nil {
		return err
	}
	at := min(store.At(r.Updated), store.At(s.db.Now()))
	next.EditedAt = &at
	version := st.Version(had, poll.was)
	*st = next
	if err := poll.save(ctx, tx, st); err != nil {
		return err
	}
	if err := saveEdit(ctx, tx, c, version, people, described); err != nil {
		return err
	}
	return tellOfEdit(ctx, tx, st, added)
}

func sameCard(a, b *store.Status) bool {
	if a.CardID == nil || b.CardID == nil {
		return a.CardID == b.CardID
	}
	return *a.CardID == *b.CardID
}

// matchMedia returns the attachments that a post is to have, those that it had as they are here, and those of them whose
// description is another now.
func matchMedia(had, wanted []*store.Media) (media, described []*store.Media) {
	used := make(map[*store.Media]bool)
	for _, w := range wanted {
		i := slices.IndexFunc(had, func(m *store.Media) bool { return m.RemoteURL == w.RemoteURL && !used[m] })
		if i < 0 {
			media = append(media, w)
			continue
		}
		m := *had[i] // the old version is made of what was
		used[had[i]] = true
		if m.Description != w.Description {
			m.Description = w.Description
			described = append(described, &m)
		}
		media = append(media, &m)
	}
	return media, described
}

// mentionAnew returns whom a new version of a post mentions, and which people of here it is that it did not mention before and that are
// to be told. A post that is not for everybody goes to nobody new.
func (s *Service) mentionAnew(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, r *Received, a *acquaintances) (people, added []store.AccountID, err error) {
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, nil, err
	}
	mentioned, addressed := make(map[store.AccountID]bool), make(map[store.AccountID]bool)
	for _, to := range recipients {
		addressed[to.AccountID], mentioned[to.AccountID] = true, to.Mentioned
	}
	if to := st.InReplyToAccountID; to != nil && mentioned[*to] {
		people = append(people, *to)
	}
	for _, uri := range r.Mentions {
		p := a.people[uri]
		if p == nil || p.ID == st.AccountID || slices.Contains(people, p.ID) || !st.Visibility.Open() && !addressed[p.ID] {
			continue
		}
		people = append(people, p.ID)
		if mentioned[p.ID] || !p.Local() || !slices.Contains(r.Audience, uri) || len(r.Mentions) > receivedMentions {
			continue
		}
		tell, err := s.toTell(ctx, tx, author, p.ID, false)
		if err != nil {
			return nil, nil, err
		}
		if tell {
			added = append(added, p.ID)
		}
	}
	return people, added, nil
}

// receivePoll finds out what becomes of the poll of a post. One with the same options keeps the votes of those here.
func (s *Service) receivePoll(ctx context.Context, tx *store.Tx, st *store.Status, next *store.Poll) (e pollEdit, err error) {
	if st.HasPoll {
		if e.was, err = tx.PollOf(ctx, st.ID); err != nil {
			return e, err
		}
	}
	e.next = next
	switch {
	case e.was == nil || next == nil:
		e.renewed = e.was != next
	default:
		next.ID, next.StatusID = e.was.ID, st.ID
		e.renewed = e.was.Multiple != next.Multiple || !slices.Equal(e.was.Titles(), next.Titles())
		if !e.renewed {
			next.Closed = e.was.Closed
		}
	}
	e.changed = e.renewed || next != nil
	return e, nil
}

// receiveTally takes over how the poll of a post stands, if it is still the same poll.
func (s *Service) receiveTally(ctx context.Context, tx *store.Tx, st *store.Status, next *store.Poll) error {
	poll, err := s.receivePoll(ctx, tx, st, next)
	if err != nil || poll.renewed {
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
	if !sameEnd(poll.was, poll.next) {
		if err := closeLater(ctx, tx, poll.next); err != nil {
			return err
		}
	}
	if !slices.Equal(poll.was.Options.V, poll.next.Options.V) {
		tx.Emit(store.StatusEdited{Status: st})
	}
	return nil
}

func sameEnd(a, b *store.Poll) bool {
	if a.ExpiresAt == nil || b.ExpiresAt == nil {
		return a.ExpiresAt == b.ExpiresAt
	}
	return *a.ExpiresAt == *b.ExpiresAt
}

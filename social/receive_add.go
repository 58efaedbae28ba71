package social

import (
	"context"
	"fmt"

	"svc/store"
)

// addReceived stores a post from elsewhere with all that follows from it.
func (s *Service) addReceived(ctx context.Context, tx *store.Tx, author *store.Account, r *Received, a *acquaintances, c *Composed) error {
	st := c.Status
	if err := s.addCard(ctx, tx, c); err != nil {
		return err
	}
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	if err := addReceivedParts(ctx, tx, c); err != nil {
		return err
	}
	if err := s.addOrigin(ctx, tx, r, c); err != nil {
		return err
	}
	index(tx, c)
	if !r.NoFollowers {
		if err := tx.FanOut(ctx, st, nil); err != nil {
			return err
		}
	}
	age := s.db.Now().Sub(r.Published)
	if !r.Fetched || age < tooOldToTell {
		if err := s.tellOfReceived(ctx, tx, author, r, a, c); err != nil {
			return err
		}
	}
	if !r.Fetched || age < freshTime {
		tx.Emit(store.StatusPosted{Status: st})
	}
	if err := converse(ctx, tx, st, c.Recipients, nil); err != nil {
		return err
	}
	return s.complete(ctx, tx, r, a, c)
}

// addReceivedParts stores the rows that belong to a post from elsewhere.
func addReceivedParts(ctx context.Context, tx *store.Tx, c *Composed) error {
	for i := range c.Recipients {
		c.Recipients[i].StatusID = c.ID
	}
	if err := tx.AddRecipients(ctx, c.Recipients); err != nil {
		return err
	}
	if err := tx.AddTags(ctx, c.ID, c.Tags); err != nil {
		return err
	}
	if c.Poll != nil {
		c.Poll.StatusID = c.ID
		if err := tx.AddPoll(ctx, c.Poll); err != nil {
			return err
		}
	}
	for i, m := range c.Media {
		m.AccountID, m.StatusID, m.Position = c.AccountID, &c.ID, i
		if err := tx.AddMedia(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// addOrigin notes where a post came from, and what it waits for.
func (s *Service) addOrigin(ctx context.Context, tx *store.Tx, r *Received, c *Composed) error {
	o := &store.Origin{StatusID: c.ID, RepliesURI: r.Replies, Authorization: r.Authorization}
	if c.Parent == nil {
		o.ParentURI = r.Parent
	}
	if c.Quoted == nil {
		o.QuoteURI = r.Quote
	}
	if r.Fetched {
		o.FetchedAt = store.At(s.db.Now())
	}
	if *o == (store.Origin{StatusID: c.ID}) {
		return nil
	}
	return tx.SaveOrigin(ctx, o)
}

// tellOfReceived notifies the mentioned who are addressed, and of what is no reply those who want to be told of each post of the author.
func (s *Service) tellOfReceived(ctx context.Context, tx *store.Tx, author *store.Account, r *Received, a *acquaintances, c *Composed) error {
	local := make(map[store.AccountID]bool)
	for _, uri := range r.Audience {
		if p := a.people[uri]; p != nil && p.Local() {
			local[p.ID] = true
		}
	}
	many := len(r.Mentions) > receivedMentions
	for _, to := range c.Recipients {
		if !to.Mentioned || !local[to.AccountID] {
			continue
		}
		if tell, err := s.toTell(ctx, tx, author, to.AccountID, many); err != nil {
			return err
		} else if !tell {
			continue
		}
		n := store.Notification{AccountID: to.AccountID, Type: store.NotifyMention, FromID: c.AccountID}
		if err := notify(ctx, tx, n, c.Status); err != nil {
			return err
		}
	}
	if r.Parent != "" {
		return nil
	}
	subscribers, err := tx.Subscribers(ctx, c.Status)
	if err != nil {
		return err
	}
	for _, id := range subscribers {
		n := store.Notification{AccountID: id, Type: store.NotifyStatus, FromID: c.AccountID}
		if err := notify(ctx, tx, n, c.Status); err != nil {
			return err
		}
	}
	return nil
}

// complete has what a post speaks of fetched, as far as that is unknown.
func (s *Service) complete(ctx context.Context, tx *store.Tx, r *Received, a *acquaintances, c *Composed) error {
	wants := r.Parent != "" && a.parent == 0 || r.Quote != "" && a.quoted == 0 || len(a.unknown) > 0
	if !wants || r.Reach <= 0 {
		return nil
	}
	w := store.CompleteStatus{StatusID: c.ID, Reach: r.Reach}
	if c.Visibility.Open() { // who is named elsewhere without being addressed must not see it for that
		most := receivedMentions
		if r.Fetched {
			most = fetchedMentions
		}
		w.People = a.unknown[:min(len(a.unknown), most)]
	}
	return tx.EnqueueOnce(ctx, s.db.Now(), fmt.Sprintf("complete:%s", c.ID), w)
}

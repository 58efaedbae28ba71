package social

import (
	"context"
	"fmt"

	"svc/store"
)

// addIncomingStatus stores an incoming status with all its consequences.
func (s *Service) addIncomingStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references, c *Composed) error {
	st := c.Status
	if err := s.addCard(ctx, tx, c); err != nil {
		return err
	}
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	if err := addIncomingRows(ctx, tx, c); err != nil {
		return err
	}
	if err := s.addRemoteStatus(ctx, tx, r, c); err != nil {
		return err
	}
	indexStatus(tx, c)
	if err := s.addReplyRequest(ctx, tx, author, c, r.Request); err != nil {
		return err
	}
	if c.PendingVisibility != nil {
		return s.enqueueCompletion(ctx, tx, r, a, c)
	}
	if !r.NoFollowers && !r.Quiet {
		if err := tx.FanOut(ctx, st, nil); err != nil {
			return err
		}
	}
	age := s.db.Now().Sub(r.Published)
	if !r.Quiet && (!r.Fetched || age < maxNotificationAge) {
		if err := s.notifyIncomingStatus(ctx, tx, author, r, a, c); err != nil {
			return err
		}
	}
	if err := addToConversations(ctx, tx, st, c.Recipients, nil); err != nil {
		return err
	}
	if !r.Quiet && (!r.Fetched || age < maxStreamAge) {
		tx.Emit(store.StatusPosted{Status: st})
	}
	return s.enqueueCompletion(ctx, tx, r, a, c)
}

// addIncomingRows stores recipients, tags, poll and media of an incoming status.
func addIncomingRows(ctx context.Context, tx *store.Tx, c *Composed) error {
	if err := addRecipientsAndTags(ctx, tx, c); err != nil {
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

// addRemoteStatus stores where a status came from, and the unknown statuses that it refers to.
func (s *Service) addRemoteStatus(ctx context.Context, tx *store.Tx, r *IncomingStatus, c *Composed) error {
	o := &store.RemoteStatus{StatusID: c.ID, RepliesURI: r.RepliesURI, Authorization: r.QuoteAuthorization}
	if c.Parent == nil {
		o.ParentURI = r.ParentURI
	}
	if c.Quoted == nil {
		o.QuoteURI = r.QuoteURI
	}
	if r.Fetched {
		o.FetchedAt = store.At(s.db.Now())
	}
	if *o == (store.RemoteStatus{StatusID: c.ID}) {
		return nil
	}
	return tx.SaveRemoteStatus(ctx, o)
}

// notifyIncomingStatus notifies mentioned recipients, the quoted author, and subscribers of the author unless it is a reply.
func (s *Service) notifyIncomingStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references, c *Composed) error {
	local := make(map[store.AccountID]bool)
	for _, uri := range r.Audience {
		if p := a.accounts[uri]; p != nil && p.Local() {
			local[p.ID] = true
		}
	}
	tooMany := len(r.Mentions) > maxIncomingMentions
	for _, to := range c.Recipients {
		if !to.Mentioned || !local[to.AccountID] {
			continue
		}
		if notifies, err := s.notifiesMention(ctx, tx, author, to.AccountID, tooMany); err != nil {
			return err
		} else if !notifies {
			continue
		}
		n := store.Notification{AccountID: to.AccountID, Type: store.NotifyMention, FromID: c.AccountID}
		if err := notify(ctx, tx, n, c.Status); err != nil {
			return err
		}
	}
	if c.Quoted != nil && c.Quoted.Local() {
		if notifies, err := s.notifiesMention(ctx, tx, author, c.Quoted.AccountID, false); err != nil {
			return err
		} else if notifies {
			if err := notifyQuoted(ctx, tx, c.Status, c.Quoted); err != nil {
				return err
			}
		}
	}
	if r.ParentURI != "" {
		return nil
	}
	return notifySubscribers(ctx, tx, c.Status)
}

// enqueueCompletion enqueues the job that fetches unknown parents, quoted statuses and mentioned accounts.
func (s *Service) enqueueCompletion(ctx context.Context, tx *store.Tx, r *IncomingStatus, a *references, c *Composed) error {
	incomplete := r.ParentURI != "" && a.parentID == 0 || r.QuoteURI != "" && a.quotedID == 0 || len(a.unknownMentions) > 0
	if !incomplete || r.FetchBudget <= 0 {
		return nil
	}
	w := store.FetchReferences{StatusID: c.ID, FetchBudget: r.FetchBudget}
	if c.Visibility.Unrestricted() { // else a mention without an address must not make it visible
		limit := maxIncomingMentions
		if r.Fetched {
			limit = maxFetchedMentions
		}
		w.Mentions = a.unknownMentions[:min(len(a.unknownMentions), limit)]
	}
	return tx.EnqueueUnique(ctx, s.db.Now(), fmt.Sprintf("complete:%s", c.ID), w)
}

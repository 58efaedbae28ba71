package social

import (
	"context"
	"fmt"

	"svc/internal/errs"
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
	if !r.Quiet {
		if err := s.announceIncomingStatus(ctx, tx, author, r, a, c); err != nil {
			return err
		}
	}
	if err := addToConversations(ctx, tx, st, c.Recipients, nil); err != nil {
		return err
	}
	return s.enqueueCompletion(ctx, tx, r, a, c)
}

// announceIncomingStatus adds a status to home timelines. Unless it was fetched and is old, it also causes notifications and is sent to streams.
func (s *Service) announceIncomingStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references, c *Composed) error {
	if !r.NoFollowers {
		if err := tx.FanOut(ctx, c.Status, nil); err != nil {
			return err
		}
	}
	age := s.db.Now().Sub(r.Published)
	if !r.Fetched || age < maxNotificationAge {
		if err := s.notifyIncomingStatus(ctx, tx, author, r, a, c); err != nil {
			return err
		}
	}
	if !r.Fetched || age < maxStreamAge {
		tx.Emit(store.StatusPosted{Status: c.Status})
	}
	return nil
}

// announceQuietStatus announces a known status that was stored quietly, now that its author's server delivers it: a profile may be opened before the
// deliveries of its newest posts arrive.
func (s *Service) announceQuietStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references, st *store.Status) error {
	origin, err := tx.RemoteStatus(ctx, st.ID)
	if err != nil || origin == nil || !origin.Quiet || st.PendingVisibility != nil { // an approval announces a pending one
		return err
	}
	origin.Quiet = false
	if err := tx.SaveRemoteStatus(ctx, origin); err != nil {
		return err
	}
	c := &Composed{Status: st}
	if c.Parent, err = referred(ctx, tx, st.InReplyToID); err != nil {
		return err
	}
	if c.Quoted, err = referred(ctx, tx, st.QuoteOfID); err != nil {
		return err
	}
	c.addIncomingRecipients(r, a)
	return s.announceIncomingStatus(ctx, tx, author, r, a, c)
}

// referred returns the status that another one names, nil if it names none or one that is gone.
func referred(ctx context.Context, tx *store.Tx, id *store.StatusID) (*store.Status, error) {
	if id == nil {
		return nil, nil
	}
	st, err := tx.Status(ctx, *id)
	if errs.IsNotFound(err) {
		return nil, nil
	}
	return st, err
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
		o.FetchedAt, o.Quiet = store.At(s.db.Now()), r.Quiet
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

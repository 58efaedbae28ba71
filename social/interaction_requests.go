package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Favourites, replies and boosts of local statuses that wait for the approval of the author.

// Limits of what waits for approval. What exceeds them is refused.
const (
	maxPendingOfAuthor  = 1000 // requests to one author
	maxPendingOfAccount = 100  // by one account
	maxPendingOfDomain  = 300  // by the accounts of one other server
	maxPendingAge       = 30 * 24 * time.Hour
	pendingPruneBatch   = 100 // requests that one transaction rejects because of their age
	maxRejectedAtOnce   = 1000
)

var (
	errTooManyPending = errs.Forbidden("Too many interactions wait for approval")
	errReplyForbidden = forbiddenInteractions[store.Replying]
)

// pendingNotifications are the types of the notifications of requests.
var pendingNotifications = map[store.Interaction]store.NotificationType{
	store.Favouriting: store.NotifyPendingFavourite, store.Replying: store.NotifyPendingReply, store.Reblogging: store.NotifyPendingReblog,
}

// addInteractionRequest stores that an interaction of actor with a local status waits for the author, who is notified, or authorizes it, if
// the policy allows it.
func (s *Service) addInteractionRequest(ctx context.Context, tx *store.Tx, actor *store.Account, st *store.Status, q store.InteractionRequest, a approval) error {
	q.AuthorID, q.StatusID, q.AccountID, q.Domain = st.AccountID, st.ID, actor.ID, actor.Domain
	if a != needsApproval {
		q.AcceptedAt = new(store.At(s.db.Now()))
		if err := tx.AddInteractionRequest(ctx, &q); err != nil {
			return err
		}
		return addAcceptToOutbox(ctx, tx, &q)
	}
	n, err := tx.PendingInteractionCounts(ctx, &q, maxPendingOfAuthor)
	if err != nil {
		return err
	}
	if n.Author >= maxPendingOfAuthor || n.Account >= maxPendingOfAccount || q.Domain != "" && n.Domain >= maxPendingOfDomain {
		return errTooManyPending
	}
	if err := tx.AddInteractionRequest(ctx, &q); err != nil {
		return err
	}
	about := st
	if q.Interaction == store.Replying {
		if about, err = tx.Status(ctx, *q.InteractingID); err != nil {
			return err
		}
	}
	return notify(ctx, tx, store.Notification{AccountID: st.AccountID, Type: pendingNotifications[q.Interaction], FromID: actor.ID}, about)
}

func addAcceptToOutbox(ctx context.Context, tx *store.Tx, q *store.InteractionRequest) error {
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.InteractionAccepted, ActorID: q.AuthorID, TargetID: q.AccountID, RowID: int64(q.ID)})
}

// rejectInteraction sends the Reject of an interaction of a remote actor with a local status.
func rejectInteraction(ctx context.Context, tx *store.Tx, actor *store.Account, st *store.Status, q store.InteractionRequest) error {
	return tx.AddToOutbox(ctx, store.OutboxEntry{
		Type: store.InteractionRejected, ActorID: st.AccountID, TargetID: actor.ID, StatusID: st.ID, RowID: int64(q.Interaction), Object: q.URI,
		URI: q.RequestURI,
	})
}

// answerAgain answers a repeated request for an interaction that is stored as the first one was: with an Accept if it is authorized.
func answerAgain(ctx context.Context, tx *store.Tx, actor *store.Account, uri *string, request string) error {
	if request == "" || uri == nil {
		return nil
	}
	q, err := tx.InteractionRequestByURI(ctx, *uri)
	if err != nil || q == nil || q.AccountID != actor.ID {
		return err
	}
	q.RequestURI = request
	if err := tx.SaveInteractionRequest(ctx, q); err != nil || q.AcceptedAt == nil {
		return err
	}
	return addAcceptToOutbox(ctx, tx, q)
}

// addReplyRequest is addInteractionRequest for a new reply, if its parent is local and restricts replies, or request asked for an
// authorization.
func (s *Service) addReplyRequest(ctx context.Context, tx *store.Tx, author *store.Account, c *Composed, request string) error {
	if c.Parent == nil || !c.Parent.Local() || c.reply == allowed && request == "" || author.ID == c.Parent.AccountID {
		return nil
	}
	q := store.InteractionRequest{Interaction: store.Replying, InteractingID: &c.ID, URI: c.URI, RequestURI: request}
	return s.addInteractionRequest(ctx, tx, author, c.Parent, q, c.reply)
}

// rejectReply sends the Reject of an incoming reply that the author of its parent forbids. A reply that was fetched gets none.
func (s *Service) rejectReply(ctx context.Context, author *store.Account, r *IncomingStatus, parent store.StatusID) error {
	if r.Fetched {
		return errReplyForbidden
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, parent)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		return rejectInteraction(ctx, tx, author, st, store.InteractionRequest{Interaction: store.Replying, URI: r.URI, RequestURI: r.Request})
	})
	if err != nil {
		return err
	}
	return errReplyForbidden
}

// InteractionRequest returns a request to author.
func (s *Service) InteractionRequest(ctx context.Context, author *store.Account, id store.InteractionRequestID) (*store.InteractionRequest, error) {
	return requestTo(ctx, s.db, author, id)
}

type requestReader interface {
	InteractionRequest(context.Context, store.InteractionRequestID) (*store.InteractionRequest, error)
}

func requestTo(ctx context.Context, r requestReader, author *store.Account, id store.InteractionRequestID) (*store.InteractionRequest, error) {
	q, err := r.InteractionRequest(ctx, id)
	if err == nil && q.AuthorID != author.ID {
		err = errs.ErrRecordNotFound
	}
	return q, err
}

// AuthorizeInteraction approves an interaction with a status of author's: it counts and is shown like any other. Doing so twice is not an
// error.
func (s *Service) AuthorizeInteraction(ctx context.Context, author *store.Account, id store.InteractionRequestID) (*store.InteractionRequest, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.InteractionRequest, error) {
		q, err := requestTo(ctx, tx, author, id)
		if err != nil || q.AcceptedAt != nil {
			return q, err
		}
		q.AcceptedAt = new(store.At(s.db.Now()))
		if err := tx.SaveInteractionRequest(ctx, q); err != nil {
			return nil, err
		}
		if err := removePendingNotification(ctx, tx, q); err != nil {
			return nil, err
		}
		if err := s.fulfil(ctx, tx, q); err != nil {
			return nil, err
		}
		return q, addAcceptToOutbox(ctx, tx, q)
	})
}

// fulfil publishes what a request waited for.
func (s *Service) fulfil(ctx context.Context, tx *store.Tx, q *store.InteractionRequest) error {
	if q.FavouriteID != nil {
		f, err := tx.Favourite(ctx, *q.FavouriteID)
		if f == nil || err != nil {
			return err
		}
		if err := tx.SetFavouritePending(ctx, f, false); err != nil {
			return err
		}
		st, err := tx.Status(ctx, q.StatusID)
		if err != nil {
			return err
		}
		return notify(ctx, tx, store.Notification{AccountID: q.AuthorID, Type: store.NotifyFavourite, FromID: q.AccountID}, st)
	}
	st, err := tx.Status(ctx, *q.InteractingID)
	if err != nil || st.PendingVisibility == nil {
		return err
	}
	return s.publishPending(ctx, tx, st)
}

func removePendingNotification(ctx context.Context, tx *store.Tx, q *store.InteractionRequest) error {
	about := &q.StatusID
	if q.Interaction == store.Replying {
		about = q.InteractingID
	}
	return tx.RemoveNotification(ctx, q.AuthorID, pendingNotifications[q.Interaction], q.AccountID, about)
}

// RejectInteraction removes an interaction with a status of author's, and tells its server. An authorized one is revoked.
func (s *Service) RejectInteraction(ctx context.Context, author *store.Account, id store.InteractionRequestID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		q, err := requestTo(ctx, tx, author, id)
		if err != nil {
			return err
		}
		return dropInteraction(ctx, tx, q)
	})
}

// dropInteraction deletes a request with its interaction, and sends a Reject, or the Delete of the authorization.
func dropInteraction(ctx context.Context, tx *store.Tx, q *store.InteractionRequest) error {
	entry := store.OutboxEntry{
		Type: store.InteractionRejected, ActorID: q.AuthorID, TargetID: q.AccountID, StatusID: q.StatusID, RowID: int64(q.Interaction), Object: q.URI,
		URI: q.RequestURI,
	}
	if q.AcceptedAt != nil {
		entry = store.OutboxEntry{Type: store.InteractionRevoked, ActorID: q.AuthorID, TargetID: q.AccountID, RowID: int64(q.ID)}
	}
	if err := tx.AddToOutbox(ctx, entry); err != nil {
		return err
	}
	if err := removePendingNotification(ctx, tx, q); err != nil {
		return err
	}
	if err := tx.RemoveInteractionRequest(ctx, q.ID); err != nil {
		return err
	}
	if q.FavouriteID != nil {
		if err := tx.RemoveNotification(ctx, q.AuthorID, store.NotifyFavourite, q.AccountID, &q.StatusID); err != nil {
			return err
		}
		_, err := tx.RemoveFavourite(ctx, q.AccountID, q.StatusID)
		return err
	}
	return dropStatus(ctx, tx, *q.InteractingID)
}

// dropStatus deletes a reply or boost that the author of the other status does not want.
func dropStatus(ctx context.Context, tx *store.Tx, id store.StatusID) error {
	st, err := tx.Status(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	return deleteStatus(ctx, tx, st)
}

// rejectPendingInteractions rejects what waits from an account that actor blocks.
func rejectPendingInteractions(ctx context.Context, tx *store.Tx, actor, account *store.Account) error {
	requests, err := tx.InteractionsBetween(ctx, account.ID, actor.ID, maxRejectedAtOnce)
	if err != nil {
		return err
	}
	for _, q := range requests {
		if q.AcceptedAt != nil {
			continue
		}
		if err := dropInteraction(ctx, tx, q); err != nil {
			return err
		}
	}
	return nil
}

// PruneInteractionRequests rejects a batch of requests that wait for longer than maxPendingAge. It returns true if there are more.
func PruneInteractionRequests(tx *store.Tx, ctx context.Context, now time.Time) (bool, error) {
	requests, err := tx.ExpiredInteractions(ctx, now.Add(-maxPendingAge), pendingPruneBatch)
	if err != nil {
		return false, err
	}
	for _, q := range requests {
		if err := dropInteraction(ctx, tx, q); err != nil {
			return false, err
		}
	}
	return len(requests) == pendingPruneBatch, nil
}

// withdrawApproved removes the local favourites, replies and boosts whose authorization a remote author has deleted.
func withdrawApproved(ctx context.Context, tx *store.Tx, author *store.Account, authorization string) error {
	favourites, statuses, err := tx.ApprovedBy(ctx, authorization, maxWaitingStatuses)
	if err != nil {
		return err
	}
	for _, f := range favourites {
		found, _, err := interactionWith(ctx, tx, author, int64(f.ID))
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		if _, err := tx.RemoveFavourite(ctx, f.AccountID, f.StatusID); err != nil {
			return err
		}
	}
	for _, id := range statuses {
		_, st, err := interactionWith(ctx, tx, author, int64(id))
		if err != nil {
			return err
		}
		if st == nil {
			continue
		}
		if err := deleteStatus(ctx, tx, st); err != nil {
			return err
		}
	}
	return nil
}

// SetDefaultInteractionPolicies sets the policies of actor's new statuses, by their visibility.
func (s *Service) SetDefaultInteractionPolicies(ctx context.Context, actor *store.Account, p store.InteractionPolicies) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, actor.ID)
		if err != nil {
			return err
		}
		user.DefaultInteractionPolicies.V = p
		return tx.SaveUser(ctx, user)
	})
}

// setInteractionPolicy changes who may interact with a status, unless p is nil. What exists stays.
func setInteractionPolicy(ctx context.Context, tx *store.Tx, st *store.Status, p *store.InteractionPolicy) (changed bool, err error) {
	if p == nil || *p == st.InteractionPolicy {
		return false, nil
	}
	st.InteractionPolicy = *p
	return true, tx.SetInteractionPolicy(ctx, st.ID, *p)
}

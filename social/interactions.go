package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// Interaction policies: authors say who may favourite, answer and boost a post (the extension interactionPolicy of GoToSocial).

// approval is what an interaction policy says to an account.
type approval int

const (
	forbidden approval = iota
	needsApproval
	allowed
	approved // allowed by a rule that other servers cannot check, so that they need an authorization
)

// relationReader is what the decision about an interaction reads.
type relationReader interface {
	Follows(ctx context.Context, follower, target store.AccountID) (bool, error)
	Recipients(ctx context.Context, ids []store.StatusID) ([]store.Recipient, error)
}

// mayInteract returns whether the policy of a status allows an interaction to an account. Authors may interact with their own statuses, and
// mentioned accounts may always answer, so that nobody can be talked about without a way to respond.
func mayInteract(ctx context.Context, r relationReader, actor store.AccountID, st *store.Status, i store.Interaction) (approval, error) {
	automatic, manual, ok := st.InteractionPolicy.Rule(i)
	if !ok || actor == st.AccountID {
		return allowed, nil
	}
	if i == store.Replying {
		automatic |= store.MentionedInteractor
	}
	if is, err := isInteractor(ctx, r, actor, st, automatic); is || err != nil {
		return approved, err
	}
	if is, err := isInteractor(ctx, r, actor, st, manual); is || err != nil {
		return needsApproval, err
	}
	return forbidden, nil
}

// isInteractor returns true if an account is in one of the groups.
func isInteractor(ctx context.Context, r relationReader, actor store.AccountID, st *store.Status, groups store.Interactors) (bool, error) {
	if groups&store.AnyInteractor != 0 {
		return true, nil
	}
	if groups&store.FollowerInteractor != 0 {
		if is, err := r.Follows(ctx, actor, st.AccountID); is || err != nil {
			return is, err
		}
	}
	if groups&store.FollowedInteractor != 0 {
		if is, err := r.Follows(ctx, st.AccountID, actor); is || err != nil {
			return is, err
		}
	}
	if groups&store.MentionedInteractor == 0 {
		return false, nil
	}
	if st.InReplyToAccountID != nil && *st.InReplyToAccountID == actor {
		return true, nil
	}
	recipients, err := r.Recipients(ctx, []store.StatusID{st.ID})
	for _, to := range recipients {
		if to.AccountID == actor && to.Mentioned {
			return true, nil
		}
	}
	return false, err
}

// Errors of interactions that the author of a status does not allow.
var forbiddenInteractions = map[store.Interaction]error{
	store.Favouriting: errs.Forbidden("The author of this post does not allow you to favourite it"),
	store.Replying:    errs.Forbidden("The author of this post does not allow you to reply to it"),
	store.Reblogging:  errs.Forbidden("The author of this post does not allow you to boost it"),
}

// checkInteraction returns what the author of a status lets an account do. What is forbidden is an error for local accounts; a remote one is
// sent a Reject. Interactions of remote accounts with remote statuses are a matter of their servers.
func checkInteraction(ctx context.Context, r relationReader, actor *store.Account, st *store.Status, i store.Interaction) (approval, error) {
	if st.InteractionPolicy == 0 || !actor.Local() && !st.Local() {
		return allowed, nil
	}
	a, err := mayInteract(ctx, r, actor.ID, st, i)
	if err == nil && a == forbidden && actor.Local() {
		err = forbiddenInteractions[i]
	}
	return a, err
}

// hold keeps a new reply or boost from others until the author of the other status approves it.
func hold(st *store.Status) {
	v := st.Visibility
	st.PendingVisibility, st.Visibility = &v, store.Direct
}

// ReceiveApproval handles the approval of a favourite, reply or boost by the remote author of its status. It publishes a pending reply or
// boost, with the author's authorization if there is one. An approval that is not needed only adds the authorization.
func (s *Service) ReceiveApproval(ctx context.Context, author *store.Account, id int64, authorization string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		f, st, err := interactionWith(ctx, tx, author, id)
		switch {
		case err != nil:
			return err
		case f != nil:
			if err := tx.SetFavouriteApproval(ctx, f.ID, authorization); err != nil {
				return err
			}
			return tx.SetFavouritePending(ctx, f, false)
		case st == nil:
			return nil
		}
		added, err := setApproval(ctx, tx, st, authorization)
		switch {
		case err != nil:
			return err
		case st.PendingVisibility != nil:
			return s.publishPending(ctx, tx, st)
		case added && st.ReblogOfID == nil:
			return addEditToOutbox(ctx, tx, st) // so that other servers see it, too
		}
		return nil
	})
}

// ReceiveDisapproval removes a pending favourite, reply or boost because the remote author of its status rejects it.
func (s *Service) ReceiveDisapproval(ctx context.Context, author *store.Account, id int64) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		f, st, err := interactionWith(ctx, tx, author, id)
		switch {
		case err != nil:
			return err
		case f != nil && f.Pending:
			_, err := tx.RemoveFavourite(ctx, f.AccountID, f.StatusID)
			return err
		case st != nil && st.PendingVisibility != nil:
			return deleteStatus(ctx, tx, st)
		}
		return nil
	})
}

// interactionWith returns the favourite, or the local reply or boost, with an id, if it concerns a status of author's.
func interactionWith(ctx context.Context, tx *store.Tx, author *store.Account, id int64) (*store.Favourite, *store.Status, error) {
	f, err := tx.Favourite(ctx, store.FavouriteID(id))
	if err != nil {
		return nil, nil, err
	}
	if f != nil {
		st, err := tx.Status(ctx, f.StatusID)
		if err != nil || st.AccountID != author.ID {
			return nil, nil, err
		}
		return f, nil, nil
	}
	st, err := tx.Status(ctx, store.StatusID(id))
	if err != nil || !st.Local() {
		return nil, nil, errs.IgnoreNotFound(err)
	}
	about := st.InReplyToID
	if st.ReblogOfID != nil {
		about = st.ReblogOfID
	}
	if about == nil {
		return nil, nil, nil
	}
	of, err := tx.Status(ctx, *about)
	if err != nil || of.AccountID != author.ID {
		return nil, nil, errs.IgnoreNotFound(err)
	}
	return nil, st, nil
}

// setApproval stores the id of the authorization of a reply or boost. It returns false if there is none, or it is known.
func setApproval(ctx context.Context, tx *store.Tx, st *store.Status, authorization string) (bool, error) {
	if authorization == "" {
		return false, nil
	}
	o, err := tx.RemoteStatus(ctx, st.ID)
	if err != nil || o != nil && o.Approval == authorization {
		return false, err
	}
	if o == nil {
		o = &store.RemoteStatus{StatusID: st.ID}
	}
	o.Approval = authorization
	return true, tx.SaveRemoteStatus(ctx, o)
}

// publishPending publishes an approved reply or boost, as if it were new.
func (s *Service) publishPending(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if err := tx.Approve(ctx, st); err != nil {
		return err
	}
	if st.ReblogOfID != nil {
		original, err := tx.Status(ctx, *st.ReblogOfID)
		if err != nil {
			return err
		}
		if err := tx.FanOut(ctx, st, original); err != nil {
			return err
		}
		if err := notifyReblogged(ctx, tx, st, original); err != nil {
			return err
		}
		tx.Emit(store.StatusPosted{Status: st})
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ReblogCreated, ActorID: st.AccountID, StatusID: st.ID})
	}
	c := &Composed{Status: st}
	var err error
	if c.Recipients, err = tx.Recipients(ctx, []store.StatusID{st.ID}); err != nil {
		return err
	}
	if c.Quoted, err = quotedStatus(ctx, tx, st); err != nil {
		return err
	}
	if err := reindexStatus(ctx, tx, st.ID); err != nil {
		return err
	}
	return s.announceStatus(ctx, tx, c)
}

package social

import (
	"context"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxConversationAccounts is the most accounts of a conversation: the mentions of a status, its author, and the author of its parent.
const maxConversationAccounts = text.MaxMentions + 2

// addToConversations adds a direct status to the conversations of its local participants (extension API 12.3), or only to those in among
// if it is not nil. The recipients of a conversation are set when it is created; later statuses do not change them.
func addToConversations(ctx context.Context, tx *store.Tx, st *store.Status, recipients []store.Recipient, among []store.AccountID) error {
	if st.Visibility != store.Direct {
		return nil
	}
	accounts := []store.AccountID{st.AccountID}
	for _, r := range recipients[:min(len(recipients), maxConversationAccounts-1)] {
		accounts = append(accounts, r.AccountID)
	}
	changed, err := tx.AddToConversations(ctx, st, store.NewAccountSet(accounts...), among)
	if err != nil {
		return err
	}
	for _, c := range changed {
		tx.Emit(c)
	}
	return nil
}

// ErrUnknownConversation is returned for a conversation that does not exist or belongs to another account.
var ErrUnknownConversation = errs.NotFound("Unknown conversation id")

// directReply is the conversation that a draft continues.
type directReply struct {
	conversation *store.VisibleConversation
	recipients   []store.AccountID // without the author
	parent       *store.Status     // the draft's, else the last visible status of the conversation; may be nil
}

// directReplyOf loads the conversation that a draft continues, nil if none.
func directReplyOf(ctx context.Context, r statusReader, author store.AccountID, d Draft) (*directReply, error) {
	if d.InConversation == nil {
		return nil, nil
	}
	in, err := r.DirectConversation(ctx, author, *d.InConversation)
	if errs.IsNotFound(err) {
		return nil, ErrUnknownConversation
	}
	if err != nil {
		return nil, err
	}
	t := &directReply{conversation: in}
	present, err := r.AvailableAccounts(ctx, in.Recipients)
	if err != nil {
		return nil, err
	}
	for _, id := range present {
		if id != author {
			t.recipients = append(t.recipients, id)
		}
	}
	parent := d.InReplyTo
	if parent == 0 && in.VisibleID != nil {
		parent = *in.VisibleID
	}
	if t.parent, err = parentOf(ctx, r, author, parent); err != nil {
		return nil, err
	}
	if t.parent != nil && t.parent.ConversationID != in.ConversationID {
		return nil, errs.Invalid("Validation failed: The status replied to is not in the conversation")
	}
	return t, nil
}

// ReadConversation marks a conversation as read. Reading twice is not an error.
func (s *Service) ReadConversation(ctx context.Context, viewer *store.Account, id store.DirectConversationID) (*store.VisibleConversation, error) {
	return s.changeConversation(ctx, viewer, id, func(tx *store.Tx) error { return tx.ReadConversation(ctx, viewer.ID, id) })
}

// UnreadConversation marks the last status of a conversation as unread. Doing it twice is not an error.
func (s *Service) UnreadConversation(ctx context.Context, viewer *store.Account, id store.DirectConversationID) (*store.VisibleConversation, error) {
	return s.changeConversation(ctx, viewer, id, func(tx *store.Tx) error { return tx.UnreadConversation(ctx, viewer.ID, id) })
}

// SetConversationRecipients replaces the recipients of the owner's conversation by the available ones of accounts, and the owner.
// Conversations of other accounts do not change.
func (s *Service) SetConversationRecipients(ctx context.Context, owner *store.Account, id store.DirectConversationID, accounts []store.AccountID) (*store.VisibleConversation, error) {
	return s.changeConversation(ctx, owner, id, func(tx *store.Tx) error {
		present, err := tx.AvailableAccounts(ctx, accounts)
		if err != nil {
			return err
		}
		recipients := store.NewAccountSet(append(present, owner.ID)...)
		if len(recipients) > maxConversationAccounts {
			return errs.Invalid("Validation failed: Too many recipients: at most %d", maxConversationAccounts)
		}
		return tx.SetConversationRecipients(ctx, owner.ID, id, recipients)
	})
}

// changeConversation applies change to the owner's conversation and returns it as it is then.
func (s *Service) changeConversation(ctx context.Context, owner *store.Account, id store.DirectConversationID, change func(*store.Tx) error) (*store.VisibleConversation, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.VisibleConversation, error) {
		if _, err := tx.DirectConversation(ctx, owner.ID, id); err != nil {
			return nil, err
		}
		if err := change(tx); err != nil {
			return nil, err
		}
		return tx.DirectConversation(ctx, owner.ID, id)
	})
}

// DeleteConversation removes a conversation until a new status creates it again. Statuses and the conversations of others stay.
func (s *Service) DeleteConversation(ctx context.Context, owner *store.Account, id store.DirectConversationID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		removed, err := tx.RemoveConversation(ctx, owner.ID, id)
		if err == nil && !removed {
			err = errs.ErrRecordNotFound
		}
		return err
	})
}

// conversationReadBatch is how many conversations are marked as read in one transaction.
const conversationReadBatch = 1000

// ReadConversations marks all conversations as read. It returns the page of those that were unread.
func (s *Service) ReadConversations(ctx context.Context, viewer *store.Account, p store.Page) (store.Part[*store.VisibleConversation], error) {
	var list store.Part[*store.VisibleConversation]
	first := true
	err := s.inBatches(ctx, conversationReadBatch, func(tx *store.Tx) (_ int64, err error) {
		if first {
			if list, err = tx.UnreadConversations(ctx, viewer.ID, p); err != nil {
				return 0, err
			}
			first = false
		}
		return tx.ReadConversations(ctx, viewer.ID, conversationReadBatch)
	})
	if err != nil {
		return list, err
	}
	for _, c := range list.Rows {
		c.ReadID = c.LastStatusID
	}
	return list, nil
}

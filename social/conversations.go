package social

import (
	"context"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxConversationAccounts is how many people a conversation can have: as many as a post can mention, its author, and the author of what it
// replies to.
const maxConversationAccounts = text.MaxMentions + 2

// addToConversations puts a direct post into the conversations of the local people it concerns (extension API 12.3); if among is not nil,
// only of these. One that is made goes to those whom the post concerns, for good: later posts do not change that.
func addToConversations(ctx context.Context, tx *store.Tx, st *store.Status, recipients []store.Recipient, among []store.AccountID) error {
	if st.Visibility != store.Direct {
		return nil
	}
	parties := []store.AccountID{st.AccountID}
	for _, r := range recipients[:min(len(recipients), maxConversationAccounts-1)] {
		parties = append(parties, r.AccountID)
	}
	changed, err := tx.AddToConversations(ctx, st, store.NewAccountSet(parties...), among)
	if err != nil {
		return err
	}
	for _, c := range changed {
		tx.Emit(c)
	}
	return nil
}

// ErrUnknownConversation is the answer to a conversation that is not there or somebody else's.
var ErrUnknownConversation = errs.NotFound("Unknown conversation id")

// directReply is what a draft continues.
type directReply struct {
	conversation *store.VisibleConversation
	recipients   []store.AccountID // without the author
	parent       *store.Status     // the last post of the conversation, unless the draft says otherwise; nil if none can be seen
}

// directReplyOf reads what conversation a draft goes into, nil if none.
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

// ReadConversation marks one of the reader's conversations as read. Reading it again is no error.
func (s *Service) ReadConversation(ctx context.Context, reader *store.Account, id store.DirectConversationID) (*store.VisibleConversation, error) {
	return s.changeConversation(ctx, reader, id, func(tx *store.Tx) error { return tx.ReadConversation(ctx, reader.ID, id) })
}

// SetConversationRecipients changes whom one of the owner's conversations goes to: to these, as far as they are there, and the owner. Nobody
// else's is changed by that.
func (s *Service) SetConversationRecipients(ctx context.Context, owner *store.Account, id store.DirectConversationID, people []store.AccountID) (*store.VisibleConversation, error) {
	return s.changeConversation(ctx, owner, id, func(tx *store.Tx) error {
		present, err := tx.AvailableAccounts(ctx, people)
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

// changeConversation changes one of the owner's conversations, and returns it as it is then.
func (s *Service) changeConversation(ctx context.Context, owner *store.Account, id store.DirectConversationID, change func(*store.Tx) error) (*store.VisibleConversation, error) {
	var c *store.VisibleConversation
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if c, err = tx.DirectConversation(ctx, owner.ID, id); err != nil {
			return err
		}
		if err = change(tx); err != nil {
			return err
		}
		c, err = tx.DirectConversation(ctx, owner.ID, id)
		return err
	})
	return c, err
}

// DeleteConversation takes one of the owner's conversations away, until a new post makes it again. The posts stay, and so do the
// conversations that others have.
func (s *Service) DeleteConversation(ctx context.Context, owner *store.Account, id store.DirectConversationID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		removed, err := tx.RemoveConversation(ctx, owner.ID, id)
		if err == nil && !removed {
			err = errs.ErrRecordNotFound
		}
		return err
	})
}

// conversationReadBatch is how many conversations are marked as read in one transaction, so that others can write in between.
const conversationReadBatch = 1000

// ReadConversations marks all of the reader's conversations as read. It returns the page of those that had not been.
func (s *Service) ReadConversations(ctx context.Context, reader *store.Account, p store.Page) ([]*store.VisibleConversation, error) {
	var list []*store.VisibleConversation
	first := true
	err := s.inBatches(ctx, conversationReadBatch, func(tx *store.Tx) (_ int64, err error) {
		if first {
			if list, err = tx.UnreadConversations(ctx, reader.ID, p); err != nil {
				return 0, err
			}
			first = false
		}
		return tx.ReadConversations(ctx, reader.ID, conversationReadBatch)
	})
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		c.ReadID = c.LastStatusID
	}
	return list, nil
}

package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// LinkWaitingStatuses links a remote status with replies and quotes that refer to it by uri: its id, or another URI that its server uses
// for it.
func (s *Service) LinkWaitingStatuses(ctx context.Context, uri string, id store.StatusID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		return linkWaitingStatuses(ctx, tx, uri, st)
	})
}

// linkWaitingStatuses links st with the replies and quotes that refer to it by uri. Replies join its thread. A reply that is an ancestor
// of st is skipped, because it would form a cycle.
func linkWaitingStatuses(ctx context.Context, tx *store.Tx, uri string, st *store.Status) error {
	ids, err := tx.RepliesToUnknown(ctx, uri, maxWaitingStatuses)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if isAncestor, err := tx.IsAncestor(ctx, id, st.ID); err != nil {
			return err
		} else if isAncestor {
			continue
		}
		reply, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.LinkReply(ctx, reply, st); err != nil {
			return err
		}
		if err := tx.MergeThreads(ctx, reply.ConversationID, st.ConversationID); err != nil {
			return err
		}
	}
	if ids, err = tx.QuotesOfUnknown(ctx, uri, maxWaitingStatuses); err != nil {
		return err
	}
	for _, id := range ids {
		quote, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		remote, err := tx.RemoteStatus(ctx, id)
		if err != nil {
			return err
		}
		if allowed, err := mayQuote(ctx, tx, quote, st, remote.Authorization); err != nil {
			return err
		} else if !allowed {
			continue
		}
		content := withoutQuoteLink(quote.Content, &store.Status{URL: uri})
		if err := tx.LinkQuote(ctx, quote, st, content); err != nil {
			return err
		}
	}
	return nil
}

// AddMentions adds mentions of remote accounts that were unknown when the status arrived. It notifies nobody.
func (s *Service) AddMentions(ctx context.Context, id store.StatusID, accounts []store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		accounts = slices.DeleteFunc(accounts, func(id store.AccountID) bool { return id == st.AccountID })
		if err := tx.AddMentions(ctx, st, accounts); err != nil {
			return err
		}
		return reindexStatus(ctx, tx, id)
	})
}

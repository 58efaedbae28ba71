package social

import (
	"context"
	"slices"
	"strings"

	"svc/store"
)

// LinkWaitingStatuses has a post from elsewhere linked with what waits for it by an id: its own, or another by which its server knows it.
func (s *Service) LinkWaitingStatuses(ctx context.Context, uri string, id store.StatusID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return ignoreNotFound(err)
		}
		return linkWaitingStatuses(ctx, tx, uri, st)
	})
}

// linkWaitingStatuses links with a post what was here before it and names it by uri: replies go into its thread. What would then answer itself
// is left alone.
func linkWaitingStatuses(ctx context.Context, tx *store.Tx, uri string, st *store.Status) error {
	waiting, err := tx.RepliesToUnknown(ctx, uri, maxWaitingStatuses)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		if above, err := tx.IsAncestor(ctx, id, st.ID); err != nil {
			return err
		} else if above {
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
	if waiting, err = tx.QuotesOfUnknown(ctx, uri, maxWaitingStatuses); err != nil {
		return err
	}
	for _, id := range waiting {
		quote, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		origin, err := tx.RemoteStatus(ctx, id)
		if err != nil {
			return err
		}
		if may, err := mayQuote(ctx, tx, quote, st, origin.Authorization); err != nil {
			return err
		} else if !may {
			continue
		}
		content := strings.TrimSuffix(quote.Content, quoteLink(&store.Status{URL: uri}))
		if err := tx.LinkQuote(ctx, quote, st, content); err != nil {
			return err
		}
	}
	return nil
}

// AddMentions notes that those whom a post from elsewhere mentions are known by now. Nobody is told: they live elsewhere.
func (s *Service) AddMentions(ctx context.Context, id store.StatusID, people []store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return ignoreNotFound(err)
		}
		people = slices.DeleteFunc(people, func(id store.AccountID) bool { return id == st.AccountID })
		if err := tx.AddMentions(ctx, st, people); err != nil {
			return err
		}
		return reindexStatus(ctx, tx, id)
	})
}

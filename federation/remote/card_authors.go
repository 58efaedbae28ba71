package remote

import (
	"context"

	"svc/store"
)

// resolveCardAuthor is the job that looks up the author of a card. An author who cannot be found is looked up again when the card is
// fetched again.
func (a *Actors) resolveCardAuthor(ctx context.Context, w store.ResolveCardAuthor) error {
	author, err := a.Lookup(ctx, w.Creator)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || author.Unavailable {
		a.log.Debug("author of a card not found", "handle", w.Creator, "err", err)
		return nil
	}
	return a.db.Update(ctx, func(tx *store.Tx) error { return tx.SetCardAuthor(ctx, w.CardID, w.Creator, author.ID) })
}

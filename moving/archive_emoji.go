package moving

import (
	"context"
	"errors"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxArchiveEmoji = 500 // that are copied
	emojiPackPrefix = "imported-"
)

// copyEmoji copies the custom emoji of the posts of an archive into a pack of the account. One that cannot be copied is listed as skipped; one whose
// shortcode exists here, which is so after an interruption, is the one that posts show.
func (m *Importer) copyEmoji(ctx context.Context, account *store.Account, a *store.Archive) error {
	list, err := m.db.EmojisOfArchive(ctx, a.ID, maxArchiveEmoji)
	if err != nil {
		return err
	}
	for _, e := range list {
		err := m.CopyEmoji(ctx, emojiPackPrefix+account.Nickname, e.Shortcode, e.URL)
		refusal := (*errs.Error)(nil)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refusal) && refusal.Status == 409:
			continue
		}
		if err := m.social.SkipImported(ctx, a.ID, ":"+e.Shortcode+": "+e.URL, "the picture could not be copied: "+err.Error()); err != nil {
			return err
		}
	}
	return nil
}

package admin

import (
	"context"

	"svc/store"
)

// RecordEmojiChange adds a change of the packs of emoji, which are files, to the moderation log. what continues the sentence "@alice …".
func (s *Service) RecordEmojiChange(ctx context.Context, action, what string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return s.record(ctx, tx, action, what, nil) })
}

package federation

import (
	"context"
	"time"

	"svc/internal/fetch"
	"svc/store"
)

const (
	maxEmojiCopies   = 2 // at a time
	emojiCopyTimeout = 20 * time.Second
)

// copyEmoji copies a custom emoji of another server into a local pack. It is not retried: the policy adds a job for the next post with it.
func (s *Service) copyEmoji(ctx context.Context, w store.CopyEmoji) error {
	if s.emojis.Has(w.Shortcode) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, emojiCopyTimeout)
	defer cancel()
	picture, err := s.client.Get(ctx, w.URL, fetch.Limits{MaxBody: w.MaxBytes})
	if err == nil {
		err = s.emojis.Add(w.Pack, w.Shortcode, picture.Body)
	}
	if err != nil {
		s.log.Info("emoji not copied", "shortcode", w.Shortcode, "url", w.URL, "err", err)
	}
	return nil
}

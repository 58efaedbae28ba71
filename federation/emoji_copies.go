package federation

import (
	"context"
	"log/slog"
	"time"

	"svc/emoji"
	"svc/internal/fetch"
	"svc/store"
)

const emojiCopyTimeout = 20 * time.Second

// emojiCopier copies custom emoji of other servers.
type emojiCopier struct {
	emojis *emoji.Packs
	client *fetch.Client
	log    *slog.Logger
}

// copyEmoji copies a custom emoji of another server into a local pack. It is not retried: the policy adds a job for the next post with it.
func (c *emojiCopier) copyEmoji(ctx context.Context, w store.CopyEmoji) error {
	if c.emojis.Has(w.Shortcode) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, emojiCopyTimeout)
	defer cancel()
	if err := c.emojis.AddRemote(ctx, c.client, w.Pack, w.Shortcode, w.URL, w.MaxBytes); err != nil {
		c.log.Info("emoji not copied", "shortcode", w.Shortcode, "url", w.URL, "err", err)
	}
	return nil
}

package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// Reviews are asked about what people here do before it is done. What they return as an error is the answer. nil: everything is fine.
type Reviews struct {
	// Review looks at a new status, which has no id yet, or at a new version of one. It may change what it is made of: its content,
	// subject and visibility, its end, whether it is sensitive, its attachments, and by Mention whom it mentions. The visibility of a
	// new version stays. It is asked while the database is being written: it waits for nobody.
	Review func(ctx context.Context, author *store.Account, c *Composed) error

	// Inspect looks at attachments that are about to be published. It may take its time.
	Inspect func(ctx context.Context, owner store.AccountID, attachments []store.MediaID) error

	// ReviewMessage looks at a message of a chat, and returns its content and its attachment (nil: it has none) as they are to be. It
	// waits for nobody.
	ReviewMessage func(ctx context.Context, from, to *store.Account, content string, attachment *store.Media) (string, *store.Media, error)

	// ReviewFollow is asked whether somebody may follow somebody. It waits for nobody.
	ReviewFollow func(ctx context.Context, follower, target *store.Account) error
}

// review has a composed status looked at.
func (s *Service) review(ctx context.Context, author *store.Account, c *Composed) error {
	if s.Review == nil {
		return nil
	}
	was := c.Visibility
	if err := s.Review(ctx, author, c); err != nil {
		return err
	}
	if c.ID != 0 {
		c.Visibility = was
	}
	if c.Visibility != was {
		c.updateRecipients()
	}
	c.HasMedia = len(c.Media) > 0
	if c.Text == "" && c.SpoilerText == "" && !c.HasMedia {
		return errs.Invalid("Cannot post an empty status without attachments")
	}
	return nil
}

// inspect has attachments looked at before the transaction.
func (s *Service) inspect(ctx context.Context, owner store.AccountID, attachments []store.MediaID) error {
	if s.Inspect == nil || len(attachments) == 0 {
		return nil
	}
	return s.Inspect(ctx, owner, attachments)
}

// updateRecipients has the recipients follow the visibility: what has become direct is for the author of what it replies to as well, and
// shown to its own author as one of a conversation.
func (c *Composed) updateRecipients() {
	if c.Visibility != store.Direct {
		return
	}
	if c.Parent != nil && c.Parent.AccountID != c.AccountID {
		c.addRecipient(c.Parent.AccountID, true)
	}
	c.addRecipient(c.AccountID, false)
	for i := range c.Recipients {
		c.Recipients[i].Direct = true
	}
}

// AddMention has a new status mention somebody besides those in its text.
func (c *Composed) AddMention(id store.AccountID) {
	i := slices.IndexFunc(c.Recipients, func(r store.Recipient) bool { return r.AccountID == id })
	if i < 0 {
		c.addRecipient(id, true)
		return
	}
	c.Recipients[i].Mentioned = true
}

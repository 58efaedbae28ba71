package social

import (
	"context"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Sizes measures entities in bytes of JSON. Anyone may request them, so local ones are refused before they are stored too large.
type Sizes interface {
	// ComposedSize returns the size of a status that is not published yet, without accounts and other statuses.
	ComposedSize(context.Context, *Composed) (int, error)
	// StatusSize is ComposedSize of a stored status.
	StatusSize(context.Context, store.StatusID) (int, error)
	// ProfileSize returns the size of a local account.
	ProfileSize(*store.Account, *store.User) (int, error)
}

// What texts and rows take in an entity at most. What stays below the limits by these is not measured.
const (
	mostPerAttachment = 1_500 // without its description
	mostPerRecipient  = 5_000 // the URL of an account and its handle
	mostPerTag        = 2_000
	mostPerEmoji      = 500
	mostOtherMembers  = 20_000
)

// checkStatusSize returns an error for a status that is too large as an entity.
func (s *Service) checkStatusSize(ctx context.Context, c *Composed) error {
	if s.Sizes == nil || c.mostBytes() <= store.MaxLocalStatus {
		return nil
	}
	size, err := s.Sizes.ComposedSize(ctx, c)
	if err != nil {
		return err
	}
	return statusTooLarge(size)
}

// mostBytes returns a number of bytes that is not below the size of the entity.
func (c *Composed) mostBytes() int {
	n := 2*len(c.Content) + 2*len(c.SpoilerText)
	for _, m := range c.Media {
		n += len(m.Description)
	}
	emojis := strings.Count(c.Content, ":")
	for _, title := range c.Poll.Titles() {
		n += len(title) + text.MaxEscape
		emojis += strings.Count(title, ":")
	}
	return text.MaxEscape*n + mostPerAttachment*len(c.Media) + mostPerRecipient*len(c.Recipients) + mostPerTag*len(c.Tags) + mostPerEmoji*emojis + mostOtherMembers
}

func statusTooLarge(size int) error {
	if size <= store.MaxLocalStatus {
		return nil
	}
	return errs.Invalid("Validation failed: The post with its attachments would take %d bytes, the limit is %d: shorten its text or the descriptions of its attachments",
		size, store.MaxLocalStatus)
}

// checkEditSize is checkStatusSize for a new version that mentions accounts.
func (s *Service) checkEditSize(ctx context.Context, v *version, mentioned []store.AccountID) error {
	c := *v.Composed
	c.Recipients = nil
	for _, id := range mentioned {
		c.Recipients = append(c.Recipients, store.Recipient{StatusID: c.ID, AccountID: id, Mentioned: true})
	}
	return s.checkStatusSize(ctx, &c)
}

// checkDescriptionSize returns an error if another description makes the status of an attachment too large.
func (s *Service) checkDescriptionSize(ctx context.Context, m *store.Media, description string) error {
	longer := text.JSONSize(description) - text.JSONSize(m.Description)
	if s.Sizes == nil || m.StatusID == nil || longer <= 0 {
		return nil
	}
	size, err := s.Sizes.StatusSize(ctx, *m.StatusID)
	if err != nil {
		return err
	}
	return statusTooLarge(size + longer)
}

// checkProfileSize returns an error for a local account that is too large as an entity.
func (s *Service) checkProfileSize(a *store.Account, u *store.User) error {
	n := len(a.DisplayName) + 2*len(a.Note) + len(u.Note) + len(a.AvatarDescription) + len(a.HeaderDescription)
	for _, f := range a.Fields.V {
		n += len(f.Name) + len(f.Value) + text.MaxEscape
	}
	for _, f := range u.Fields.V {
		n += len(f.Name) + len(f.Value) + text.MaxEscape
	}
	for _, alias := range a.AlsoKnownAs.V {
		n += len(alias)
	}
	for _, host := range a.AttributionDomains.V {
		n += len(host)
	}
	if s.Sizes == nil || text.MaxEscape*n+mostPerEmoji*strings.Count(a.Note+a.DisplayName, ":")+mostOtherMembers <= store.MaxLocalAccount {
		return nil
	}
	size, err := s.Sizes.ProfileSize(a, u)
	if err != nil || size <= store.MaxLocalAccount {
		return err
	}
	return errs.Invalid("Validation failed: The profile would take %d bytes, the limit is %d: shorten the bio, the fields or the aliases", size, store.MaxLocalAccount)
}

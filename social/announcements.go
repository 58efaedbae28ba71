package social

import (
	"context"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// DismissAnnouncement marks an announcement as read. Dismissing twice is not an error. One that has not started is not found.
func (s *Service) DismissAnnouncement(ctx context.Context, actor *store.Account, id store.AnnouncementID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Announcement(ctx, id)
		if err == nil && !a.Started(s.db.Now()) {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return err
		}
		return tx.MarkAnnouncementRead(ctx, actor.ID, a.ID)
	})
}

// maxAnnouncementEmoji is how many different emoji the reactions to an announcement may have.
const maxAnnouncementEmoji = 8

// Errors of reactions to announcements.
var (
	errAnnouncementEmoji  = errs.Invalid("Validation failed: Name is not a recognized emoji")
	errAnnouncementEmojis = errs.Invalid("Validation failed: Limit of different reactions reached")
)

// ReactToAnnouncement adds a reaction to a current announcement. The same one twice is not an error. The emoji is a Unicode one, or a
// local custom one with its URL.
func (s *Service) ReactToAnnouncement(ctx context.Context, actor *store.Account, id store.AnnouncementID, e Emoji) error {
	name, ok := s.announcementEmoji(e)
	if !ok || store.CustomEmoji(name) && e.URL == "" {
		return errAnnouncementEmoji
	}
	return s.updateReactions(ctx, id, func(tx *store.Tx) error {
		counts, err := tx.AnnouncementReactions(ctx, actor.ID, id)
		if err != nil {
			return err
		}
		used := slices.ContainsFunc(counts, func(c store.AnnouncementReactionCount) bool { return c.Emoji == name })
		if !used && len(counts) >= maxAnnouncementEmoji {
			return errAnnouncementEmojis
		}
		_, err = tx.AddAnnouncementReaction(ctx, actor.ID, id, name)
		return err
	})
}

// UnreactToAnnouncement removes a reaction to a current announcement. A missing one is not found.
func (s *Service) UnreactToAnnouncement(ctx context.Context, actor *store.Account, id store.AnnouncementID, e Emoji) error {
	name, ok := s.announcementEmoji(e)
	if !ok {
		return errAnnouncementEmoji
	}
	return s.updateReactions(ctx, id, func(tx *store.Tx) error {
		removed, err := tx.RemoveAnnouncementReaction(ctx, actor.ID, id, name)
		if err == nil && !removed {
			err = errs.ErrRecordNotFound
		}
		return err
	})
}

// updateReactions runs a change of the reactions to an announcement that is current.
func (s *Service) updateReactions(ctx context.Context, id store.AnnouncementID, change func(*store.Tx) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Announcement(ctx, id)
		if err == nil && !a.Current(s.db.Now()) {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return err
		}
		return change(tx)
	})
}

// announcementEmoji returns the name of an emoji in reactions to announcements, which is no custom one of another server.
func (s *Service) announcementEmoji(e Emoji) (string, bool) {
	name, ok := s.ReactionName(e)
	return name, ok && !strings.Contains(name, "@")
}

package social

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// hidesNotification tells whether a filter keeps notifications about a status from somebody. What has no status, such as a follow or a move,
// is never kept from anybody (extension API 21.3).
func hidesNotification(ctx context.Context, tx *store.Tx, reader store.AccountID, about *store.Status) (bool, error) {
	if about.ReblogOfID != nil {
		original, err := tx.Status(ctx, *about.ReblogOfID)
		if err != nil {
			return false, ignoreNotFound(err)
		}
		about = original
	}
	set, err := tx.FilterSet(ctx, reader)
	if err != nil {
		return false, err
	}
	more, err := extraTexts(ctx, tx, about)
	if err != nil {
		return false, err
	}
	words := func() *text.Folded { return about.FilterText(text.HTMLToText(about.Content), more) }
	return store.HiddenIn(set.Match(about.ID, about.AccountID, words), store.FilterNotifications), nil
}

// extraTexts returns what is to be read in a status beside its text: what is said of its attachments, and the options of its poll.
func extraTexts(ctx context.Context, tx *store.Tx, st *store.Status) ([]string, error) {
	var words []string
	if st.HasMedia {
		media, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
		if err != nil {
			return nil, err
		}
		for _, m := range media {
			words = append(words, m.Description)
		}
	}
	if st.HasPoll {
		poll, err := tx.PollOf(ctx, st.ID)
		if poll == nil || err != nil {
			return words, err
		}
		words = append(words, poll.Titles()...)
	}
	return words, nil
}

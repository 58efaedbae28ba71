package social

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// indexStatus has a new status found by its words.
func indexStatus(tx *store.Tx, c *Composed) {
	tx.IndexStatus(c.Status, searchFields(c.Status, c.Media, c.Poll, c.MentionedAccounts))
}

// reindexStatus has a status found by the words that it has now.
func reindexStatus(ctx context.Context, tx *store.Tx, id store.StatusID) error {
	st, err := tx.Status(ctx, id)
	if err != nil {
		return err
	}
	media, err := tx.MediaOf(ctx, []store.StatusID{id})
	if err != nil {
		return err
	}
	recipients, err := tx.Recipients(ctx, []store.StatusID{id})
	if err != nil {
		return err
	}
	var mentioned []store.AccountID
	for _, r := range recipients {
		if r.Mentioned {
			mentioned = append(mentioned, r.AccountID)
		}
	}
	people, err := tx.Accounts(ctx, mentioned)
	if err != nil {
		return err
	}
	var poll *store.Poll
	if st.HasPoll {
		if poll, err = tx.PollOf(ctx, id); err != nil {
			return err
		}
	}
	tx.IndexStatus(st, searchFields(st, media, poll, people))
	return nil
}

// searchFields returns what a status is found by: its text, in which the mentioned have their whole handles, its subject, the
// descriptions of its attachments, and the options of its poll (nil: none).
func searchFields(st *store.Status, media []*store.Media, poll *store.Poll, people []*store.Account) *store.SearchDocument {
	mentions := make([]text.Account, 0, len(people))
	for _, a := range people {
		mentions = append(mentions, text.Account{Acct: a.Acct(), URL: a.URL})
	}
	x := &store.SearchDocument{
		Texts:   []string{text.HTMLToText(st.Content, mentions...), st.SpoilerText},
		HasLink: text.HasLink(st.Content),
	}
	if poll != nil {
		x.Texts = append(x.Texts, poll.Titles()...)
	}
	for _, m := range media {
		x.Texts = append(x.Texts, m.Description)
		x.Attachments = append(x.Attachments, m.Type)
	}
	return x
}

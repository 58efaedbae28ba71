package social

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// indexStatus adds a new status to the search index.
func indexStatus(tx *store.Tx, c *Composed) {
	tx.IndexStatus(c.Status, searchFields(c.Status, c.Media, c.Poll, c.MentionedAccounts))
}

// reindexStatus updates the search index after a change of a status.
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
	accounts, err := tx.Accounts(ctx, mentioned)
	if err != nil {
		return err
	}
	var poll *store.Poll
	if st.HasPoll {
		if poll, err = tx.PollOf(ctx, id); err != nil {
			return err
		}
	}
	tx.IndexStatus(st, searchFields(st, media, poll, accounts))
	return nil
}

// IndexStatus indexes a status that svc takeover has stored.
func IndexStatus(ctx context.Context, tx *store.Tx, id store.StatusID) error {
	return reindexStatus(ctx, tx, id)
}

// searchFields returns the searchable content of a status: its text with full handles of mentioned accounts, its subject, descriptions of
// attachments, and poll options.
func searchFields(st *store.Status, media []*store.Media, poll *store.Poll, accounts []*store.Account) *store.SearchDocument {
	mentions := make([]text.Account, 0, len(accounts))
	for _, a := range accounts {
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

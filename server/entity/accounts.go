package entity

import (
	"bytes"
	"context"
	"strconv"

	"svc/store"
)

// renderAccounts returns what of the accounts everybody sees. What is not kept is rendered; where nothing but the counters has
// changed, which each new post does, they are put into what was rendered before.
func (b *Builder) renderAccounts(ctx context.Context, ids []store.AccountID) (map[store.AccountID]*renderedAccount, error) {
	found := make(map[store.AccountID]*renderedAccount, len(ids))
	missing, generation := b.accounts.GetAll(ids, found)
	if len(missing) == 0 {
		return found, nil
	}
	profiles := make(map[store.AccountID]*renderedAccount, len(missing))
	unknown, profileGeneration := b.profiles.GetAll(missing, profiles)
	if len(profiles) > 0 {
		if err := b.loadCounters(ctx, profiles, found); err != nil {
			return nil, err
		}
	}
	if len(unknown) > 0 {
		if err := b.renderAccountRows(ctx, unknown, found, profileGeneration); err != nil {
			return nil, err
		}
	}
	for _, id := range missing {
		if a := found[id]; a != nil && !a.hasMoved {
			b.accounts.Put(id, a, generation)
		}
	}
	return found, nil
}

// renderAccountRows renders accounts from their rows.
func (b *Builder) renderAccountRows(ctx context.Context, ids []store.AccountID, found map[store.AccountID]*renderedAccount, generation uint64) error {
	rows, err := b.db.Accounts(ctx, ids)
	if err != nil {
		return err
	}
	users, err := b.db.Users(ctx, ids)
	if err != nil {
		return err
	}
	userOf := byID(users, func(u *store.User) store.AccountID { return u.AccountID })
	moved, err := b.movedTo(ctx, rows...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		members, extension := b.sharedAccount(row, userOf[row.ID])
		members.Moved = moved[row.ID]
		a, err := b.renderAccount(row, members, extension)
		if err != nil {
			return err
		}
		if u := userOf[row.ID]; u != nil {
			a.noRichText = u.NoRichText
		}
		found[row.ID] = a
		if !a.hasMoved {
			b.profiles.Put(row.ID, a, generation)
		}
	}
	return nil
}

// updateCounters puts new counters into what is kept of an account: each post brings some, and its author is shown with it.
func (b *Builder) updateCounters(id store.AccountID, c store.AccountCounters) {
	b.accounts.Drop(id)
	generation := b.accounts.Generation()
	profile := make(map[store.AccountID]*renderedAccount, 1)
	b.profiles.GetAll([]store.AccountID{id}, profile)
	if a := profile[id]; a != nil {
		b.accounts.Put(id, a.withCounters(c), generation)
	}
}

// loadCounters renders accounts with the counters of today.
func (b *Builder) loadCounters(ctx context.Context, profiles, found map[store.AccountID]*renderedAccount) error {
	ids := make([]store.AccountID, 0, len(profiles))
	for id := range profiles {
		ids = append(ids, id)
	}
	counters, err := b.db.AccountCounters(ctx, ids)
	if err != nil {
		return err
	}
	for id, c := range counters {
		found[id] = profiles[id].withCounters(c)
	}
	return nil
}

// hiddenCounts are the counters that an account shows to nobody but itself.
type hiddenCounts struct{ followers, following bool }

// The members from which on, and up to which, an account has its counters. No text can contain them: its quotes are escaped.
var firstCounter, afterCounters = []byte(`,"followers_count":`), []byte(`,"emojis":`)

// withCounters returns the account with other counters.
func (a *renderedAccount) withCounters(c store.AccountCounters) *renderedAccount {
	from := bytes.Index(a.json, firstCounter)
	to := from + bytes.Index(a.json[from:], afterCounters)
	b := make([]byte, 0, len(a.json)+16)
	b = append(append(b, a.json[:from]...), firstCounter...)
	b = appendCount(b, c.Followers, a.hidden.followers)
	b = appendCount(append(b, `,"following_count":`...), c.Following, a.hidden.following)
	b = appendCount(append(b, `,"statuses_count":`...), c.Statuses, false)
	b = append(b, `,"last_status_at":`...)
	if day := dayOf(c.LastStatusAt); day != nil {
		b = append(append(append(b, '"'), *day...), '"')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, a.json[to:]...)
	return &renderedAccount{id: a.id, json: b, noRichText: a.noRichText, unavailable: a.unavailable, counters: c, hidden: a.hidden}
}

func appendCount(dst []byte, n int, hidden bool) []byte {
	if hidden {
		n = 0
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// dayOf returns the day of a time, which is all that an account tells of its last post.
func dayOf(t *store.Time) *string {
	if t == nil {
		return nil
	}
	day := t.Time().Format("2006-01-02")
	return &day
}

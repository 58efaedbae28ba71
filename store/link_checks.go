package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"svc/internal/text"
)

const (
	linkCheckInterval = 7 * 24 * time.Hour
	maxCheckedLinks   = 10 // of an account: a remote one may have more fields than a local one
)

// LinkCheck is when the pages in the fields of an account are checked for a link back.
type LinkCheck struct {
	AccountID AccountID
	DueAt     Time
}

// CheckLinks is the recurring job that enqueues the checks that are due.
type CheckLinks struct{}

func (CheckLinks) Kind() JobKind {
	return JobKind{Name: "check_links", Every: time.Hour, Timeout: 10 * time.Minute}
}

// CheckLink fetches the page in a field of an account and looks for a link back.
type CheckLink struct {
	AccountID AccountID `json:"account_id"`
	URL       string    `json:"url"`
	Position  int       `json:"position"`           // of the field: a field has one job at a time
	Attempts  int       `json:"attempts,omitempty"` // that did not reach the page
}

func (j CheckLink) Kind() JobKind { return JobKind{Name: "check_link", Server: serverAt(j.URL)} }

func (j CheckLink) key() string { return fmt.Sprintf("link:%d:%d", j.AccountID, j.Position) }

// Link returns the URL of the page that can be verified: the value is HTML that is nothing but a link to it. It is "" for other values.
func (f *Field) Link() string { return text.OnlyLink(f.Value) }

// KeepVerified marks those fields as verified that were among the earlier ones of the account with the same value.
func KeepVerified(fields, earlier []Field) {
	for i := range fields {
		fields[i].VerifiedAt = nil
		for _, f := range earlier {
			if f.Value == fields[i].Value {
				fields[i].VerifiedAt = f.VerifiedAt
			}
		}
	}
}

// EnqueueLinkChecks enqueues checks of the links of an account that are not verified, and has all of them checked every week.
func (tx *Tx) EnqueueLinkChecks(ctx context.Context, a *Account) error {
	n, err := tx.enqueueLinkChecks(ctx, a, func(f *Field) bool { return f.VerifiedAt == nil }, 0)
	if n == 0 || err != nil {
		return err
	}
	return tx.exec(ctx, "add link check", `
		INSERT INTO link_checks (account_id, due_at)
		VALUES (?, ?)
		ON CONFLICT (account_id) DO NOTHING`, a.ID, At(tx.db.now().Add(linkCheckInterval)))
}

// EnqueueFirstLinkChecks is EnqueueLinkChecks for an account whose links are not checked every week yet.
func (tx *Tx) EnqueueFirstLinkChecks(ctx context.Context, id AccountID) error {
	known, err := one[Time](ctx, tx.reader, "link check", `SELECT due_at FROM link_checks WHERE account_id = ?`, id)
	if known != nil || err != nil {
		return err
	}
	a, err := tx.Account(ctx, id)
	if err != nil {
		return err
	}
	return tx.EnqueueLinkChecks(ctx, a)
}

// EnqueueWeeklyLinkChecks enqueues checks of all links of an account at random times within spread, and the next ones in a week. It returns false
// if the account has no links.
func (tx *Tx) EnqueueWeeklyLinkChecks(ctx context.Context, a *Account, spread time.Duration) (bool, error) {
	n, err := tx.enqueueLinkChecks(ctx, a, func(*Field) bool { return true }, spread)
	if n == 0 || err != nil {
		return false, err
	}
	return true, tx.PostponeLinkChecks(ctx, a.ID)
}

// enqueueLinkChecks enqueues checks of the links in some fields, and returns how many links that can be checked the account has.
func (tx *Tx) enqueueLinkChecks(ctx context.Context, a *Account, which func(*Field) bool, spread time.Duration) (n int, err error) {
	for i := range a.Fields.V {
		f := &a.Fields.V[i]
		job := CheckLink{AccountID: a.ID, URL: f.Link(), Position: i}
		if job.URL == "" || n == maxCheckedLinks {
			continue
		}
		if n++; !which(f) {
			continue
		}
		if err := tx.EnqueueUnique(ctx, tx.db.now().Add(randomUpTo(spread)), job.key(), job); err != nil {
			return n, err
		}
	}
	return n, nil
}

// randomUpTo returns a random duration below max, 0 if that is 0.
func randomUpTo(max time.Duration) time.Duration {
	if max == 0 {
		return 0
	}
	return rand.N(max)
}

// RetryLinkCheck enqueues a check again for a later time.
func (tx *Tx) RetryLinkCheck(ctx context.Context, j CheckLink, after time.Duration) error {
	return tx.EnqueueUnique(ctx, tx.db.now().Add(after), j.key(), j)
}

// DueLinkChecks returns accounts whose links are due to be checked, those that are due longest first.
func (r reader) DueLinkChecks(ctx context.Context, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "due link checks", `
		SELECT account_id
		FROM link_checks
		WHERE due_at <= ?
		ORDER BY due_at
		LIMIT ?`, At(r.db.now()), limit)
}

// PostponeLinkChecks sets the next checks of the links of an account a week from now.
func (tx *Tx) PostponeLinkChecks(ctx context.Context, id AccountID) error {
	return tx.exec(ctx, "postpone link check", `UPDATE link_checks SET due_at = ? WHERE account_id = ?`, At(tx.db.now().Add(linkCheckInterval)), id)
}

// EndLinkChecks ends the weekly checks of the links of an account. None of its fields is verified any more.
func (tx *Tx) EndLinkChecks(ctx context.Context, a *Account) error {
	if err := tx.exec(ctx, "end link check", `DELETE FROM link_checks WHERE account_id = ?`, a.ID); err != nil {
		return err
	}
	return tx.SetVerified(ctx, a, func(*Field) *Time { return nil })
}

// SetVerified sets when the fields of an account were verified. It writes nothing if that was so before.
func (tx *Tx) SetVerified(ctx context.Context, a *Account, at func(*Field) *Time) error {
	changed := false
	for i := range a.Fields.V {
		f := &a.Fields.V[i]
		before := f.VerifiedAt
		f.VerifiedAt = at(f)
		changed = changed || (before == nil) != (f.VerifiedAt == nil) || before != nil && *before != *f.VerifiedAt
	}
	if !changed {
		return nil
	}
	tx.invalidateAccount(a.ID)
	return tx.exec(ctx, "set verified fields", `UPDATE accounts SET fields = ? WHERE id = ?`, a.Fields, a.ID)
}

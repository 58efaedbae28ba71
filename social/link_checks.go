package social

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/internal/preview"
	"svc/store"
)

const (
	linkCheckBatch       = 50        // accounts per transaction
	maxLinkCheckBatches  = 20        // per run of the recurring job
	linkCheckSpread      = time.Hour // within which the checks of a run begin
	verifiedTTL          = 28 * 24 * time.Hour
	maxLinkCheckAttempts = 3 // to reach a page, until the next weekly check
	linkCheckRetryDelay  = 10 * time.Minute
	linkFetchTimeout     = 10 * time.Second
	maxLinkPageBody      = 16 << 20 // bytes of a page; reading stops much earlier
)

// Rate limits for the requests of link checks, redirects included. Those for remote accounts are smaller, so that fields of remote accounts
// cannot direct this server at another one.
var (
	linkChecksPerAccount      = limit.Rate{Count: 20, Window: time.Hour}
	localLinkFetchesPerDomain = limit.Rate{Count: 60, Window: time.Hour}
	linkFetchesPerDomain      = limit.Rate{Count: 10, Window: time.Hour} // for all remote accounts
)

const (
	maxLinkCheckCounters = 10_000         // accounts and domains that the limits count at a time
	maxLinkCheckDelay    = 24 * time.Hour // of a check beyond a limit: a random time, so that many do not come back at once
)

// errLinkCheckLimit is the error of a request beyond a limit.
var errLinkCheckLimit = errors.New("too many link checks")

// linkCheckKey is an account, or a registrable domain of pages for local or for remote accounts.
type linkCheckKey struct {
	account store.AccountID
	domain  string
	local   bool
}

// enqueueLinkChecks is the recurring job that enqueues the checks of links that are due.
func (s *Service) enqueueLinkChecks(ctx context.Context, _ store.CheckLinks) error {
	for range maxLinkCheckBatches {
		n, err := update(ctx, s.db, func(tx *store.Tx) (int, error) { return enqueueDueLinkChecks(ctx, tx) })
		if err != nil || n < linkCheckBatch {
			return err
		}
	}
	return nil
}

// enqueueDueLinkChecks enqueues the checks of a batch of accounts, and returns how many accounts those are.
func enqueueDueLinkChecks(ctx context.Context, tx *store.Tx) (int, error) {
	due, err := tx.DueLinkChecks(ctx, linkCheckBatch)
	if err != nil {
		return 0, err
	}
	accounts, err := tx.Accounts(ctx, due)
	if err != nil {
		return 0, err
	}
	for _, a := range accounts {
		if err := enqueueWeeklyLinkChecks(ctx, tx, a); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// enqueueWeeklyLinkChecks enqueues the checks of an account, or ends them if its links are not checked any more. Those of an unavailable account,
// which may come back, wait.
func enqueueWeeklyLinkChecks(ctx context.Context, tx *store.Tx, a *store.Account) error {
	checked, err := checksLinks(ctx, tx, a)
	if err != nil {
		return err
	}
	if checked && a.Unavailable {
		return tx.PostponeLinkChecks(ctx, a.ID)
	}
	if checked {
		checked, err = tx.EnqueueWeeklyLinkChecks(ctx, a, linkCheckSpread)
	}
	if checked || err != nil {
		return err
	}
	return tx.EndLinkChecks(ctx, a)
}

// linkCheckReader is a database or a transaction.
type linkCheckReader interface {
	HasLocalFollower(context.Context, store.AccountID) (bool, error)
}

// checksLinks returns true if the links of an account are checked: it is local, or a local account follows it.
func checksLinks(ctx context.Context, r linkCheckReader, a *store.Account) (bool, error) {
	if a.DeletedAt != nil {
		return false, nil
	}
	if a.Local() {
		return true, nil
	}
	return r.HasLocalFollower(ctx, a.ID)
}

// checkLink is the job that fetches the page in a field of an account and looks for a link back. A page that cannot be reached is fetched again
// some times; a verified link stays so for verifiedTTL.
func (s *Service) checkLink(ctx context.Context, w store.CheckLink) error {
	a, err := s.checkedAccount(ctx, w)
	if a == nil || err != nil {
		return err
	}
	linked, failure := s.linksBack(ctx, a, w.URL)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failure != nil {
		s.log.Debug("link not checked", "account", a.Acct(), "url", w.URL, "attempt", w.Attempts+1, "err", failure)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		switch {
		case errors.Is(failure, errLinkCheckLimit):
			return tx.RetryLinkCheck(ctx, w, linkChecksPerAccount.Window+rand.N(maxLinkCheckDelay))
		case failure != nil && isTemporary(failure) && w.Attempts+1 < maxLinkCheckAttempts:
			w.Attempts++
			return tx.RetryLinkCheck(ctx, w, linkCheckRetryDelay<<w.Attempts)
		}
		return saveLinkCheck(ctx, tx, w, linked, failure, s.db.Now())
	})
}

// checkedAccount returns the account of a check, nil if it need not be made any more.
func (s *Service) checkedAccount(ctx context.Context, w store.CheckLink) (*store.Account, error) {
	if s.Fetch == nil {
		return nil, nil
	}
	a, err := s.db.Account(ctx, w.AccountID)
	if err != nil {
		return nil, errs.IgnoreNotFound(err)
	}
	if a.Unavailable || !slices.ContainsFunc(a.Fields.V, func(f store.Field) bool { return f.Link() == w.URL }) {
		return nil, nil
	}
	if checked, err := checksLinks(ctx, s.db, a); !checked {
		return nil, err
	}
	return a, nil
}

// saveLinkCheck stores the result of a check in the fields with the URL. failure is why the page could not be reached.
func saveLinkCheck(ctx context.Context, tx *store.Tx, w store.CheckLink, linked bool, failure error, now time.Time) error {
	a, err := tx.Account(ctx, w.AccountID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	return tx.SetVerified(ctx, a, func(f *store.Field) *store.Time {
		switch {
		case f.VerifiedAt == nil && !linked, f.Link() != w.URL:
			return f.VerifiedAt
		case linked:
			return new(store.At(now))
		case failure != nil && f.VerifiedAt.Age(now) < verifiedTTL:
			return f.VerifiedAt
		}
		return nil
	})
}

// linksBack fetches a page and returns true if it links to an account with rel "me". A page that does not exist, or is not HTML, does not. The
// error is that of a page that cannot be reached.
func (s *Service) linksBack(ctx context.Context, a *store.Account, page string) (bool, error) {
	if _, ok := s.linkChecks.Allow(linkCheckKey{account: a.ID}, linkChecksPerAccount, s.db.Now()); !ok {
		return false, errLinkCheckLimit
	}
	resp, err := s.Fetch.Open(ctx, page, fetch.Limits{
		MaxBody: maxLinkPageBody, Timeout: linkFetchTimeout,
		Accept: "text/html, application/xhtml+xml;q=0.9", Accepts: fetch.OneOf("text/html", "application/xhtml+xml"),
		Prepare: func(r *http.Request) error { return s.allowLinkFetch(a, r.URL) },
	})
	var status *fetch.StatusError
	switch {
	case errors.Is(err, fetch.ErrContentType), errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		return false, nil
	case err != nil:
		return false, err
	}
	defer resp.Body.Close()
	isProfile := func(u *url.URL) bool { return isProfileURL(a, u) }
	for target, params := range fetch.Links(resp.Header.Values("Link")) {
		if preview.IsMeLink(params["rel"], target, resp.Request.URL, isProfile) {
			return true, nil
		}
	}
	return preview.HasMeLink(resp.Body, resp.Header.Get("Content-Type"), resp.Request.URL, isProfile)
}

// allowLinkFetch counts a request for the page in a field of an account, and returns errLinkCheckLimit if its domain had enough.
func (s *Service) allowLinkFetch(a *store.Account, u *url.URL) error {
	rate := linkFetchesPerDomain
	if a.Local() {
		rate = localLinkFetchesPerDomain
	}
	key := linkCheckKey{domain: activity.RegisteredDomain(strings.ToLower(u.Host)), local: a.Local()}
	if _, ok := s.linkChecks.Allow(key, rate, s.db.Now()); !ok {
		return errLinkCheckLimit
	}
	return nil
}

// isProfileURL returns true if a URL is that of the profile or of the actor of an account.
func isProfileURL(a *store.Account, u *url.URL) bool {
	return u.User == nil && slices.ContainsFunc([]string{a.URL, a.URI}, func(own string) bool {
		profile, err := url.Parse(own)
		return err == nil && own != "" && preview.IsLinkTo(profile, u)
	})
}

package federation

import (
	"context"
	"net/http"

	"svc/federation/remote"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

// Who has fetched a post hears of its end (federation 1.10, case 47).

// maxFetcherLookups is how many of those who fetch something and are not known are met at a time.
const maxFetcherLookups = 4

// recordFetcher notes that somebody has fetched a status, so that their server hears of its end, unless it does anyway.
func (s *DocumentServer) recordFetcher(ctx context.Context, st *store.Status, signer *store.Account) error {
	if signer == nil || st.ReblogOfID != nil {
		return nil
	}
	actor, err := s.db.Actor(ctx, signer.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	inbox := actor.DeliveryInbox()
	if known, err := s.db.HasFetcher(ctx, st.ID, inbox); known || err != nil {
		return err
	}
	if gets, err := s.db.InboxInAudience(ctx, st, inbox); gets || err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddFetcher(ctx, st.ID, inbox) })
}

// identifyFetcher finds out who has signed a request for an open post, and remembers them. The answer does not wait for that, and while many
// are being met it is not done: who reads has no part in what it costs.
func (s *DocumentServer) identifyFetcher(ctx context.Context, r *http.Request, st *store.Status) {
	if st.ReblogOfID != nil || !httpsig.LooksSigned(r) {
		return
	}
	claims, err := s.verifier.Claims(r, nil, "")
	if err != nil {
		return
	}
	select {
	case s.fetcherLookups <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-s.fetcherLookups }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*remote.KeyFetchTimeout)
		defer cancel()
		err := errs.CatchPanic(func() error {
			signer, err := s.verifier.VerifyRequestClaims(ctx, claims)
			if err == nil {
				err = s.recordFetcher(ctx, st, signer)
			}
			return err
		})
		if err != nil {
			s.log.Debug("who has fetched a post is not known", "status", st.ID, "err", err)
		}
	}()
}

// waitForFetchers waits until all are met who are being met.
func (s *DocumentServer) waitForFetchers() {
	for range cap(s.fetcherLookups) {
		s.fetcherLookups <- struct{}{}
	}
	for range cap(s.fetcherLookups) {
		<-s.fetcherLookups
	}
}

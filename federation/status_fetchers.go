package federation

import (
	"context"
	"net/http"

	"svc/federation/remote"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

// Servers that fetched a status also receive its Delete (federation 1.10, case 47).

// maxFetcherLookups is how many unknown fetchers are identified at a time.
const maxFetcherLookups = 4

// recordFetcher records that a server has fetched a status, unless it receives the Delete anyway.
func (s *DocumentServer) recordFetcher(ctx context.Context, st *store.Status, signer *store.Account) error {
	if signer == nil || st.ReblogOfID != nil {
		return nil
	}
	actor, err := s.db.Actor(ctx, signer.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	inbox := actor.DeliveryInbox()
	if known, err := s.db.HasFetcher(ctx, st.ID, inbox); known || err != nil {
		return err
	}
	if inAudience, err := s.db.InboxInAudience(ctx, st, inbox); inAudience || err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddFetcher(ctx, st.ID, inbox) })
}

// identifyFetcher verifies the signature of a request for a public status in the background, and records the fetcher. It does nothing while
// too many are being identified.
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
			s.log.Debug("fetcher of a status not identified", "status", st.ID, "err", err)
		}
	}()
}

// waitForFetchers waits until no fetcher is being identified.
func (s *DocumentServer) waitForFetchers() {
	for range cap(s.fetcherLookups) {
		s.fetcherLookups <- struct{}{}
	}
	for range cap(s.fetcherLookups) {
		<-s.fetcherLookups
	}
}

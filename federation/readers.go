package federation

import (
	"context"
	"net/http"

	"svc/internal/httpsig"
	"svc/store"
)

// Who has fetched a post hears of its end (federation 1.10, case 47).

// readersMet is how many of those who fetch something and are not known are met at a time.
const readersMet = 4

// remember notes that somebody has fetched a status, so that their server hears of its end, unless it does anyway.
func (s *Service) remember(ctx context.Context, st *store.Status, signer *store.Account) error {
	if signer == nil || st.ReblogOfID != nil {
		return nil
	}
	actor, err := s.db.Actor(ctx, signer.ID)
	if err != nil {
		return ignoreMissing(err)
	}
	inbox := actor.DeliverTo()
	if known, err := s.db.HasReader(ctx, st.ID, inbox); known || err != nil {
		return err
	}
	if gets, err := s.db.DeliveredTo(ctx, st, inbox); gets || err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddReader(ctx, st.ID, inbox) })
}

// meetReader finds out who has signed a request for an open post, and remembers them. The answer does not wait for that, and while many
// are being met it is not done: who reads has no part in what it costs.
func (s *Service) meetReader(ctx context.Context, r *http.Request, st *store.Status) {
	if st.ReblogOfID != nil || !httpsig.Signed(r) {
		return
	}
	claims, err := s.claims(r, nil, "")
	if err != nil {
		return
	}
	select {
	case s.meeting <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-s.meeting }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*keyTime)
		defer cancel()
		err := safely(func() error {
			signer, err := s.callerOf(ctx, claims)
			if err == nil {
				err = s.remember(ctx, st, signer)
			}
			return err
		})
		if err != nil {
			s.log.Debug("who has fetched a post is not known", "status", st.ID, "err", err)
		}
	}()
}

// metReaders waits until all are met who are being met.
func (s *Service) metReaders() {
	for range cap(s.meeting) {
		s.meeting <- struct{}{}
	}
	for range cap(s.meeting) {
		<-s.meeting
	}
}

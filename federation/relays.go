package federation

import (
	"context"
	"sync/atomic"

	"svc/store"
)

// relays are the accounts of those relays whose deliveries are taken.
type relays struct {
	ids atomic.Pointer[map[store.AccountID]bool]
}

func newRelays() *relays { return new(relays) }

// accepted tells whether an account is a relay that we have subscribed to and that has accepted.
func (r *relays) accepted(id store.AccountID) bool {
	ids := r.ids.Load()
	return ids != nil && (*ids)[id]
}

// mayBeRelayed tells whether activities may come by a relay, of actors that are not known.
func (s *Service) mayBeRelayed(context.Context) bool {
	ids := s.relays.ids.Load()
	return ids != nil && len(*ids) > 0
}

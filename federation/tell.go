package federation

import (
	"context"
	"fmt"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// telling is an activity that is to be sent, and to whom.
type telling struct {
	activity activity.Object
	priority int
	status   *store.StatusID // the post that it hands over: if it is gone by then, nothing is sent
	inboxes  []string
	relays   bool           // it goes to relays too
	by       *store.Account // who signs it, in place of whose deed it is
}

// tellers make activities of deeds, by verb. nil is what nobody needs to hear of (any more).
var tellers = map[store.Verb]func(*Service, context.Context, *store.Account, store.Deed) (*telling, error){}

// tell is the job that makes an activity of a deed and queues it for all who are to hear of it.
func (s *Service) tell(ctx context.Context, d store.Deed) error {
	make := tellers[d.Verb]
	if make == nil {
		return fmt.Errorf("no activity for the deed %q", d.Verb)
	}
	actor, err := s.db.Account(ctx, d.ActorID)
	if err != nil {
		return ignoreMissing(err)
	}
	t, err := make(s, ctx, actor, d)
	if err != nil || t == nil {
		return ignoreMissing(err)
	}
	body, err := t.activity.Bytes()
	if err != nil {
		return err
	}
	to := s.destinations(t.inboxes)
	if len(to) == 0 {
		return nil
	}
	a := &store.Activity{ID: d.ID, AccountID: actor.ID, StatusID: t.status, Body: string(body)}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.Dispatch(ctx, a, t.priority, to) })
}

// destinations returns inboxes with their hosts, each once, without those with which there are to be no dealings.
func (s *Service) destinations(inboxes []string) []store.Destination {
	var to []store.Destination
	seen := make(map[string]bool, len(inboxes))
	for _, inbox := range inboxes {
		host, err := s.hostToAsk(inbox)
		if err != nil || seen[inbox] {
			continue
		}
		seen[inbox] = true
		to = append(to, store.Destination{Inbox: inbox, Domain: host})
	}
	return to
}

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}

package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// incoming is an activity that has come, with what is known of it.
type incoming struct {
	activity.Object
	id        string         // its own, or one made of its content where it has none
	verb      string         // its type
	actor     *store.Account // whose deed it is; that is certain by now
	via       *store.Account // the relay that passed it on, nil if it came from its actor
	recipient *store.Account // in whose own inbox it came; nil: in the shared one
	received  store.Time
	body      []byte
	deepest   int // how many more posts may be fetched because of it
}

// Refused says that an activity or a document is not accepted, now and for ever. Its sender is not told: it could do nothing about it.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "refused: " + r.Reason }

func refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// handling is what is done with the activities of a type.
type handling struct {
	do func(*Service, context.Context, *incoming) error

	strangers bool // also from actors that nothing is known of, so that it is worth asking for them (federation 3.6)
	suspended bool // also from actors that are suspended here (federation 5.7)
	repeated  bool // also again by the same id: what it does is known by other ids
}

// handlers are the types of activities that are understood. What others there are is of no interest (federation 4.19).
var handlers = map[string]*handling{}

// handle registers what is done with activities of a type.
func handle(verb string, h handling) { handlers[verb] = &h }

// known returns the type of an activity that is understood, and what is done with it; nil if it is not.
func (s *Service) known(o activity.Object) (string, *handling) {
	for _, v := range o.Values("type") {
		verb, _ := v.(string)
		if h := handlers[verb]; h != nil {
			return verb, h
		}
	}
	return "", nil
}

// Inbound is a request to an inbox.
type Inbound struct {
	*http.Request
	Body      []byte         // raw
	Recipient *store.Account // nil: the shared inbox
}

var (
	errBadDocument = errs.BadRequest("This is no activity")
	errUnsigned    = &errs.Error{Status: http.StatusUnauthorized, Message: "The signature could not be verified"}
	errTryAgain    = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The key of the signature could not be fetched"}
	errFull        = &errs.Error{Status: http.StatusServiceUnavailable, Message: "Too much is waiting to be dealt with"}
	errNoDealings  = errs.Forbidden("There are no dealings with this server")
)

// Receive takes an activity in: what is not obviously of no use is verified and queued, and nil means that it was dealt with or will be
// (federation 3.6). The errors are for the sender: 400 and 403 for what will never be accepted, 401 for a wrong signature, 503 for
// what may be tried again.
func (s *Service) Receive(ctx context.Context, in Inbound) error {
	doc, err := activity.Parse(in.Body)
	if err != nil {
		return errBadDocument
	}
	actor := doc.Ref("actor")
	host, err := activity.Host(actor, s.Trial)
	if err != nil || host == s.Host {
		return errBadDocument
	}
	if s.allowed(host) != nil {
		return errNoDealings
	}
	verb, h := s.known(doc)
	if h == nil {
		return nil // of no interest
	}
	id := doc.ID()
	if id != "" && !h.repeated {
		if heard, err := s.db.Heard(ctx, id); heard || err != nil {
			return err
		}
	}
	if !h.strangers {
		if _, err := s.db.AccountByURI(ctx, actor); errs.IsNotFound(err) && !s.mayBeRelayed(ctx) {
			return nil // nothing of theirs is here that it could change
		} else if err != nil && !errs.IsNotFound(err) {
			return err
		}
	}
	signer, err := s.verify(ctx, in.Request, in.Body, actor)
	switch {
	case errors.Is(err, errGone):
		return s.gone(ctx, verb, doc)
	case err != nil:
		return err
	}
	if signer.URI != actor && !s.relays.accepted(signer.ID) && doc.Object("proof") == nil {
		return s.discard(ctx, doc, host, "signed by "+signer.URI+", who is not its actor")
	}
	if signer.Withheld && !h.suspended {
		return nil
	}
	return s.inbox.add(ctx, doc, in, signer)
}

// discard notes why something was not accepted, for the operator.
func (s *Service) discard(ctx context.Context, doc activity.Object, host, reason string) error {
	s.log.Debug("activity not accepted", "id", doc.ID(), "host", host, "reason", reason)
	r := &store.Refusal{URI: doc.ID(), Object: doc.Ref("object"), Domain: host, Reason: reason}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.Refuse(ctx, r) })
}

// process does what an activity asks for. It can be called again for one that it has done. signer has signed the request that brought
// it, and is its actor unless it is a relay.
func (s *Service) process(ctx context.Context, doc activity.Object, row *store.Received, signer *store.Account) error {
	in := &incoming{Object: doc, received: row.ReceivedAt, body: []byte(row.Body), actor: signer, deepest: fetchBudget}
	var h *handling
	if in.verb, h = s.known(doc); h == nil {
		return nil
	}
	if row.RecipientID != nil {
		recipient, err := s.db.Account(ctx, *row.RecipientID)
		if err != nil {
			return ignoreMissing(err)
		}
		in.recipient = recipient
	}
	if signer.URI != doc.Ref("actor") {
		return s.passedOn(ctx, in)
	}
	return s.perform(ctx, in, h)
}

// perform does an activity whose actor is certain.
func (s *Service) perform(ctx context.Context, in *incoming, h *handling) error {
	if err := s.identify(in); err != nil {
		return err
	}
	if !h.repeated {
		if heard, err := s.db.Heard(ctx, in.id); heard || err != nil {
			return err
		}
	}
	if err := s.refreshIfOld(ctx, in.actor); err != nil {
		return err
	}
	if mayBeUndone[in.verb] {
		if undone, err := s.undone(ctx, in); err != nil {
			return err
		} else if undone {
			return refuse("it was taken back before it came")
		}
	}
	return h.do(s, ctx, in)
}

// identify checks the id of an activity. Some servers send none with some of theirs; then it is made of the content.
func (s *Service) identify(in *incoming) error {
	if in.id = in.ID(); in.id == "" {
		in.id = in.actor.URI + "#" + hashOf(in.body)
		return nil
	}
	host, err := activity.Host(in.id, s.Trial)
	if err != nil {
		return refuse("its id is no address")
	}
	if own, err := activity.Host(in.actor.URI, s.Trial); err != nil || host != own {
		return refuse("its id is of another host than its actor")
	}
	return nil
}

// objectRef returns what an activity is about, by id.
func (in *incoming) objectRef() (string, error) {
	ref := in.Ref("object")
	if ref == "" {
		return "", refuse("it is about nothing")
	}
	return ref, nil
}

// addressed tells whether an activity names an actor among those whom it is for.
func (in *incoming) addressed(uri string) bool {
	for _, key := range []string{"to", "cc"} {
		if slices.Contains(in.Refs(key, maxAddressed), uri) {
			return true
		}
	}
	return false
}

// lasting tells whether an activity that failed of an error would fail of it again.
func lasting(err error) bool {
	var refused *Refused
	if errors.As(err, &refused) || !passing(err) {
		return true
	}
	var e *errs.Error
	return errors.As(err, &e) && e.Status < 500
}

func isLater(err error) bool { return errors.Is(err, errLater) }

// Limits to what one activity can cost.
const (
	fetchBudget  = 100 // posts that are fetched because of it (federation 3.9)
	maxAddressed = 1000
)

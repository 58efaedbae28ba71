package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

// incoming is an activity that has come, with what is known of it.
type incoming struct {
	activity.Object
	id        string         // its own, or one made of its content where it has none
	key       store.HeardKey // of that
	certain   bool           // the id is one that the actor may give
	mark      uint64         // when it was not heard of; 0: nobody has looked
	fresh     bool           // nor that it was taken back
	verb      string         // its type
	actor     *store.Account // whose deed it is; that is certain by now
	via       *store.Account // the relay that passed it on, nil if it came from its actor
	recipient *store.Account // in whose own inbox it came; nil: in the shared one
	received  store.Time
	body      []byte
	boost     store.Visibility // of an Announce: whom the boost is for
	deepest   int              // how many more posts and people may be asked for because of it
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
	brief     bool // it takes so little time that its sender can wait for it
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
	errTryAgain    = tryAgain(time.Minute, "The key of the signature could not be fetched")
	errTryLater    = tryAgain(vainTime, "Too many keys could not be fetched")
	errFull        = tryAgain(time.Minute, "Too much is waiting to be dealt with")
	errNoDealings  = errs.Forbidden("There are no dealings with this server")
)

// tryAgain is the answer to what may be sent again after a while.
func tryAgain(after time.Duration, message string) *errs.Error {
	return &errs.Error{Status: http.StatusServiceUnavailable, Message: message, RetryAfter: after}
}

// Receive takes an activity in: what is not obviously of no use is verified and queued, and nil means that it was dealt with or will be
// (federation 3.6). The errors are for the sender: 400 and 403 for what will never be accepted, 401 for a wrong signature, 503 for
// what may be tried again.
func (s *Service) Receive(ctx context.Context, in Inbound) error {
	err := s.receive(ctx, in)
	var answer *errs.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &answer):
		answer = tryAgain(0, "The activity cannot be taken in at the moment")
		answer.Err = err
	}
	if answer.Status != http.StatusServiceUnavailable || answer.RetryAfter > 0 {
		return err
	}
	if ctx.Err() == nil {
		s.log.Error("an activity cannot be taken in", "err", err) // such as that the disk is full
	}
	again := *answer
	again.RetryAfter = time.Minute
	return &again
}

func (s *Service) receive(ctx context.Context, in Inbound) error {
	doc, err := activity.Parse(in.Body)
	if err != nil {
		return errBadDocument
	}
	id, isText := doc["id"].(string)
	if !isText && doc["id"] != nil || len(doc.Values("actor")) != 1 {
		return errBadDocument
	}
	actor := doc.Ref("actor")
	host, err := activity.Host(actor, s.Trial)
	if err != nil || host == s.Host {
		return errBadDocument
	}
	verb, h := s.known(doc)
	// Deletions by hosts that are rejected are obeyed, unless the policies that judge them say otherwise.
	if verb != "Delete" && s.allowed(host) != nil {
		return errNoDealings
	}
	if h == nil {
		return nil // of no interest
	}
	mark, fresh := s.inbox.recent.now(), false
	if id != "" && !h.repeated {
		key := heardKey(verb, id, in.Body)
		if heard, _ := s.inbox.recent.has(key, 0); heard {
			return nil
		}
		heard := false
		if heard, fresh, err = s.heardOf(ctx, key, verb, actor, id); heard || err != nil {
			return err
		}
	}
	claims, err := s.claims(in.Request, in.Body, actor)
	if !h.strangers {
		idle, err := s.ofNobody(ctx, verb, actor, claims)
		if idle || err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	signer, err := s.verify(ctx, claims, actor)
	switch {
	case errors.Is(err, errGone) && verb == "Delete":
		return s.gone(ctx, verb, doc)
	case errors.Is(err, errGone):
		return s.unverified(actor, err)
	case err != nil:
		return err
	}
	if err := s.Heard(ctx, s.hostOf(signer)); err != nil {
		return err
	}
	if verb != "Delete" && (s.allowed(s.hostOf(signer)) != nil || s.allowed(signer.Domain) != nil) {
		return errNoDealings
	}
	if signer.URI != actor {
		passes, err := s.passesOn(ctx, signer, verb)
		if err != nil {
			return err
		}
		if !passes && doc.Object("proof") == nil {
			return s.discard(ctx, doc, host, "signed by "+signer.URI+", who is not its actor")
		}
	}
	if signer.DeletedAt != nil || signer.Withheld && !h.suspended {
		return nil
	}
	row := &store.Received{SignerID: signer.ID, Body: string(in.Body)}
	if in.Recipient != nil {
		row.RecipientID = &in.Recipient.ID
	}
	return s.inbox.add(ctx, &item{row: row, doc: doc, mark: mark, fresh: fresh}, h, signer)
}

// heardOf tells whether an activity was heard of, and if not whether it is certain that its actor has not taken it back either.
func (s *Service) heardOf(ctx context.Context, key store.HeardKey, verb, actor, id string) (heard, fresh bool, err error) {
	if !mayBeUndone[verb] {
		heard, err = s.db.HeardKey(ctx, key)
		return heard, false, err
	}
	either, err := s.db.HeardEither(ctx, key, undoneKey(actor, id))
	if either && err == nil {
		heard, err = s.db.HeardKey(ctx, key)
	}
	return heard, !either, err
}

// ofNobody tells whether an activity is by an actor who is not known, and of a type that then changes nothing: their keys are not asked
// for. That is so of most deletions of accounts (federation 3.8). A relay may have sent it, whom we know, or one that we have asked to
// accept us may be answering.
func (s *Service) ofNobody(ctx context.Context, verb, actor string, claims []*httpsig.Claim) (bool, error) {
	if _, err := s.senders.actor(ctx, actor); err == nil || !errs.IsNotFound(err) {
		return false, err
	}
	if !s.mayBeRelayed(ctx) {
		return true, nil
	}
	if verb == "Accept" || verb == "Reject" {
		return false, nil
	}
	for _, c := range claims {
		if key, err := s.key(ctx, c.KeyID); key != nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// discard notes why something was not accepted, for the operator.
func (s *Service) discard(ctx context.Context, doc activity.Object, host, reason string) error {
	s.log.Debug("activity not accepted", "id", doc.ID(), "host", host, "reason", reason)
	r := &store.Refusal{URI: doc.ID(), Object: doc.Ref("object"), Domain: host, Reason: reason}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.Refuse(ctx, r) })
}

// process does what an activity asks for. It can be called again for one that it has done. Who has signed the request that brought it is
// its actor, or passes it on.
func (s *Service) process(ctx context.Context, it *item) error {
	signer := it.signer
	in := &incoming{Object: it.doc, received: it.row.ReceivedAt, body: []byte(it.row.Body), actor: signer, deepest: fetchBudget, mark: it.mark, fresh: it.fresh}
	it.in = in
	var h *handling
	if in.verb, h = s.known(it.doc); h == nil {
		return nil
	}
	if signer.DeletedAt != nil || signer.Withheld && !h.suspended {
		return refuse("its sender has no say here")
	}
	if it.row.RecipientID != nil {
		recipient, err := s.db.Account(ctx, *it.row.RecipientID)
		if err != nil {
			return ignoreMissing(err)
		}
		in.recipient = recipient
	}
	if signer.URI != it.doc.Ref("actor") {
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
		if heard, err := s.wasHeard(ctx, in); heard || err != nil {
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
	if err := s.reviewDeed(ctx, in); err != nil {
		return err
	}
	return h.do(s, ctx, in)
}

// wasHeard tells whether an activity was done before, under whatever recipient.
func (s *Service) wasHeard(ctx context.Context, in *incoming) (bool, error) {
	if heard, certain := s.inbox.recent.has(in.key, in.mark); certain {
		return heard, nil
	}
	return s.db.HeardKey(ctx, in.key)
}

// identify checks the id of an activity. Some servers send none with some of theirs; then it is made of the content.
func (s *Service) identify(in *incoming) error {
	if in.id = in.ID(); in.id == "" {
		in.id, in.mark = in.actor.URI+"#"+hashOf(in.body), 0
		in.key = store.NewHeardKey(in.id)
	} else {
		host, err := activity.Host(in.id, s.Trial)
		if err != nil {
			return refuse("its id is no address")
		}
		if host != s.hostOf(in.actor) {
			return refuse("its id is of another host than its actor")
		}
		in.key = heardKey(in.verb, in.id, in.body)
	}
	in.certain = true
	return nil
}

// heardKey returns what is remembered of an activity that came with an id. Some servers have one id for a post, for what made it, and for
// each of its edits and its deletion, or for each time that somebody likes the same again: these are known by what they say, too.
func heardKey(verb, id string, body []byte) store.HeardKey {
	switch {
	case verb == "Update", mayBeUndone[verb]:
		id += " " + hashOf(body)
	case verb == "Delete":
		id += " deleted"
	}
	return store.NewHeardKey(id)
}

// objectRef returns what an activity is about, by id.
func (in *incoming) objectRef() (string, error) {
	ref := in.Ref("object")
	if ref == "" {
		return "", refuse("it is about nothing")
	}
	return ref, nil
}

// lasting tells whether an activity that failed of an error would fail of it again. Of errors that nobody foresaw, such as those of the
// database, that is not certain, and nothing is lost by trying.
func lasting(err error) bool {
	if !passing(err) {
		return true
	}
	var e *errs.Error
	return errors.As(err, &e) && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

func isLater(err error) bool { return errors.Is(err, errLater) }

// Limits to what one activity can cost.
const (
	fetchBudget  = 100 // posts and mentioned people that are asked for because of it (federation 3.9)
	maxAddressed = 1000
)

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
	id              string         // its own, or one made of its content where it has none
	key             store.SeenKey  // of that
	idVerified      bool           // the id is one that the actor may give
	seenMark        uint64         // when it was not heard of; 0: nobody has looked
	notUndone       bool           // nor that it was taken back
	activityType    string         // its type
	actor           *store.Account // whose deed it is; that is certain by now
	forwarder       *store.Account // the relay that passed it on, nil if it came from its actor
	recipient       *store.Account // in whose own inbox it came; nil: in the shared one
	receivedAt      store.Time
	body            []byte
	boostVisibility store.Visibility // of an Announce: whom the boost is for
	fetchBudget     int              // how many more posts and people may be asked for because of it
}

// Refused says that an activity or a document is not accepted, now and for ever. Its sender is not told: it could do nothing about it.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "refused: " + r.Reason }

func Refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// handler is what is done with the activities of a type.
type handler struct {
	handle func(*Service, context.Context, *incoming) error

	unknownActors   bool // also from actors that nothing is known of, so that it is worth asking for them (federation 3.6)
	suspendedActors bool // also from actors that are suspended here (federation 5.7)
	repeatable      bool // also again by the same id: what it does is known by other ids
	fast            bool // it takes so little time that its sender can wait for it
}

// handlers are the types of activities that are understood. What others there are is of no interest (federation 4.19).
var handlers = map[string]*handler{}

// registerHandler registers what is done with activities of a type.
func registerHandler(verb string, h handler) { handlers[verb] = &h }

// handlerFor returns the type of an activity that is understood, and what is done with it; nil if it is not.
func (s *Service) handlerFor(o activity.Object) (string, *handler) {
	for _, v := range o.Values("type") {
		verb, _ := v.(string)
		if h := handlers[verb]; h != nil {
			return verb, h
		}
	}
	return "", nil
}

// InboxRequest is a request to an inbox.
type InboxRequest struct {
	*http.Request
	Body      []byte         // raw
	Recipient *store.Account // nil: the shared inbox
}

var (
	errNotActivity    = errs.BadRequest("This is no activity")
	errUnsigned       = &errs.Error{Status: http.StatusUnauthorized, Message: "The signature could not be verified"}
	errKeyUnavailable = unavailable(time.Minute, "The key of the signature could not be fetched")
	errRetryKeyLater  = unavailable(keyFetchWindow, "Too many keys could not be fetched")
	errInboxFull      = unavailable(time.Minute, "Too much is waiting to be dealt with")
	errHostBlocked    = errs.Forbidden("There are no dealings with this server")
)

// unavailable is the answer to what may be sent again after a while.
func unavailable(after time.Duration, message string) *errs.Error {
	return &errs.Error{Status: http.StatusServiceUnavailable, Message: message, RetryAfter: after}
}

// Receive takes an activity in: what is not obviously of no use is verified and queued, and nil means that it was dealt with or will be
// (federation 3.6). The errors are for the sender: 400 and 403 for what will never be accepted, 401 for a wrong signature, 503 for
// what may be tried again.
func (s *Service) Receive(ctx context.Context, in InboxRequest) error {
	err := s.receive(ctx, in)
	var answer *errs.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &answer):
		answer = unavailable(0, "The activity cannot be taken in at the moment")
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

func (s *Service) receive(ctx context.Context, in InboxRequest) error {
	doc, err := activity.Parse(in.Body)
	if err != nil {
		return errNotActivity
	}
	id, isText := doc["id"].(string)
	if !isText && doc["id"] != nil || len(doc.Values("actor")) != 1 {
		return errNotActivity
	}
	actor := doc.Ref("actor")
	host, err := activity.Host(actor, s.AllowLoopback)
	if err != nil || host == s.Host {
		return errNotActivity
	}
	verb, h := s.handlerFor(doc)
	// Deletions by hosts that are rejected are obeyed, unless the policies that judge them say otherwise.
	if verb != "Delete" && s.checkHostPolicy(host) != nil {
		return errHostBlocked
	}
	if h == nil {
		return nil // of no interest
	}
	mark, fresh := s.inbox.seen.mark(), false
	if id != "" && !h.repeatable {
		key := seenKeyOf(verb, id, in.Body)
		if heard, _ := s.inbox.seen.has(key, 0); heard {
			return nil
		}
		heard := false
		if heard, fresh, err = s.checkSeen(ctx, key, verb, actor, id); heard || err != nil {
			return err
		}
	}
	claims, err := s.Claims(in.Request, in.Body, actor)
	if !h.unknownActors {
		idle, err := s.isUnknownActor(ctx, verb, actor, claims)
		if idle || err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	signer, err := s.VerifyClaims(ctx, claims, actor)
	switch {
	case errors.Is(err, ErrActorGone) && verb == "Delete":
		return s.handleGoneActor(ctx, verb, doc)
	case errors.Is(err, ErrActorGone):
		return s.signatureError(actor, err)
	case err != nil:
		return err
	}
	if err := s.MarkReachable(ctx, s.hostOf(signer)); err != nil {
		return err
	}
	if verb != "Delete" && (s.checkHostPolicy(s.hostOf(signer)) != nil || s.checkHostPolicy(signer.Domain) != nil) {
		return errHostBlocked
	}
	if signer.URI != actor {
		passes, err := s.mayForward(ctx, signer, verb)
		if err != nil {
			return err
		}
		if !passes && doc.Object("proof") == nil {
			return s.recordRefusal(ctx, doc, host, "signed by "+signer.URI+", who is not its actor")
		}
	}
	if signer.DeletedAt != nil || signer.Unavailable && !h.suspendedActors {
		return nil
	}
	row := &store.QueuedActivity{SignerID: signer.ID, Body: string(in.Body)}
	if in.Recipient != nil {
		row.RecipientID = &in.Recipient.ID
	}
	return s.inbox.add(ctx, &item{row: row, doc: doc, seenMark: mark, notUndone: fresh}, h, signer)
}

// checkSeen tells whether an activity was heard of, and if not whether it is certain that its actor has not taken it back either.
func (s *Service) checkSeen(ctx context.Context, key store.SeenKey, verb, actor, id string) (heard, fresh bool, err error) {
	if !undoableTypes[verb] {
		heard, err = s.db.SeenKey(ctx, key)
		return heard, false, err
	}
	either, err := s.db.SeenEither(ctx, key, undoneKey(actor, id))
	if either && err == nil {
		heard, err = s.db.SeenKey(ctx, key)
	}
	return heard, !either, err
}

// isUnknownActor tells whether an activity is by an actor who is not known, and of a type that then changes nothing: their keys are not asked
// for. That is so of most deletions of accounts (federation 3.8). A relay may have sent it, whom we know, or one that we have asked to
// accept us may be answering.
func (s *Service) isUnknownActor(ctx context.Context, verb, actor string, claims []*httpsig.Claim) (bool, error) {
	if _, err := s.accounts.GetByURI(ctx, actor); err == nil || !errs.IsNotFound(err) {
		return false, err
	}
	if !s.hasRelays(ctx) {
		return true, nil
	}
	if verb == "Accept" || verb == "Reject" {
		return false, nil
	}
	for _, c := range claims {
		if key, err := s.StoredKey(ctx, c.KeyID); key != nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// recordRefusal notes why something was not accepted, for the operator.
func (s *Service) recordRefusal(ctx context.Context, doc activity.Object, host, reason string) error {
	s.log.Debug("activity not accepted", "id", doc.ID(), "host", host, "reason", reason)
	r := &store.Refusal{URI: doc.ID(), Object: doc.Ref("object"), Domain: host, Reason: reason}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddRefusal(ctx, r) })
}

// process does what an activity asks for. It can be called again for one that it has done. Who has signed the request that brought it is
// its actor, or passes it on.
func (s *Service) process(ctx context.Context, it *item) error {
	signer := it.signer
	in := &incoming{Object: it.doc, receivedAt: it.row.ReceivedAt, body: []byte(it.row.Body), actor: signer, fetchBudget: maxFetchesPerActivity, seenMark: it.seenMark, notUndone: it.notUndone}
	it.in = in
	var h *handler
	if in.activityType, h = s.handlerFor(it.doc); h == nil {
		return nil
	}
	if signer.DeletedAt != nil || signer.Unavailable && !h.suspendedActors {
		return Refuse("its sender has no say here")
	}
	if it.row.RecipientID != nil {
		recipient, err := s.db.Account(ctx, *it.row.RecipientID)
		if err != nil {
			return ignoreNotFound(err)
		}
		in.recipient = recipient
	}
	if signer.URI != it.doc.Ref("actor") {
		return s.processForwarded(ctx, in)
	}
	return s.perform(ctx, in, h)
}

// perform does an activity whose actor is certain.
func (s *Service) perform(ctx context.Context, in *incoming, h *handler) error {
	if err := s.identify(in); err != nil {
		return err
	}
	if !h.repeatable {
		if heard, err := s.isDuplicate(ctx, in); heard || err != nil {
			return err
		}
	}
	if err := s.RefreshIfStale(ctx, in.actor); err != nil {
		return err
	}
	if undoableTypes[in.activityType] {
		if undone, err := s.wasUndone(ctx, in); err != nil {
			return err
		} else if undone {
			return Refuse("it was taken back before it came")
		}
	}
	if err := s.applyPoliciesToActivity(ctx, in); err != nil {
		return err
	}
	return h.handle(s, ctx, in)
}

// isDuplicate tells whether an activity was done before, under whatever recipient.
func (s *Service) isDuplicate(ctx context.Context, in *incoming) (bool, error) {
	if heard, certain := s.inbox.seen.has(in.key, in.seenMark); certain {
		return heard, nil
	}
	return s.db.SeenKey(ctx, in.key)
}

// identify checks the id of an activity. Some servers send none with some of theirs; then it is made of the content.
func (s *Service) identify(in *incoming) error {
	if in.id = in.ID(); in.id == "" {
		in.id, in.seenMark = in.actor.URI+"#"+contentHash(in.body), 0
		in.key = store.NewSeenKey(in.id)
	} else {
		host, err := activity.Host(in.id, s.AllowLoopback)
		if err != nil {
			return Refuse("its id is no address")
		}
		if host != s.hostOf(in.actor) {
			return Refuse("its id is of another host than its actor")
		}
		in.key = seenKeyOf(in.activityType, in.id, in.body)
	}
	in.idVerified = true
	return nil
}

// seenKeyOf returns what is remembered of an activity that came with an id. Some servers have one id for a post, for what made it, and for
// each of its edits and its deletion, or for each time that somebody likes the same again: these are known by what they say, too.
func seenKeyOf(verb, id string, body []byte) store.SeenKey {
	switch {
	case verb == "Update", undoableTypes[verb]:
		id += " " + contentHash(body)
	case verb == "Delete":
		id += " deleted"
	}
	return store.NewSeenKey(id)
}

// objectRef returns what an activity is about, by id.
func (in *incoming) objectRef() (string, error) {
	ref := in.Ref("object")
	if ref == "" {
		return "", Refuse("it is about nothing")
	}
	return ref, nil
}

// IsFinal tells whether an activity that failed of an error would fail of it again. Of errors that nobody foresaw, such as those of the
// database, that is not certain, and nothing is lost by trying.
func IsFinal(err error) bool {
	if !IsTemporary(err) {
		return true
	}
	var e *errs.Error
	return errors.As(err, &e) && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

func needsFetch(err error) bool { return errors.Is(err, ErrFetchNeeded) }

// Limits to what one activity can cost.
const (
	maxFetchesPerActivity = 100 // posts and mentioned people that are asked for because of it (federation 3.9)
	maxAddressees         = 1000
)

package federation

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Answer is a document that was asked for.
type Answer struct {
	Status  int
	Body    []byte
	Private bool // it depends on who asks
}

// errSignatureNeeded is the answer to who does not say who they are, where documents are shown to those only who do (federation 2.6).
var errSignatureNeeded = errs.Unauthorized("Requests have to be signed here")

// caller finds out who asks for something. open says that everybody may have it: then nobody is asked for keys, and a signature that is
// not understood counts for nothing. Of what is not open strangers get no more than who does not sign: their keys are not asked for
// either, so that they are not more work.
func (s *Service) caller(ctx context.Context, r *http.Request, open bool) (*store.Account, error) {
	if s.AuthorizedFetch {
		signer, err := s.Caller(ctx, r)
		if err == nil && signer == nil {
			err = errSignatureNeeded
		}
		return signer, err
	}
	known := false
	if !open {
		var err error
		if known, err = s.mayBeKnown(ctx, r); err != nil {
			return nil, err
		}
	}
	if !known {
		ctx = withoutAsking(ctx)
	}
	signer, err := s.Caller(ctx, r)
	if errors.Is(err, errLater) || open && !errors.Is(err, errNoDealings) {
		err = nil
	}
	return signer, err
}

// answer makes an answer of a document.
func (s *Service) answer(o activity.Object, signer *store.Account) (*Answer, error) {
	body, err := withContext(o).Bytes()
	if err != nil {
		return nil, err
	}
	return &Answer{Status: http.StatusOK, Body: body, Private: signer != nil || s.AuthorizedFetch}, nil
}

// formerTypes are the types of what tombstones stand for.
var formerTypes = map[string]string{store.WasStatus: "Note", store.WasPoll: "Question", store.WasMessage: "ChatMessage"}

// deleted is the answer of what is there no more.
func (s *Service) deleted(uri, kind string, at store.Time) (*Answer, error) {
	a, err := s.answer(tombstone(uri, kind, at), nil)
	if err == nil {
		a.Status = http.StatusGone
	}
	return a, err
}

// ServeActor answers with a local account's actor: a tombstone if it was deleted. Who signs with a key that cannot be had at the moment is
// given as much as it takes to have dealings with the account: perhaps their server waits for ours to show a key first.
func (s *Service) ServeActor(ctx context.Context, r *http.Request, a *store.Account) (*Answer, error) {
	signer, err := s.caller(ctx, r, true)
	var refusal *errs.Error
	reduced := errors.As(err, &refusal) && refusal.Status == errTryAgain.Status
	if err != nil && !reduced {
		return nil, err
	}
	if answer, err := s.notThere(a); answer != nil || err != nil {
		return answer, err
	}
	if signer != nil {
		if reduced, err = s.db.Blocks(ctx, a.ID, signer.ID); err != nil {
			return nil, err
		}
	}
	build := s.actorDocument
	if reduced {
		build = s.stub
	}
	o, err := build(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.answer(o, signer)
}

// notThere is the answer of an account that is not there to others; nil if it is.
func (s *Service) notThere(a *store.Account) (*Answer, error) {
	switch {
	case !a.Local():
		return nil, errs.ErrRecordNotFound
	case a.DeletedAt != nil:
		return s.deleted(a.URI, a.ActorType, *a.DeletedAt)
	case a.Withheld && !s.IsSelf(a):
		return nil, errs.ErrRecordNotFound
	}
	return nil, nil
}

// ServeSelf answers with one of the actors of the server, by its path. Nobody needs a signature for that: it is by these actors that
// signatures are verified (federation 1.1).
func (s *Service) ServeSelf(ctx context.Context, path string) (*Answer, error) {
	a, err := s.Self(ctx, path)
	if err != nil {
		return nil, err
	}
	o, err := s.actorDocument(ctx, a)
	if err != nil {
		return nil, err
	}
	answer, err := s.answer(o, nil)
	if err == nil {
		answer.Private = false
	}
	return answer, err
}

// Self returns one of the actors of the server, by its path. The one for relays is there only if this server is one, or has
// subscribed to one (federation 1.1).
func (s *Service) Self(ctx context.Context, path string) (*store.Account, error) {
	if path != fetchPath && path != relayPath {
		return nil, errs.ErrRecordNotFound
	}
	if path == relayPath && !s.AllowRelay && !s.relays.asked.Load() {
		return nil, errs.ErrRecordNotFound
	}
	return s.self(ctx, path)
}

// SelfByName is Self by the name of the actor.
func (s *Service) SelfByName(ctx context.Context, name string) (*store.Account, error) {
	switch name {
	case fetchName:
		return s.Self(ctx, fetchPath)
	case relayName:
		return s.Self(ctx, relayPath)
	}
	return nil, errs.ErrRecordNotFound
}

// ServeObject answers with a status. What the caller may not see, and what is only for this server, is not there (federation 1.10).
func (s *Service) ServeObject(ctx context.Context, r *http.Request, id store.StatusID) (*Answer, error) {
	body, generation := s.keptObject(id)
	st, signer, err := s.shown(ctx, r, id)
	if errs.IsNotFound(err) {
		uri := s.BaseURL + "/objects/" + id.String()
		was, failure := s.db.Tombstone(ctx, uri)
		if failure != nil {
			return nil, failure
		}
		if was != nil {
			return s.deleted(uri, formerTypes[was.Kind], was.DeletedAt)
		}
	}
	if err != nil {
		return nil, err
	}
	if st.ReblogOfID != nil {
		return nil, errs.ErrRecordNotFound
	}
	if body != nil {
		if err := s.remember(ctx, st, signer); err != nil {
			return nil, err
		}
		return &Answer{Status: http.StatusOK, Body: body, Private: signer != nil || s.AuthorizedFetch}, nil
	}
	answer, err := s.serveStatus(ctx, st, signer, s.object)
	if err == nil {
		s.keep(st, answer.Body, generation)
	}
	return answer, err
}

func (s *Service) serveStatus(ctx context.Context, st *store.Status, signer *store.Account, build func(*store.Status, *parts) (activity.Object, error)) (*Answer, error) {
	o, err := s.one(ctx, st, build)
	if err != nil {
		return nil, err
	}
	if err := s.remember(ctx, st, signer); err != nil {
		return nil, err
	}
	return s.answer(o, signer)
}

// shown returns a local status or boost that the caller may see, and who that is. Whether it is there or not makes no difference to who
// may not see it.
func (s *Service) shown(ctx context.Context, r *http.Request, id store.StatusID) (*store.Status, *store.Account, error) {
	st, err := s.db.VisibleStatus(ctx, 0, id)
	if err != nil && !errs.IsNotFound(err) {
		return nil, nil, err
	}
	signer, refusal := s.caller(ctx, r, err == nil)
	if refusal != nil {
		return nil, nil, refusal
	}
	if signer != nil {
		st, err = s.db.VisibleStatus(ctx, signer.ID, id)
	}
	if err == nil && (!st.Local() || !st.Visibility.Federated()) {
		err = errs.ErrRecordNotFound
	}
	if err == nil && signer == nil {
		s.meetReader(ctx, r, st)
	}
	return st, signer, err
}

// ServeActivity answers with the activity of an id: that which made a row, as it would be today, or one that is on its way to others.
func (s *Service) ServeActivity(ctx context.Context, r *http.Request, id store.ActivityID) (*Answer, error) {
	st, signer, err := s.shown(ctx, r, store.StatusID(id))
	switch {
	case err == nil && st.ReblogOfID != nil:
		return s.serveStatus(ctx, st, signer, s.announce)
	case err == nil:
		return s.serveStatus(ctx, st, signer, s.create)
	case !errs.IsNotFound(err):
		return nil, err
	}
	o, err := s.deedOf(ctx, id, signer)
	if err == nil {
		return s.answer(o, signer)
	}
	if !errs.IsNotFound(err) {
		return nil, err
	}
	uri := s.activityURI(int64(id))
	for _, was := range []struct{ uri, kind string }{{s.BaseURL + "/objects/" + id.String(), "Create"}, {uri, "Announce"}} {
		gone, failure := s.db.Tombstone(ctx, was.uri)
		if failure != nil {
			return nil, failure
		}
		if gone != nil {
			return s.deleted(uri, was.kind, gone.DeletedAt)
		}
	}
	return nil, err
}

// deedOf returns an activity that is neither a Create nor an Announce, if signer (nil: everybody) may read it.
func (s *Service) deedOf(ctx context.Context, id store.ActivityID, signer *store.Account) (activity.Object, error) {
	f, err := s.db.Favourite(ctx, store.FavouriteID(id))
	if f != nil && err == nil {
		return s.about(ctx, f.StatusID, f.AccountID, signer, func() (activity.Object, error) { return s.likeActivity(ctx, f) })
	}
	if err != nil {
		return nil, err
	}
	reaction, err := s.db.ReactionByID(ctx, store.ReactionID(id))
	if reaction != nil && err == nil {
		return s.about(ctx, reaction.StatusID, reaction.AccountID, signer, func() (activity.Object, error) { return s.reactActivity(ctx, reaction) })
	}
	if err != nil {
		return nil, err
	}
	follow, err := s.db.FollowByID(ctx, store.FollowID(id))
	if follow != nil && err == nil {
		return s.followFor(ctx, follow, signer)
	}
	if err != nil {
		return nil, err
	}
	relay, err := s.db.RelayByFollow(ctx, s.activityURI(int64(id)))
	if relay != nil && err == nil {
		return s.followForRelay(ctx, relay, signer)
	}
	if err != nil {
		return nil, err
	}
	return s.underWay(ctx, id, signer)
}

// about returns an activity about a status for those who may see that and the one who acted.
func (s *Service) about(ctx context.Context, st store.StatusID, actor store.AccountID, signer *store.Account, build func() (activity.Object, error)) (activity.Object, error) {
	var viewer store.AccountID
	if signer != nil {
		viewer = signer.ID
	}
	if _, err := s.db.VisibleStatus(ctx, viewer, st); err != nil {
		return nil, err
	}
	if err := s.isHere(ctx, actor); err != nil {
		return nil, err
	}
	return build()
}

// isHere returns errs.ErrRecordNotFound unless an account lives here and is to be seen.
func (s *Service) isHere(ctx context.Context, id store.AccountID) error {
	a, err := s.db.Account(ctx, id)
	if err == nil && (!a.Local() || a.Withheld) {
		err = errs.ErrRecordNotFound
	}
	return err
}

// followFor returns the Follow of somebody here for the server of who is followed: nobody else has to know.
func (s *Service) followFor(ctx context.Context, f *store.Follow, signer *store.Account) (activity.Object, error) {
	if signer == nil {
		return nil, errs.ErrRecordNotFound
	}
	of, err := s.people(ctx, f.FollowerID, f.TargetID)
	if errors.Is(err, errNotHere) || err == nil && of[f.TargetID].Domain != signer.Domain {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.followActivity(ctx, f)
}

// followForRelay returns the Follow of a relay by this server for the relay's server.
func (s *Service) followForRelay(ctx context.Context, r *store.Relay, signer *store.Account) (activity.Object, error) {
	if signer == nil || !activity.SameHost(signer.URI, r.Inbox, s.Trial) {
		return nil, errs.ErrRecordNotFound
	}
	self, err := s.self(ctx, relayPath)
	if err != nil {
		return nil, err
	}
	object, err := relayTarget(ctx, s.db, r)
	return followOfRelay(r.FollowURI, self, object), err
}

// underWay returns an activity that is on its way to others, if it is addressed to signer or to everybody, and its actor in service.
func (s *Service) underWay(ctx context.Context, id store.ActivityID, signer *store.Account) (activity.Object, error) {
	rows, err := s.db.Activities(ctx, []store.ActivityID{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	actor, err := s.db.Account(ctx, rows[0].AccountID)
	if err != nil {
		return nil, err
	}
	if actor.Withheld && actor.DeletedAt == nil && !s.IsSelf(actor) {
		return nil, errs.ErrRecordNotFound
	}
	o, err := activity.Parse([]byte(rows[0].Body))
	if err != nil {
		return nil, err
	}
	delete(o, "bto")
	delete(o, "bcc")
	audience := append(o.Refs("to", maxAddressed), o.Refs("cc", maxAddressed)...)
	if o.ID() == s.activityURI(int64(id)) &&
		(slices.Contains(audience, activity.Public) || signer != nil && slices.Contains(audience, signer.URI)) {
		return o, nil
	}
	return nil, errs.ErrRecordNotFound
}

// ServeQuoteAuthorization answers with the leave for a post elsewhere to quote one of here.
func (s *Service) ServeQuoteAuthorization(ctx context.Context, r *http.Request, id store.QuoteAuthorizationID) (*Answer, error) {
	if _, err := s.caller(ctx, r, true); err != nil {
		return nil, err
	}
	body, err := s.QuoteAuthorization(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Answer{Status: http.StatusOK, Body: body, Private: s.AuthorizedFetch}, nil
}

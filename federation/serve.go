package federation

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// DocumentServer serves documents to other servers.
type DocumentServer struct {
	Config
	documents      *Documents
	verifier       *remote.Verifier
	relays         *Relays
	local          *LocalObjects
	db             *store.DB
	log            *slog.Logger
	fetcherLookups chan struct{} // a slot for each fetcher that is being identified
}

// Response is a document that was asked for.
type Response struct {
	Status  int
	Body    []byte
	Private bool // it depends on who asks
}

// errSignatureRequired is the answer to who does not say who they are, where documents are shown to those only who do (federation 2.6).
var errSignatureRequired = errs.Unauthorized("Requests have to be signed here")

// authorizedSigner finds out who asks for something. open says that everybody may have it: then nobody is asked for keys, and a signature that is
// not understood counts for nothing. Of what is not open strangers get no more than who does not sign: their keys are not asked for
// either, so that they are not more work.
func (s *DocumentServer) authorizedSigner(ctx context.Context, r *http.Request, open bool) (*store.Account, error) {
	if s.AuthorizedFetch {
		signer, err := s.verifier.VerifyRequest(ctx, r)
		if err == nil && signer == nil {
			err = errSignatureRequired
		}
		return signer, err
	}
	known := false
	if !open {
		var err error
		if known, err = s.verifier.IsKnownSigner(ctx, r); err != nil {
			return nil, err
		}
	}
	if !known {
		ctx = remote.WithoutFetching(ctx)
	}
	signer, err := s.verifier.VerifyRequest(ctx, r)
	if errors.Is(err, remote.ErrFetchNeeded) || open && !errors.Is(err, remote.ErrHostBlocked) {
		err = nil
	}
	return signer, err
}

// respond makes an answer of a document.
func (s *DocumentServer) respond(o activity.Object, signer *store.Account) (*Response, error) {
	body, err := withContext(o).Bytes()
	if err != nil {
		return nil, err
	}
	return &Response{Status: http.StatusOK, Body: body, Private: signer != nil || s.AuthorizedFetch}, nil
}

// formerTypes are the types of what tombstones stand for.
var formerTypes = map[string]string{store.TombstoneStatus: "Note", store.TombstonePoll: "Question", store.TombstoneMessage: "ChatMessage"}

// respondTombstone is the answer of what is there no more.
func (s *DocumentServer) respondTombstone(uri, kind string, at store.Time) (*Response, error) {
	a, err := s.respond(tombstone(uri, kind, at), nil)
	if err == nil {
		a.Status = http.StatusGone
	}
	return a, err
}

// ServeActor answers with a local account's actor: a tombstone if it was deleted. Who signs with a key that cannot be had at the moment is
// given as much as it takes to have dealings with the account: perhaps their server waits for ours to show a key first.
func (s *DocumentServer) ServeActor(ctx context.Context, r *http.Request, a *store.Account) (*Response, error) {
	signer, err := s.authorizedSigner(ctx, r, true)
	var refusal *errs.Error
	reduced := errors.As(err, &refusal) && refusal.Status == remote.ErrKeyUnavailable.Status
	if err != nil && !reduced {
		return nil, err
	}
	if answer, err := s.unavailableResponse(a); answer != nil || err != nil {
		return answer, err
	}
	if signer != nil {
		if reduced, err = s.db.Blocks(ctx, a.ID, signer.ID); err != nil {
			return nil, err
		}
	}
	build := s.documents.actorDocument
	if reduced {
		build = s.documents.minimalActor
	}
	o, err := build(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.respond(o, signer)
}

// unavailableResponse is the answer of an account that is not there to others; nil if it is.
func (s *DocumentServer) unavailableResponse(a *store.Account) (*Response, error) {
	switch {
	case !a.Local():
		return nil, errs.ErrRecordNotFound
	case a.DeletedAt != nil:
		return s.respondTombstone(a.URI, a.ActorType, *a.DeletedAt)
	case a.Unavailable && !s.documents.IsServerActor(a):
		return nil, errs.ErrRecordNotFound
	}
	return nil, nil
}

// ServeServerActor answers with one of the actors of the server, by its path. Nobody needs a signature for that: it is by these actors that
// signatures are verified (federation 1.1).
func (s *DocumentServer) ServeServerActor(ctx context.Context, path string) (*Response, error) {
	a, err := s.ServerActor(ctx, path)
	if err != nil {
		return nil, err
	}
	o, err := s.documents.actorDocument(ctx, a)
	if err != nil {
		return nil, err
	}
	answer, err := s.respond(o, nil)
	if err == nil {
		answer.Private = false
	}
	return answer, err
}

// ServerActor returns one of the actors of the server, by its path. The one for relays is there only if this server is one, or has
// subscribed to one (federation 1.1).
func (s *DocumentServer) ServerActor(ctx context.Context, path string) (*store.Account, error) {
	if path != remote.FetchActorPath && path != relayActorPath {
		return nil, errs.ErrRecordNotFound
	}
	if path == relayActorPath && !s.AllowRelay && !s.relays.subscribed.Load() {
		return nil, errs.ErrRecordNotFound
	}
	return s.local.serverActor(ctx, path)
}

// ServerActorByName is Self by the name of the actor.
func (s *DocumentServer) ServerActorByName(ctx context.Context, name string) (*store.Account, error) {
	switch name {
	case fetchActorName:
		return s.ServerActor(ctx, remote.FetchActorPath)
	case relayActorName:
		return s.ServerActor(ctx, relayActorPath)
	}
	return nil, errs.ErrRecordNotFound
}

// ServeObject answers with a status. What the caller may not see, and what is only for this server, is not there (federation 1.10).
func (s *DocumentServer) ServeObject(ctx context.Context, r *http.Request, id store.StatusID) (*Response, error) {
	body, generation := s.documents.cachedObject(id)
	st, signer, err := s.visibleStatus(ctx, r, id)
	if errs.IsNotFound(err) {
		uri := s.BaseURL + "/objects/" + id.String()
		was, failure := s.db.Tombstone(ctx, uri)
		if failure != nil {
			return nil, failure
		}
		if was != nil {
			return s.respondTombstone(uri, formerTypes[was.Kind], was.DeletedAt)
		}
	}
	if err != nil {
		return nil, err
	}
	if st.ReblogOfID != nil {
		return nil, errs.ErrRecordNotFound
	}
	if body != nil {
		if err := s.recordFetcher(ctx, st, signer); err != nil {
			return nil, err
		}
		return &Response{Status: http.StatusOK, Body: body, Private: signer != nil || s.AuthorizedFetch}, nil
	}
	answer, err := s.serveStatus(ctx, st, signer, s.documents.buildObject)
	if err == nil {
		s.documents.cacheObject(st, answer.Body, generation)
	}
	return answer, err
}

func (s *DocumentServer) serveStatus(ctx context.Context, st *store.Status, signer *store.Account, build func(*store.Status, *documentRows) (activity.Object, error)) (*Response, error) {
	o, err := s.documents.statusDocument(ctx, st, build)
	if err != nil {
		return nil, err
	}
	if err := s.recordFetcher(ctx, st, signer); err != nil {
		return nil, err
	}
	return s.respond(o, signer)
}

// visibleStatus returns a local status or boost that the caller may see, and who that is. Whether it is there or not makes no difference to who
// may not see it.
func (s *DocumentServer) visibleStatus(ctx context.Context, r *http.Request, id store.StatusID) (*store.Status, *store.Account, error) {
	st, err := s.db.VisibleStatus(ctx, 0, id)
	if err != nil && !errs.IsNotFound(err) {
		return nil, nil, err
	}
	signer, refusal := s.authorizedSigner(ctx, r, err == nil)
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
		s.identifyFetcher(ctx, r, st)
	}
	return st, signer, err
}

// ServeActivity answers with the activity of an id: that which made a row, as it would be today, or one that is on its way to others.
func (s *DocumentServer) ServeActivity(ctx context.Context, r *http.Request, id store.ActivityID) (*Response, error) {
	st, signer, err := s.visibleStatus(ctx, r, store.StatusID(id))
	switch {
	case err == nil && st.ReblogOfID != nil:
		return s.serveStatus(ctx, st, signer, s.documents.buildAnnounce)
	case err == nil:
		return s.serveStatus(ctx, st, signer, s.documents.buildCreate)
	case !errs.IsNotFound(err):
		return nil, err
	}
	o, err := s.activityByID(ctx, id, signer)
	if err == nil {
		return s.respond(o, signer)
	}
	if !errs.IsNotFound(err) {
		return nil, err
	}
	uri := s.documents.activityURI(int64(id))
	for _, was := range []struct{ uri, kind string }{{s.BaseURL + "/objects/" + id.String(), "Create"}, {uri, "Announce"}} {
		gone, failure := s.db.Tombstone(ctx, was.uri)
		if failure != nil {
			return nil, failure
		}
		if gone != nil {
			return s.respondTombstone(uri, was.kind, gone.DeletedAt)
		}
	}
	return nil, err
}

// activityByID returns an activity that is neither a Create nor an Announce, if signer (nil: everybody) may read it.
func (s *DocumentServer) activityByID(ctx context.Context, id store.ActivityID, signer *store.Account) (activity.Object, error) {
	f, err := s.db.Favourite(ctx, store.FavouriteID(id))
	if f != nil && err == nil {
		return s.interactionFor(ctx, f.StatusID, f.AccountID, signer, func() (activity.Object, error) { return s.documents.likeActivity(ctx, f) })
	}
	if err != nil {
		return nil, err
	}
	reaction, err := s.db.ReactionByID(ctx, store.ReactionID(id))
	if reaction != nil && err == nil {
		return s.interactionFor(ctx, reaction.StatusID, reaction.AccountID, signer, func() (activity.Object, error) { return s.documents.reactActivity(ctx, reaction) })
	}
	if err != nil {
		return nil, err
	}
	follow, err := s.db.FollowByID(ctx, store.FollowID(id))
	if follow != nil && err == nil {
		return s.followForSigner(ctx, follow, signer)
	}
	if err != nil {
		return nil, err
	}
	relay, err := s.db.RelayByFollow(ctx, s.documents.activityURI(int64(id)))
	if relay != nil && err == nil {
		return s.relayFollowForSigner(ctx, relay, signer)
	}
	if err != nil {
		return nil, err
	}
	return s.queuedActivity(ctx, id, signer)
}

// interactionFor returns an activity about a status for those who may see that and the one who acted.
func (s *DocumentServer) interactionFor(ctx context.Context, st store.StatusID, actor store.AccountID, signer *store.Account, build func() (activity.Object, error)) (activity.Object, error) {
	var viewer store.AccountID
	if signer != nil {
		viewer = signer.ID
	}
	if _, err := s.db.VisibleStatus(ctx, viewer, st); err != nil {
		return nil, err
	}
	if err := s.checkLocal(ctx, actor); err != nil {
		return nil, err
	}
	return build()
}

// checkLocal returns errs.ErrRecordNotFound unless an account lives here and is to be seen.
func (s *DocumentServer) checkLocal(ctx context.Context, id store.AccountID) error {
	a, err := s.db.Account(ctx, id)
	if err == nil && (!a.Local() || a.Unavailable) {
		err = errs.ErrRecordNotFound
	}
	return err
}

// followForSigner returns the Follow of somebody here for the server of who is followed: nobody else has to know.
func (s *DocumentServer) followForSigner(ctx context.Context, f *store.Follow, signer *store.Account) (activity.Object, error) {
	if signer == nil {
		return nil, errs.ErrRecordNotFound
	}
	of, err := s.documents.accountsByID(ctx, f.FollowerID, f.TargetID)
	if errors.Is(err, errNotLocal) || err == nil && of[f.TargetID].Domain != signer.Domain {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.documents.followActivity(ctx, f)
}

// relayFollowForSigner returns the Follow of a relay by this server for the relay's server.
func (s *DocumentServer) relayFollowForSigner(ctx context.Context, r *store.Relay, signer *store.Account) (activity.Object, error) {
	if signer == nil || !activity.SameHost(signer.URI, r.Inbox, s.AllowLoopback) {
		return nil, errs.ErrRecordNotFound
	}
	self, err := s.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return nil, err
	}
	object, err := relayTarget(ctx, s.db, r)
	return relayFollow(r.FollowURI, self, object), err
}

// queuedActivity returns an activity that is on its way to others, if it is addressed to signer or to everybody, and its actor in service.
func (s *DocumentServer) queuedActivity(ctx context.Context, id store.ActivityID, signer *store.Account) (activity.Object, error) {
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
	if actor.Unavailable && actor.DeletedAt == nil && !s.documents.IsServerActor(actor) {
		return nil, errs.ErrRecordNotFound
	}
	o, err := activity.Parse([]byte(rows[0].Body))
	if err != nil {
		return nil, err
	}
	delete(o, "bto")
	delete(o, "bcc")
	audience := append(o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees)...)
	if o.ID() == s.documents.activityURI(int64(id)) &&
		(slices.Contains(audience, activity.Public) || signer != nil && slices.Contains(audience, signer.URI)) {
		return o, nil
	}
	return nil, errs.ErrRecordNotFound
}

// ServeQuoteAuthorization answers with the authorization of a quote.
func (s *DocumentServer) ServeQuoteAuthorization(ctx context.Context, r *http.Request, id store.QuoteAuthorizationID) (*Response, error) {
	if _, err := s.authorizedSigner(ctx, r, true); err != nil {
		return nil, err
	}
	a, err := s.db.QuoteAuthorization(ctx, id)
	if err != nil {
		return nil, err
	}
	st, err := s.db.VisibleStatus(ctx, 0, a.StatusID)
	if err != nil {
		return nil, err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	return s.respond(activity.Object{
		"id": s.documents.quoteAuthorizationURI(a.ID), "type": "QuoteAuthorization", "attributedTo": author.URI,
		"interactingObject": a.QuoteURI, "interactionTarget": st.URI,
	}, nil)
}

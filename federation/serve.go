package federation

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

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
	sync           *remote.FollowerSync
	relays         *Relays
	local          *LocalObjects
	db             *store.DB
	log            *slog.Logger
	fetcherLookups chan struct{} // a slot for each fetcher that is being identified
}

// Response is a document to serve.
type Response struct {
	Status  int
	Body    []byte
	Private bool // depends on the requester
}

// errSignatureRequired is the answer to an unsigned request if federation.authorized_fetch is on (federation 2.6).
var errSignatureRequired = errs.Unauthorized("A signature is required")

// authorizedSigner returns the account that signed a request, nil if it is unsigned. For a public document, keys are not fetched, and a
// signature that cannot be verified is ignored. For others, only keys of known accounts are fetched, so that unknown ones cause no
// requests.
func (s *DocumentServer) authorizedSigner(ctx context.Context, r *http.Request, open bool) (*store.Account, error) {
	if s.Settings.Load().Federation.AuthorizedFetch {
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

func (s *DocumentServer) respond(o activity.Object, signer *store.Account) (*Response, error) {
	body, err := withContext(o).Bytes()
	if err != nil {
		return nil, err
	}
	return &Response{Status: http.StatusOK, Body: body, Private: signer != nil || s.Settings.Load().Federation.AuthorizedFetch}, nil
}

var formerTypes = map[string]string{store.TombstoneStatus: "Note", store.TombstonePoll: "Question", store.TombstoneMessage: "ChatMessage"}

// respondTombstone returns the response for a deleted object (federation 1.10).
func (s *DocumentServer) respondTombstone(uri, kind string, at store.Time) (*Response, error) {
	a, err := s.respond(activity.Object{"id": uri, "type": "Tombstone", "formerType": kind, "deleted": at.String()}, nil)
	if err == nil {
		a.Status = http.StatusGone
	}
	return a, err
}

// ServeActor returns the actor of a local account, or its tombstone. If the key of the signer cannot be fetched now, it returns the minimal
// actor: the other server may be waiting for our key first.
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

// unavailableResponse returns the response for an account that is deleted or unavailable; nil if it is neither.
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

// ServeKey returns the actor of a local account with little but its keys, for an id of a key that is no part of the id of the actor
// (/users/alice/main-key). It needs no signature, because the other server may verify ours.
func (s *DocumentServer) ServeKey(ctx context.Context, a *store.Account) (*Response, error) {
	if answer, err := s.unavailableResponse(a); answer != nil || err != nil {
		return answer, err
	}
	o, err := s.documents.minimalActor(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.respond(o, nil)
}

// ServeMissing answers a request for an id of this server that no row has: with the Tombstone of a deleted object, or an error.
func (s *DocumentServer) ServeMissing(ctx context.Context, r *http.Request, uri string) (*Response, error) {
	if _, err := s.authorizedSigner(ctx, r, false); err != nil {
		return nil, err
	}
	object, isActivity := strings.CutSuffix(uri, "/activity") // as other software names the Create of a status
	for _, of := range []struct {
		uri        string
		isActivity bool
	}{{uri, false}, {object, isActivity}} {
		was, err := s.db.Tombstone(ctx, of.uri)
		switch {
		case err != nil:
			return nil, err
		case was != nil && of.isActivity:
			return s.respondTombstone(uri, "Create", was.DeletedAt)
		case was != nil:
			return s.respondTombstone(uri, formerTypes[was.Kind], was.DeletedAt)
		case !isActivity:
			return nil, errs.ErrRecordNotFound
		}
	}
	return nil, errs.ErrRecordNotFound
}

// ServeServerActor returns a server actor by its path. It needs no signature, because these actors verify ours (federation 1.1).
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

// ServeServerOutbox returns the outbox of a server actor by the actor's path. It is empty: what these actors send is not public.
func (s *DocumentServer) ServeServerOutbox(ctx context.Context, path string) (*Response, error) {
	a, err := s.ServerActor(ctx, path)
	if err != nil {
		return nil, err
	}
	answer, err := s.respond(jsonMap{"id": a.URI + "/outbox", "type": "OrderedCollection", "totalItems": 0, "orderedItems": []any{}}, nil)
	if err == nil {
		answer.Private = false
	}
	return answer, err
}

// ServerActor returns a server actor by its path. The relay actor exists only if this server is a relay or has subscribed to one
// (federation 1.1).
func (s *DocumentServer) ServerActor(ctx context.Context, path string) (*store.Account, error) {
	if path != remote.FetchActorPath && path != relayActorPath {
		return nil, errs.ErrRecordNotFound
	}
	if path == relayActorPath && !s.Settings.Load().Federation.AllowRelay && !s.relays.subscribed.Load() {
		return nil, errs.ErrRecordNotFound
	}
	return s.local.serverActor(ctx, path)
}

// ServerActorByName is ServerActor by the name of the actor.
func (s *DocumentServer) ServerActorByName(ctx context.Context, name string) (*store.Account, error) {
	switch name {
	case fetchActorName:
		return s.ServerActor(ctx, remote.FetchActorPath)
	case relayActorName:
		return s.ServerActor(ctx, relayActorPath)
	}
	return nil, errs.ErrRecordNotFound
}

// ServeObject returns the object of a status. It is not found if the requester may not see it, or if it is local-only (federation 1.10).
func (s *DocumentServer) ServeObject(ctx context.Context, r *http.Request, id store.StatusID) (*Response, error) {
	body, generation := s.documents.cachedObject(id)
	st, signer, err := s.visibleStatus(ctx, r, id)
	if errs.IsNotFound(err) {
		uri := store.NewObjectURI(s.Settings.BaseURL, id)
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
		return &Response{Status: http.StatusOK, Body: body, Private: signer != nil || s.Settings.Load().Federation.AuthorizedFetch}, nil
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

// visibleStatus returns a local status or reblog that the requester may see, and the requester. Without permission, an existing status is
// like a missing one.
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
	if err == nil && (!st.Local() || !st.Federated()) {
		err = errs.ErrRecordNotFound
	}
	if err == nil && signer == nil {
		s.identifyFetcher(ctx, r, st)
	}
	return st, signer, err
}

// ServeActivity returns an activity by id: rebuilt from the row that it made, or one that is queued for delivery.
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
	for _, was := range []struct{ uri, kind string }{{store.NewObjectURI(s.Settings.BaseURL, id), "Create"}, {uri, "Announce"}} {
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

// activityByID returns an activity that is neither a Create nor an Announce, if signer (nil: anybody) may read it.
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

// interactionFor returns an activity about a status, if the signer may see the status and its local actor.
func (s *DocumentServer) interactionFor(ctx context.Context, st store.StatusID, actor store.AccountID, signer *store.Account, build func() (activity.Object, error)) (activity.Object, error) {
	if _, err := s.db.VisibleStatus(ctx, idOf(signer), st); err != nil {
		return nil, err
	}
	if err := s.checkLocal(ctx, actor); err != nil {
		return nil, err
	}
	return build()
}

// checkLocal returns errs.ErrRecordNotFound unless an account is local and available.
func (s *DocumentServer) checkLocal(ctx context.Context, id store.AccountID) error {
	a, err := s.db.Account(ctx, id)
	if err == nil && (!a.Local() || a.Unavailable) {
		err = errs.ErrRecordNotFound
	}
	return err
}

// followForSigner returns the Follow of a local account, only for the host of its target.
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

// relayFollowForSigner returns the Follow of a relay, only for the host of the relay.
func (s *DocumentServer) relayFollowForSigner(ctx context.Context, r *store.Relay, signer *store.Account) (activity.Object, error) {
	if signer == nil || !activity.SameHost(signer.URI, r.Inbox, s.Settings.AllowLoopback) {
		return nil, errs.ErrRecordNotFound
	}
	self, err := s.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return nil, err
	}
	object, err := relayTarget(ctx, s.db, r)
	return relayFollow(r.FollowURI, self, object), err
}

// queuedActivity returns an activity that is queued for delivery, if it is public or addressed to signer, and its actor is available.
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

// ServeQuoteAuthorization returns the authorization of a quote.
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

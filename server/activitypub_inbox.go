package server

import (
	"context"
	"net/http"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/internal/text"
	"svc/server/rest"
	"svc/store"
)

// inboxRoutes are the inboxes (federation 3.6).
func (h *activityPub) inboxRoutes() rest.Routes {
	return rest.Routes{
		"POST /inbox":                 {inboxAccess, h.sharedInbox},
		"POST /users/:nickname/inbox": {inboxAccess, h.ownInbox},
		"POST /relay/inbox":           {inboxAccess, h.relayInbox},
		"POST /internal/fetch/inbox":  {inboxAccess, h.sharedInbox},
	}
}

// inboxAccess is the access of inboxes. Federation verifies the signature.
var inboxAccess = rest.Anonymous.Inbox().Limit("inbox")

var (
	errCompressed  = errs.New(http.StatusUnsupportedMediaType, "Activities must not be compressed")
	errNotSigned   = errs.Unauthorized("Activities must be signed, with their digest")
	errNotActivity = errs.New(http.StatusUnsupportedMediaType, "The content type of activities is "+activity.MediaType)
)

// federationContext returns the context of a request that another server signed, with its network as the source that limits count by.
// A private address gets no source, because it may be a proxy that is not configured, and one sender behind it must not use up the
// limits of all.
func federationContext(r *rest.Request) context.Context {
	if !r.ClientIP().IsGlobalUnicast() || r.ClientIP().IsPrivate() {
		return r.Context()
	}
	return remote.WithSource(r.Context(), r.Network().String())
}

// sharedInbox receives activities for any account.
func (h *activityPub) sharedInbox(r *rest.Request) (any, error) { return h.receive(r, nil) }

// ownInbox receives activities for one account.
func (h *activityPub) ownInbox(r *rest.Request) (any, error) {
	if !h.lookup.federates() {
		return nil, errNoFederation
	}
	a, err := h.localAccount(r)
	switch {
	case err != nil:
		return nil, err
	case a.DeletedAt != nil:
		return nil, errs.New(http.StatusGone, "The account was deleted")
	case a.Unavailable:
		return nil, errs.ErrRecordNotFound
	}
	return h.receive(r, a)
}

// relayInbox receives activities for the relay actor.
func (h *activityPub) relayInbox(r *rest.Request) (any, error) {
	if !h.lookup.federates() {
		return nil, errNoFederation
	}
	if _, err := h.Federation.DocumentServer.ServerActor(r.Context(), "/relay"); err != nil {
		return nil, err
	}
	return h.receive(r, nil)
}

func (h *activityPub) receive(r *rest.Request, recipient *store.Account) (any, error) {
	if !h.lookup.federates() {
		return nil, errNoFederation
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, errCompressed
	}
	media, params, err := text.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !isActivityType(media, params) || media == "application/*" {
		return nil, errNotActivity
	}
	if r.ContentLength > activity.MaxSize {
		return nil, rest.ErrBodyTooLarge
	}
	if !httpsig.LooksSigned(r.Request) {
		return nil, errNotSigned
	}
	body, err := r.ReadJSON(activity.MaxSize)
	if err != nil {
		return nil, err
	}
	if err := h.Federation.Receiver.Receive(federationContext(r), r.Request, body, recipient); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }), nil
}

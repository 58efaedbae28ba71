package server

import (
	"context"
	"io"
	"mime"
	"net/http"

	"svc/federation"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/server/rest"
	"svc/store"
)

// inboxRoutes are where other servers tell of what people do there (federation 3.6).
func (h *activityPub) inboxRoutes() rest.Routes {
	return rest.Routes{
		"POST /inbox":                 {inboxAccess, h.sharedInbox},
		"POST /users/:nickname/inbox": {inboxAccess, h.ownInbox},
		"POST /relay/inbox":           {inboxAccess, h.relayInbox},
		"POST /internal/fetch/inbox":  {inboxAccess, h.sharedInbox},
	}
}

// inboxAccess is the access of inboxes: who has signed a request is found out by federation.
var inboxAccess = rest.Anonymous.Limit("inbox")

var (
	errCompressed  = errs.New(http.StatusUnsupportedMediaType, "Activities must not be compressed")
	errNotSigned   = errs.Unauthorized("Activities must be signed, and their digest with them")
	errNotActivity = errs.New(http.StatusUnsupportedMediaType, "Activities are of the type "+activity.MediaType)
)

// federationContext returns the context of a request that another server may have signed. An address that is not public is that of a proxy of
// which nobody has told us, or of a trial: one who misuses it must not keep out all the others behind it.
func federationContext(r *rest.Request) context.Context {
	if !r.ClientIP().IsGlobalUnicast() || r.ClientIP().IsPrivate() {
		return r.Context()
	}
	return federation.WithSource(r.Context(), r.Network().String())
}

// sharedInbox takes in what is for anybody here.
func (h *activityPub) sharedInbox(r *rest.Request) (any, error) { return h.receive(r, nil) }

// ownInbox takes in what is for one account.
func (h *activityPub) ownInbox(r *rest.Request) (any, error) {
	if !h.lookup.federates() {
		return nil, errNoFederation
	}
	a, _, err := h.localAccount(r)
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

// relayInbox takes in what is for the server's actor for relays, as what is for nobody: it reads no posts.
func (h *activityPub) relayInbox(r *rest.Request) (any, error) {
	if !h.lookup.federates() {
		return nil, errNoFederation
	}
	if _, err := h.federation.DocumentServer.ServerActor(r.Context(), "/relay"); err != nil {
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
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !isActivityType(media, params) || media == "application/*" {
		return nil, errNotActivity
	}
	if r.ContentLength > activity.MaxSize {
		return nil, rest.ErrBodyTooLarge
	}
	if !httpsig.LooksSigned(r.Request) {
		return nil, errNotSigned
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, activity.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(body) > activity.MaxSize {
		return nil, rest.ErrBodyTooLarge
	}
	if err := h.federation.Receiver.Receive(federationContext(r), r.Request, body, recipient); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }), nil
}

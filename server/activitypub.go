package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"svc/federation"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/server/rest"
	"svc/store"
)

// activityPub serves the documents that other servers fetch, their inboxes and WebFinger.
type activityPub struct{ *parts }

func (h *activityPub) routes() rest.Routes {
	return rest.Routes{
		"GET /users/:nickname":                                  {documentAccess.WhenClosed(), h.orTombstone(h.documentOrPage(h.actorDocument, h.redirectToProfile))},
		"GET /users/:nickname/outbox":                           {documentAccess, h.documentOrPage(h.accountCollection((*federation.DocumentServer).ServeOutbox), h.redirectToProfile)},
		"GET /users/:nickname/followers":                        {documentAccess, h.documentOrPage(h.accountCollection((*federation.DocumentServer).ServeFollowers), h.redirectToProfile)},
		"GET /users/:nickname/following":                        {documentAccess, h.documentOrPage(h.accountCollection((*federation.DocumentServer).ServeFollowing), h.redirectToProfile)},
		"GET /users/:nickname/followers_synchronization":        {documentAccess, h.documentOrPage(h.followersSynchronization, nil)},
		"GET /users/:nickname/collections/featured":             {documentAccess, h.documentOrPage(h.featuredDocument, h.redirectToProfile)},
		"GET /users/:nickname/collections/featured_collections": {documentAccess, h.documentOrPage(h.featuredCollectionsDocument, h.redirectToProfile)},
		"GET /users/:nickname/main-key":                         {documentAccess, h.documentOrPage(h.keyDocument, nil)},
		"GET /users/:nickname/statuses/:id":                     {documentAccess, h.documentOrPage(h.objectDocument, h.redirectToStatus)}, // as other software writes ids
		"GET /users/:nickname/statuses/:id/activity":            {documentAccess, h.documentOrPage(h.activityDocument, h.redirectToStatus)},
		"GET /users/:nickname/statuses/:id/replies":             {documentAccess, h.documentOrPage(h.repliesDocument, nil)},
		"GET /collections/:id/items/:item":                      {documentAccess, h.documentOrPage(h.collectionItemDocument, nil)},
		"GET /objects/:id":                                      {documentAccess, h.documentOrPage(h.objectDocument, h.redirectToStatus)},
		"GET /notice/:id":                                       {documentAccess, h.documentOrPage(h.objectDocument, h.frontends.orPage(h.redirectToStatus))}, // as the family writes links
		"GET /users/:nickname/feed":                             {documentAccess, h.redirectToFeed(".atom")},
		"GET /users/:nickname/feed.atom":                        {documentAccess, h.redirectToFeed(".atom")},
		"GET /users/:nickname/feed.rss":                         {documentAccess, h.redirectToFeed(".rss")},
		"GET /objects/:id/replies":                              {documentAccess, h.documentOrPage(h.repliesDocument, nil)},
		"GET /activities/:id":                                   {documentAccess, h.documentOrPage(h.activityDocument, h.redirectToStatus)},
		"GET /contexts/:id":                                     {documentAccess, h.documentOrPage(h.contextDocument, nil)},
		"GET /quote_authorizations/:id":                         {documentAccess, h.documentOrPage(h.quoteAuthorization, nil)},
		"GET /authorizations/:id":                               {documentAccess, h.documentOrPage(h.interactionAuthorization, nil)},
		"GET /internal/fetch":                                   {documentAccess.WhenClosed(), h.orTombstone(h.documentOrPage(h.selfDocument, nil))},
		"GET /relay":                                            {documentAccess.WhenClosed(), h.orTombstone(h.documentOrPage(h.selfDocument, nil))},
		"GET /internal/fetch/outbox":                            {documentAccess, h.documentOrPage(h.serverOutbox, nil)},
		"GET /relay/outbox":                                     {documentAccess, h.documentOrPage(h.serverOutbox, nil)},
		"GET /relay/followers":                                  {documentAccess, h.documentOrPage(h.relayCollection((*federation.DocumentServer).ServeFollowers), nil)},
		"GET /relay/following":                                  {documentAccess, h.documentOrPage(h.relayCollection((*federation.DocumentServer).ServeFollowing), nil)},
	}
}

// documentAccess is the access of documents. Federation decides by the signature of the request what its sender may read.
var documentAccess = rest.Anonymous.Limit("federation")

// varyHeader names the request headers on which documents depend.
const varyHeader = "Accept, Signature, Signature-Input"

var errNoFederation = errs.Forbidden("This server does not federate")

// documentOrPage answers with a document, or with a page if the client prefers HTML. page is nil where there is none.
func (h *activityPub) documentOrPage(serve, page rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		r.ResponseHeader().Set("Vary", varyHeader)
		rest.AllowCrossOrigin(r.ResponseHeader())
		if wantsActivity(r.Request, page != nil) || page == nil {
			return h.serveSigned(r, serve)
		}
		shown, err := page(r)
		var e *errs.Error
		if errors.As(err, &e) && rest.WantsHTML(r.Request) {
			return h.oauth.ErrorPage(r, e), nil
		}
		return shown, err
	}
}

// orTombstone answers with the Tombstone of the actor of the path after this server was closed.
func (h *activityPub) orTombstone(serve rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		if !h.DB.ServerClosed() {
			return serve(r)
		}
		if rest.WantsHTML(r.Request) && !wantsActivity(r.Request, true) {
			return h.oauth.ErrorPage(r, rest.ErrClosed), nil
		}
		rest.AllowCrossOrigin(r.ResponseHeader())
		nickname := ""
		if r.Route() == "/users/:nickname" {
			a, err := h.localAccount(r)
			if err != nil {
				return nil, err
			}
			nickname = a.ID.String()
		}
		return answerDocument(h.Federation.DocumentServer.ServeClosed(r.Context(), r.Route(), nickname))
	}
}

// serveSigned calls serve for a request that another server may have signed.
func (h *activityPub) serveSigned(r *rest.Request, serve rest.Handler) (any, error) {
	if !h.lookup.federates() {
		return nil, errs.ErrRecordNotFound
	}
	if httpsig.LooksSigned(r.Request) {
		r.Request = r.WithContext(federationContext(r))
	}
	document, err := serve(r)
	if d, ok := document.(documentAnswer); ok && err == nil {
		err = r.Shown(len(d.Body))
	}
	return document, err
}

// pageOrDocument answers with a page, or with its document if the client prefers that. The document is not redirected to, because a
// signature covers one path.
func (h *activityPub) pageOrDocument(page, serve rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		r.ResponseHeader().Set("Vary", varyHeader)
		if !wantsActivity(r.Request, true) {
			return page(r)
		}
		rest.AllowCrossOrigin(r.ResponseHeader())
		document, err := h.serveSigned(r, serve)
		var e *errs.Error
		if errors.As(err, &e) {
			return jsonError{e}, nil
		}
		return document, err
	}
}

// documentAnswer serves a document.
type documentAnswer struct{ *federation.Response }

func (a documentAnswer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", activity.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	h.Set("Cache-Control", "no-cache") // an edit and a deletion are seen by the next request
	if a.Private {
		h["Cache-Control"] = rest.PrivateNoStore
	}
	w.WriteHeader(a.Status)
	w.Write(a.Body) // fails only if the client has gone
}

func answerDocument(a *federation.Response, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return documentAnswer{a}, nil
}

// localAccount returns the account of the path, which has its id or its nickname.
func (h *activityPub) localAccount(r *rest.Request) (a *store.Account, err error) {
	name := r.Param("nickname")
	switch id := store.ParseID[store.AccountID](name); {
	case strings.HasPrefix(r.URL.Path, rest.NumberedActors):
		a, err = h.DB.AccountByURI(r.Context(), h.Settings.BaseURL+rest.NumberedActors+name)
	case id != 0:
		a, err = h.accountByFlake(r.Context(), id, name)
	default:
		a, err = h.DB.AccountByName(r.Context(), name, "")
	}
	if err == nil && (!a.Local() || h.Federation != nil && h.Federation.Documents.IsServerActor(a)) {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// accountByFlake returns the account with an id. A nickname that other software has registered may look like one.
func (h *activityPub) accountByFlake(ctx context.Context, id store.AccountID, flake string) (*store.Account, error) {
	if h.DB.HasOldAddresses() {
		a, err := h.DB.AccountByURI(ctx, h.Settings.BaseURL+"/users/"+flake)
		if !errs.IsNotFound(err) {
			return a, err
		}
		if a, err = h.DB.AccountByName(ctx, flake, ""); !errs.IsNotFound(err) {
			return a, err
		}
	}
	return h.DB.Account(ctx, id)
}

// serveAccount calls serve with the account of the path. A request by nickname is not redirected to the id, because its signature covers
// the path.
func (h *activityPub) serveAccount(r *rest.Request, serve func(*store.Account) (*federation.Response, error)) (any, error) {
	a, err := h.localAccount(r)
	if err != nil {
		return nil, err
	}
	return answerDocument(serve(a))
}

func (h *activityPub) actorDocument(r *rest.Request) (any, error) {
	return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeActor(r.Context(), r.Request, a)
	})
}

// pageQuery returns which page of a collection is requested.
func pageQuery(r *rest.Request) federation.PageQuery {
	q := r.URL.Query()
	var p federation.PageQuery
	p.MaxID, _ = store.ParsePosition(q.Get("max_id"))
	p.MinID, _ = store.ParsePosition(q.Get("min_id"))
	p.Others = q.Get("others") != ""
	p.Page = q.Get("page") != "" || p.MaxID != 0 || p.MinID != 0
	return p
}

// collectionServer is a method of the document server for collections of an account.
type collectionServer func(*federation.DocumentServer, context.Context, *http.Request, *store.Account, federation.PageQuery) (*federation.Response, error)

func (h *activityPub) accountCollection(serve collectionServer) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
			return serve(h.Federation.DocumentServer, r.Context(), r.Request, a, pageQuery(r))
		})
	}
}

// featuredDocument returns the collection of an account's pinned statuses.
func (h *activityPub) featuredDocument(r *rest.Request) (any, error) {
	return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeFeatured(r.Context(), r.Request, a)
	})
}

// featuredCollectionsDocument returns the list of the collections of accounts that an account has made.
func (h *activityPub) featuredCollectionsDocument(r *rest.Request) (any, error) {
	return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeFeaturedCollections(r.Context(), r.Request, a)
	})
}

// collectionDocument returns a collection of accounts that a local account has made.
func (h *activityPub) collectionDocument(r *rest.Request) (any, error) {
	id := store.ParseID[store.CollectionID](r.Param("id"))
	return answerDocument(h.Federation.DocumentServer.ServeCollection(r.Context(), r.Request, id))
}

// collectionItemDocument returns the place of an account in a collection of accounts.
func (h *activityPub) collectionItemDocument(r *rest.Request) (any, error) {
	id, item := store.ParseID[store.CollectionID](r.Param("id")), store.ParseID[store.CollectionItemID](r.Param("item"))
	return answerDocument(h.Federation.DocumentServer.ServeCollectionItem(r.Context(), r.Request, id, item))
}

// followersSynchronization returns the followers of an account on the requester's host.
func (h *activityPub) followersSynchronization(r *rest.Request) (any, error) {
	return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeFollowersSynchronization(r.Context(), r.Request, a)
	})
}

// keyDocument returns the keys of an account.
func (h *activityPub) keyDocument(r *rest.Request) (any, error) {
	return h.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeKey(r.Context(), a)
	})
}

// statusServer is a method of the document server for a status.
type statusServer func(context.Context, *http.Request, store.StatusID) (*federation.Response, error)

// serveStatus calls serve with the status of the path, or answers that it is deleted or unknown.
func (h *activityPub) serveStatus(r *rest.Request, end string, serve statusServer) (any, error) {
	id, path, err := h.statusOfPath(r, end)
	if err != nil {
		return nil, err
	}
	if id == 0 {
		return answerDocument(h.Federation.DocumentServer.ServeMissing(r.Context(), r.Request, h.Settings.BaseURL+path))
	}
	return answerDocument(serve(r.Context(), r.Request, id))
}

func (h *activityPub) objectDocument(r *rest.Request) (any, error) {
	return h.serveStatus(r, "", h.Federation.DocumentServer.ServeObject)
}

// pageObjectDocument returns the object of the status of a page, which has the nickname of its author.
func (h *activityPub) pageObjectDocument(r *rest.Request) (any, error) {
	a, err := h.localAccount(r)
	if err != nil {
		return nil, err
	}
	id, _, err := h.statusOfPath(r, "")
	if err != nil {
		return nil, err
	}
	st, err := h.DB.Status(r.Context(), id)
	switch {
	case err == nil && st.AccountID != a.ID:
		id = 0 // as if it did not exist
	case err != nil && !errs.IsNotFound(err):
		return nil, err
	}
	return answerDocument(h.Federation.DocumentServer.ServeObject(r.Context(), r.Request, id))
}

// repliesDocument returns the collection of an author's replies to a status of their own.
func (h *activityPub) repliesDocument(r *rest.Request) (any, error) {
	return h.serveStatus(r, "/replies", func(ctx context.Context, hr *http.Request, id store.StatusID) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeReplies(ctx, hr, id, pageQuery(r))
	})
}

func (h *activityPub) activityDocument(r *rest.Request) (any, error) {
	return h.serveStatus(r, "", func(ctx context.Context, hr *http.Request, id store.StatusID) (*federation.Response, error) {
		return h.Federation.DocumentServer.ServeActivity(ctx, hr, store.ActivityID(id))
	})
}

// contextDocument returns the collection of a thread.
func (h *activityPub) contextDocument(r *rest.Request) (any, error) {
	return answerDocument(h.Federation.DocumentServer.ServeContext(r.Context(), r.Request, store.ConversationID(statusParam(r)), pageQuery(r)))
}

func (h *activityPub) quoteAuthorization(r *rest.Request) (any, error) {
	id := store.QuoteAuthorizationID(statusParam(r))
	return answerDocument(h.Federation.DocumentServer.ServeQuoteAuthorization(r.Context(), r.Request, id))
}

// interactionAuthorization returns the authorization of a favourite, reply or boost, or of an account's place in a collection.
func (h *activityPub) interactionAuthorization(r *rest.Request) (any, error) {
	id := store.ParseID[store.InteractionRequestID](r.Param("id"))
	return answerDocument(h.Federation.DocumentServer.ServeAuthorization(r.Context(), r.Request, id))
}

// selfDocument returns the server actor of the path.
func (h *activityPub) selfDocument(r *rest.Request) (any, error) {
	return answerDocument(h.Federation.DocumentServer.ServeServerActor(r.Context(), r.Route()))
}

// serverOutbox returns the outbox of the server actor of the path.
func (h *activityPub) serverOutbox(r *rest.Request) (any, error) {
	return answerDocument(h.Federation.DocumentServer.ServeServerOutbox(r.Context(), strings.TrimSuffix(r.Route(), "/outbox")))
}

// relayCollection returns a handler for a collection of the relay actor.
func (h *activityPub) relayCollection(serve collectionServer) rest.Handler {
	return func(r *rest.Request) (any, error) {
		a, err := h.Federation.DocumentServer.ServerActor(r.Context(), "/relay")
		if err != nil {
			return nil, err
		}
		return answerDocument(serve(h.Federation.DocumentServer, r.Context(), r.Request, a, pageQuery(r)))
	}
}

// redirectToProfile redirects a browser to the page of an account.
func (h *activityPub) redirectToProfile(r *rest.Request) (any, error) {
	return h.redirectToAccount(r, "")
}

// redirectToFeed returns a handler that redirects to the feed of an account, under which the family has it.
func (h *activityPub) redirectToFeed(end string) rest.Handler {
	return func(r *rest.Request) (any, error) { return h.redirectToAccount(r, end) }
}

// redirectToAccount redirects to the page of the account of the path, or with end to a feed of it.
func (h *activityPub) redirectToAccount(r *rest.Request, end string) (any, error) {
	a, err := h.localAccount(r)
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	return rest.Redirect(h.profileURL(a) + end), nil
}

// redirectToStatus redirects a browser to the page of a public or unlisted status. A boost leads to the boosted status if that is
// local, else to the page of the account that boosted it.
func (h *activityPub) redirectToStatus(r *rest.Request) (any, error) {
	id, _, err := h.statusOfPath(r, "")
	if err != nil {
		return nil, err
	}
	return h.redirectToPost(r.Context(), id)
}

// redirectToPost is redirectToStatus by id.
func (h *activityPub) redirectToPost(ctx context.Context, id store.StatusID) (any, error) {
	st, err := h.DB.VisibleStatus(ctx, 0, id)
	if errs.IsNotFound(err) || err == nil && !st.Local() {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	if st.ReblogOfID == nil {
		return h.redirectToPageOf(ctx, st)
	}
	original, err := h.DB.Status(ctx, *st.ReblogOfID)
	if err == nil && original.Local() {
		return h.redirectToPageOf(ctx, original)
	}
	booster, err := h.DB.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	return rest.Redirect(h.profileURL(booster)), nil
}

// redirectToPageOf redirects to the page of a local post. Its url may be an address of other software, which leads here.
func (h *activityPub) redirectToPageOf(ctx context.Context, st *store.Status) (any, error) {
	if strings.HasSuffix(st.URL, "/"+st.ID.String()) {
		return rest.Redirect(st.URL), nil
	}
	author, err := h.DB.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	return rest.Redirect(h.profileURL(author) + "/" + st.ID.String()), nil
}

// profileURL returns the address of the page of a local account. Its url may be an address of other software, which leads there.
func (h *activityPub) profileURL(a *store.Account) string {
	return h.Settings.BaseURL + "/@" + a.Nickname
}

// jsonError serves an error as JSON where other errors are pages.
type jsonError struct{ *errs.Error }

func (e jsonError) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text := rest.ErrorJSON(e.Error)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = rest.JsonType, rest.PrivateNoStore
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(e.Status)
	w.Write(text)
}

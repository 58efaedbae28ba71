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

// activityRoutes are the documents that other servers read (federation 1.1). At the same addresses people find pages, where there are some.
func (s *Server) activityRoutes() rest.Routes {
	return rest.Routes{
		"GET /users/:nickname":                      {documentAccess, s.documentOrPage(s.actorDocument, s.redirectToProfile)},
		"GET /users/:nickname/outbox":               {documentAccess, s.documentOrPage(s.accountCollection((*federation.Service).ServeOutbox), s.redirectToProfile)},
		"GET /users/:nickname/followers":            {documentAccess, s.documentOrPage(s.accountCollection((*federation.Service).ServeFollowers), s.redirectToProfile)},
		"GET /users/:nickname/following":            {documentAccess, s.documentOrPage(s.accountCollection((*federation.Service).ServeFollowing), s.redirectToProfile)},
		"GET /users/:nickname/collections/featured": {documentAccess, s.documentOrPage(s.featuredDocument, s.redirectToProfile)},
		"GET /objects/:id":                          {documentAccess, s.documentOrPage(s.objectDocument, s.redirectToStatus)},
		"GET /objects/:id/replies":                  {documentAccess, s.documentOrPage(s.repliesDocument, nil)},
		"GET /activities/:id":                       {documentAccess, s.documentOrPage(s.activityDocument, s.redirectToStatus)},
		"GET /contexts/:id":                         {documentAccess, s.documentOrPage(s.contextDocument, nil)},
		"GET /quote_authorizations/:id":             {documentAccess, s.documentOrPage(s.quoteAuthorization, nil)},
		"GET /internal/fetch":                       {documentAccess, s.documentOrPage(s.selfDocument, nil)},
		"GET /relay":                                {documentAccess, s.documentOrPage(s.selfDocument, nil)},
		"GET /relay/followers":                      {documentAccess, s.documentOrPage(s.relayFollowers, nil)},
		"GET /relay/following":                      {documentAccess, s.documentOrPage(s.relayFollowing, nil)},
	}
}

// documentAccess is the access of documents: what somebody may read is decided by the signature of the request.
var documentAccess = rest.Anonymous.Limit("federation")

// varyHeader are the headers on which documents depend.
const varyHeader = "Accept, Signature, Signature-Input"

var errNoFederation = errs.Forbidden("This server has no dealings with others")

// documentOrPage answers with a document, or who wants to see a page with that. A nil page is none.
func (s *Server) documentOrPage(serve, page rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		r.ResponseHeader().Set("Vary", varyHeader)
		rest.AllowCrossOrigin(r.ResponseHeader())
		if wantsActivity(r.Request, page != nil) || page == nil {
			if !s.federates() {
				return nil, errs.ErrRecordNotFound
			}
			if httpsig.LooksSigned(r.Request) {
				r.Request = r.WithContext(federationContext(r))
			}
			return serve(r)
		}
		shown, err := page(r)
		var e *errs.Error
		if errors.As(err, &e) && rest.WantsHTML(r.Request) {
			return s.pages.Error(e), nil
		}
		return shown, err
	}
}

// documentAnswer is a document as an answer.
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
	w.Write(a.Body) // if that fails, nobody is there to be told
}

func answerDocument(a *federation.Response, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return documentAnswer{a}, nil
}

// localAccount returns the account of the path, by its id or by its nickname. named tells that it was the latter.
func (s *Server) localAccount(r *rest.Request) (a *store.Account, named bool, err error) {
	name := r.Param("nickname")
	var id store.AccountID
	if id.UnmarshalText([]byte(name)); id != 0 {
		a, err = s.db.Account(r.Context(), id)
	} else {
		a, err = s.db.AccountByName(r.Context(), name, "")
		named = true
	}
	if err == nil && (!a.Local() || s.federation != nil && s.federation.IsServerActor(a)) {
		err = errs.ErrRecordNotFound
	}
	return a, named, err
}

// serveAccount calls serve with the account of the path. Who asks by nickname is led to the id, which is the one address of a document.
func (s *Server) serveAccount(r *rest.Request, serve func(*store.Account) (*federation.Response, error)) (any, error) {
	a, named, err := s.localAccount(r)
	if err != nil {
		return nil, err
	}
	if named && !a.Unavailable {
		_, suffix, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/users/"), "/")
		to := strings.TrimSuffix(a.URI+"/"+suffix, "/")
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return rest.Redirect(to), nil
	}
	return answerDocument(serve(a))
}

// actorDocument answers with an actor.
func (s *Server) actorDocument(r *rest.Request) (any, error) {
	return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return s.federation.ServeActor(r.Context(), r.Request, a)
	})
}

// pageQuery returns which part of a collection a request is for.
func pageQuery(r *rest.Request) federation.PageQuery {
	q := r.URL.Query()
	var p federation.PageQuery
	p.MaxID, _ = store.ParsePosition(q.Get("max_id"))
	p.MinID, _ = store.ParsePosition(q.Get("min_id"))
	p.Page = q.Get("page") != "" || p.MaxID != 0 || p.MinID != 0
	return p
}

// accountCollection answers with a collection of an account.
func (s *Server) accountCollection(serve func(*federation.Service, context.Context, *http.Request, *store.Account, federation.PageQuery) (*federation.Response, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
			return serve(s.federation, r.Context(), r.Request, a, pageQuery(r))
		})
	}
}

// featuredDocument answers with what an account has pinned.
func (s *Server) featuredDocument(r *rest.Request) (any, error) {
	return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return s.federation.ServeFeatured(r.Context(), r.Request, a)
	})
}

// objectDocument answers with a post.
func (s *Server) objectDocument(r *rest.Request) (any, error) {
	return answerDocument(s.federation.ServeObject(r.Context(), r.Request, statusParam(r)))
}

// repliesDocument answers with what the author of a post has answered to it.
func (s *Server) repliesDocument(r *rest.Request) (any, error) {
	return answerDocument(s.federation.ServeReplies(r.Context(), r.Request, statusParam(r), pageQuery(r)))
}

// activityDocument answers with an activity.
func (s *Server) activityDocument(r *rest.Request) (any, error) {
	return answerDocument(s.federation.ServeActivity(r.Context(), r.Request, store.ActivityID(statusParam(r))))
}

// contextDocument answers with a thread.
func (s *Server) contextDocument(r *rest.Request) (any, error) {
	return answerDocument(s.federation.ServeContext(r.Context(), r.Request, store.ConversationID(statusParam(r)), pageQuery(r)))
}

// quoteAuthorization answers with the leave to quote a post.
func (s *Server) quoteAuthorization(r *rest.Request) (any, error) {
	id := store.QuoteAuthorizationID(statusParam(r))
	return answerDocument(s.federation.ServeQuoteAuthorization(r.Context(), r.Request, id))
}

// selfDocument answers with the actor of the server that the path names.
func (s *Server) selfDocument(r *rest.Request) (any, error) {
	return answerDocument(s.federation.ServeServerActor(r.Context(), r.Route()))
}

// relayFollowers answers with who follows the server's actor for relays.
func (s *Server) relayFollowers(r *rest.Request) (any, error) {
	return s.relayCollection(r, s.federation.ServeFollowers)
}

// relayFollowing answers with which relays the server follows.
func (s *Server) relayFollowing(r *rest.Request) (any, error) {
	return s.relayCollection(r, s.federation.ServeFollowing)
}

func (s *Server) relayCollection(r *rest.Request, serve func(context.Context, *http.Request, *store.Account, federation.PageQuery) (*federation.Response, error)) (any, error) {
	a, err := s.federation.ServerActor(r.Context(), "/relay")
	if err != nil {
		return nil, err
	}
	return answerDocument(serve(r.Context(), r.Request, a, pageQuery(r)))
}

// redirectToProfile leads a person to a profile.
func (s *Server) redirectToProfile(r *rest.Request) (any, error) {
	a, _, err := s.localAccount(r)
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	return rest.Redirect(a.URL), nil
}

// redirectToStatus leads a person to a post that everybody may see; from a boost to what was boosted, if it is of here, and else to who
// boosted it.
func (s *Server) redirectToStatus(r *rest.Request) (any, error) {
	st, err := s.db.VisibleStatus(r.Context(), 0, statusParam(r))
	if errs.IsNotFound(err) || err == nil && !st.Local() {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	if st.ReblogOfID == nil {
		return rest.Redirect(st.URL), nil
	}
	original, err := s.db.Status(r.Context(), *st.ReblogOfID)
	if err == nil && original.Local() {
		return rest.Redirect(original.URL), nil
	}
	booster, err := s.db.Account(r.Context(), st.AccountID)
	if err != nil {
		return nil, err
	}
	return rest.Redirect(booster.URL), nil
}

// pageOrDocument leads who wants a document, instead of a page, to where it is.
func (s *Server) pageOrDocument(address func(*rest.Request) (string, error), page rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		r.ResponseHeader().Set("Vary", varyHeader)
		if !wantsActivity(r.Request, true) {
			return page(r)
		}
		rest.AllowCrossOrigin(r.ResponseHeader())
		to, err := "", error(errs.ErrRecordNotFound)
		if s.federates() {
			to, err = address(r)
		}
		var e *errs.Error
		if errors.As(err, &e) {
			return jsonError{e}, nil
		}
		return rest.Redirect(to), err
	}
}

// actorAddress is where the actor is of whom a profile is.
func (s *Server) actorAddress(r *rest.Request) (string, error) {
	a, err := s.db.AccountByName(r.Context(), r.Param("nickname"), "")
	switch {
	case err != nil:
		return "", err
	case a.Unavailable && a.DeletedAt == nil:
		return "", errs.ErrRecordNotFound
	}
	return a.URI, nil
}

// objectAddress is where the document of a post is, if there is one: nobody learns that here.
func (s *Server) objectAddress(r *rest.Request) (string, error) {
	return s.baseURL + "/objects/" + statusParam(r).String(), nil
}

// jsonError is an error in JSON, at an address where errors are pages.
type jsonError struct{ *errs.Error }

func (e jsonError) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text := rest.ErrorJSON(e.Error)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = rest.JsonType, rest.PrivateNoStore
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(e.Status)
	w.Write(text)
}

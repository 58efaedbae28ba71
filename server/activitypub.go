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
	"svc/store"
)

// activityRoutes are the documents that other servers read (federation 1.1). At the same addresses people find pages, where there are some.
var activityRoutes = routes{
	"GET /users/:nickname":                      {documentAccess, documentOrPage((*Server).actorDocument, (*Server).redirectToProfile)},
	"GET /users/:nickname/outbox":               {documentAccess, documentOrPage(accountCollection((*federation.Service).ServeOutbox), (*Server).redirectToProfile)},
	"GET /users/:nickname/followers":            {documentAccess, documentOrPage(accountCollection((*federation.Service).ServeFollowers), (*Server).redirectToProfile)},
	"GET /users/:nickname/following":            {documentAccess, documentOrPage(accountCollection((*federation.Service).ServeFollowing), (*Server).redirectToProfile)},
	"GET /users/:nickname/collections/featured": {documentAccess, documentOrPage((*Server).featuredDocument, (*Server).redirectToProfile)},
	"GET /objects/:id":                          {documentAccess, documentOrPage((*Server).objectDocument, (*Server).redirectToStatus)},
	"GET /objects/:id/replies":                  {documentAccess, documentOrPage((*Server).repliesDocument, nil)},
	"GET /activities/:id":                       {documentAccess, documentOrPage((*Server).activityDocument, (*Server).redirectToStatus)},
	"GET /contexts/:id":                         {documentAccess, documentOrPage((*Server).contextDocument, nil)},
	"GET /quote_authorizations/:id":             {documentAccess, documentOrPage((*Server).quoteAuthorization, nil)},
	"GET /internal/fetch":                       {documentAccess, documentOrPage((*Server).selfDocument, nil)},
	"GET /relay":                                {documentAccess, documentOrPage((*Server).selfDocument, nil)},
	"GET /relay/followers":                      {documentAccess, documentOrPage((*Server).relayFollowers, nil)},
	"GET /relay/following":                      {documentAccess, documentOrPage((*Server).relayFollowing, nil)},
}

// documentAccess is the access of documents: what somebody may read is decided by the signature of the request.
var documentAccess = anonymous.limit("federation")

// varyHeader are the headers on which documents depend.
const varyHeader = "Accept, Signature, Signature-Input"

var errNoFederation = errs.Forbidden("This server has no dealings with others")

// documentOrPage answers with a document, or who wants to see a page with that. A nil page is none.
func documentOrPage(serve func(*Server, *Request) (any, error), page handler) handler {
	return func(s *Server, r *Request) (any, error) {
		r.header.Set("Vary", varyHeader)
		allowCrossOrigin(r.header)
		if wantsActivity(r.Request, page != nil) || page == nil {
			if !s.federates() {
				return nil, errs.ErrRecordNotFound
			}
			if httpsig.LooksSigned(r.Request) {
				r.Request = r.WithContext(r.federationContext())
			}
			return serve(s, r)
		}
		shown, err := page(s, r)
		var e *errs.Error
		if errors.As(err, &e) && wantsPage(r.Request) {
			return s.errorPage(e), nil
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
		h["Cache-Control"] = privateNoStore
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
func (s *Server) localAccount(r *Request) (a *store.Account, named bool, err error) {
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
func (s *Server) serveAccount(r *Request, serve func(*store.Account) (*federation.Response, error)) (any, error) {
	a, named, err := s.localAccount(r)
	if err != nil {
		return nil, err
	}
	if named && !a.Unavailable {
		_, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/users/"), "/")
		to := strings.TrimSuffix(a.URI+"/"+rest, "/")
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return redirect(to), nil
	}
	return answerDocument(serve(a))
}

// actorDocument answers with an actor.
func (s *Server) actorDocument(r *Request) (any, error) {
	return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return s.federation.ServeActor(r.Context(), r.Request, a)
	})
}

// pageQuery returns which part of a collection a request is for.
func pageQuery(r *Request) federation.PageQuery {
	q := r.URL.Query()
	var p federation.PageQuery
	p.MaxID, _ = store.ParsePosition(q.Get("max_id"))
	p.MinID, _ = store.ParsePosition(q.Get("min_id"))
	p.Page = q.Get("page") != "" || p.MaxID != 0 || p.MinID != 0
	return p
}

// accountCollection answers with a collection of an account.
func accountCollection(serve func(*federation.Service, context.Context, *http.Request, *store.Account, federation.PageQuery) (*federation.Response, error)) func(*Server, *Request) (any, error) {
	return func(s *Server, r *Request) (any, error) {
		return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
			return serve(s.federation, r.Context(), r.Request, a, pageQuery(r))
		})
	}
}

// featuredDocument answers with what an account has pinned.
func (s *Server) featuredDocument(r *Request) (any, error) {
	return s.serveAccount(r, func(a *store.Account) (*federation.Response, error) {
		return s.federation.ServeFeatured(r.Context(), r.Request, a)
	})
}

// objectDocument answers with a post.
func (s *Server) objectDocument(r *Request) (any, error) {
	return answerDocument(s.federation.ServeObject(r.Context(), r.Request, statusParam(r)))
}

// repliesDocument answers with what the author of a post has answered to it.
func (s *Server) repliesDocument(r *Request) (any, error) {
	return answerDocument(s.federation.ServeReplies(r.Context(), r.Request, statusParam(r), pageQuery(r)))
}

// activityDocument answers with an activity.
func (s *Server) activityDocument(r *Request) (any, error) {
	return answerDocument(s.federation.ServeActivity(r.Context(), r.Request, store.ActivityID(statusParam(r))))
}

// contextDocument answers with a thread.
func (s *Server) contextDocument(r *Request) (any, error) {
	return answerDocument(s.federation.ServeContext(r.Context(), r.Request, store.ConversationID(statusParam(r)), pageQuery(r)))
}

// quoteAuthorization answers with the leave to quote a post.
func (s *Server) quoteAuthorization(r *Request) (any, error) {
	id := store.QuoteAuthorizationID(statusParam(r))
	return answerDocument(s.federation.ServeQuoteAuthorization(r.Context(), r.Request, id))
}

// selfDocument answers with the actor of the server that the path names.
func (s *Server) selfDocument(r *Request) (any, error) {
	return answerDocument(s.federation.ServeServerActor(r.Context(), r.endpoint.path))
}

// relayFollowers answers with who follows the server's actor for relays.
func (s *Server) relayFollowers(r *Request) (any, error) {
	return s.relayCollection(r, s.federation.ServeFollowers)
}

// relayFollowing answers with which relays the server follows.
func (s *Server) relayFollowing(r *Request) (any, error) {
	return s.relayCollection(r, s.federation.ServeFollowing)
}

func (s *Server) relayCollection(r *Request, serve func(context.Context, *http.Request, *store.Account, federation.PageQuery) (*federation.Response, error)) (any, error) {
	a, err := s.federation.ServerActor(r.Context(), "/relay")
	if err != nil {
		return nil, err
	}
	return answerDocument(serve(r.Context(), r.Request, a, pageQuery(r)))
}

// redirectToProfile leads a person to a profile.
func (s *Server) redirectToProfile(r *Request) (any, error) {
	a, _, err := s.localAccount(r)
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	return redirect(a.URL), nil
}

// redirectToStatus leads a person to a post that everybody may see; from a boost to what was boosted, if it is of here, and else to who
// boosted it.
func (s *Server) redirectToStatus(r *Request) (any, error) {
	st, err := s.db.VisibleStatus(r.Context(), 0, statusParam(r))
	if errs.IsNotFound(err) || err == nil && !st.Local() {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	if st.ReblogOfID == nil {
		return redirect(st.URL), nil
	}
	original, err := s.db.Status(r.Context(), *st.ReblogOfID)
	if err == nil && original.Local() {
		return redirect(original.URL), nil
	}
	booster, err := s.db.Account(r.Context(), st.AccountID)
	if err != nil {
		return nil, err
	}
	return redirect(booster.URL), nil
}

// pageOrDocument leads who wants a document, instead of a page, to where it is.
func pageOrDocument(address func(*Server, *Request) (string, error), page handler) handler {
	return func(s *Server, r *Request) (any, error) {
		r.header.Set("Vary", varyHeader)
		if !wantsActivity(r.Request, true) {
			return page(s, r)
		}
		allowCrossOrigin(r.header)
		to, err := "", error(errs.ErrRecordNotFound)
		if s.federates() {
			to, err = address(s, r)
		}
		var e *errs.Error
		if errors.As(err, &e) {
			return jsonError{e}, nil
		}
		return redirect(to), err
	}
}

// actorAddress is where the actor is of whom a profile is.
func (s *Server) actorAddress(r *Request) (string, error) {
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
func (s *Server) objectAddress(r *Request) (string, error) {
	return s.baseURL + "/objects/" + statusParam(r).String(), nil
}

// jsonError is an error in JSON, at an address where errors are pages.
type jsonError struct{ *errs.Error }

func (e jsonError) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text := appendError(nil, e.Error)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = jsonType, privateNoStore
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(e.Status)
	w.Write(text)
}

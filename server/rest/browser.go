package rest

import "net/http"

// Sessions knows the sessions of browsers on the server's own pages.
type Sessions interface {
	// Identify returns the user of the browser's session, the zero Identity if it is not signed in.
	Identify(*Request) (Identity, error)
	// CheckForm fails unless the request was sent by a form of the session that identified it.
	CheckForm(*Request) error
	// SignIn answers a request for which the browser has to be signed in.
	SignIn(*Request) http.Handler
}

// identifyBrowser identifies a request for a page by the browser's session, and refuses forms of other sites. Whether a form is one of the session
// is checked once its body may be read.
func (s *Server) identifyBrowser(r *Request) error {
	if r.changesState() && !r.SameOrigin() {
		return ErrCrossSite
	}
	if s.sessions == nil {
		return nil
	}
	id, err := s.sessions.Identify(r)
	if err != nil {
		return err
	}
	r.Viewer, r.User, r.Token = id.Account, id.User, id.Token
	return nil
}

// checkForm refuses a form that is not one of the session.
func (s *Server) checkForm(r *Request) error {
	if s.sessions == nil || r.Viewer == nil || !r.changesState() || r.endpoint.Access.shared {
		return nil
	}
	if err := r.bodyError(); err != nil {
		return err
	}
	return s.sessions.CheckForm(r)
}

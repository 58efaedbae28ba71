package oauth

import (
	"net/http"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// Frame returns the frame of a page without navigation, in the language and the look of the browser's user. It is that of a visitor if the
// session cannot be read, because the page of that error needs one, too.
func (s *Service) Frame(r *rest.Request) web.Frame {
	if sess, err := s.Session(r); err == nil && sess != nil {
		if f, err := s.FrameFor(r, sess.User); err == nil {
			f.Plain = true
			return f
		}
	}
	return visitorFrame(r)
}

func visitorFrame(r *rest.Request) web.Frame {
	f := web.NewFrame(r.Request, nil)
	f.Plain = true
	return f
}

// FrameFor returns a frame in the language and the look that a user has chosen. user is nil for visitors.
func (s *Service) FrameFor(r *rest.Request, user *store.User) (web.Frame, error) {
	if user == nil {
		return web.NewFrame(r.Request, nil), nil
	}
	a, err := s.loadAccount(r.Context(), user.AccountID)
	return web.NewUserFrame(r.Request, a.look), err
}

// Text returns a text of the catalogue in the language of the browser's user.
func (s *Service) Text(r *rest.Request, key string, args ...any) string {
	return s.Frame(r).Messages.Text(key, args...)
}

// Page answers with a page without navigation.
func (s *Service) Page(r *rest.Request, status int, content web.Content) (any, error) {
	return s.Pages.Show(status, s.Frame(r), content)
}

// Notice answers with such a page of a title and paragraphs, which are keys of the catalogue.
func (s *Service) Notice(r *rest.Request, status int, title string, paragraphs ...string) (any, error) {
	f := s.Frame(r)
	n := web.Notice{Title: f.Messages.Text(title)}
	for _, key := range paragraphs {
		n.Paragraphs = append(n.Paragraphs, f.Messages.Text(key))
	}
	return s.Pages.Show(status, f, n)
}

// ErrorPage returns the page of an error. A refused request, or one that the server cannot serve, asks nothing of the database for it.
func (s *Service) ErrorPage(r *rest.Request, e *errs.Error) http.Handler {
	if e == rest.ErrClosed || e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError {
		return s.Pages.Error(visitorFrame(r), e)
	}
	return s.Pages.Error(s.Frame(r), e)
}

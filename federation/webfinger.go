package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/text"
	"svc/store"
)

const (
	webFingerTimeout    = 8 * time.Second
	webFingerFailureTTL = 5 * time.Minute // after a failure: somebody may have misspelt a handle that is somebody's tomorrow
	maxWebFingerBytes   = 256 << 10       // bytes
	webFingerAccept     = "application/jrd+json, application/json;q=0.9, application/xrd+xml;q=0.8"
)

// webFingerTypes are the media types of answers of WebFinger (federation 1.3).
var webFingerTypes = []string{"application/jrd+json", "application/json", "application/xrd+xml", "application/xml", "text/xml"}

// webFinger is what a server answers to WebFinger (RFC 7033): the handle that it knows, and the actor to whom it leads.
type webFinger struct {
	nick, domain string
	Actor        string
	host         string // the host that answered in the end
}

func (f *webFinger) isFor(nick, domain string) bool {
	return f.domain == domain && strings.EqualFold(f.nick, nick)
}

// Lookup returns the account of a handle: the one that is known, or the one to which the server in it leads (federation 1.3).
func (s *Service) Lookup(ctx context.Context, name string) (*store.Account, error) {
	nick, domain, ok := text.SplitHandle(name)
	if !ok {
		return nil, errs.ErrRecordNotFound
	}
	if domain == s.Host {
		domain = ""
	}
	known, err := s.db.AccountByName(ctx, nick, domain)
	switch {
	case err == nil && known.Local():
		return known, nil
	case err == nil && known.DeletedAt == nil:
		return known, s.RefreshIfStale(ctx, known)
	case err != nil && !errs.IsNotFound(err) || domain == "":
		return nil, err
	}
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	return s.actorFetches.do(ctx, "acct:"+nick+"@"+domain, actorTimeout, func(ctx context.Context) (*store.Account, error) {
		return s.fetchByHandle(ctx, nick, domain)
	})
}

// fetchByHandle asks the server of a handle for its actor, and that for its document.
func (s *Service) fetchByHandle(ctx context.Context, nick, domain string) (*store.Account, error) {
	f, err := s.WebFinger(ctx, nick, domain)
	if err != nil {
		return nil, err
	}
	if !f.isFor(nick, domain) {
		if f, err = s.webFingerAtHost(ctx, f.nick, f.domain); err != nil {
			return nil, err
		}
	}
	if known, err := s.db.AccountByURI(ctx, f.Actor); err == nil && known.DeletedAt == nil {
		return known, s.RefreshIfStale(ctx, known)
	}
	doc, err := s.Document(ctx, f.Actor)
	if err != nil {
		return nil, err
	}
	f.Actor = doc.ID() // which is of the same host
	return s.importActor(ctx, doc, f, true)
}

// webFingerAtHost asks for a handle on its own server, which must answer with that handle.
func (s *Service) webFingerAtHost(ctx context.Context, nick, domain string) (*webFinger, error) {
	f, err := s.WebFinger(ctx, nick, domain)
	if err == nil && !f.isFor(nick, domain) {
		err = Refuse("%s does not know %s@%s", domain, nick, domain)
	}
	return f, err
}

// confirmRequestedHandle returns the handle that led to an actor, if the actor has it: the name is its own, and if the server in the handle is another than
// its own, either it says so itself, or its server does.
func (s *Service) confirmRequestedHandle(ctx context.Context, p *parsedActor, f *webFinger) (confirmedHandle, error) {
	nick := p.account.Nickname
	switch {
	case f.Actor != p.account.URI || !strings.EqualFold(f.nick, nick):
		return confirmedHandle{}, Refuse("%s@%s leads to %s, who is called %s", f.nick, f.domain, p.account.URI, nick)
	case f.domain == p.host, f.host == p.host, p.claimedHost == f.domain:
		return confirmedHandle{nick, f.domain, store.At(s.now())}, nil
	}
	own, err := s.WebFinger(ctx, nick, p.host)
	if err == nil && !own.isFor(nick, f.domain) {
		err = Refuse("%s does not say that %s@%s is its own", p.host, f.nick, f.domain)
	}
	return confirmedHandle{nick, f.domain, store.At(s.now())}, err
}

// confirmHandle returns the handle of an actor that was found by its id: the one that it claims, if the server in that agrees, or the one that its
// own server gives it. If that cannot be asked, its name on its own host has to do; if it says something else, the actor is refused.
func (s *Service) confirmHandle(ctx context.Context, p *parsedActor) (confirmedHandle, error) {
	nick, id := p.account.Nickname, p.account.URI
	confirmed := store.At(s.now())
	if p.claimedHost != "" && p.claimedHost != p.host && p.claimedHost != s.Host {
		if f, err := s.webFingerAtHost(ctx, nick, p.claimedHost); err == nil && s.leadsToActor(ctx, f, id) {
			return confirmedHandle{nick, p.claimedHost, confirmed}, nil
		}
	}
	f, err := s.WebFinger(ctx, nick, p.host)
	switch {
	case ctx.Err() != nil:
		return confirmedHandle{}, ctx.Err()
	case err != nil:
		s.log.Debug("handle could not be confirmed", "actor", id, "err", err)
		return confirmedHandle{nick: nick, domain: p.host}, nil
	case !strings.EqualFold(f.nick, nick) || !s.leadsToActor(ctx, f, id):
		return confirmedHandle{}, Refuse("%s@%s is not %s, but %s", nick, p.host, id, f.Actor)
	case f.domain == p.host:
		return confirmedHandle{nick, p.host, confirmed}, nil
	}
	there, err := s.webFingerAtHost(ctx, nick, f.domain)
	switch {
	case err != nil && IsTemporary(err):
		return confirmedHandle{nick: nick, domain: p.host}, nil
	case err != nil:
		return confirmedHandle{}, fmt.Errorf("%s@%s is not confirmed: %w", nick, f.domain, err)
	case !s.leadsToActor(ctx, there, id):
		return confirmedHandle{}, Refuse("%s@%s is not %s, but %s", nick, f.domain, id, there.Actor)
	}
	return confirmedHandle{nick, f.domain, confirmed}, nil
}

// leadsToActor tells whether an answer leads to an actor, if need be by another address of the actor on its host.
func (s *Service) leadsToActor(ctx context.Context, f *webFinger, id string) bool {
	if f.Actor == id {
		return true
	}
	if !activity.SameHost(f.Actor, id, s.AllowLoopback) {
		return false
	}
	doc, err := s.Document(ctx, f.Actor)
	return err == nil && doc.ID() == id
}

// WebFinger asks a server for a handle of its own, by WebFinger, or as its host-meta says. The handle in the answer may be another.
func (s *Service) WebFinger(ctx context.Context, nick, domain string) (*webFinger, error) {
	base, err := s.serverURL(domain)
	if err != nil {
		return nil, err
	}
	resource := url.QueryEscape("acct:" + nick + "@" + domain)
	f, err := s.fetchWebFinger(ctx, base+"/.well-known/webfinger?resource="+resource)
	if status := HTTPStatus(err); status != http.StatusBadRequest && status != http.StatusNotFound && !errors.Is(err, fetch.ErrContentType) {
		return f, err
	}
	template, templateErr := s.fetchHostMeta(ctx, base)
	if templateErr != nil {
		return nil, err
	}
	return s.fetchWebFinger(ctx, strings.ReplaceAll(template, "{uri}", resource))
}

// serverURL returns the address of a server.
func (s *Service) serverURL(domain string) (string, error) {
	base := "https://" + domain
	if _, err := activity.Host(base, false); err != nil && s.AllowLoopback {
		base = "http://" + domain
	}
	host, err := s.FetchableHost(base)
	if err == nil && host != domain {
		err = fmt.Errorf("%w: %q", activity.ErrMalformed, domain)
	}
	return base, err
}

// fetchWellKnown reads one of the documents by which servers introduce themselves. Each hop must be one that may be asked.
func (s *Service) fetchWellKnown(ctx context.Context, address, accept string, types []string) (*fetch.Response, error) {
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	if err := s.failures.get(address, s.now()); err != nil {
		return nil, err
	}
	resp, err := s.client.Get(ctx, address, fetch.Limits{
		MaxBody: maxWebFingerBytes, Timeout: webFingerTimeout, Accept: accept, ContentTypes: types,
		Prepare: func(r *http.Request) error {
			_, err := s.FetchableHost(r.URL.String())
			return err
		},
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.failures.addFor(address, err, s.now(), webFingerFailureTTL)
	}
	return resp, err
}

func (s *Service) fetchWebFinger(ctx context.Context, address string) (*webFinger, error) {
	resp, err := s.fetchWellKnown(ctx, address, webFingerAccept, webFingerTypes)
	if err != nil {
		return nil, err
	}
	f, err := s.parseWebFinger(resp.Type, resp.Body)
	if err != nil {
		return nil, err
	}
	f.host, err = activity.Host(resp.URL.String(), s.AllowLoopback)
	return f, err
}

// parseWebFinger reads an answer of WebFinger.
func (s *Service) parseWebFinger(mediaType string, body []byte) (*webFinger, error) {
	d, err := parseDescriptor(mediaType, body)
	if err != nil {
		return nil, err
	}
	f := new(webFinger)
	var ok bool
	subject, isAccount := strings.CutPrefix(d.subject, "acct:")
	if f.nick, f.domain, ok = text.SplitHandle(subject); !isAccount || !ok || f.domain == "" {
		return nil, Refuse("WebFinger answers for %q", d.subject)
	}
	for _, l := range d.links {
		if l.rel == "self" && isActivityMediaType(l.mediaType) && s.isPublicURL(l.href) {
			f.Actor = l.href
			return f, nil
		}
	}
	return nil, Refuse("WebFinger leads to no actor")
}

// fetchHostMeta returns the template of the address at which a server is asked for handles.
func (s *Service) fetchHostMeta(ctx context.Context, base string) (string, error) {
	resp, err := s.fetchWellKnown(ctx, base+"/.well-known/host-meta", "application/xrd+xml, application/jrd+json;q=0.9", webFingerTypes)
	if err != nil {
		return "", err
	}
	d, err := parseDescriptor(resp.Type, resp.Body)
	if err != nil {
		return "", err
	}
	for _, l := range d.links {
		if l.rel == "lrdd" && strings.Count(l.template, "{uri}") == 1 {
			return l.template, nil
		}
	}
	return "", Refuse("the server says nowhere how it is asked for handles")
}

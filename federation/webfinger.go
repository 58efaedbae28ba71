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
	fingerTime   = 8 * time.Second
	fingerPause  = 5 * time.Minute // after a failure: somebody may have misspelt a handle that is somebody's tomorrow
	maxFinger    = 256 << 10       // bytes
	fingerAccept = "application/jrd+json, application/json;q=0.9, application/xrd+xml;q=0.8"
)

// fingerTypes are the media types of answers of WebFinger (federation 1.3).
var fingerTypes = []string{"application/jrd+json", "application/json", "application/xrd+xml", "application/xml", "text/xml"}

// finger is what a server answers to WebFinger (RFC 7033): the handle that it knows, and the actor to whom it leads.
type finger struct {
	nick, domain string
	actor        string
	at           string // the host that answered in the end
}

func (f *finger) names(nick, domain string) bool {
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
		return known, s.refreshIfOld(ctx, known)
	case err != nil && !errs.IsNotFound(err) || domain == "":
		return nil, err
	}
	if err := mayAsk(ctx); err != nil {
		return nil, err
	}
	return s.actors.do(ctx, "acct:"+nick+"@"+domain, actorTime, func(ctx context.Context) (*store.Account, error) {
		return s.fetchByHandle(ctx, nick, domain)
	})
}

// fetchByHandle asks the server of a handle for its actor, and that for its document.
func (s *Service) fetchByHandle(ctx context.Context, nick, domain string) (*store.Account, error) {
	f, err := s.finger(ctx, nick, domain)
	if err != nil {
		return nil, err
	}
	if !f.names(nick, domain) {
		if f, err = s.fingerSelf(ctx, f.nick, f.domain); err != nil {
			return nil, err
		}
	}
	if known, err := s.db.AccountByURI(ctx, f.actor); err == nil && known.DeletedAt == nil {
		return known, s.refreshIfOld(ctx, known)
	}
	doc, err := s.document(ctx, f.actor)
	if err != nil {
		return nil, err
	}
	f.actor = doc.ID() // which is of the same host
	return s.learnActor(ctx, doc, f, true)
}

// fingerSelf asks for a handle on its own server, which must answer with that handle.
func (s *Service) fingerSelf(ctx context.Context, nick, domain string) (*finger, error) {
	f, err := s.finger(ctx, nick, domain)
	if err == nil && !f.names(nick, domain) {
		err = refuse("%s does not know %s@%s", domain, nick, domain)
	}
	return f, err
}

// consent returns the handle that led to an actor, if the actor has it: the name is its own, and if the server in the handle is another than
// its own, either it says so itself, or its server does.
func (s *Service) consent(ctx context.Context, p *person, f *finger) (acct, error) {
	nick := p.account.Nickname
	switch {
	case f.actor != p.account.URI || !strings.EqualFold(f.nick, nick):
		return acct{}, refuse("%s@%s leads to %s, who is called %s", f.nick, f.domain, p.account.URI, nick)
	case f.domain == p.host, f.at == p.host, p.claim == f.domain:
		return acct{nick, f.domain, store.At(s.now())}, nil
	}
	own, err := s.finger(ctx, nick, p.host)
	if err == nil && !own.names(nick, f.domain) {
		err = refuse("%s does not say that %s@%s is its own", p.host, f.nick, f.domain)
	}
	return acct{nick, f.domain, store.At(s.now())}, err
}

// confirm returns the handle of an actor that was found by its id: the one that it claims, if the server in that agrees, or the one that its
// own server gives it. If that cannot be asked, its name on its own host has to do; if it says something else, the actor is refused.
func (s *Service) confirm(ctx context.Context, p *person) (acct, error) {
	nick, id := p.account.Nickname, p.account.URI
	confirmed := store.At(s.now())
	if p.claim != "" && p.claim != p.host && p.claim != s.Host {
		if f, err := s.fingerSelf(ctx, nick, p.claim); err == nil && s.leadsTo(ctx, f, id) {
			return acct{nick, p.claim, confirmed}, nil
		}
	}
	f, err := s.finger(ctx, nick, p.host)
	switch {
	case ctx.Err() != nil:
		return acct{}, ctx.Err()
	case err != nil:
		s.log.Debug("handle could not be confirmed", "actor", id, "err", err)
		return acct{nick: nick, domain: p.host}, nil
	case !strings.EqualFold(f.nick, nick) || !s.leadsTo(ctx, f, id):
		return acct{}, refuse("%s@%s is not %s, but %s", nick, p.host, id, f.actor)
	case f.domain == p.host:
		return acct{nick, p.host, confirmed}, nil
	}
	there, err := s.fingerSelf(ctx, nick, f.domain)
	switch {
	case err != nil && passing(err):
		return acct{nick: nick, domain: p.host}, nil
	case err != nil:
		return acct{}, fmt.Errorf("%s@%s is not confirmed: %w", nick, f.domain, err)
	case !s.leadsTo(ctx, there, id):
		return acct{}, refuse("%s@%s is not %s, but %s", nick, f.domain, id, there.actor)
	}
	return acct{nick, f.domain, confirmed}, nil
}

// leadsTo tells whether an answer leads to an actor, if need be by another address of the actor on its host.
func (s *Service) leadsTo(ctx context.Context, f *finger, id string) bool {
	if f.actor == id {
		return true
	}
	if !activity.SameHost(f.actor, id, s.Trial) {
		return false
	}
	doc, err := s.document(ctx, f.actor)
	return err == nil && doc.ID() == id
}

// finger asks a server for a handle of its own, by WebFinger, or as its host-meta says. The handle in the answer may be another.
func (s *Service) finger(ctx context.Context, nick, domain string) (*finger, error) {
	base, err := s.serverURL(domain)
	if err != nil {
		return nil, err
	}
	resource := url.QueryEscape("acct:" + nick + "@" + domain)
	f, err := s.getFinger(ctx, base+"/.well-known/webfinger?resource="+resource)
	if status := statusOf(err); status != http.StatusBadRequest && status != http.StatusNotFound && !errors.Is(err, fetch.ErrType) {
		return f, err
	}
	template, templateErr := s.hostMeta(ctx, base)
	if templateErr != nil {
		return nil, err
	}
	return s.getFinger(ctx, strings.ReplaceAll(template, "{uri}", resource))
}

// serverURL returns the address of a server.
func (s *Service) serverURL(domain string) (string, error) {
	base := "https://" + domain
	if _, err := activity.Host(base, false); err != nil && s.Trial {
		base = "http://" + domain
	}
	host, err := s.hostToAsk(base)
	if err == nil && host != domain {
		err = fmt.Errorf("%w: %q", activity.ErrMalformed, domain)
	}
	return base, err
}

// wellKnown reads one of the documents by which servers introduce themselves. Each hop must be one that may be asked.
func (s *Service) wellKnown(ctx context.Context, address, accept string, types []string) (*fetch.Response, error) {
	if err := mayAsk(ctx); err != nil {
		return nil, err
	}
	if err := s.absent.of(address, s.now()); err != nil {
		return nil, err
	}
	resp, err := s.client.Get(ctx, address, fetch.Limits{
		Body: maxFinger, Time: fingerTime, Accept: accept, Types: types,
		Prepare: func(r *http.Request) error {
			_, err := s.hostToAsk(r.URL.String())
			return err
		},
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.absent.noteFor(address, err, s.now(), fingerPause)
	}
	return resp, err
}

func (s *Service) getFinger(ctx context.Context, address string) (*finger, error) {
	resp, err := s.wellKnown(ctx, address, fingerAccept, fingerTypes)
	if err != nil {
		return nil, err
	}
	f, err := s.readFinger(resp.Type, resp.Body)
	if err != nil {
		return nil, err
	}
	f.at, err = activity.Host(resp.URL.String(), s.Trial)
	return f, err
}

// readFinger reads an answer of WebFinger.
func (s *Service) readFinger(mediaType string, body []byte) (*finger, error) {
	d, err := readDescriptor(mediaType, body)
	if err != nil {
		return nil, err
	}
	f := new(finger)
	var ok bool
	subject, isAccount := strings.CutPrefix(d.subject, "acct:")
	if f.nick, f.domain, ok = text.SplitHandle(subject); !isAccount || !ok || f.domain == "" {
		return nil, refuse("WebFinger answers for %q", d.subject)
	}
	for _, l := range d.links {
		if l.rel == "self" && isDocument(l.kind) && s.isAddress(l.href) {
			f.actor = l.href
			return f, nil
		}
	}
	return nil, refuse("WebFinger leads to no actor")
}

// hostMeta returns the template of the address at which a server is asked for handles.
func (s *Service) hostMeta(ctx context.Context, base string) (string, error) {
	resp, err := s.wellKnown(ctx, base+"/.well-known/host-meta", "application/xrd+xml, application/jrd+json;q=0.9", fingerTypes)
	if err != nil {
		return "", err
	}
	d, err := readDescriptor(resp.Type, resp.Body)
	if err != nil {
		return "", err
	}
	for _, l := range d.links {
		if l.rel == "lrdd" && strings.Count(l.template, "{uri}") == 1 {
			return l.template, nil
		}
	}
	return "", refuse("the server says nowhere how it is asked for handles")
}

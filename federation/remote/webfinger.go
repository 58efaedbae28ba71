package remote

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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
	webFingerFailureTTL = 5 * time.Minute // of a failed lookup; the handle may exist later
	maxWebFingerBytes   = 256 << 10       // bytes
	webFingerAccept     = "application/jrd+json, application/json;q=0.9, application/xrd+xml;q=0.8"
)

var byteOrderMark = []byte("\ufeff")

// webFinger is a WebFinger response (RFC 7033): a handle and its actor.
type webFinger struct {
	nick, domain string
	Actor        string
	host         string // host of the response, after redirects
}

func (f *webFinger) isFor(nick, domain string) bool {
	return f.domain == domain && text.SameNick(f.nick, nick)
}

// Lookup returns the account of a handle: the stored one, or the one that its server names (federation 1.3).
func (a *Actors) Lookup(ctx context.Context, name string) (*store.Account, error) {
	nick, domain, ok := text.SplitHandle(name)
	if !ok {
		return nil, errs.ErrRecordNotFound
	}
	if a.Settings.IsOwnHost(domain) {
		domain = ""
	}
	known, err := a.db.AccountByName(ctx, nick, domain)
	switch {
	case err == nil && known.Local():
		return known, nil
	case err == nil && known.DeletedAt == nil:
		return known, a.RefreshIfStale(ctx, known)
	case err != nil && !errs.IsNotFound(err) || domain == "":
		return nil, err
	}
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	return a.actorFetches.do(ctx, "acct:"+nick+"@"+domain, actorTimeout, func(ctx context.Context) (*store.Account, error) {
		return a.fetchByHandle(ctx, nick, domain)
	})
}

// fetchByHandle looks up a handle and fetches its actor.
func (a *Actors) fetchByHandle(ctx context.Context, nick, domain string) (*store.Account, error) {
	f, err := a.fetcher.WebFinger(ctx, nick, domain)
	if err != nil {
		return nil, err
	}
	if !f.isFor(nick, domain) {
		if f, err = a.fetcher.webFingerAtHost(ctx, f.nick, f.domain); err != nil {
			return nil, err
		}
	}
	if known, err := a.db.AccountByURI(ctx, f.Actor); err == nil && known.DeletedAt == nil {
		return known, a.RefreshIfStale(ctx, known)
	}
	doc, err := a.fetcher.Document(ctx, f.Actor)
	if err != nil {
		return nil, err
	}
	f.Actor = doc.ID() // on the same host
	return a.importActor(ctx, doc, f, true)
}

// webFingerAtHost looks up a handle on its own server, which must confirm that handle.
func (f *Fetcher) webFingerAtHost(ctx context.Context, nick, domain string) (*webFinger, error) {
	found, err := f.WebFinger(ctx, nick, domain)
	if err == nil && !found.isFor(nick, domain) {
		err = Refuse("%s has no account %s@%s", domain, nick, domain)
	}
	return found, err
}

// confirmRequestedHandle returns the handle that led to an actor if it belongs to the actor: the name matches, and if the handle is on
// another host, the actor claims it or its server confirms it.
func (a *Actors) confirmRequestedHandle(ctx context.Context, p *parsedActor, f *webFinger) (confirmedHandle, error) {
	nick := p.account.Nickname
	switch {
	case f.Actor != p.account.URI || !text.SameNick(f.nick, nick):
		return confirmedHandle{}, Refuse("handle %s@%s leads to %s with the username %s", f.nick, f.domain, p.account.URI, nick)
	case f.domain == p.host, f.host == p.host, p.claimedHost == f.domain:
		return confirmedHandle{nick, f.domain, store.At(a.db.Now())}, nil
	}
	own, err := a.fetcher.WebFinger(ctx, nick, p.host)
	if err == nil && !own.isFor(nick, f.domain) {
		err = Refuse("%s does not confirm the handle %s@%s", p.host, f.nick, f.domain)
	}
	return confirmedHandle{nick, f.domain, store.At(a.db.Now())}, err
}

// confirmHandle returns the handle of an actor that was found by its id: the claimed one if its server confirms it, or the one that the
// actor's own server names. If that does not respond, it is the name on the actor's host; if it names another actor, the actor is
// refused.
func (a *Actors) confirmHandle(ctx context.Context, p *parsedActor) (confirmedHandle, error) {
	nick, id := p.account.Nickname, p.account.URI
	confirmed := store.At(a.db.Now())
	if p.claimedHost != "" && p.claimedHost != p.host && !a.Settings.IsOwnHost(p.claimedHost) {
		if f, err := a.fetcher.webFingerAtHost(ctx, nick, p.claimedHost); err == nil && a.fetcher.leadsToActor(ctx, f, id) {
			return confirmedHandle{nick, p.claimedHost, confirmed}, nil
		}
	}
	f, err := a.fetcher.WebFinger(ctx, nick, p.host)
	switch {
	case ctx.Err() != nil:
		return confirmedHandle{}, ctx.Err()
	case err != nil:
		a.log.Debug("handle could not be confirmed", "actor", id, "err", err)
		return confirmedHandle{nick: nick, domain: p.host}, nil
	case !text.SameNick(f.nick, nick) || !a.fetcher.leadsToActor(ctx, f, id):
		return confirmedHandle{}, Refuse("handle %s@%s belongs to %[4]s, not %[3]s", nick, p.host, id, f.Actor)
	case f.domain == p.host:
		return confirmedHandle{nick, p.host, confirmed}, nil
	}
	other, err := a.fetcher.webFingerAtHost(ctx, nick, f.domain)
	switch {
	case err != nil && IsTemporary(err):
		return confirmedHandle{nick: nick, domain: p.host}, nil
	case err != nil:
		return confirmedHandle{}, fmt.Errorf("%s@%s is not confirmed: %w", nick, f.domain, err)
	case !a.fetcher.leadsToActor(ctx, other, id):
		return confirmedHandle{}, Refuse("handle %s@%s belongs to %[4]s, not %[3]s", nick, f.domain, id, other.Actor)
	}
	return confirmedHandle{nick, f.domain, confirmed}, nil
}

// leadsToActor returns whether a WebFinger result leads to an actor, possibly by another URL of the actor on its host.
func (f *Fetcher) leadsToActor(ctx context.Context, found *webFinger, id string) bool {
	if found.Actor == id {
		return true
	}
	if !activity.SameHost(found.Actor, id, f.Settings.AllowLoopback) {
		return false
	}
	doc, err := f.Document(ctx, found.Actor)
	return err == nil && doc.ID() == id
}

// WebFinger looks up a handle on a server, by WebFinger or as its host-meta says. The handle in the response may differ.
func (f *Fetcher) WebFinger(ctx context.Context, nick, domain string) (*webFinger, error) {
	base, err := f.serverURL(domain)
	if err != nil {
		return nil, err
	}
	resource := url.QueryEscape("acct:" + nick + "@" + domain)
	found, err := f.fetchWebFinger(ctx, base+"/.well-known/webfinger?resource="+resource)
	if status := HTTPStatus(err); status != http.StatusBadRequest && status != http.StatusNotFound && !errors.Is(err, fetch.ErrContentType) {
		return found, err
	}
	template, templateErr := f.fetchHostMeta(ctx, base)
	if templateErr != nil {
		return nil, err
	}
	return f.fetchWebFinger(ctx, strings.ReplaceAll(template, "{uri}", resource))
}

func (f *Fetcher) serverURL(domain string) (string, error) {
	base := "https://" + domain
	if _, err := activity.Host(base, false); err != nil && f.Settings.AllowLoopback {
		base = "http://" + domain
	}
	host, err := f.FetchableHost(base)
	if err == nil && host != domain {
		err = fmt.Errorf("%w: %q", activity.ErrMalformed, domain)
	}
	return base, err
}

// fetchWellKnown fetches a well-known document. Its declared type may be any but that of a page, because handles on own domains are often static
// files on servers without a type for JRD. The host policy applies to each redirect.
func (f *Fetcher) fetchWellKnown(ctx context.Context, address, accept string) (*fetch.Response, error) {
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	if err := f.failures.get(address, f.db.Now()); err != nil {
		return nil, err
	}
	resp, err := f.get(ctx, address, fetch.Limits{
		MaxBody: maxWebFingerBytes, Timeout: webFingerTimeout, Accept: accept, Accepts: fetch.NotPage,
		Prepare: f.checkRequest,
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		f.failures.addFor(address, err, f.db.Now(), webFingerFailureTTL)
	}
	return resp, err
}

func (f *Fetcher) fetchWebFinger(ctx context.Context, address string) (*webFinger, error) {
	resp, err := f.fetchWellKnown(ctx, address, webFingerAccept)
	if err != nil {
		return nil, err
	}
	found, err := f.reader.parseWebFinger(resp.Body)
	if err != nil {
		return nil, err
	}
	found.host, err = activity.Host(resp.URL.String(), f.Settings.AllowLoopback)
	return found, err
}

// parseWebFinger parses a WebFinger response.
func (r *Reader) parseWebFinger(body []byte) (*webFinger, error) {
	d, err := parseDescriptor(body)
	if err != nil {
		return nil, err
	}
	f := new(webFinger)
	var ok bool
	if f.nick, f.domain, ok = text.SplitHandle(strings.TrimPrefix(d.subject, "acct:")); !ok || f.domain == "" {
		return nil, Refuse("WebFinger subject is %q", d.subject)
	}
	for _, l := range d.links {
		if l.rel == "self" && isActivityMediaType(l.mediaType) && r.isPublicURL(l.href) {
			f.Actor = l.href
			return f, nil
		}
	}
	return nil, Refuse("WebFinger has no actor link")
}

// fetchHostMeta returns the WebFinger URL template of a server.
func (f *Fetcher) fetchHostMeta(ctx context.Context, base string) (string, error) {
	resp, err := f.fetchWellKnown(ctx, base+"/.well-known/host-meta", "application/xrd+xml, application/jrd+json;q=0.9")
	if err != nil {
		return "", err
	}
	d, err := parseDescriptor(resp.Body)
	if err != nil {
		return "", err
	}
	for _, l := range d.links {
		if l.rel == "lrdd" && strings.Count(l.template, "{uri}") == 1 {
			return l.template, nil
		}
	}
	return "", Refuse("host-meta has no WebFinger template")
}

// descriptor is a resource descriptor in JSON (RFC 7033) or XML (RFC 6415): a subject and its links.
type descriptor struct {
	subject string
	links   []link
}

type link struct{ rel, mediaType, href, template string }

const (
	maxLinks    = 500
	maxXMLDepth = 16
)

// parseDescriptor parses a descriptor by its content, which says more than its declared type.
func parseDescriptor(body []byte) (*descriptor, error) {
	if content := bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark)); bytes.HasPrefix(content, []byte("<")) {
		return parseXRD(content)
	}
	o, err := activity.Parse(body)
	if err != nil {
		return nil, err
	}
	d := &descriptor{subject: o.Text("subject")}
	for _, l := range o.Objects("links", maxLinks) {
		d.links = append(d.links, link{l.Text("rel"), l.Text("type"), l.Text("href"), l.Text("template")})
	}
	return d, nil
}

// parseXRD parses a descriptor in XML. Document types, and with them custom entities, are refused.
func parseXRD(body []byte) (*descriptor, error) {
	in := xml.NewDecoder(bytes.NewReader(body))
	d, depth, subject := new(descriptor), 0, false
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %v", activity.ErrMalformed, err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, fmt.Errorf("%w: XML with a document type", activity.ErrMalformed)
		case xml.StartElement:
			if depth++; depth > maxXMLDepth || len(d.links) == maxLinks {
				return nil, fmt.Errorf("%w: XML that is too deep or too long", activity.ErrMalformed)
			}
			if depth == 1 && t.Name.Local != "XRD" {
				return nil, fmt.Errorf("%w: XML that is not an XRD", activity.ErrMalformed)
			}
			subject = depth == 2 && t.Name.Local == "Subject"
			if depth == 2 && t.Name.Local == "Link" {
				d.links = append(d.links, parseLink(t.Attr))
			}
		case xml.EndElement:
			depth--
			subject = false
		case xml.CharData:
			if subject {
				d.subject = strings.TrimSpace(string(t))
			}
		}
	}
}

func parseLink(attributes []xml.Attr) link {
	var l link
	for _, a := range attributes {
		switch a.Name.Local {
		case "rel":
			l.rel = a.Value
		case "type":
			l.mediaType = a.Value
		case "href":
			l.href = a.Value
		case "template":
			l.template = a.Value
		}
	}
	return l
}

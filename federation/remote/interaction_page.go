package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/text"
)

// subscribeRel is the WebFinger link to the page of a server where its users interact with remote objects.
const subscribeRel = "http://ostatus.org/schema/1.0/subscribe"

// ErrNoInteractionPage is the error if there is no such user, or their server has no such page.
var ErrNoInteractionPage = errors.New("nobody of that name is known, or their server has no page for it")

// InteractionPage returns the URL at which a remote user can interact with the object at uri on their own server, by WebFinger. who is
// their handle or profile URL.
func (r *Resolver) InteractionPage(ctx context.Context, who, uri string) (string, error) {
	template, err := r.subscribeTemplate(ctx, strings.TrimSpace(who))
	if err != nil {
		return "", err
	}
	page := strings.ReplaceAll(template, "{uri}", url.QueryEscape(uri))
	if _, err := activity.Host(page, r.AllowLoopback); err != nil { // also excludes javascript: URLs
		return "", ErrNoInteractionPage
	}
	return page, nil
}

func (r *Resolver) subscribeTemplate(ctx context.Context, who string) (string, error) {
	resource, domain := who, ""
	if strings.Contains(who, "://") {
		host, err := activity.Host(who, r.AllowLoopback)
		if err != nil {
			return "", ErrNoInteractionPage
		}
		domain = host
	} else {
		nick, host, ok := text.SplitHandle(strings.TrimPrefix(who, "acct:"))
		if !ok || host == "" {
			return "", ErrNoInteractionPage
		}
		resource, domain = "acct:"+nick+"@"+host, host
	}
	if domain == r.Host {
		return "", ErrNoInteractionPage
	}
	base, err := r.fetcher.serverURL(domain)
	if err != nil {
		return "", ErrNoInteractionPage
	}
	resp, err := r.fetcher.fetchWellKnown(ctx, base+"/.well-known/webfinger?resource="+url.QueryEscape(resource), webFingerAccept, webFingerTypes)
	if err != nil {
		if status := HTTPStatus(err); status >= 400 && status < 500 && status != http.StatusTooManyRequests || errors.Is(err, fetch.ErrContentType) {
			err = ErrNoInteractionPage
		}
		return "", err
	}
	d, err := parseDescriptor(resp.Type, resp.Body)
	if err != nil {
		return "", ErrNoInteractionPage
	}
	for _, l := range d.links {
		if l.rel == subscribeRel && strings.Contains(l.template, "{uri}") {
			return l.template, nil
		}
	}
	return "", ErrNoInteractionPage
}

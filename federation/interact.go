package federation

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

// subscribeRel is the link of WebFinger that leads to the page where somebody of another server follows or answers from there.
const subscribeRel = "http://ostatus.org/schema/1.0/subscribe"

// ErrNobody says that there is nobody of a handle, or that their server has no page for what happens elsewhere.
var ErrNobody = errors.New("nobody of that name is known, or their server has no page for it")

// InteractionPage returns the address at which somebody with an account elsewhere deals with what is at uri, from their own server: it
// is asked by WebFinger. who is their handle, or the address of their profile.
func (s *Service) InteractionPage(ctx context.Context, who, uri string) (string, error) {
	template, err := s.subscribeTemplate(ctx, strings.TrimSpace(who))
	if err != nil {
		return "", err
	}
	page := strings.ReplaceAll(template, "{uri}", url.QueryEscape(uri))
	if _, err := activity.Host(page, s.Trial); err != nil { // which also keeps scripts out
		return "", ErrNobody
	}
	return page, nil
}

func (s *Service) subscribeTemplate(ctx context.Context, who string) (string, error) {
	resource, domain := who, ""
	if strings.Contains(who, "://") {
		host, err := activity.Host(who, s.Trial)
		if err != nil {
			return "", ErrNobody
		}
		domain = host
	} else {
		nick, host, ok := text.SplitHandle(strings.TrimPrefix(who, "acct:"))
		if !ok || host == "" {
			return "", ErrNobody
		}
		resource, domain = "acct:"+nick+"@"+host, host
	}
	if domain == s.Host {
		return "", ErrNobody
	}
	base, err := s.serverURL(domain)
	if err != nil {
		return "", ErrNobody
	}
	resp, err := s.wellKnown(ctx, base+"/.well-known/webfinger?resource="+url.QueryEscape(resource), fingerAccept, fingerTypes)
	if err != nil {
		if status := statusOf(err); status >= 400 && status < 500 && status != http.StatusTooManyRequests || errors.Is(err, fetch.ErrType) {
			err = ErrNobody
		}
		return "", err
	}
	d, err := readDescriptor(resp.Type, resp.Body)
	if err != nil {
		return "", ErrNobody
	}
	for _, l := range d.links {
		if l.rel == subscribeRel && strings.Contains(l.template, "{uri}") {
			return l.template, nil
		}
	}
	return "", ErrNobody
}

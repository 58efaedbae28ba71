package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/text"
	"svc/store"
)

const (
	resolveTimeout      = 8 * time.Second // a user waits
	mentionTimeout      = 3 * time.Second // for all handles in a post
	maxMentionsResolved = 10              // unknown handles per post
	maxPageBytes        = 512 << 10       // of a page that may link to its document
)

// Resolver resolves handles and URLs for users.
type Resolver struct {
	Settings *config.Live
	reader   *Reader
	fetcher  *Fetcher
	actors   *Actors
	statuses *Statuses
	backfill *Backfill
	db       *store.DB
	log      *slog.Logger
}

// Resolve returns the remote account or status of a handle or URL, and stores it. The URL may be that of a page. The error is
// errs.ErrRecordNotFound if there is none or it cannot be fetched.
func (r *Resolver) Resolve(ctx context.Context, query string) (store.AccountID, store.StatusID, error) {
	limited, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	account, status, err := r.resolve(limited, query)
	if account != nil && err == nil && account.Unavailable || errors.Is(err, ErrLocal) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		if ctx.Err() == nil {
			r.log.Debug("handle or URL could not be resolved", "query", query, "err", err)
			err = errs.ErrRecordNotFound
		}
		return 0, 0, err
	}
	if account != nil {
		return account.ID, 0, r.backfill.AccountViewed(ctx, account)
	}
	return 0, status.ID, nil
}

// Fetch returns the remote account or status of a handle or URL, and stores it. Unlike Resolve it returns the error of the fetch, for jobs
// that try again.
func (r *Resolver) Fetch(ctx context.Context, query string) (*store.Account, *store.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	return r.resolve(ctx, query)
}

// resolve returns one of the two.
func (r *Resolver) resolve(ctx context.Context, query string) (*store.Account, *store.Status, error) {
	query = text.NormalizeAddress(query)
	if !strings.HasPrefix(query, "https://") && !strings.HasPrefix(query, "http://") {
		account, err := r.actors.Lookup(ctx, query)
		return account, nil, err
	}
	uri := activity.WithoutFragment(query)
	if account, err := r.db.AccountByURI(ctx, uri); err == nil && account.DeletedAt == nil {
		return account, nil, r.actors.RefreshIfStale(ctx, account)
	}
	doc, err := r.fetcher.DocumentForPage(ctx, uri)
	if err != nil {
		return nil, nil, err
	}
	if IsActor(doc) {
		account, err := r.actors.importActor(ctx, doc, nil, true)
		return account, nil, err
	}
	if IsFeaturedCollection(doc) { // which is not shown by itself: its owner is
		if owner := doc.Ref("attributedTo"); activity.SameHost(owner, doc.ID(), r.Settings.AllowLoopback) {
			account, err := r.actors.Actor(ctx, owner)
			return account, nil, err
		}
		return nil, nil, Refuse("collection belongs to an actor of another host")
	}
	st, err := r.statuses.Status(ctx, doc.ID())
	if err == nil && st == nil {
		err = errs.ErrRecordNotFound
	}
	return nil, st, err
}

// DocumentForPage fetches the document of a URL, or the one that the page at the URL links to.
func (f *Fetcher) DocumentForPage(ctx context.Context, address string) (activity.Object, error) {
	doc, err := f.Document(ctx, address)
	if !errors.Is(err, fetch.ErrContentType) {
		return doc, err
	}
	if address, err = f.alternateURL(ctx, address); err != nil {
		return nil, err
	}
	return f.Document(ctx, address)
}

// alternateURL fetches a page and returns the URL of its document, on the same host (federation 1.6).
func (f *Fetcher) alternateURL(ctx context.Context, page string) (string, error) {
	resp, err := f.get(ctx, page, fetch.Limits{
		MaxBody: maxPageBytes, Timeout: webFingerTimeout, Accept: "text/html, application/xhtml+xml", Accepts: fetch.OneOf("text/html", "application/xhtml+xml"),
		Prepare: f.checkRequest,
	})
	if err != nil {
		return "", err
	}
	found := cmp.Or(linkHeader(resp.Header.Values("Link"), resp.URL), alternateLink(resp.Body, resp.URL))
	if !activity.SameHost(found, resp.URL.String(), f.Settings.AllowLoopback) {
		return "", Refuse("page links to no document on its host")
	}
	return activity.WithoutFragment(found), nil
}

// linkHeader returns the URL of the document of a page in its Link headers, "" if there is none.
func linkHeader(values []string, base *url.URL) string {
	for target, params := range fetch.Links(values) {
		if to := alternateTarget(params["rel"], params["type"], target, base); to != "" {
			return to
		}
	}
	return ""
}

// alternateLink returns the document URL in a page, "" if there is none.
func alternateLink(page []byte, base *url.URL) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if string(name) != "link" {
				continue
			}
			if !more {
				continue
			}
			attributes := readAttributes(z)
			if to := alternateTarget(attributes["rel"], attributes["type"], attributes["href"], base); to != "" {
				return to
			}
		}
	}
}

// alternateTarget returns the URL of a link if it is the document of a page, else "".
func alternateTarget(rel, mediaType, href string, base *url.URL) string {
	if !slices.Contains(strings.Fields(strings.ToLower(rel)), "alternate") || !isActivityMediaType(mediaType) {
		return ""
	}
	to, err := base.Parse(strings.TrimSpace(href))
	if err != nil {
		return ""
	}
	return to.String()
}

// ResolveMentions fetches unknown accounts that a text mentions or that are its additional recipients, so that they are known when it
// is posted. Accounts that cannot be fetched within mentionTimeout are not mentioned.
func (r *Resolver) ResolveMentions(ctx context.Context, body, contentType string, to []string) {
	handles := to
	if strings.Count(body, "@") > 1 {
		for _, m := range text.Parse(body, text.ContentType(contentType)).Mentions() {
			handles = append(handles[:len(handles):len(handles)], m.Nick+"@"+m.Domain)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mentionTimeout)
	defer cancel()
	var fetches sync.WaitGroup
	fetched := make(map[string]bool)
	for _, name := range handles {
		nick, domain, ok := text.SplitHandle(name)
		key := text.NickKey(nick) + "@" + domain
		if !ok || domain == "" || r.Settings.IsOwnHost(domain) || fetched[key] || len(fetched) == maxMentionsResolved {
			continue
		}
		if _, err := r.db.AccountByName(ctx, nick, domain); !errs.IsNotFound(err) {
			continue
		}
		fetched[key] = true
		fetches.Go(func() {
			if _, err := r.actors.Lookup(ctx, nick+"@"+domain); err != nil {
				r.log.Debug("mentioned account not found", "handle", nick+"@"+domain, "err", err)
			}
		})
	}
	fetches.Wait()
}

// subscribeRel is the WebFinger link to the page of a server where its users interact with remote objects.
const subscribeRel = "http://ostatus.org/schema/1.0/subscribe"

// ErrNoInteractionPage is the error if there is no such user, or their server has no such page.
var ErrNoInteractionPage = errors.New("the account does not exist, or its server has no page for interactions")

// InteractionPage returns the URL at which a remote user can interact with the object at uri on their own server, by WebFinger. user is
// a handle or profile URL.
func (r *Resolver) InteractionPage(ctx context.Context, user, uri string) (string, error) {
	template, err := r.subscribeTemplate(ctx, strings.TrimSpace(user))
	if err != nil {
		return "", err
	}
	page := strings.ReplaceAll(template, "{uri}", url.QueryEscape(uri))
	if _, err := activity.Host(page, r.Settings.AllowLoopback); err != nil { // also excludes javascript: URLs
		return "", ErrNoInteractionPage
	}
	return page, nil
}

func (r *Resolver) subscribeTemplate(ctx context.Context, user string) (string, error) {
	resource, domain := user, ""
	if strings.Contains(user, "://") {
		host, err := activity.Host(user, r.Settings.AllowLoopback)
		if err != nil {
			return "", ErrNoInteractionPage
		}
		domain = host
	} else {
		nick, host, ok := text.SplitHandle(strings.TrimPrefix(user, "acct:"))
		if !ok || host == "" {
			return "", ErrNoInteractionPage
		}
		resource, domain = "acct:"+nick+"@"+host, host
	}
	if r.Settings.IsOwnHost(domain) {
		return "", ErrNoInteractionPage
	}
	base, err := r.fetcher.serverURL(domain)
	if err != nil {
		return "", ErrNoInteractionPage
	}
	resp, err := r.fetcher.fetchWellKnown(ctx, base+"/.well-known/webfinger?resource="+url.QueryEscape(resource), webFingerAccept)
	if err != nil {
		if status := HTTPStatus(err); status >= 400 && status < 500 && status != http.StatusTooManyRequests || errors.Is(err, fetch.ErrContentType) {
			err = ErrNoInteractionPage
		}
		return "", err
	}
	d, err := parseDescriptor(resp.Body)
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

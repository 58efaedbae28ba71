package federation

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/text"
	"svc/store"
)

const (
	resolveTime  = 8 * time.Second // somebody waits
	mentionTime  = 3 * time.Second // for all handles in a post
	maxMentioned = 10              // of them, that are asked for
	maxPage      = 512 << 10       // bytes of a page that may say where its document is
)

// Resolve returns what a handle or an address names elsewhere, an account or a post, which is stored here. The address may be that of a
// page for people. errs.ErrRecordNotFound says that there is nothing, or nothing that can be had.
func (s *Service) Resolve(ctx context.Context, what string) (store.AccountID, store.StatusID, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	account, status, err := s.resolve(ctx, what)
	if account != nil && err == nil && account.Withheld || errors.Is(err, errOwn) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		if ctx.Err() == nil {
			s.log.Debug("not resolved", "what", what, "err", err)
			err = errs.ErrRecordNotFound
		}
		return 0, 0, err
	}
	if account != nil {
		return account.ID, 0, s.Seen(ctx, account)
	}
	return 0, status.ID, nil
}

// Reread asks for an account elsewhere anew, because what it says of itself is about to matter. What its server does not tell within the
// time that somebody waits stays as it is known here; an account that is no more is errs.ErrRecordNotFound.
func (s *Service) Reread(ctx context.Context, a *store.Account) error {
	if a.Local() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	s.absent.forget(a.URI)
	_, err := s.fetchActor(ctx, a.URI)
	if isGone(err) {
		return errs.ErrRecordNotFound
	}
	if err != nil {
		s.log.Debug("account not read anew", "account", a.Acct(), "err", err)
	}
	return nil
}

// resolve returns one of the two.
func (s *Service) resolve(ctx context.Context, what string) (*store.Account, *store.Status, error) {
	if !strings.HasPrefix(what, "https://") && !strings.HasPrefix(what, "http://") {
		account, err := s.Lookup(ctx, what)
		return account, nil, err
	}
	uri := activity.WithoutFragment(what)
	if account, err := s.db.AccountByURI(ctx, uri); err == nil && account.DeletedAt == nil {
		return account, nil, s.refreshIfOld(ctx, account)
	}
	doc, err := s.documentOf(ctx, uri)
	if err != nil {
		return nil, nil, err
	}
	if isActor(doc) {
		account, err := s.learnActor(ctx, doc, nil, true)
		return account, nil, err
	}
	st, err := s.Status(ctx, doc.ID())
	if err == nil && st == nil {
		err = errs.ErrRecordNotFound
	}
	return nil, st, err
}

// documentOf reads the document that is at an address, or that of which there is a page for people.
func (s *Service) documentOf(ctx context.Context, address string) (activity.Object, error) {
	doc, err := s.document(ctx, address)
	if !errors.Is(err, fetch.ErrType) {
		return doc, err
	}
	if address, err = s.alternate(ctx, address); err != nil {
		return nil, err
	}
	return s.document(ctx, address)
}

// alternate reads a page for people that says where its document is: on the same host (federation 1.6).
func (s *Service) alternate(ctx context.Context, page string) (string, error) {
	resp, err := s.client.Get(ctx, page, fetch.Limits{
		Body: maxPage, Time: fingerTime, Accept: "text/html, application/xhtml+xml", Types: []string{"text/html", "application/xhtml+xml"},
		Prepare: func(r *http.Request) error {
			_, err := s.hostToAsk(r.URL.String())
			return err
		},
	})
	if err != nil {
		return "", err
	}
	found := alternateLink(resp.Body, resp.URL)
	if !activity.SameHost(found, resp.URL.String(), s.Trial) {
		return "", refuse("the page names no document of its host")
	}
	return activity.WithoutFragment(found), nil
}

// alternateLink returns where a page says that its document is, "" if it does not.
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
			attributes := make(map[string]string)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				attributes[string(key)] = string(value)
			}
			isAlternate := strings.Contains(" "+strings.ToLower(attributes["rel"])+" ", " alternate ")
			if !isAlternate || !isDocument(attributes["type"]) {
				continue
			}
			if to, err := base.Parse(strings.TrimSpace(attributes["href"])); err == nil {
				return to.String()
			}
		}
	}
}

// Mentioned asks for the accounts that a text mentions, or that it is addressed to besides, and that are not known yet, so that they are
// when it is posted. It takes no longer than people wait; who has not been found by then is not mentioned.
func (s *Service) Mentioned(ctx context.Context, body, contentType string, to []string) {
	handles := to
	if strings.Count(body, "@") > 1 {
		for _, m := range text.Parse(body, text.ContentType(contentType)).Mentions() {
			handles = append(handles[:len(handles):len(handles)], m.Nick+"@"+m.Domain)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mentionTime)
	defer cancel()
	var asking sync.WaitGroup
	asked := make(map[string]bool)
	for _, name := range handles {
		nick, domain, ok := text.SplitHandle(name)
		key := strings.ToLower(nick) + "@" + domain
		if !ok || domain == "" || domain == s.Host || asked[key] || len(asked) == maxMentioned {
			continue
		}
		if _, err := s.db.AccountByName(ctx, nick, domain); !errs.IsNotFound(err) {
			continue
		}
		asked[key] = true
		asking.Go(func() {
			if _, err := s.Lookup(ctx, nick+"@"+domain); err != nil {
				s.log.Debug("mentioned account not found", "handle", nick+"@"+domain, "err", err)
			}
		})
	}
	asking.Wait()
}

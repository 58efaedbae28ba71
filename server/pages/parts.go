package pages

import (
	"net/http"
	"strings"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// PartHeader is the header by which the script of the pages asks for the part of a page that a form changes or that it wants to add, instead of
// the page. Its value is one of the parts below; with an unknown one, or where a form changes more than that, the answer is the content of the
// page: its title and its main element.
//
//	p123        the post with that id; "p123 main" as on its own page, "p123 below" where it stands below the post that it replies to
//	u123        the row of an account with a button to follow it
//	n123        a notification, of which nothing remains after it is dismissed
//	main        the content of the page
const PartHeader = "Svc-Part"

// Part returns the part of the page that was asked for, "" for the whole page. Visitors are always shown whole pages, because theirs are kept.
func (p *page) Part() string {
	if p.Viewer == nil {
		return ""
	}
	return p.Header.Get(PartHeader)
}

// changed returns the part that a form changed, nil if it is not known how to make it.
func (p *page) changed() (any, error) {
	name, variants, _ := strings.Cut(p.Part(), " ")
	if len(name) < 2 {
		return nil, nil
	}
	switch id := name[1:]; name[0] {
	case 'p':
		return p.articlePart(id, web.Article{Main: strings.Contains(variants, "main"), InThread: strings.Contains(variants, "below")})
	case 'u':
		return p.accountPart(id)
	case 'n':
		return rest.NoContent, nil
	}
	return nil, nil
}

// articlePart returns a post as it is now, or nothing if it is gone.
func (p *page) articlePart(id string, as web.Article) (any, error) {
	a, err := p.Call(http.MethodGet, statusPath(id), nil)
	if errs.IsNotFound(err) {
		return rest.NoContent, nil
	}
	if err != nil {
		return nil, err
	}
	status, ok := a.Value.(*entity.Status)
	if !ok {
		return nil, nil
	}
	html, err := p.post(status, as)
	return p.Pages.Part(html), err
}

// accountPart returns the row of an account.
func (p *page) accountPart(id string) (any, error) {
	a := new(web.Account)
	if err := p.get(accountPath(id), map[string][]string{"with_relationships": {"true"}}, a); err != nil {
		return nil, err
	}
	html, err := p.frame.Messages.AccountRow(a, p.frame.Base)
	return p.Pages.Part(html), err
}

package pages

import (
	"net/http"
	"net/url"
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
//	f123        the button that follows the account with that id
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
	case 'f':
		return p.followPart(id)
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

// followPart returns the button that follows an account.
func (p *page) followPart(id string) (any, error) {
	var relationships []web.Relationship
	if err := p.get("/api/v1/accounts/relationships", url.Values{"id[]": {id}}, &relationships); err != nil {
		return nil, err
	}
	if len(relationships) == 0 {
		return nil, errNoPage
	}
	html, err := p.frame.Messages.FollowButton(&relationships[0], p.frame.Base)
	return p.Pages.Part(html), err
}

package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

const findPeoplePath = "/web/find_people"

func (h *Handlers) findPeopleRoutes() rest.Routes {
	return rest.Routes{
		"GET " + findPeoplePath:            {rest.SignedIn, h.page((*page).findPeople)},
		"POST /web/collections/:id/follow": {rest.SignedIn, h.page((*page).followCollection)},
	}
}

// Limits of the suggestions of a page. Twice as many accounts are looked at, because the viewer may follow some of them already.
const (
	fewSuggestions  = 6  // on the home page
	manySuggestions = 30 // on a page of their own
	fewTags         = 10
	fewCollections  = 3
	manyCollections = 20
)

// findPeople shows suggested accounts and starter packs, and a form for a list of follows.
func (p *page) findPeople() (any, error) {
	var content web.FindPeople
	var err error
	if content.People, err = p.suggestedAccounts(manySuggestions); err != nil {
		return nil, err
	}
	if content.Collections, err = p.listedCollections(manyCollections); err != nil {
		return nil, err
	}
	var imports []web.Import
	if err := p.get("/api/v1/svc/imports", nil, &imports); err != nil {
		return nil, err
	}
	for _, i := range imports {
		if i.Kind == "follows" {
			content.Import = &i
			break
		}
	}
	return p.show(http.StatusOK, content)
}

// suggestedAccounts returns accounts that the viewer does not follow: those that staff suggest and that followed accounts follow, then those of this
// server that can be found and posted last.
func (p *page) suggestedAccounts(n int) ([]*web.Account, error) {
	limit := strconv.Itoa(2 * n)
	var suggestions []struct {
		Account *web.Account `json:"account"`
	}
	if err := p.get("/api/v2/suggestions", url.Values{"limit": {limit}}, &suggestions); err != nil {
		return nil, err
	}
	var listed []*web.Account
	err := p.get("/api/v1/directory", url.Values{"local": {"true"}, "order": {"active"}, "limit": {limit}}, &listed)
	if err := errs.IgnoreNotFound(err); err != nil { // 404: the server has no directory of profiles
		return nil, err
	}
	accounts := make([]*web.Account, 0, len(suggestions)+len(listed))
	for _, s := range suggestions {
		accounts = append(accounts, s.Account)
	}
	return p.unrelated(append(accounts, listed...), n)
}

// unrelated returns those of the accounts, each once and at most n, that the viewer may follow and does not.
func (p *page) unrelated(accounts []*web.Account, n int) ([]*web.Account, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	ids := make(url.Values)
	for _, a := range accounts {
		ids.Add("id[]", a.ID)
	}
	var relationships []*web.Relationship
	if err := p.get("/api/v1/accounts/relationships", ids, &relationships); err != nil {
		return nil, err
	}
	of := make(map[string]*web.Relationship, len(relationships))
	for _, r := range relationships {
		of[r.ID] = r
	}
	var list []*web.Account
	for _, a := range accounts {
		r := of[a.ID]
		if r == nil || a.ID == p.Viewer.ID.String() || r.Related() || slices.ContainsFunc(list, func(b *web.Account) bool { return a.ID == b.ID }) {
			continue
		}
		if a.Svc.Relationship = r; len(list) < n {
			list = append(list, a)
		}
	}
	return list, nil
}

// listedCollections returns starter packs of this server.
func (p *page) listedCollections(n int) (list []web.Collection, err error) {
	rows, err := p.Entities.ListedCollections(p.Context(), p.Viewer, n)
	if err != nil {
		return nil, err
	}
	return list, p.decode(rows, &list)
}

// suggestedTags returns hashtags that many use now and that the viewer does not follow.
func (p *page) suggestedTags(n int) ([]web.Tag, error) {
	var tags []web.Tag
	if err := p.get("/api/v1/trends/tags", url.Values{"limit": {strconv.Itoa(2 * n)}}, &tags); err != nil {
		return nil, err
	}
	tags = slices.DeleteFunc(tags, func(t web.Tag) bool { return t.Following })
	return tags[:min(n, len(tags))], nil
}

// arrival returns what the home page of a user who follows few accounts suggests, nil for others.
func (p *page) arrival() (*web.Arrival, error) {
	if p.frame.Viewer.Waiting.Follows >= store.FewFollows {
		return nil, nil
	}
	var a web.Arrival
	var err error
	if a.People, err = p.suggestedAccounts(fewSuggestions); err != nil {
		return nil, err
	}
	if a.Tags, err = p.suggestedTags(fewTags); err != nil {
		return nil, err
	}
	a.Collections, err = p.listedCollections(fewCollections)
	return &a, err
}

// maxFollowAll bounds the accounts of a collection that are followed by one press.
const maxFollowAll = 150

// followCollection follows every account of a collection that the viewer does not follow yet, and says how many that were.
func (p *page) followCollection() (any, error) {
	c, err := p.shownCollection()
	if err != nil {
		return nil, err
	}
	var n web.FollowedAll
	for i, a := range c.Members() {
		if a.ID == p.Viewer.ID.String() {
			continue
		}
		if r := a.Svc.Relationship; r != nil && r.Related() {
			n.Skipped++
			continue
		}
		if i >= maxFollowAll || n.Limited {
			n.Skipped++
			continue
		}
		if err := p.followOne(a.ID, &n); err != nil {
			return nil, err
		}
	}
	return rest.Redirect(p.frame.Base + "/collections/" + url.PathEscape(c.Collection.ID) + "?" + n.Query().Encode()), nil
}

// followOne follows an account and counts the outcome. One that cannot be followed is no error.
func (p *page) followOne(id string, n *web.FollowedAll) error {
	a, err := p.Call(http.MethodPost, accountPath(id)+"/follow", nil)
	if e := forUser(err); e != nil {
		n.Skipped++
		n.Limited = e.Status == http.StatusTooManyRequests
		return nil
	}
	if err != nil {
		return err
	}
	var r web.Relationship
	if err := p.decode(a.Value, &r); err != nil {
		return err
	}
	if r.Requested {
		n.Requested++
	} else {
		n.Followed++
	}
	return nil
}

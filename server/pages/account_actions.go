package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) accountActionRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/accounts/:id":         {rest.SignedIn, h.page((*page).openAccount)},
		"GET /web/accounts/:id/more":    {rest.SignedIn, h.page((*page).showAccountActions)},
		"POST /web/accounts/:id/follow": {rest.SignedIn, h.page((*page).followWith)},
		"GET /web/accounts/:id/report":  {rest.SignedIn, h.page((*page).showReport)},
		"POST /web/accounts/:id/report": {rest.SignedIn, h.page((*page).sendReport)},
	}
}

func accountPath(id string) string { return "/api/v1/accounts/" + url.PathEscape(id) }

// accountInPath returns the account that the path of the page names.
func (p *page) accountInPath() (*web.Account, error) {
	a := new(web.Account)
	return a, p.get(accountPath(p.Param("id")), url.Values{"with_relationships": {"true"}}, a)
}

// openAccount leads to the profile of an account.
func (p *page) openAccount() (any, error) {
	a, err := p.accountInPath()
	if err != nil {
		return nil, err
	}
	return rest.Redirect(p.frame.Base + "/@" + a.Acct), nil
}

// showAccountActions shows what the viewer can do about an account.
func (p *page) showAccountActions() (any, error) {
	a, err := p.accountInPath()
	if err != nil {
		return nil, err
	}
	if a.ID == p.Viewer.ID.String() || a.Svc.Relationship == nil {
		return rest.Redirect(p.frame.Base + "/@" + a.Acct), nil
	}
	content := web.AccountActions{
		Account: a, Relationship: a.Svc.Relationship, Languages: strings.Join(a.Svc.Relationship.Languages, ", "),
		Durations: durations(standardDurations[0], standardDurations[len(standardDurations)-1]),
	}
	_, content.Domain, _ = strings.Cut(a.Acct, "@")
	if err := p.get("/api/v1/lists", nil, &content.Lists); err != nil {
		return nil, err
	}
	var with []web.List
	if err := p.get(accountPath(a.ID)+"/lists", nil, &with); err != nil {
		return nil, err
	}
	content.Member = make(map[string]bool)
	for _, l := range with {
		content.Member[l.ID] = true
	}
	return p.show(http.StatusOK, content)
}

// followWith follows an account, or changes how it is followed.
func (p *page) followWith() (any, error) {
	var form struct {
		Reblogs   bool   `param:"reblogs"`
		Notify    bool   `param:"notify"`
		Languages string `param:"languages"`
	}
	if err := p.Bind(&form); err != nil {
		return nil, err
	}
	languages := strings.FieldsFunc(form.Languages, func(r rune) bool { return r == ',' || r == ' ' })
	body := map[string]any{"reblogs": form.Reblogs, "notify": form.Notify, "languages": append([]string{}, languages...)}
	if _, err := p.CallJSON(http.MethodPost, accountPath(p.Param("id"))+"/follow", body); err != nil {
		return nil, err
	}
	return p.leave("/web/accounts/"+url.PathEscape(p.Param("id"))+"/more", "saved", ""), nil
}

// reportForm is what the form for a report sends.
type reportForm struct {
	Statuses []string `param:"status_ids"`
	Comment  string   `param:"comment"`
	Category string   `param:"category"`
	Rules    []string `param:"rule_ids"`
	Forward  bool     `param:"forward"`

	Collection string `param:"collection_id"`
}

func (p *page) showReport() (any, error) {
	f := reportForm{Category: "other"}
	if id := p.URL.Query().Get("status"); id != "" {
		f.Statuses = []string{id}
	}
	f.Collection = p.URL.Query().Get("collection")
	return p.reportPage(http.StatusOK, &f, "")
}

// reportedPosts is how many of an account's posts a report offers.
const reportedPosts = "20"

func (p *page) reportPage(status int, f *reportForm, message string) (any, error) {
	a, err := p.accountInPath()
	if err != nil {
		return nil, err
	}
	content := web.ReportForm{
		Account: a, Remote: !a.Local(), Error: message, Comment: f.Comment, Category: f.Category, Forward: f.Forward, Chosen: make(map[string]bool),
	}
	for _, id := range slices.Concat(f.Statuses, f.Rules) {
		content.Chosen[id] = true
	}
	if err := p.get("/api/v1/instance/rules", nil, &content.Rules); err != nil {
		return nil, err
	}
	if content.Collection, err = p.reportedCollection(a, f.Collection); err != nil {
		return nil, err
	}
	var posts []web.Status
	if err := p.get(accountPath(a.ID)+"/statuses", url.Values{"limit": {reportedPosts}, "exclude_reblogs": {"true"}}, &posts); err != nil {
		return nil, err
	}
	var missing []string
	for _, id := range f.Statuses {
		if !slices.ContainsFunc(posts, func(st web.Status) bool { return st.ID == id }) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		var older []web.Status
		if err := p.get("/api/v1/statuses", url.Values{"id[]": missing}, &older); err != nil {
			return nil, err
		}
		posts = append(slices.DeleteFunc(older, func(st web.Status) bool { return st.Account.ID != a.ID }), posts...)
	}
	for _, st := range posts {
		shown := strings.TrimSpace(st.SpoilerText + " " + text.HTMLToText(st.Content))
		content.Posts = append(content.Posts, web.ReportedPost{ID: st.ID, At: st.CreatedAt, Text: excerpt(shown, 200), Files: len(st.MediaAttachments)})
	}
	return p.show(status, content)
}

// reportedCollection returns the collection of an account that a report is about, nil if there is none.
func (p *page) reportedCollection(a *web.Account, id string) (*web.Collection, error) {
	if id == "" {
		return nil, nil
	}
	var c web.ShownCollection
	err := p.get("/api/v1/collections/"+url.PathEscape(id), nil, &c)
	if err != nil || c.Collection.AccountID != a.ID {
		return nil, errs.IgnoreNotFound(err)
	}
	return &c.Collection, nil
}

// sendReport sends a report to the staff.
func (p *page) sendReport() (any, error) {
	var f reportForm
	if err := p.Bind(&f); err != nil {
		return nil, err
	}
	body := map[string]any{
		"account_id": p.Param("id"), "status_ids": append([]string{}, f.Statuses...), "comment": f.Comment, "category": f.Category, "forward": f.Forward,
	}
	if f.Collection != "" {
		body["collection_ids"] = []string{f.Collection}
	}
	if f.Category == "violation" {
		body["rule_ids"] = append([]string{}, f.Rules...)
	}
	_, err := p.CallJSON(http.MethodPost, "/api/v1/reports", body)
	if e := forUser(err); e != nil && e.Status != http.StatusNotFound {
		return p.reportPage(e.Status, &f, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/accounts/"+url.PathEscape(p.Param("id"))+"/more", "sent", ""), nil
}

package pages

import (
	"net/http"
	"net/url"
	"slices"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) staffRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/admin":                    {rest.SignedIn, h.page((*page).dashboard)},
		"GET /web/admin/reports":            {rest.SignedIn, h.page((*page).reports)},
		"GET /web/admin/reports/:id":        {rest.SignedIn, h.page((*page).report)},
		"GET /web/admin/accounts":           {rest.SignedIn, h.page((*page).moderatedAccounts)},
		"GET /web/admin/accounts/:id":       {rest.SignedIn, h.page((*page).moderatedAccount)},
		"POST /web/admin/accounts/:id":      {rest.SignedIn, h.page((*page).actOnAccount)},
		"GET /web/admin/accounts/:id/posts": {rest.SignedIn, h.page((*page).accountPosts)},
	}
}

const (
	reportsPath  = "/api/v1/admin/reports"
	accountsPath = "/api/v1/admin/accounts"
)

// staffLinks are the pages of staff, and the privilege that each needs; "": the role of an admin.
var staffLinks = []struct{ name, privilege string }{
	{"reports", "reports_manage_reports"}, {"accounts", "users_read"}, {"invites", "users_manage_invites"}, {"domains", ""}, {"deliveries", ""}, {"relays", ""}, {"rules", ""},
	{"announcements", "announcements_manage_announcements"}, {"emoji", "emoji_manage_emoji"}, {"documents", ""}, {"settings", ""}, {"log", "moderation_log_read"},
	{"frontends", ""}, {"storage", ""}, {"media", ""}, {"jobs", ""}, {"doctor", ""}, {"email_domains", ""}, {"networks", ""}, {"apps", ""},
}

// dashboard shows what waits for staff, and the pages for them.
func (p *page) dashboard() (any, error) {
	if !p.User.Staff() {
		return nil, errNoPage
	}
	var viewer struct {
		Svc struct {
			IsAdmin    bool     `json:"is_admin"`
			Privileges []string `json:"privileges"`
		} `json:"svc"`
	}
	if err := p.get("/api/v1/accounts/verify_credentials", nil, &viewer); err != nil {
		return nil, err
	}
	content := web.Dashboard{}
	if viewer.Svc.IsAdmin {
		var update struct {
			Available string `json:"available"`
		}
		if err := p.get("/api/v1/svc/admin/update", nil, &update); err != nil {
			return nil, err
		}
		content.Update = update.Available
	}
	for _, l := range staffLinks {
		if l.privilege == "" && viewer.Svc.IsAdmin || slices.Contains(viewer.Svc.Privileges, l.privilege) {
			content.Links = append(content.Links, web.Link{Title: "admin." + l.name + ".title", Hint: "admin." + l.name + ".about", URL: "/web/admin/" + l.name})
		}
	}
	for _, w := range []struct {
		list      *int
		path      string
		arguments url.Values
	}{
		{&content.OpenReports, reportsPath, url.Values{"limit": {"40"}}},
		{&content.PendingAccounts, "/api/v2/admin/accounts", url.Values{"status": {"pending"}, "origin": {"local"}, "limit": {"40"}}},
	} {
		var rows []any
		err := p.get(w.path, w.arguments, &rows)
		if e := forUser(err); e != nil && e.Status == http.StatusForbidden { // without the privilege
			continue
		}
		if err != nil {
			return nil, err
		}
		*w.list = len(rows)
	}
	return p.show(http.StatusOK, content)
}

// reports lists reports, the open ones first.
func (p *page) reports() (any, error) {
	query := p.URL.Query()
	resolved := query.Get("resolved") == "true"
	arguments := p.cursors(staffPerPage)
	of := make(url.Values) // an account
	for _, name := range []string{"account_id", "target_account_id"} {
		if id := query.Get(name); id != "" {
			arguments.Set(name, id)
			of.Set(name, id)
		}
	}
	open := "/web/admin/reports"
	if len(of) > 0 {
		open += "?" + of.Encode()
	}
	of.Set("resolved", "true")
	if resolved {
		arguments.Set("resolved", "true")
	}
	content := web.Reports{Tabs: []web.Tab{
		{Title: "admin.reports.open", URL: open, Current: !resolved},
		{Title: "admin.reports.resolved", URL: "/web/admin/reports?" + of.Encode(), Current: resolved},
	}}
	a, err := p.list(reportsPath, arguments, &content.Reports)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// report shows a report with the posts that it names and the notes of staff.
func (p *page) report() (any, error) {
	id := url.PathEscape(p.Param("id"))
	var content web.ReportPage
	if err := p.get(reportsPath+"/"+id, nil, &content.Report); err != nil {
		return nil, err
	}
	var extended struct {
		Notes []web.ReportNote `json:"notes"`
	}
	if err := p.get("/api/v1/svc/admin/reports/"+id, nil, &extended); err != nil {
		return nil, err
	}
	content.Notes = extended.Notes
	for i := range content.Report.Statuses {
		html, err := p.frame.Messages.Article(web.Article{Status: &content.Report.Statuses[i], Base: p.frame.Base})
		if err != nil {
			return nil, err
		}
		content.Posts = append(content.Posts, html)
	}
	if target := content.Report.TargetAccount; target != nil {
		content.Actions = p.accountActions(target.Local())
		var err error
		if content.Taken, err = p.logAbout(target.ID, content.Report.CreatedAt); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}

// moderatedAccounts lists accounts by their state, or those that match a search.
func (p *page) moderatedAccounts() (any, error) {
	query := p.URL.Query()
	status := query.Get("status")
	arguments := p.cursors(staffPerPage)
	content := web.ModeratedAccounts{Search: query.Get("username"), Status: status}
	if content.Search != "" {
		arguments.Set("username", content.Search)
	} else {
		arguments.Set("origin", "local")
	}
	for _, s := range []string{"", "pending", "silenced", "disabled", "suspended"} {
		tab := web.Tab{Title: "admin.accounts.all", URL: "/web/admin/accounts", Current: s == status}
		if s != "" {
			tab.Title, tab.URL = "admin.accounts."+s, "/web/admin/accounts?status="+s
		}
		content.Tabs = append(content.Tabs, tab)
	}
	if status != "" {
		arguments.Set("status", status)
	}
	a, err := p.list("/api/v2/admin/accounts", arguments, &content.Accounts)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) dataRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/settings/hidden":         {rest.SignedIn, h.page((*page).mutedAccounts)},
		"GET /web/settings/hidden/blocks":  {rest.SignedIn, h.page((*page).blockedAccounts)},
		"GET /web/settings/hidden/domains": {rest.SignedIn, h.page((*page).blockedDomains)},
		"GET /web/settings/moving":         {rest.SignedIn, h.page((*page).aliases)},
		"POST /web/settings/moving":        {rest.SignedIn, h.page((*page).addAlias)},
		"GET /web/settings/data":           {rest.SignedIn, h.page((*page).ownData)},
		"GET /web/settings/closing":        {rest.SignedIn, h.page((*page).closing)},
		"GET /web/exports/:name":           {rest.SignedIn, h.page((*page).export)},
	}
}

const hiddenPath = "/web/settings/hidden"

// hidden prepares the page of the accounts and servers that the viewer does not see.
func (p *page) hidden(title string) web.Hidden {
	content := web.Hidden{Title: title}
	for _, tab := range []struct{ key, path string }{
		{"mutes", hiddenPath}, {"blocks", hiddenPath + "/blocks"}, {"domains", hiddenPath + "/domains"},
	} {
		content.Tabs = append(content.Tabs, web.Tab{Title: "settings.hidden." + tab.key, URL: tab.path, Current: tab.key == title})
	}
	return content
}

// hiddenPerPage is the length of a list of hidden accounts.
const hiddenPerPage = "40"

func (p *page) mutedAccounts() (any, error) {
	return p.hiddenAccounts("mutes", "/api/v1/mutes", "unmute")
}

func (p *page) blockedAccounts() (any, error) {
	return p.hiddenAccounts("blocks", "/api/v1/blocks", "unblock")
}

func (p *page) hiddenAccounts(title, endpoint, undo string) (any, error) {
	content := p.hidden(title)
	content.Undo = undo
	a, err := p.list(endpoint, p.cursors(hiddenPerPage), &content.Accounts)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

func (p *page) blockedDomains() (any, error) {
	content := p.hidden("domains")
	a, err := p.list("/api/v1/domain_blocks", p.cursors(hiddenPerPage), &content.Domains)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// aliases lists the accounts from which followers may move here.
func (p *page) aliases() (any, error) { return p.aliasesPage(http.StatusOK, "", "") }

func (p *page) aliasesPage(status int, entered, message string) (any, error) {
	content := web.Moving{Entered: entered, Error: message}
	if err := p.get("/api/v1/svc/aliases", nil, &content); err != nil {
		return nil, err
	}
	return p.show(status, content)
}

// addAlias names another account from which followers may move here.
func (p *page) addAlias() (any, error) {
	_, err := p.Forward(http.MethodPut, "/api/v1/svc/aliases", ownParams...)
	if e := forUser(err); e != nil {
		return p.aliasesPage(e.Status, p.Query("alias"), e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/settings/moving", "saved", ""), nil
}

// ownData shows imports, exports and backups.
func (p *page) ownData() (any, error) {
	content := web.OwnData{
		Exports: []string{"follows", "lists", "blocks", "mutes", "domain_blocks", "bookmarks"},
		Imports: []string{"follow", "blocks", "mutes"},
	}
	if err := p.get("/api/v1/svc/imports", nil, &content.Started); err != nil {
		return nil, err
	}
	if err := p.get("/api/v1/svc/archives", nil, &content.Archives); err != nil {
		return nil, err
	}
	for i := range content.Archives {
		if content.Archives[i].State == "uploading" {
			content.Uploading = &content.Archives[i]
		}
	}
	if err := p.get("/api/v1/svc/backups", url.Values{}, &content.Backups); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// export serves a list as a file.
func (p *page) export() (any, error) {
	a, err := p.Call("GET", "/api/v1/svc/exports/"+url.PathEscape(p.Param("name")), nil)
	if err != nil {
		return nil, err
	}
	return a.Value, nil
}

func (p *page) closing() (any, error) {
	return p.show(http.StatusOK, web.LinkList{Title: "settings.closing.title", Links: []web.Link{
		{Title: "settings.disable.title", Hint: "settings.disable.intro", URL: "/web/settings/disable"},
		{Title: "settings.delete.title", Hint: "settings.delete.intro", URL: "/web/settings/delete"},
	}})
}

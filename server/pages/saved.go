package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) savedRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/favourites":       {rest.SignedIn, h.page((*page).favourites)},
		"GET /web/bookmarks":        {rest.SignedIn, h.page((*page).bookmarks)},
		"GET /web/bookmark_folders": {rest.SignedIn, h.page((*page).bookmarkFolders)},
	}
}

func (p *page) favourites() (any, error) {
	return p.timeline("/api/v1/favourites", nil, web.Timeline{Title: "nav.favourites"})
}

// bookmarks shows the viewer's bookmarks, or those of a folder.
func (p *page) bookmarks() (any, error) {
	folders, err := p.folders()
	if err != nil {
		return nil, err
	}
	chosen := p.URL.Query().Get("folder_id")
	content := web.Timeline{Title: "nav.bookmarks", Tabs: []web.Tab{{Title: "bookmarks.all", URL: "/web/bookmarks", Current: chosen == ""}}}
	for _, f := range folders {
		query := url.Values{"folder_id": {f.ID}}
		content.Tabs = append(content.Tabs, web.Tab{Label: f.Label(), URL: "/web/bookmarks?" + query.Encode(), Current: chosen == f.ID})
	}
	content.Tabs = append(content.Tabs, web.Tab{Title: "bookmarks.folders", URL: "/web/bookmark_folders"})
	var arguments url.Values
	if chosen != "" {
		arguments = url.Values{"folder_id": {chosen}}
	}
	return p.timeline("/api/v1/bookmarks", arguments, content)
}

func (p *page) folders() (list []web.Folder, err error) {
	return list, p.get("/api/v1/svc/bookmark_folders", nil, &list)
}

// bookmarkFolders shows the viewer's folders with a form for each, and one for a new folder.
func (p *page) bookmarkFolders() (any, error) {
	folders, err := p.folders()
	if err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, web.Folders{Folders: folders})
}

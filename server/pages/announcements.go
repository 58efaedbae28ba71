package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

const announcementsPath = "/web/announcements"

func (h *Handlers) announcementRoutes() rest.Routes {
	return rest.Routes{"GET " + announcementsPath: {rest.SignedIn, h.page((*page).announcements)}}
}

// announcements shows the current announcements, those that were dismissed as well.
func (p *page) announcements() (any, error) {
	var content web.Announcements
	if err := p.get("/api/v1/announcements", nil, &content.Announcements); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// maxHomeAnnouncements is how many announcements stand above the home timeline. The others are on their own page.
const maxHomeAnnouncements = 3

// newAnnouncements returns the newest announcements that the viewer has not dismissed.
func (p *page) newAnnouncements() (list []web.Announcement, err error) {
	if p.frame.Viewer.Waiting.Announcements == 0 {
		return nil, nil
	}
	err = p.get("/api/v1/announcements", url.Values{"with_dismissed": {"false"}}, &list)
	return list[:min(len(list), maxHomeAnnouncements)], err
}

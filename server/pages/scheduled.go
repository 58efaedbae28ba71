package pages

import (
	"net/http"
	"net/url"
	"time"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) scheduledRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/scheduled":      {rest.SignedIn, h.page((*page).scheduled)},
		"POST /web/scheduled/:id": {rest.SignedIn, h.page((*page).reschedule)},
		"GET /web/requests":       {rest.SignedIn, h.page((*page).followRequests)},
		"GET /web/requests/sent":  {rest.SignedIn, h.page((*page).sentFollowRequests)},
	}
}

// scheduled shows the posts that are published later.
func (p *page) scheduled() (any, error) { return p.scheduledPage(http.StatusOK, "") }

func (p *page) scheduledPage(status int, message string) (any, error) {
	content := web.Scheduled{Error: message}
	a, err := p.list("/api/v1/scheduled_statuses", p.cursors(postsPerPage), &content.Posts)
	if err != nil {
		return nil, err
	}
	for i := range content.Posts {
		if err := p.measure(web.Pointers(content.Posts[i].MediaAttachments)); err != nil {
			return nil, err
		}
	}
	content.Newer, content.Older = p.links(a)
	return p.show(status, content)
}

// reschedule changes when a post is published.
func (p *page) reschedule() (any, error) {
	at, err := p.enteredTime(p.Query("scheduled_at"), p.Query("time_zone"))
	if err == nil {
		_, err = p.CallJSON(http.MethodPut, "/api/v1/scheduled_statuses/"+url.PathEscape(p.Param("id")), map[string]any{"scheduled_at": at})
	}
	if e := forUser(err); e != nil && e.Status != http.StatusNotFound {
		return p.scheduledPage(e.Status, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/scheduled", "saved", ""), nil
}

// enteredTime returns a time that was entered in a form as the API takes it. The form says in which time zone, because that of the
// user may be another one by now; without one it is that of the user.
func (p *page) enteredTime(text, name string) (string, error) {
	zone := p.frame.Zone
	if name != "" {
		var err error
		if zone, err = web.Zone(name); err != nil {
			return "", err
		}
	}
	at, ok, err := web.ParseLocal(text, zone)
	if err != nil || !ok {
		return text, err
	}
	return at.Format(time.RFC3339), nil
}

// followRequests shows who wants to follow the viewer.
func (p *page) followRequests() (any, error) {
	return p.followRequestsPage("/api/v1/follow_requests", web.FollowRequests{})
}

// sentFollowRequests shows whom the viewer wants to follow.
func (p *page) sentFollowRequests() (any, error) {
	return p.followRequestsPage("/api/v1/follow_requests/outgoing", web.FollowRequests{Sent: true})
}

func (p *page) followRequestsPage(endpoint string, content web.FollowRequests) (any, error) {
	content.Tabs = []web.Tab{
		{Title: "requests.received", URL: "/web/requests", Current: !content.Sent}, {Title: "requests.sent", URL: "/web/requests/sent", Current: content.Sent},
	}
	a, err := p.list(endpoint, p.cursors(accountsPerPage), &content.Accounts)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) notificationRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/notifications":              {rest.SignedIn, h.page((*page).notifications)},
		"GET /web/notifications/clear":        {rest.SignedIn, h.page((*page).askToClearNotifications)},
		"GET /web/notifications/filtered":     {rest.SignedIn, h.page((*page).notificationRequests)},
		"GET /web/notifications/filtered/:id": {rest.SignedIn, h.page((*page).notificationRequest)},
		"GET /web/notifications/groups/:key":  {rest.SignedIn, h.page((*page).notificationAccounts)},
		"GET /web/interaction_requests":       {rest.SignedIn, h.page((*page).interactionRequests)},
	}
}

// notificationViews are the types that the views of the notifications show. The first view shows all.
var notificationViews = []struct {
	name  string
	types []string
}{
	{"all", []string{
		"mention", "follow", "follow_request", "reblog", "favourite", "poll", "move", "status", "update", "quote", "quoted_update",
		"NAME:emoji_reaction", "NAME:chat_mention", "NAME:report", "pending.favourite", "pending.reply", "pending.reblog",
	}},
	{"mentions", []string{"mention", "quote", "pending.reply"}},
	{"follows", []string{"follow", "follow_request"}},
	{"reactions", []string{"favourite", "reblog", "NAME:emoji_reaction", "pending.favourite", "pending.reblog"}},
}

// notifications shows groups of notifications. The first page marks what it shows as read.
func (p *page) notifications() (any, error) {
	chosen := notificationViews[0]
	content := web.Notifications{Path: "/web/notifications"}
	for _, view := range notificationViews {
		tab := web.Tab{Title: "notifications." + view.name, URL: "/web/notifications"}
		if view.name != "all" {
			tab.URL += "?view=" + view.name
		}
		if tab.Current = p.URL.Query().Get("view") == view.name; tab.Current {
			chosen = view
		}
		content.Tabs = append(content.Tabs, tab)
	}
	content.Tabs[0].Current = chosen.name == "all"
	arguments := p.cursors(notificationsPerPage)
	for _, name := range chosen.types {
		arguments.Add("types[]", p.ownType(name))
	}
	a, err := p.Call("GET", "/api/v2/notifications", arguments)
	if err != nil {
		return nil, err
	}
	if content.Groups, err = p.notices(a.Value); err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	if err := p.get("/api/v2/notifications/policy", nil, &content.Policy); err != nil {
		return nil, err
	}
	if chosen.name == "all" && content.Newer == "" && len(content.Groups) > 0 {
		if err := p.readNotifications(content.Groups[0].NewestID); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}

const notificationsPerPage = "30"

// ownType returns the name of a type of notifications in the API.
func (p *page) ownType(name string) string {
	if own, ok := strings.CutPrefix(name, "NAME:"); ok {
		return p.Settings.Load().API.Name + ":" + own
	}
	return name
}

// readNotifications moves the marker of the notifications.
func (p *page) readNotifications(newest string) error {
	if p.frame.Viewer.Notifications == 0 {
		return nil
	}
	p.frame.Viewer.Notifications = 0
	_, err := p.Call(http.MethodPost, "/api/v1/markers", url.Values{"notifications[last_read_id]": {newest}})
	return err
}

// notices returns the groups of notifications that an endpoint returned as pages show them.
func (p *page) notices(value any) ([]web.NotificationGroup, error) {
	grouped, ok := value.(*entity.GroupedNotifications)
	if !ok {
		return nil, fmt.Errorf("page: %T is no list of notifications", value)
	}
	var decoded struct {
		Accounts []web.Account           `json:"accounts"`
		Groups   []web.NotificationGroup `json:"notification_groups"`
	}
	if err := p.decode(grouped, &decoded); err != nil {
		return nil, err
	}
	accounts := make(map[string]*web.Account)
	for i := range decoded.Accounts {
		accounts[decoded.Accounts[i].ID] = &decoded.Accounts[i]
	}
	posts := make(map[string]template.HTML)
	for _, s := range grouped.Statuses {
		html, err := p.post(s, web.Article{})
		if err != nil {
			return nil, err
		}
		posts[s.ID().String()] = html
	}
	prefix := p.Settings.Load().API.Name + ":"
	for i := range decoded.Groups {
		g := &decoded.Groups[i]
		g.Kind = strings.ReplaceAll(strings.TrimPrefix(g.Type, prefix), ".", "_")
		for _, id := range g.AccountIDs {
			if a := accounts[id]; a != nil {
				g.Accounts = append(g.Accounts, a)
			}
		}
		g.Post = posts[g.StatusID]
	}
	return decoded.Groups, nil
}

func (p *page) askToClearNotifications() (any, error) {
	return p.show(http.StatusOK, web.ClearNotifications{})
}

// notificationAccounts shows the accounts of a group of notifications.
func (p *page) notificationAccounts() (any, error) {
	content := web.Accounts{Title: "notifications.accounts", Back: "/web/notifications"}
	a, err := p.list("/api/v2/notifications/"+url.PathEscape(p.Param("key"))+"/accounts", p.cursors(accountsPerPage), &content.Accounts)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// notificationRequests shows the accounts whose notifications the viewer's policy holds back.
func (p *page) notificationRequests() (any, error) {
	var content web.NotificationRequests
	a, err := p.list("/api/v1/notifications/requests", p.cursors(postsPerPage), &content.Requests)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// notificationRequest shows the notifications of an account that were held back.
func (p *page) notificationRequest() (any, error) {
	content := web.NotificationRequestPage{Request: new(web.NotificationRequest)}
	if err := p.get("/api/v1/notifications/requests/"+url.PathEscape(p.Param("id")), nil, content.Request); err != nil {
		return nil, err
	}
	arguments := p.cursors(notificationsPerPage)
	arguments.Set("account_id", content.Request.Account.ID)
	arguments.Set("include_filtered", "true")
	a, err := p.Call("GET", "/api/v2/notifications", arguments)
	if err != nil {
		return nil, err
	}
	if content.Groups, err = p.notices(a.Value); err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// interactionRequests shows the replies, favourites and boosts that wait for the viewer's approval.
func (p *page) interactionRequests() (any, error) {
	var content web.InteractionRequests
	a, err := p.list("/api/v1/interaction_requests", p.cursors(postsPerPage), &content.Requests)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

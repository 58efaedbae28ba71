package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
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

// notificationViews are the views of the notifications. The first one shows all types.
var notificationViews = []string{"all", "mentions", "follows", "reactions"}

// notifications shows groups of notifications. The first page marks what it shows as read.
func (p *page) notifications() (any, error) {
	chosen := notificationViews[0]
	content := web.Notifications{Path: "/web/notifications"}
	for _, view := range notificationViews {
		tab := web.Tab{Title: "notifications." + view, URL: "/web/notifications"}
		if view != "all" {
			tab.URL += "?view=" + view
		}
		if tab.Current = p.URL.Query().Get("view") == view; tab.Current {
			chosen = view
		}
		content.Tabs = append(content.Tabs, tab)
	}
	content.Tabs[0].Current = chosen == "all"
	arguments := p.cursors(notificationsPerPage)
	for _, kind := range store.NotificationKinds {
		if chosen == "all" || kind.View == chosen {
			arguments.Add("types[]", p.Entities.NotificationType(kind.Type))
		}
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
	if chosen == "all" && content.Newer == "" && len(content.Groups) > 0 {
		if err := p.readNotifications(strconv.FormatInt(content.Groups[0].NewestID, 10)); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}

const notificationsPerPage = "30"

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
	posts, err := p.noticePosts(grouped.Statuses)
	if err != nil {
		return nil, err
	}
	for i := range decoded.Groups {
		g := &decoded.Groups[i]
		if t, ok := p.Entities.ParseNotificationType(g.Type); ok {
			g.Kind, g.Link, g.Page = strings.ReplaceAll(string(t), ".", "_"), t.Kind().Link, notificationPage(t.Kind().Page, g)
		}
		for _, id := range g.AccountIDs {
			if a := accounts[id]; a != nil {
				g.Accounts = append(g.Accounts, a)
			}
		}
		g.Post, g.Own = posts[g.StatusID].html, posts[g.StatusID].own
	}
	return decoded.Groups, nil
}

// noticePost is the post of notifications: the viewer's own is an excerpt, because they know it.
type noticePost struct {
	html template.HTML
	own  *web.Status
}

// noticePosts returns the posts that notifications are about by their ids.
func (p *page) noticePosts(statuses entity.List[*entity.Status]) (map[string]noticePost, error) {
	posts := make(map[string]noticePost, len(statuses))
	for _, s := range statuses {
		var post noticePost
		var err error
		if s.ByViewer() {
			post.own = new(web.Status)
			err = p.decode(s, post.own)
		} else {
			post.html, err = p.post(s, web.Article{})
		}
		if err != nil {
			return nil, err
		}
		posts[s.ID().String()] = post
	}
	return posts, nil
}

// notificationPage fills in the page of a notification. It returns "" if what it is about is gone.
func notificationPage(path string, g *web.NotificationGroup) string {
	if g.Message != nil {
		path = strings.Replace(path, "{chat}", g.Message.ChatID, 1)
	}
	if len(g.AccountIDs) > 0 {
		path = strings.Replace(path, "{account}", g.AccountIDs[0], 1)
	}
	if g.Report != nil {
		path = strings.Replace(path, "{report}", g.Report.ID, 1)
	}
	if strings.Contains(path, "{") {
		return ""
	}
	return path
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

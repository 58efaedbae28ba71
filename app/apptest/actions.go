package apptest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/store"
)

// DeleteOrDeactivate deletes or deactivates an account.
func (a *Server) DeleteOrDeactivate(m *User, forever bool) {
	a.T.Helper()
	var err error
	if forever {
		err = a.Social.DeleteAccount(a.T.Context(), m.AccountID())
	} else {
		_, err = a.Social.Deactivate(a.T.Context(), m.AccountID())
	}
	if err != nil {
		a.T.Fatal(err)
	}
}

// AccountAction calls an action on another account: "follow", "block" and so on.
func (m *User) AccountAction(id, action string, params ...string) *Object {
	m.Server.T.Helper()
	return m.Post("/api/v1/accounts/"+id+"/"+action, params...).Want(200).Object()
}

func (m *User) EditStatus(id string, params map[string]any) *Response {
	m.Server.T.Helper()
	return m.SendJSON("PUT", "/api/v1/statuses/"+id, params)
}

// Favourites returns the favourites count of a status after the server has settled.
func (m *User) Favourites(id string) int {
	m.Server.T.Helper()
	Settle(m.Server)
	return m.Get("/api/v1/statuses/" + id).Want(200).Object().Int("favourites_count")
}

var RelationshipFlags = []string{"following", "followed_by", "requested", "requested_by", "blocking", "blocked_by", "muting", "muting_notifications",
	"domain_blocking", "endorsed", "notifying", "subscribing"}

// Relationship returns the relationship entity of m and another account.
func (m *User) Relationship(id string) *Object {
	m.Server.T.Helper()
	return m.Get("/api/v1/accounts/relationships", "id[]", id).Want(200).List()[0]
}

// Chats returns the list of chats as "nickname unread", with the nickname of the other participant and the unread count.
func (m *User) Chats(params ...string) []string {
	m.Server.T.Helper()
	got := []string{}
	for _, c := range m.Get("/api/v2/svc/chats", params...).Want(200).List() {
		got = append(got, fmt.Sprint(c.Str("account.username"), " ", c.Int("unread")))
	}
	return got
}

// ChatMessages returns the contents of a chat's messages, newest first.
func (m *User) ChatMessages(chat string) []string {
	m.Server.T.Helper()
	got := []string{}
	for _, o := range m.Get("/api/v1/svc/chats/" + chat + "/messages").Want(200).List() {
		content, _ := o.At("content").(string)
		got = append(got, content)
	}
	return got
}

// SendChat sends a message in a chat and returns it.
func (m *User) SendChat(chat, content string, params ...string) *Object {
	m.Server.T.Helper()
	return m.Post("/api/v1/svc/chats/"+chat+"/messages", append([]string{"content", content}, params...)...).Want(200).Object()
}

// SendChatOnce is SendChat with an Idempotency-Key.
func (m *User) SendChatOnce(chat, content, key string) *Response {
	m.Server.T.Helper()
	req, err := http.NewRequestWithContext(m.Server.T.Context(), "POST", m.Server.URL+"/api/v1/svc/chats/"+chat+"/messages", strings.NewReader(`{"content":"`+content+`"}`))
	if err != nil {
		m.Server.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	return m.DoRequest(req)
}

// NotificationTypes returns the types of a user's notifications, newest first.
func (m *User) NotificationTypes() []string {
	m.Server.T.Helper()
	var query []string
	for _, kind := range store.NotificationKinds {
		query = append(query, "include_types[]", notificationName(kind.Type))
	}
	return EntityTypes(m.Get("/api/v1/notifications", query...).Want(200))
}

// notificationName returns the name of a type in the API.
func notificationName(t store.NotificationType) string {
	if t.Kind().Own {
		return "svc:" + string(t)
	}
	return string(t)
}

// Lock locks the account, so that follows need approval.
func (m *User) Lock() {
	m.Server.T.Helper()
	m.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"locked": true}).Want(200)
}

// React sends PUT or DELETE for a reaction.
func (c *Client) React(method, id, emoji string) *Response {
	c.Server.T.Helper()
	return c.Do(method, "/api/v1/svc/statuses/"+id+"/reactions/"+url.PathEscape(emoji), "", nil)
}

// ReactWith adds a reaction for each emoji.
func (m *User) ReactWith(id string, emoji ...string) {
	m.Server.T.Helper()
	for _, e := range emoji {
		m.React("PUT", id, e).Want(200)
	}
}

// Scrobbles returns the titles of an account's scrobbles.
func (c *Client) Scrobbles(of string, params ...string) []string {
	c.Server.T.Helper()
	titles := []string{}
	for _, o := range c.Get("/api/v1/svc/accounts/"+of+"/scrobbles", params...).Want(200).List() {
		titles = append(titles, o.Str("title"))
	}
	return titles
}

// PublishPoll posts a poll that is open for a day and returns the status. more are additional poll parameters in pairs.
func (m *User) PublishPoll(options []string, more ...string) *Object {
	m.Server.T.Helper()
	p := []string{"poll[expires_in]", "86400"}
	for _, o := range options {
		p = append(p, "poll[options][]", o)
	}
	for i := 0; i+1 < len(more); i += 2 {
		p = append(p, "poll["+more[i]+"]", more[i+1])
	}
	return m.Publish("what do you think?", p...)
}

// Vote votes in the poll of a status.
func (m *User) Vote(st *Object, choices ...any) *Response {
	m.Server.T.Helper()
	return m.SendJSON("POST", "/api/v1/polls/"+st.Str("poll.id")+"/votes", Doc{"choices": choices})
}

// UpdateProfile updates the profile with a JSON body.
func (m *User) UpdateProfile(body map[string]any) *Object {
	m.Server.T.Helper()
	return m.SendJSON("PATCH", UpdateCredentials, body).Want(200).Object()
}

// Schedule schedules a status in one hour. more are additional parameters in pairs.
func (m *User) Schedule(text string, more ...string) *Object {
	m.Server.T.Helper()
	o := m.Post("/api/v1/statuses", append([]string{"status", text, "scheduled_at", FromNow(time.Hour)}, more...)...).Want(200).Object()
	o.Str("params.text") // fails unless it is a scheduled status
	return o
}

// AddList creates a list with members.
func (m *User) AddList(title string, params map[string]any, members ...*User) string {
	m.Server.T.Helper()
	body := map[string]any{"title": title}
	for k, v := range params {
		body[k] = v
	}
	id := m.SendJSON("POST", "/api/v1/lists", body).Want(200).Object().ID()
	m.ChangeList("POST", id, members...)
	return id
}

// ChangeList adds members to a list (POST) or removes them (DELETE).
func (m *User) ChangeList(method, id string, members ...*User) {
	m.Server.T.Helper()
	var ids []string
	for _, o := range members {
		ids = append(ids, o.ID)
	}
	if a := m.SendJSON(method, "/api/v1/lists/"+id+"/accounts", map[string]any{"account_ids": ids}).Want(200); string(a.Body) != "{}" {
		m.Server.T.Errorf("%s: got %s, want {}", a.Request, a.Body)
	}
}

// Notifications returns the user's notifications as "type nickname", newest first.
func (m *User) Notifications() []string {
	m.Server.T.Helper()
	list := []string{}
	for _, n := range m.Get("/api/v1/notifications", "with_muted", "true").Want(200).List() {
		list = append(list, n.Str("type")+" "+n.Str("account.username"))
	}
	return list
}

// Publish posts a status and returns it. params are additional parameters in pairs.
func (m *User) Publish(text string, params ...string) *Object {
	m.Server.T.Helper()
	return m.Post("/api/v1/statuses", append([]string{"status", text}, params...)...).Want(200).Object()
}

const UpdateCredentials = "/api/v1/accounts/update_credentials"

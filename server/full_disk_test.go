package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
	"svc/store"
)

// undoRequest is a request that deletes or undoes something that exists.
type undoRequest struct {
	as     *apptest.User
	params []string
	values []string // of the names
	last   bool     // after the others, because it ends a session or the server
}

// undoRequests prepares a server, and returns a request for each route that only deletes or undoes, by method and path.
func undoRequests(t *testing.T, srv *apptest.Server) map[string]undoRequest {
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	carol, dave, erin, frank := srv.SignUp("carol"), srv.SignUp("dave"), srv.SignUp("erin"), srv.SignUp("frank")
	post := bob.Publish("a post").ID()
	mine := alice.Publish("mine").ID()
	srv.Exec(`
		INSERT INTO collections (id, account_id, uri, url, name, description, sensitive, discoverable, updated_at)
		SELECT n.value, a.id, 'https://far.example/c' || n.value, '', 'pack', '', 0, 1, 0
		FROM json_each('{"1": 1, "2": 2, "3": 3}') n
		JOIN accounts a ON a.nickname = CASE n.value WHEN 1 THEN 'bob' ELSE 'alice' END`)
	srv.Exec(`
		INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri)
		SELECT c.id, c.id, a.id, c.account_id, '', 1, ''
		FROM collections c
		JOIN accounts a ON a.nickname = 'alice'`)
	collection, item := store.CollectionID.String, store.CollectionItemID.String
	quote := bob.Publish("look", "quoted_status_id", mine).ID()
	for _, action := range []string{"favourite", "reblog", "bookmark", "mute"} {
		alice.Post("/api/v1/statuses/" + post + "/" + action).Want(200)
	}
	alice.Post("/api/v1/statuses/" + mine + "/pin").Want(200)
	alice.AccountAction(bob.ID, "follow")
	alice.Post("/api/v1/svc/accounts/" + bob.ID + "/subscribe").Want(200)
	alice.AccountAction(bob.ID, "mute")
	alice.AccountAction(bob.ID, "endorse")
	carol.AccountAction(alice.ID, "follow")
	alice.AccountAction(dave.ID, "block")
	root.SendJSON("POST", "/api/v1/svc/admin/users/follow", apptest.Doc{"follower": "erin", "followed": "bob"}).Want(200)
	erin.Lock()
	carol.AccountAction(erin.ID, "follow")
	alice.Post("/api/v1/tags/word/follow").Want(200)
	alice.Post("/api/v1/tags/word/feature").Want(200)

	frank.SendJSON("PUT", "/api/v2/notifications/policy", apptest.Doc{"for_not_following": "filter"}).Want(200)
	bob.Publish("@frank one")
	carol.Publish("@frank two")
	requests := frank.Get("/api/v1/notifications/requests").Want(200).IDs()
	for _, m := range []*apptest.User{bob, carol, dave, frank} {
		m.Publish("@root hello")
	}
	notifications := root.Get("/api/v1/notifications").Want(200).IDs()
	group := root.Get("/api/v2/notifications").Want(200).Object().Find("notification_groups.2.group_key").(string)
	announcement := root.SendJSON("POST", "/api/v1/svc/admin/announcements", apptest.Doc{"content": "news"}).Want(200).Object().ID()

	invite := root.Post("/api/v1/svc/admin/users/invite_token").Want(200).Object().Str("token")
	report := bob.Post("/api/v1/reports", "account_id", alice.ID).Want(200).Object().ID()
	root.Post("/api/v1/admin/reports/" + report + "/assign_to_self").Want(200)
	root.SendJSON("PATCH", "/api/v1/svc/admin/users/suggest", apptest.Doc{"nicknames": []string{"bob"}}).Want(200)
	for _, measure := range []string{"sensitive", "silence"} {
		root.Post("/api/v1/admin/accounts/"+bob.ID+"/action", "type", measure).Want(200)
	}
	pending, disabled, suspended, leaving, closing := srv.SignUp("pending"), srv.SignUp("disabled"), srv.SignUp("suspended"), srv.SignUp("leaving"), srv.SignUp("closing")
	srv.ChangeUser("pending", func(u *store.User) { u.ApprovedAt = nil })
	root.Post("/api/v1/admin/accounts/"+disabled.ID+"/action", "type", "disable").Want(200)
	root.Post("/api/v1/admin/accounts/"+suspended.ID+"/action", "type", "suspend").Want(200)
	root.Post("/api/v1/svc/admin/media_proxy_caches/purge", "urls[]", "https://far.example/a.png").Want(200)
	app := srv.RegisterApp()
	grant := srv.Grant(app, "client_credentials").Want(200).Object().Str("access_token")

	proxy, users, measures := "/api/v1/svc/admin/media_proxy_caches/", "/api/v1/svc/admin/users/", "/api/v1/admin/accounts/:id/"
	asking := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{
		"status": "ask me", "interaction_policy": apptest.Doc{"can_favourite": apptest.Doc{"manual_approval": []string{"public"}}},
	}).Want(200).Object().ID()
	carol.Post("/api/v1/statuses/" + asking + "/favourite").Want(200)
	waiting := alice.Get("/api/v1/interaction_requests").Want(200).IDs()[0]

	list := map[string]undoRequest{
		"POST /api/v1/interaction_requests/:id/reject":               {as: alice, values: []string{waiting}},
		"POST /api/v1/statuses/:id/quotes/:quoting_status_id/revoke": {as: alice, values: []string{mine, quote}},
		"POST /api/v1/accounts/:id/remove_from_followers":            {as: alice, values: []string{carol.ID}},
		"POST /api/v1/accounts/:id/unblock":                          {as: alice, values: []string{dave.ID}},
		"POST /api/v1/svc/accounts/:id/unsubscribe":                  {as: alice, values: []string{bob.ID}},
		"POST /api/v1/statuses/:id/unpin":                            {as: alice, values: []string{mine}},
		"POST /api/v1/follow_requests/:id/reject":                    {as: erin, values: []string{carol.ID}},
		"POST /api/v1/tags/:name/unfollow":                           {as: alice, values: []string{"word"}},
		"POST /api/v1/tags/:name/unfeature":                          {as: alice, values: []string{"word"}},
		"POST /api/v1/notifications/requests/:id/dismiss":            {as: frank, values: requests[:1]},
		"POST /api/v1/notifications/requests/dismiss":                {as: frank, params: []string{"id[]", requests[1]}},
		"POST /api/v1/notifications/:id/dismiss":                     {as: root, values: notifications[:1]},
		"POST /api/v1/notifications/dismiss":                         {as: root, params: []string{"id", notifications[1]}},
		"POST /api/v2/notifications/:group_key/dismiss":              {as: root, values: []string{group}},
		"POST /api/v1/notifications/clear":                           {as: root, last: true},
		"POST /api/v2/notifications/clear":                           {as: root, last: true},
		"POST /api/v1/announcements/:id/dismiss":                     {as: alice, values: []string{announcement}},
		"POST /api/v1/collections/:collection_id/items/:id/revoke":   {as: alice, values: []string{collection(1), item(1)}},
		"DELETE /api/v1/collections/:collection_id/items/:id":        {as: alice, values: []string{collection(2), item(2)}},
		"DELETE /api/v1/collections/:id":                             {as: alice, values: []string{collection(3)}},
		"POST /api/v1/svc/disable_account":                           {as: leaving, params: []string{"password", apptest.Password}},
		"POST /api/v1/svc/delete_account":                            {as: closing, params: []string{"password", apptest.Password}},
		"POST /oauth/revoke":                                         {params: []string{"token", grant, "client_id", app.ID, "client_secret", app.Secret}},
		"POST " + users + "revoke_invite":                            {as: root, params: []string{"token", invite}},
		"POST " + users + "unfollow":                                 {as: root, params: []string{"follower", "erin", "followed", "bob"}},
		"PATCH " + users + "deactivate":                              {as: root, params: []string{"nicknames[]", "frank"}, last: true},
		"PATCH " + users + "unsuggest":                               {as: root, params: []string{"nicknames[]", "bob"}},
		"PUT " + users + "disable_mfa":                               {as: root, params: []string{"nickname", "bob"}},
		"POST /api/v1/admin/reports/:id/unassign":                    {as: root, values: []string{report}},
		"POST " + proxy + "delete":                                   {as: root, params: []string{"urls[]", "https://far.example/a.png"}},
		"POST " + proxy + "purge":                                    {as: root, params: []string{"urls[]", "https://far.example/b.png"}},
		"POST /api/v1/svc/admin/federation/deliveries/drop":          {as: root, params: []string{"all", "true"}},
		"POST /api/v1/svc/admin/storage/prune":                       {as: root},
		"POST " + measures + "reject":                                {as: root, values: []string{pending.ID}},
		"POST " + measures + "enable":                                {as: root, values: []string{disabled.ID}},
		"POST " + measures + "unsuspend":                             {as: root, values: []string{suspended.ID}},
		"POST " + measures + "unsilence":                             {as: root, values: []string{bob.ID}},
		"POST " + measures + "unsensitive":                           {as: root, values: []string{bob.ID}},
	}
	for _, action := range []string{"unfavourite", "unreblog", "unbookmark", "unmute"} {
		list["POST /api/v1/statuses/:id/"+action] = undoRequest{as: alice, values: []string{post}}
	}
	for _, action := range []string{"unfollow", "unmute", "unpin", "unendorse"} {
		list["POST /api/v1/accounts/:id/"+action] = undoRequest{as: alice, values: []string{bob.ID}}
	}
	return list
}

// undoing matches the last word of paths of routes that only delete or undo. Others that it matches are in changes.
var undoing = regexp.MustCompile(`/(un[a-z]+|dismiss|clear|reject|enable|deactivate|purge|drop|prune|[a-z_]*(delete|revoke|remove|disable)[a-z_]*)$`)

var changes = map[string]string{
	"POST /api/v1/conversations/:id/unread": "marks something as unread, as a new post does",
}

// TestUndoOnFullDisk fills the disk and calls each route that only deletes or undoes something: none is refused. Others are.
func TestUndoOnFullDisk(t *testing.T) {
	dir := smallDisk(t, "64m")
	srv := apptest.Start(t, func(c *config.Config) { c.Data.Dir, c.Storage.Ballast, c.Storage.MinFree = dir, 16<<20, 0 })
	requests := undoRequests(t, srv)
	for _, r := range server.Routes() {
		if strings.HasPrefix(r.Path, "/web/") { // forms, which call the others
			continue
		}
		route := r.Method + " " + r.Path
		_, tested := requests[route]
		want := undoing.MatchString(r.Path) && r.Method != "GET" && r.Method != "DELETE" && changes[route] == ""
		if r.Method != "DELETE" && (r.Deletes != want || tested != want) {
			t.Errorf("%s: marked as deleting: %v, tested: %v, want %v", route, r.Deletes, tested, want)
		}
	}
	fan := srv.SignUp("fan")
	post := fan.Publish("a post").ID()
	apptest.WaitFor(t, "the ballast", func() bool { _, err := os.Stat(filepath.Join(dir, store.BallastFile)); return err == nil })
	fillDisk(t, filepath.Join(dir, "filler"))
	apptest.WaitFor(t, "a post to be refused", func() bool {
		return fan.Post("/api/v1/statuses", "status", strings.Repeat("long ", 900)).Status != 200
	})
	call := func(route string, q undoRequest) {
		method, path, _ := strings.Cut(route, " ")
		for _, v := range q.values {
			path = strings.Replace(path, pathParameter.FindString(path), v, 1)
		}
		got := srv.As(q.as).Do(method, path, "application/x-www-form-urlencoded", strings.NewReader(apptest.Pairs(q.params).Encode()))
		if got.Status != 200 && got.Status != 204 || strings.Contains(string(got.Body), `"error"`) {
			t.Errorf("%s: %d %s", route, got.Status, got.Body)
		}
	}
	for _, last := range []bool{false, true} {
		for route, q := range requests {
			if q.last == last {
				call(route, q)
			}
		}
	}
	fan.Post("/api/v1/statuses/"+post+"/favourite").WantError(507, "The server's disk is full: nothing can be stored until there is room")
	wantState(t, srv, store.DiskFull, 503)
}

// TestReadsOnDamagedDatabase stops writing and sends a GET to each route, as users whose last request was two days ago, with a token, with a
// password, and without either: requests that only read are answered.
func TestReadsOnDamagedDatabase(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	post := alice.Publish("a #word @root").ID()
	alice.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	srv.Advance(48 * time.Hour)
	srv.DB.ReportDamage("a page is damaged")
	ids := map[string]string{"statuses": post, "objects": post, "notice": post, "accounts": alice.ID, "users": "alice", "tags": "word"}
	for _, r := range server.Routes() {
		if r.Method != "GET" || writesOnGet[r.Path] {
			continue
		}
		segments := strings.Split(r.Path, "/")
		for i, s := range segments {
			if !strings.ContainsAny(s, ":*") {
				continue
			}
			if segments[i] = pathParameter.ReplaceAllString(s, "1"); ids[segments[i-1]] != "" {
				segments[i] = pathParameter.ReplaceAllString(s, ids[segments[i-1]])
			}
		}
		path := strings.Join(segments, "/")
		for name, c := range map[string]*apptest.Client{"anonymous": srv.As(nil), "alice": alice.Client, "root": root.Client} {
			if got := c.Get(path, "q", "alice"); got.Status >= 500 {
				t.Errorf("GET %s by %s: %d %.90s", path, name, got.Status, got.Body)
			}
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/timelines/home", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("alice", apptest.Password)
	srv.As(nil).DoRequest(req).Want(200)
	alice.Post("/api/v1/statuses", "status", "refused").Want(503)
}

// writesOnGet are paths that say that nothing is stored, or that store something.
var writesOnGet = map[string]bool{
	"/health": true, "/ready": true, "/api/v1/svc/healthcheck": true,
	"/relay": true, "/internal/fetch": true, "/users/:nickname/main-key": true, // the first request makes the keys
	"/api/account/confirm_email/:user_id/:token": true, "/api/v1/svc/accounts/mfa/backup_codes": true,
	"/api/v1/svc/admin/users/:nickname/password_reset": true, "/api/v1/svc/emoji/packs/import": true,
	"/api/v1/svc/admin/users/:nickname/chats": true, // each read is an entry of the moderation log
}

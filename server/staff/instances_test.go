package staff_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const instancesPath = "/api/v1/svc/admin/instances/"

func wantBody(t *testing.T, a *apptest.Response, want string) {
	t.Helper()
	if got := strings.TrimSpace(string(a.Body)); got != want {
		t.Errorf("the body is %s, want %s", got, want)
	}
}

// purge purges an instance and runs the job.
func purge(t *testing.T, srv *apptest.Server, as *apptest.Client, host string) *store.InstancePurge {
	t.Helper()
	wantBody(t, as.Do("DELETE", instancesPath+host, "", nil).Want(200), `"`+host+`"`)
	srv.RunJobs()
	p, err := srv.DB.InstancePurge(t.Context(), host)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	if p.FinishedAt == nil {
		t.Errorf("the purge of %s has not finished", host)
	}
	return p
}

// TestPurgeInstance checks what the purge of an instance removes, what stays, and that all counters fit afterwards.
func TestPurgeInstance(t *testing.T) {
	var fetches atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		w.Header().Set("Content-Type", "image/png")
		w.Write(apptest.PNG(4, 4))
	}))
	defer site.Close()
	srv := apptest.Start(t, apptest.AllowLoopback)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	const host = "spam.example"
	far := srv.Account(t, srv.AddRemoteAccount("far", host))
	reported := srv.Account(t, srv.AddRemoteAccount("reported", host))
	srv.Exec(`UPDATE accounts SET avatar = ? WHERE id = ?`, site.URL+"/avatar.png", far.ID)
	var others []*store.Status
	for _, domain := range []string{"sub.spam.example", "spam.example.evil", "good.example"} {
		others = append(others, srv.AddRemoteStatus(srv.Account(t, srv.AddRemoteAccount("far", domain))))
	}

	mine := alice.Publish("mine").Str("id")
	post := srv.AddRemoteStatus(far, func(st *store.Status) { st.HasMedia = true })
	id := post.ID.String()
	onTop := srv.AddRemoteStatus(srv.Account(t, srv.AddRemoteAccount("nice", "nice.example")), func(st *store.Status) {
		st.InReplyToID, st.InReplyToAccountID = &post.ID, &far.ID
	})
	for i := range 30 {
		srv.AddRemoteStatus(far, func(st *store.Status) { st.Content = fmt.Sprint("spam ", i) })
	}
	alice.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
	bob.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
	alice.Post("/api/v1/statuses/" + id + "/bookmark").Want(200)
	answer := alice.Publish("no, thanks", "in_reply_to_id", id).Str("id")
	srv.AddRemoteFollow(far, alice, false)
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		ctx := t.Context()
		if err := tx.AddFollow(ctx, &store.Follow{FollowerID: alice.AccountID(), TargetID: far.ID, FollowerLocal: true, ShowReblogs: true}); err != nil {
			return err
		}
		if err := tx.AddMedia(ctx, &store.Media{AccountID: far.ID, StatusID: &post.ID, Type: "image", Mime: "image/png", RemoteURL: site.URL + "/1.png"}); err != nil {
			return err
		}
		return tx.EnqueueDeliveries(ctx, &store.OutgoingActivity{Activity: store.Activity{AccountID: alice.AccountID(), Body: "{}"},
			Targets: []store.DeliveryTarget{{Inbox: "https://spam.example/inbox", Domain: host}, {Inbox: "https://good.example/inbox", Domain: "good.example"}}})
	}); err != nil {
		t.Fatal(err)
	}
	for _, insert := range []string{
		`INSERT INTO favourites (id, account_id, status_id) VALUES (1, ?1, ?2)`,
		`INSERT INTO notifications (id, account_id, type, from_id, status_id) VALUES (2, ?3, 'favourite', ?1, ?2)`,
		`UPDATE statuses SET favourites_count = 1 WHERE id = ?2 AND ?1 > 0 AND ?3 > 0`,
		`INSERT INTO blocks (account_id, target_id) SELECT ?3, ?1 WHERE ?2 > 0 AND false`,
		`INSERT INTO reports (id, account_id, target_id, category, comment, forwarded) SELECT 3, ?3, id, 'spam', '', 0 FROM accounts WHERE nickname = 'reported' AND ?1 > 0 AND ?2 > 0`,
		`INSERT OR REPLACE INTO hosts (domain, software) SELECT 'spam.example', 'x' WHERE ?1 > 0 AND ?2 > 0 AND ?3 > 0`,
	} {
		srv.Exec(insert, far.ID, apptest.StatusID(mine), alice.AccountID())
	}
	picture := srv.Proxy.URL(site.URL + "/1.png")
	for range 2 {
		srv.As(nil).Get(strings.TrimPrefix(picture, srv.URL)).Want(200)
	}
	if fetches.Load() != 1 {
		t.Fatalf("the picture was fetched %d times before", fetches.Load())
	}

	p := purge(t, srv, root.Client, host)
	if p.Accounts != 2 || p.AccountsDone != 2 || p.Statuses != 31 || p.StatusesDone != 31 {
		t.Errorf("the progress is %+v", p)
	}
	wantLog(t, root.Client, "@root deleted all accounts and posts of instance spam.example")
	for _, tt := range []struct {
		what, query string
		want        int
	}{
		{"accounts", `SELECT count(*) FROM accounts WHERE domain = 'spam.example' AND deleted_at IS NULL`, 0},
		{"accounts that reports and replies refer to", `SELECT count(*) FROM accounts WHERE domain = 'spam.example' AND unavailable = 1 AND display_name = ''`, 2},
		{"statuses", `SELECT count(*) FROM statuses WHERE domain = 'spam.example'`, 0},
		{"boosts of them", `SELECT count(*) FROM statuses WHERE reblog_of_id IS NOT NULL`, 0},
		{"the statuses of other hosts", `SELECT count(*) FROM statuses WHERE domain <> ''`, len(others) + 1},
		{"tombstones", `SELECT count(*) FROM tombstones WHERE uri LIKE 'https://spam.example/%'`, 0},
		{"notifications", `SELECT count(*) FROM notifications WHERE from_id NOT IN (SELECT account_id FROM users)`, 0},
		{"follows", `SELECT count(*) FROM follows`, 0},
		{"favourites", `SELECT count(*) FROM favourites`, 0},
		{"bookmarks", `SELECT count(*) FROM bookmarks`, 0},
		{"attachments", `SELECT count(*) FROM media`, 0},
		{"deliveries to it", `SELECT count(*) FROM deliveries WHERE domain = 'spam.example'`, 0},
		{"deliveries to others", `SELECT count(*) FROM deliveries WHERE domain = 'good.example'`, 1},
		{"the host", `SELECT count(*) FROM hosts WHERE domain = 'spam.example'`, 0},
		{"the favourites of alice's post", `SELECT favourites_count FROM statuses WHERE id = ` + fmt.Sprint(int64(apptest.StatusID(mine))), 0},
		{"alice's followers", `SELECT followers_count FROM accounts WHERE nickname = 'alice'`, 0},
		{"alice's follows", `SELECT following_count FROM accounts WHERE nickname = 'alice'`, 0},
		{"bob's posts", `SELECT statuses_count FROM accounts WHERE nickname = 'bob'`, 0},
		{"broken references", `SELECT count(*) FROM pragma_foreign_key_check`, 0},
		{"the count of remote posts", `SELECT count - (SELECT count(*) FROM statuses WHERE domain <> '') FROM storage_usage WHERE class = 'remote_posts'`, 0},
		{"search entries", `SELECT count(*) FROM accounts_fts WHERE accounts_fts MATCH 'reported'`, 0},
	} {
		if got := srv.Count(tt.query); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.want)
		}
	}
	srv.As(nil).Get(strings.TrimPrefix(picture, srv.URL))
	if fetches.Load() != 2 {
		t.Errorf("the picture is still in the media cache: it was fetched %d times", fetches.Load())
	}
	if o := alice.Get("/api/v1/statuses/" + answer).Want(200).Object(); o.At("in_reply_to_id") != nil {
		t.Errorf("the reply still refers to the post: %v", o.At("in_reply_to_id"))
	}
	alice.Get("/api/v1/statuses/" + onTop.ID.String()).Want(200)
	alice.Get("/api/v1/statuses/" + id).Want(404)
	alice.Get("/api/v1/accounts/" + reported.ID.String()).Want(404)
}

// TestPurgeInstanceAccess produces every status code of the endpoint.
func TestPurgeInstanceAccess(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = list{"instances_delete"} })
	root, moderator, alice := srv.SignUpAdmin(), srv.SignUp("moderator"), srv.SignUp("alice")
	srv.SetRole(moderator, false, true)
	own := strings.TrimPrefix(srv.URL, "http://")
	for _, tt := range []struct {
		name   string
		as     *apptest.Client
		host   string
		status int
		want   string
	}{
		{"anonymous", srv.As(nil), "a.example", 403, "Invalid credentials."},
		{"a user", alice.Client, "a.example", 403, "User is not a staff member."},
		{"a wrong scope", srv.NewToken(root, "admin:write:follows"), "a.example", 403, "Insufficient permissions: admin:write:accounts | admin:write:statuses."},
		{"this server", root.Client, own, 400, own + " is this server"},
		{"not a host", root.Client, "a%20b", 400, `"a b" is not a host such as example.org`},
		{"a moderator with the privilege", srv.NewToken(moderator, "admin:write:statuses"), "a.example", 200, ""},
		{"again, while the job is queued", root.Client, "A.example", 200, ""},
	} {
		a := tt.as.Do("DELETE", instancesPath+tt.host, "", nil).Want(tt.status)
		if tt.want != "" {
			a.WantError(tt.status, tt.want)
		} else {
			wantBody(t, a, `"a.example"`)
		}
	}
	wantLog(t, root.Client, "@moderator deleted all accounts and posts of instance a.example")
	if n := srv.Count(`SELECT count(*) FROM moderation_log WHERE action = 'instance_delete'`); n != 1 {
		t.Errorf("%d entries in the log, want 1", n)
	}
	plain := apptest.Start(t)
	mod := plain.SignUp("moderator")
	plain.SetRole(mod, false, true)
	mod.Do("DELETE", instancesPath+"a.example", "", nil).WantError(403, "User isn't privileged.")
	admin := plain.SignUpAdmin()
	wantBody(t, admin.Do("DELETE", "/api/svc/admin/instances/a.example", "", nil).Want(200), `"a.example"`)
}

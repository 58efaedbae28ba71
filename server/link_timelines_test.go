package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestLinkTimeline lists posts by their links: what anyone may read, without those that the viewer has hidden, page by page.
func TestLinkTimeline(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	link := site.URL + "/page"
	path := "/api/v1/timelines/link?url=" + url.QueryEscape(link)
	srv.As(nil).Get(path).WantError(404, "Record not found")
	var want []string
	for i := range 5 {
		want = append([]string{[]*apptest.User{alice, bob}[i%2].Publish("see " + link).ID()}, want...)
	}
	for _, visibility := range []string{"unlisted", "private", "direct", "local"} {
		alice.Publish("see "+link, "visibility", visibility)
	}
	alice.Publish("see " + site.URL + "/other")
	srv.RunJobs()
	bob.Post("/api/v1/statuses/" + want[0] + "/reblog").Want(200)
	apptest.WantIDs(t, "anonymous", srv.As(nil).Get(path).Want(200), want...)
	apptest.WantIDs(t, "a follower", bob.Get(path).Want(200), want...)
	apptest.WantPages(t, carol, path, want)
	carol.Post("/api/v1/accounts/" + bob.ID + "/mute").Want(200)
	apptest.WantIDs(t, "bob is muted", carol.Get(path).Want(200), want[0], want[2], want[4])
	apptest.WantIDs(t, "with muted", carol.Get(path+"&with_muted=true").Want(200), want...)
	carol.Post("/api/v1/accounts/" + alice.ID + "/block").Want(200)
	apptest.WantIDs(t, "alice is blocked", carol.Get(path).Want(200))
	apptest.WantIDs(t, "local", srv.As(nil).Get(path+"&remote=true").Want(200))

	// A page without anything to show has no card.
	alice.Publish("see " + site.URL + "/silent")
	srv.RunJobs()
	srv.As(nil).Get("/api/v1/timelines/link", "url", site.URL+"/silent").Want(404)
	srv.As(nil).Get("/api/v1/timelines/link").Want(400)

	// A page that no public post leads to is none.
	srv.Exec(`UPDATE statuses SET visibility = 1`)
	srv.As(nil).Get("/api/v1/timelines/link", "url", site.URL+"/page").Want(404)
	for _, bad := range []string{"x", "https://none.example/", strings.Repeat("x", 5000), "'"} {
		srv.As(nil).Get("/api/v1/timelines/link", "url", bad).Want(404)
	}
}

// TestLinkTimelineOfPrivateInstance checks that anonymous clients do not read the timelines of a private instance.
func TestLinkTimelineOfPrivateInstance(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	srv.As(nil).Get("/api/v1/timelines/link", "url", "https://x.example/").Want(401)
	srv.As(nil).Get("/api/v1/timelines/bubble").Want(401)
	srv.NewToken(alice, "read:accounts").Get("/api/v1/timelines/bubble").Want(401)
	apptest.WantIDs(t, "bubble", alice.Get("/api/v1/timelines/bubble").Want(200))
}

// TestBubbleTimeline lists the posts of this server and of the hosts of the setting.
func TestBubbleTimeline(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Timelines.Bubble = []string{"Friends.example", "others.example"} })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	account := func(domain string) *store.Account { return srv.Account(t, srv.AddRemoteAccount("eve", domain)) }
	friends, others, unlisted := account("friends.example"), account("others.example"), account("unlisted.example")
	var want, local []string
	add := func(list *[]string, id string) { *list = append([]string{id}, *list...) }
	for i := range 6 {
		for _, a := range []*store.Account{friends, others} {
			add(&want, srv.AddRemoteStatus(a, func(st *store.Status) { st.HasMedia = i == 0 }).ID.String())
		}
		id := alice.Publish(fmt.Sprint("post ", i)).ID()
		add(&want, id)
		add(&local, id)
		srv.AddRemoteStatus(unlisted)
	}
	srv.AddRemoteStatus(friends, func(st *store.Status) { st.Visibility = store.Unlisted })
	const path = "/api/v1/timelines/bubble"
	apptest.WantPages(t, bob, path, want)
	apptest.WantIDs(t, "anonymous", srv.As(nil).Get(path, "limit", "40").Want(200), want...)
	apptest.WantIDs(t, "local", bob.Get(path, "local", "true").Want(200), local...)
	apptest.WantIDs(t, "remote", bob.Get(path, "remote", "true", "limit", "2").Want(200), want[1:3]...)
	apptest.WantIDs(t, "neither", bob.Get(path, "remote", "true", "local", "true").Want(200))
	bob.Post("/api/v1/accounts/" + alice.ID + "/mute").Want(200)
	bob.Post("/api/v1/domain_blocks", "domain", "others.example").Want(200)
	got := bob.Get(path, "limit", "40").Want(200).IDs()
	if len(got) != 6 {
		t.Errorf("with a mute and a blocked domain there are %d posts", len(got))
	}
	info := srv.As(nil).Get("/nodeinfo/2.0").Want(200).Object()
	if got := fmt.Sprint(info.At("metadata.localBubbleInstances")); got != "[Friends.example others.example]" {
		t.Errorf("NodeInfo lists %s", got)
	}
	if !strings.Contains(fmt.Sprint(info.At("metadata.features")), "bubble_timeline") {
		t.Error("the features do not name the bubble timeline")
	}
}

package server_test

import (
	"fmt"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func withTrends(c *config.Config) { c.API.Optional = []string{config.OptionalTrends} }

// trendDay returns a member of a day of a history; 0 is today.
func trendDay(trend *apptest.Object, day int, member string) string {
	return fmt.Sprint(trend.At("history").([]any)[day].(map[string]any)[member])
}

// TestTrends computes trends from public posts of local accounts.
func TestTrends(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback, withTrends), apptest.StartSite(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.UpdateProfile(apptest.Doc{"discoverable": true})
	bob.UpdateProfile(apptest.Doc{"discoverable": false})
	link := site.URL + "/page"
	liked := alice.Publish("#cats " + link).ID()
	hidden := bob.Publish("#cats #dogs " + link).ID()
	carol.Publish("#dogs")
	carol.Publish("#Cats")
	for range 3 {
		carol.Publish("#alone " + site.URL + "/other")
	}
	carol.Publish("#secret", "visibility", "unlisted")
	bob.Publish("#secret", "visibility", "private")
	for _, id := range []string{liked, hidden} {
		carol.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
		carol.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
	}
	srv.RunJobs()
	a := srv.As(nil).Get("/api/v1/trends/tags").Want(200)
	WantEntity(t, "tags", a, "[]TrendingTag")
	names := ""
	for _, tag := range a.List() {
		names += fmt.Sprint(tag.Str("name"), " ", trendDay(tag, 0, "accounts"), "/", trendDay(tag, 0, "uses"), " ", trendDay(tag, 6, "uses"), "; ")
	}
	if want := "cats 3/3 0; dogs 2/2 0; "; names != want {
		t.Errorf("tags: got %s, want %s", names, want)
	}
	if day := trendDay(a.List()[0], 0, "day"); day != fmt.Sprint(time.Now().UTC().Truncate(24*time.Hour).Unix()) {
		t.Errorf("the history begins on %s", day)
	}
	if got := srv.As(nil).Get("/api/v1/trends", "limit", "1", "offset", "1").Want(200).List(); len(got) != 1 || got[0].Str("name") != "dogs" {
		t.Errorf("the second tag is %v", got)
	}
	links := bob.Get("/api/v1/trends/links").Want(200)
	WantEntity(t, "links", links, "[]TrendingLink")
	if got := links.List(); len(got) != 1 || got[0].Str("url") != link || trendDay(got[0], 0, "accounts") != "2" {
		t.Errorf("links: %s", links.Body)
	}
	const posts = "/api/v1/trends/statuses"
	statuses := carol.Get(posts).Want(200)
	WantEntity(t, "statuses", statuses, "[]Status")
	apptest.WantIDs(t, "statuses", statuses, liked)
	apptest.WantIDs(t, "an offset", carol.Get(posts, "offset", "1").Want(200))
	apptest.WantIDs(t, "a negative offset", carol.Get(posts, "offset", "-5").Want(200), liked)
	carol.Post("/api/v1/accounts/" + alice.ID + "/mute").Want(200)
	apptest.WantIDs(t, "alice is muted", carol.Get(posts).Want(200))
	apptest.WantIDs(t, "others see it", srv.As(nil).Get(posts).Want(200), liked)
	carol.Get(posts, "offset", "x").Want(400)

	// They are computed anew after a while, and end with the week.
	dora := srv.SignUp("dora")
	dora.Publish("#alone")
	count := func() int { return len(srv.As(nil).Get("/api/v1/trends/tags").Want(200).List()) }
	if n := count(); n != 2 {
		t.Errorf("the cache has %d tags", n)
	}
	srv.Advance(6 * time.Minute)
	if n := count(); n != 3 {
		t.Errorf("after some minutes there are %d tags", n)
	}
	srv.Advance(8 * 24 * time.Hour)
	count() // the answer may still be the old one
	if n := count(); n != 0 {
		t.Errorf("after a week there are %d tags", n)
	}
}

// TestTrendsAreOff checks that the lists are empty by default (spec 4.6), and that unknown optional parts are refused.
func TestTrendsAreOff(t *testing.T) {
	srv := apptest.Start(t)
	for _, m := range []*apptest.User{srv.SignUp("alice"), srv.SignUp("bob")} {
		id := m.Publish("#cats").ID()
		m.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
		m.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
	}
	private := apptest.Start(t, withTrends, func(c *config.Config) { c.Instance.Public = false })
	private.SignUp("alice").Publish("#cats")
	private.SignUp("bob").Publish("#cats")
	if n := len(private.As(nil).Get("/api/v1/trends/tags").Want(200).List()); n != 0 {
		t.Errorf("a private instance shows anonymous clients %d tags", n)
	}
	for _, path := range []string{"", "/tags", "/statuses", "/links"} {
		if got := string(srv.As(nil).Get("/api/v1/trends" + path).Want(200).Body); got != "[]" {
			t.Errorf("%s: got %s", path, got)
		}
	}
}

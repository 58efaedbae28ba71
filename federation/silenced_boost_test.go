package federation_test

import (
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestBoostsOfSilencedHost checks how boosts by accounts of a host are treated whose posts are unlisted or followers-only (docs/policies.md).
func TestBoostsOfSilencedHost(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	boost := func() string { // of a new post by carol
		t.Helper()
		st := carol.Publish("hello")
		peer.PostAndSettle(srv, peer.Activity("Announce", bob, st.Str("uri"), apptest.Doc{
			"to": []any{apptest.Public}, "cc": []any{bob + "/followers"}, "published": apptest.FromNow(0),
		}))
		return st.ID()
	}
	visibility := func(of string) string { // "": not in the home timeline
		for _, st := range alice.Get("/api/v1/timelines/home").Want(200).List() {
			if st.Find("reblog.id") == of {
				return st.Str("visibility")
			}
		}
		return ""
	}
	check := func(what, of, want string) {
		t.Helper()
		if got := visibility(of); got != want {
			t.Errorf("%s: in home it is %q, want %q", what, got, want)
		}
		for _, path := range []string{"/api/v1/timelines/public", "/api/v1/timelines/public?remote=true", "/api/v1/timelines/public?local=true"} {
			for _, st := range srv.As(nil).Get(path).Want(200).List() {
				if st.Find("reblog") != nil {
					t.Errorf("%s: a boost is in %s", what, path)
				}
			}
		}
	}
	before := boost()
	check("before the block", before, "public")
	carol.Get("/api/v1/notifications").Want(200)
	srv.BlockHost(peer.Host, config.Unlist)
	check("a stored one", before, "public")
	unlisted := boost()
	check("a new one", unlisted, "unlisted")
	if got := len(carol.Get("/api/v1/notifications", "types[]", "reblog").Want(200).List()); got != 2 {
		t.Errorf("%d notifications of boosts, want 2", got)
	}
	srv.BlockHost(peer.Host, config.FollowersOnly)
	check("followers only", boost(), "private")
	srv.UnblockHost(peer.Host)
	check("after the block", unlisted, "unlisted")
	check("new after the block", boost(), "public")
}

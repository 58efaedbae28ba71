package federation_test

import (
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestPruneRemotePosts checks which remote posts are deleted to make room: those that nobody on this server has reacted to.
func TestPruneRemotePosts(t *testing.T) {
	far, near, alice, bob, carol := apptest.StartTwo(t)
	on := func(id, action string, params ...string) {
		t.Helper()
		bob.Post("/api/v1/statuses/"+id+"/"+action, params...).Want(200)
	}
	cases := []struct {
		name  string
		kept  bool
		react func(id string) // nil: nobody does
		more  []string        // parameters of the post
	}{
		{"plain", false, nil, nil},
		{"unlisted", false, nil, []string{"visibility", "unlisted"}},
		{"with a poll", false, nil, []string{"poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400"}},
		{"favourited", true, func(id string) { on(id, "favourite") }, nil},
		{"bookmarked", true, func(id string) { on(id, "bookmark") }, nil},
		{"boosted", true, func(id string) { on(id, "reblog") }, nil},
		{"boosted privately", true, func(id string) { on(id, "reblog", "visibility", "private") }, nil},
		{"reacted to", true, func(id string) { bob.ReactWith(id, "🔥") }, nil},
		{"replied to", true, func(id string) { bob.Publish("a reply", "in_reply_to_id", id) }, nil},
		{"quoted", true, func(id string) { bob.Publish("a quote", "quote_id", id) }, nil},
		{"in a muted thread", true, func(id string) { on(id, "mute") }, nil},
		{"voted in", true, func(id string) { bob.Vote(bob.Get("/api/v1/statuses/"+id).Want(200).Object(), 1) },
			[]string{"poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400"}},
		{"@bob@" + apptest.MustHost(t, near.URL), true, nil, nil},
		{"direct @carol@" + apptest.MustHost(t, near.URL), true, nil, []string{"visibility", "direct"}},
	}
	ids := make([]string, len(cases))
	viewers := make([]*apptest.User, len(cases))
	for i, tt := range cases {
		uri := alice.Publish(tt.name, tt.more...).Str("uri")
		apptest.Settle(far, near)
		viewers[i] = bob
		if bob.FindPost(uri) == nil {
			viewers[i] = carol
		}
		ids[i] = viewers[i].WantPost(uri).ID()
		if tt.react != nil {
			tt.react(ids[i])
		}
	}
	apptest.Settle(far, near)
	own := bob.Publish("bob's own").ID()

	prune := func(before time.Time) (count int) {
		t.Helper()
		for p := (store.PrunedPosts{More: true}); p.More; {
			err := near.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
				p, err = tx.PruneRemotePosts(t.Context(), p.Next, before)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			count += p.Count
		}
		return count
	}
	if n := prune(time.Now().Add(-time.Hour)); n != 0 {
		t.Errorf("%d posts were deleted that are not old enough", n)
	}
	prune(time.Now().Add(time.Hour))
	for i, tt := range cases {
		want := map[bool]int{true: 200, false: 404}[tt.kept]
		if got := viewers[i].Get("/api/v1/statuses/" + ids[i]).Status; got != want {
			t.Errorf("%s: status %d, want %d", tt.name, got, want)
		}
	}
	bob.Get("/api/v1/statuses/" + own).Want(200)
	if n := prune(time.Now().Add(time.Hour)); n != 0 {
		t.Errorf("%d posts were deleted the second time", n)
	}
}

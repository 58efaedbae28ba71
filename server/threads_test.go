package server_test

import (
	"fmt"
	"strings"
	"svc/app/apptest"
	"testing"
	"time"
)

// thread returns the names of the ancestors and descendants in a context.
func thread(a *apptest.Response, name map[string]string) string {
	a.T.Helper()
	o := a.Want(200).Object()
	list := func(key string) string {
		var names []string
		for _, st := range o.At(key).([]any) {
			names = append(names, name[st.(map[string]any)["id"].(string)])
		}
		return strings.Join(names, " ")
	}
	return list("ancestors") + " | " + list("descendants")
}

func TestContext(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	name := map[string]string{}
	id := map[string]string{}
	post := func(as *apptest.User, key, parent string, params ...string) {
		if parent != "" {
			params = append(params, "in_reply_to_id", id[parent])
		}
		id[key] = as.Publish(key, params...).ID()
		name[id[key]] = key
	}
	post(alice, "root", "")
	post(bob, "b1", "root")
	post(alice, "a1", "root")
	post(carol, "c1", "b1")
	post(alice, "a2", "a1")
	post(bob, "b2", "a1")
	post(bob, "b3", "b1")
	post(alice, "a3", "a1")
	post(dave, "d1", "b1", "visibility", "private")
	post(dave, "d2", "d1", "visibility", "public")
	id["other"] = carol.Publish("other").ID()
	bob.Post("/api/v1/statuses/" + id["a1"] + "/reblog").Want(200)
	boost := carol.Post("/api/v1/statuses/" + id["b1"] + "/reblog").Want(200).Object().ID()
	name[boost] = "boost"
	id["boost"] = boost
	for _, tt := range []struct {
		of   string
		as   *apptest.User
		want string
	}{
		{"root", carol, " | a1 a2 a3 b2 b1 c1 b3"},
		{"root", dave, " | a1 a2 a3 b2 b1 c1 b3 d1 d2"},
		{"root", nil, " | a1 a2 a3 b2 b1 c1 b3"},
		{"b1", carol, "root | b3 c1"},
		{"c1", carol, "root b1 | "},
		{"boost", carol, "root | b3 c1"},
		{"d1", dave, "root b1 | d2"},
		{"d2", dave, "root b1 d1 | "},
		{"d2", carol, " | "},
		{"other", carol, " | "},
	} {
		t.Run(fmt.Sprint(tt.of, tt.as != nil), func(t *testing.T) {
			if got := thread(srv.As(tt.as).Get("/api/v1/statuses/"+id[tt.of]+"/context"), name); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	carol.Get("/api/v1/statuses/"+id["d1"]+"/context").WantError(404, "Record not found")

	context := func(as *apptest.User, of string) string {
		return thread(srv.As(as).Get("/api/v1/statuses/"+id[of]+"/context"), name)
	}
	srv.AddMute(carol, bob)
	if got, want := context(carol, "root"), " | a1 a2 a3 b2 b1 c1 b3"; got != want {
		t.Errorf("with a mute: got %q, want %q", got, want)
	}
	srv.AddBlock(carol, bob)
	if got, want := context(carol, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("with a block: got %q, want %q", got, want)
	}
	if got, want := context(carol, "c1"), " | "; got != want {
		t.Errorf("below a blocked account's post: got %q, want %q", got, want)
	}
	srv.Exec(`DELETE FROM blocks`)
	srv.AddBlock(bob, carol)
	if got, want := context(carol, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("blocked: got %q, want %q", got, want)
	}
	srv.Exec(`DELETE FROM blocks`)
	srv.MakeUnavailable(bob)
	if got, want := context(dave, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("with an unavailable account: got %q, want %q", got, want)
	}
	srv.Exec(`UPDATE accounts SET unavailable = 0`)
	bob.Do("DELETE", "/api/v1/statuses/"+id["b1"], "", nil).Want(200)
	if got, want := context(carol, "c1"), " | "; got != want {
		t.Errorf("after the parent was deleted: got %q, want %q", got, want)
	}
	if got, want := context(carol, "root"), " | a1 a2 a3 b2"; got != want {
		t.Errorf("after a reply was deleted: got %q, want %q", got, want)
	}
}

// TestContextLimits checks the size of contexts, which is limited for anonymous viewers.
func TestContextLimits(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var chain []string
	for i := range 45 {
		var params []string
		if i > 0 {
			params = []string{"in_reply_to_id", chain[i-1]}
		}
		chain = append(chain, alice.Publish(fmt.Sprint(i), params...).ID())
	}
	root := alice.Publish("root").ID()
	for i := range 70 {
		alice.Publish(fmt.Sprint(i), "in_reply_to_id", root)
	}
	for _, tt := range []struct {
		name         string
		as           *apptest.User
		of           string
		above, below int
	}{
		{"ancestors", alice, chain[44], 44, 0},
		{"ancestors, anonymous", nil, chain[44], 40, 0},
		{"depth", alice, chain[0], 0, 44},
		{"depth, anonymous", nil, chain[0], 0, 20},
		{"descendants", alice, root, 0, 70},
		{"descendants, anonymous", nil, root, 0, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := srv.As(tt.as).Get("/api/v1/statuses/" + tt.of + "/context").Want(200).Object()
			above, below := o.At("ancestors").([]any), o.At("descendants").([]any)
			if len(above) != tt.above || len(below) != tt.below {
				t.Fatalf("%d above and %d below, want %d and %d", len(above), len(below), tt.above, tt.below)
			}
			if len(above) > 0 && above[len(above)-1].(map[string]any)["id"] != chain[43] {
				t.Error("the ancestors are not the nearest ones")
			}
		})
	}
}

func TestMuteThread(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root := alice.Publish("root").ID()
	reply := bob.Publish("one", "in_reply_to_id", root).ID()
	bob.Publish("another thread @alice")
	path := "/api/v1/statuses/" + reply
	muted := func(as *apptest.User, id string) bool {
		o := as.Get("/api/v1/statuses/" + id).Want(200).Object()
		if o.Bool("muted") != o.Bool("svc.thread_muted") {
			t.Errorf("muted is %v, svc.thread_muted is not", o.Bool("muted"))
		}
		return o.Bool("muted")
	}
	unread := func() int {
		return alice.Get("/api/v1/markers", "timeline", "notifications").Want(200).Object().Int("notifications.svc.unread_count")
	}
	if n := unread(); n != 2 {
		t.Errorf("%d unread, want 2", n)
	}
	if o := alice.Post(path + "/mute").Want(200).Object(); !o.Bool("muted") || !o.Bool("svc.thread_muted") || o.ID() != reply {
		t.Errorf("not muted: %v", o.Fields)
	}
	if n := unread(); n != 1 {
		t.Errorf("%d unread after the thread was muted, want 1", n)
	}
	alice.Post(path + "/mute").Want(200)
	if !muted(alice, root) || muted(bob, root) {
		t.Error("the mute does not cover the thread, or applies to others")
	}
	bob.Publish("two", "in_reply_to_id", root)
	bob.Post("/api/v1/statuses/" + root + "/favourite").Want(200)
	if n := len(alice.Get("/api/v1/notifications").Want(200).List()); n != 2 {
		t.Errorf("%d notifications, want the 2 from before", n)
	}
	if n := len(alice.Get("/api/v1/notifications", "with_muted", "true").Want(200).List()); n != 4 {
		t.Errorf("%d notifications with muted ones, want 4", n)
	}
	if n := unread(); n != 1 {
		t.Errorf("%d unread with the mute, want 1", n)
	}
	for range 2 {
		if alice.Post(path + "/unmute").Want(200).Object().Bool("muted") {
			t.Error("still muted")
		}
	}
	bob.Publish("three", "in_reply_to_id", root)
	if n := unread(); n != 2 {
		t.Errorf("%d unread after the mute, want 2", n)
	}

	// A mute can expire.
	alice.Post(path+"/mute", "expires_in", "3600").Want(200)
	srv.RunJobs()
	if !muted(alice, root) {
		t.Error("the mute ended too early")
	}
	srv.Exec(`UPDATE thread_mutes SET expires_at = ?; UPDATE jobs SET run_at = 1`, time.Now().UnixMilli()-1)
	srv.RunJobs()
	if muted(alice, root) {
		t.Error("the mute does not end")
	}
	alice.Post(path+"/mute", "expires_in", "3600").Want(200)
	alice.Post(path+"/mute", "expires_in", "0").Want(200) // now without an end
	srv.Exec(`UPDATE jobs SET run_at = 1`)
	srv.RunJobs()
	if !muted(alice, root) {
		t.Error("the mute without an end ended")
	}
	alice.Post(path+"/mute", "expires_in", "-5").WantError(422, "Expiry date is too soon")
	alice.Post("/api/v1/statuses/nothing/mute").WantError(404, "Record not found")
}

// BenchmarkContext measures the context of a thread with 100 replies, a third of them to its root.
func BenchmarkContext(b *testing.B) {
	srv := apptest.Start(b)
	people := apptest.SignUpMany(srv, 10)
	ids := []string{people[0].Publish("the long thread").ID()}
	for i := range 100 {
		parent := ids[0]
		if i%3 > 0 {
			parent = ids[(i*7)%len(ids)]
		}
		ids = append(ids, people[i%10].Publish(fmt.Sprintf("reply %d of the river and the lamp in the quiet orange garden", i), "in_reply_to_id", parent).ID())
	}
	b.Run("signed in", func(b *testing.B) {
		benchRequests(srv, b, "GET", "/api/v1/statuses/"+ids[0]+"/context", people[1].Token, "")
	})
	b.Run("of a leaf", func(b *testing.B) {
		benchRequests(srv, b, "GET", "/api/v1/statuses/"+ids[100]+"/context", people[1].Token, "")
	})
}

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// thread returns what a context shows above and below a status, by the names that the test gave.
func thread(a *answer, name map[string]string) string {
	a.t.Helper()
	o := a.want(200).object()
	list := func(key string) string {
		var names []string
		for _, st := range o.at(key).([]any) {
			names = append(names, name[st.(map[string]any)["id"].(string)])
		}
		return strings.Join(names, " ")
	}
	return list("ancestors") + " | " + list("descendants")
}

func TestContext(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	name := map[string]string{}
	id := map[string]string{}
	post := func(as *member, key, parent string, params ...string) {
		if parent != "" {
			params = append(params, "in_reply_to_id", id[parent])
		}
		id[key] = as.publish(key, params...).id()
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
	id["other"] = carol.publish("other").id()
	bob.post("/api/v1/statuses/" + id["a1"] + "/reblog").want(200)
	boost := carol.post("/api/v1/statuses/" + id["b1"] + "/reblog").want(200).object().id()
	name[boost] = "boost"
	id["boost"] = boost
	for _, tt := range []struct {
		of   string
		as   *member
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
			if got := thread(srv.as(tt.as).get("/api/v1/statuses/"+id[tt.of]+"/context"), name); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	carol.get("/api/v1/statuses/"+id["d1"]+"/context").wantError(404, "Record not found")

	context := func(as *member, of string) string {
		return thread(srv.as(as).get("/api/v1/statuses/"+id[of]+"/context"), name)
	}
	srv.letMute(carol, bob)
	if got, want := context(carol, "root"), " | a1 a2 a3 b2 b1 c1 b3"; got != want {
		t.Errorf("with a mute: got %q, want %q", got, want)
	}
	srv.letBlock(carol, bob)
	if got, want := context(carol, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("with a block: got %q, want %q", got, want)
	}
	if got, want := context(carol, "c1"), " | "; got != want {
		t.Errorf("under the blocked: got %q, want %q", got, want)
	}
	srv.insert(`DELETE FROM blocks`)
	srv.letBlock(bob, carol)
	if got, want := context(carol, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("blocked: got %q, want %q", got, want)
	}
	srv.insert(`DELETE FROM blocks`)
	srv.withhold(bob)
	if got, want := context(dave, "root"), " | a1 a2 a3"; got != want {
		t.Errorf("with a withheld account: got %q, want %q", got, want)
	}
	srv.insert(`UPDATE accounts SET withheld = 0`)
	bob.do("DELETE", "/api/v1/statuses/"+id["b1"], "", nil).want(200)
	if got, want := context(carol, "c1"), " | "; got != want {
		t.Errorf("after the parent has gone: got %q, want %q", got, want)
	}
	if got, want := context(carol, "root"), " | a1 a2 a3 b2"; got != want {
		t.Errorf("after a reply has gone: got %q, want %q", got, want)
	}
}

// The anonymous see less of a thread.
func TestContextLimits(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	var chain []string
	for i := range 45 {
		var params []string
		if i > 0 {
			params = []string{"in_reply_to_id", chain[i-1]}
		}
		chain = append(chain, alice.publish(fmt.Sprint(i), params...).id())
	}
	root := alice.publish("root").id()
	for i := range 70 {
		alice.publish(fmt.Sprint(i), "in_reply_to_id", root)
	}
	for _, tt := range []struct {
		name         string
		as           *member
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
			o := srv.as(tt.as).get("/api/v1/statuses/" + tt.of + "/context").want(200).object()
			above, below := o.at("ancestors").([]any), o.at("descendants").([]any)
			if len(above) != tt.above || len(below) != tt.below {
				t.Fatalf("%d above and %d below, want %d and %d", len(above), len(below), tt.above, tt.below)
			}
			if len(above) > 0 && above[len(above)-1].(map[string]any)["id"] != chain[43] {
				t.Error("not the nearest")
			}
		})
	}
}

func TestMuteThread(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root := alice.publish("root").id()
	reply := bob.publish("one", "in_reply_to_id", root).id()
	bob.publish("another thread @alice")
	path := "/api/v1/statuses/" + reply
	muted := func(as *member, id string) bool {
		o := as.get("/api/v1/statuses/" + id).want(200).object()
		if o.truth("muted") != o.truth("svc.thread_muted") {
			t.Errorf("muted is %v, svc.thread_muted is not", o.truth("muted"))
		}
		return o.truth("muted")
	}
	unread := func() int {
		return alice.get("/api/v1/markers", "timeline", "notifications").want(200).object().num("notifications.svc.unread_count")
	}
	if n := unread(); n != 2 {
		t.Errorf("%d unread, want 2", n)
	}
	if o := alice.post(path + "/mute").want(200).object(); !o.truth("muted") || !o.truth("svc.thread_muted") || o.id() != reply {
		t.Errorf("not muted: %v", o.m)
	}
	if n := unread(); n != 1 {
		t.Errorf("%d unread after the thread was muted, want 1", n)
	}
	alice.post(path + "/mute").want(200)
	if !muted(alice, root) || muted(bob, root) {
		t.Error("not the whole thread is muted, or for others too")
	}
	bob.publish("two", "in_reply_to_id", root)
	bob.post("/api/v1/statuses/" + root + "/favourite").want(200)
	if n := len(alice.get("/api/v1/notifications").want(200).list()); n != 2 {
		t.Errorf("%d notifications, want the 2 from before", n)
	}
	if n := len(alice.get("/api/v1/notifications", "with_muted", "true").want(200).list()); n != 4 {
		t.Errorf("%d notifications with the muted ones, want 4", n)
	}
	if n := unread(); n != 1 {
		t.Errorf("%d unread in spite of the mute, want 1", n)
	}
	for range 2 {
		if alice.post(path + "/unmute").want(200).object().truth("muted") {
			t.Error("still muted")
		}
	}
	bob.publish("three", "in_reply_to_id", root)
	if n := unread(); n != 2 {
		t.Errorf("%d unread after the mute, want 2", n)
	}

	// For a time.
	alice.post(path+"/mute", "expires_in", "3600").want(200)
	srv.settle()
	if !muted(alice, root) {
		t.Error("the mute is over already")
	}
	srv.insert(`UPDATE thread_mutes SET expires_at = ?; UPDATE jobs SET run_at = 1`, time.Now().UnixMilli()-1)
	srv.settle()
	if muted(alice, root) {
		t.Error("the mute does not end")
	}
	alice.post(path+"/mute", "expires_in", "3600").want(200)
	alice.post(path+"/mute", "expires_in", "0").want(200) // for good, after all
	srv.insert(`UPDATE jobs SET run_at = 1`)
	srv.settle()
	if !muted(alice, root) {
		t.Error("the mute for good ended")
	}
	alice.post(path+"/mute", "expires_in", "-5").wantError(422, "Expiry date is too soon")
	alice.post("/api/v1/statuses/nothing/mute").wantError(404, "Record not found")
}

// BenchmarkContext reads a thread of 100 replies, a third of them to its root.
func BenchmarkContext(b *testing.B) {
	srv := startAPI(b)
	people := crowdOf(srv, 10)
	ids := []string{people[0].publish("the long thread").id()}
	for i := range 100 {
		parent := ids[0]
		if i%3 > 0 {
			parent = ids[(i*7)%len(ids)]
		}
		ids = append(ids, people[i%10].publish(fmt.Sprintf("reply %d of the river and the lamp in the quiet orange garden", i), "in_reply_to_id", parent).id())
	}
	b.Run("signed in", func(b *testing.B) { srv.repeat(b, "GET", "/api/v1/statuses/"+ids[0]+"/context", people[1].token, "") })
	b.Run("of a leaf", func(b *testing.B) { srv.repeat(b, "GET", "/api/v1/statuses/"+ids[100]+"/context", people[1].token, "") })
}

package server_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

// rules returns a policy of the client API in which all interactions have one rule.
func rules(automatic, manual []string) map[string]any {
	rule := map[string]any{"automatic_approval": automatic, "manual_approval": manual}
	return map[string]any{"can_favourite": rule, "can_reply": rule, "can_reblog": rule}
}

// restricted posts a status with a policy.
func restricted(m *apptest.User, policy map[string]any, more ...string) string {
	m.Server.T.Helper()
	body := map[string]any{"status": "ask me", "interaction_policy": policy}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	return m.SendJSON("POST", "/api/v1/statuses", body).Want(200).Object().ID()
}

// pendingTypes returns the types of the requests to an account.
func pendingTypes(m *apptest.Client, query ...string) []string {
	m.Server.T.Helper()
	types := []string{}
	for _, o := range m.Get("/api/v1/interaction_requests", query...).Want(200).List() {
		types = append(types, o.Str("type"))
	}
	return types
}

// shownRule returns the groups of a rule in the policy of a status. Without a policy, anyone may do anything.
func shownRule(o *apptest.Object, rule string) string {
	if o.Find("interaction_policy") == nil {
		return "[public] []"
	}
	rule = "interaction_policy." + rule
	return fmt.Sprint(o.At(rule+".automatic_approval"), o.At(rule+".manual_approval"))
}

// TestInteractionPolicy checks who may interact with a status under each policy, and that the status says so.
func TestInteractionPolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice, follower, followed, other := srv.SignUp("alice"), srv.SignUp("follower"), srv.SignUp("followed"), srv.SignUp("other")
	srv.AddFollow(follower, alice)
	srv.AddFollow(alice, followed)
	for _, tt := range []struct {
		automatic, manual []string
		shown             string
		may, asks         string
	}{
		{[]string{"public"}, nil, "[public] []", "alice follower followed other", ""},
		{[]string{}, []string{}, "[author] []", "alice", ""},
		{[]string{"author"}, nil, "[author] []", "alice", ""},
		{[]string{"followers"}, nil, "[author followers] []", "alice follower", ""},
		{[]string{"following"}, nil, "[author following] []", "alice followed", ""},
		{[]string{"followers"}, []string{"public"}, "[author followers] [public]", "alice follower", "followed other"},
		{[]string{"author"}, []string{"following", "followers"}, "[author] [followers following]", "alice", "follower followed"},
	} {
		t.Run(fmt.Sprint(tt.automatic, tt.manual), func(t *testing.T) {
			id := restricted(alice, rules(tt.automatic, tt.manual))
			path := "/api/v1/statuses/" + id
			for _, m := range []*apptest.User{alice, follower, followed, other} {
				may, asks := strings.Contains(" "+tt.may+" ", " "+m.Nickname+" "), strings.Contains(" "+tt.asks+" ", " "+m.Nickname+" ")
				o := m.Get(path).Want(200).Object()
				for _, rule := range []string{"can_favourite", "can_reply", "can_reblog"} {
					if got := shownRule(o, rule); got != tt.shown {
						t.Errorf("%s is %s, want %s", rule, got, tt.shown)
					}
				}
				want := map[bool]int{true: 200, false: 403}[may || asks]
				favourite := m.Post(path + "/favourite").Want(want)
				boost := m.Post(path + "/reblog").Want(want)
				reply := m.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id).Want(want)
				if want == 403 {
					reply.WantError(403, "The author of this post does not allow you to reply to it")
					continue
				}
				if f := favourite.Object(); !f.Bool("favourited") || f.Bool("svc.pending_favourite") != asks {
					t.Errorf("the favourite of %s is pending: %v", m.Nickname, f.Bool("svc.pending_favourite"))
				}
				if b, r := boost.Object(), reply.Object(); b.Bool("svc.pending_approval") != asks || r.Bool("svc.pending_approval") != asks {
					t.Errorf("the boost or the reply of %s is pending: %v, want %v", m.Nickname, !asks, asks)
				}
				if boost.Object().Bool("reblog.svc.pending_approval") {
					t.Errorf("the boosted post is pending")
				}
				seen := map[bool]int{true: 404, false: 200}[asks]
				srv.As(nil).Get("/api/v1/statuses/" + boost.Object().ID()).Want(seen)
				srv.As(nil).Get("/api/v1/statuses/" + reply.Object().ID()).Want(seen)
			}
			n := len(strings.Fields(tt.may))
			o := alice.Get(path).Want(200).Object()
			if o.Int("favourites_count") != n || len(srv.As(nil).Get(path+"/favourited_by").Want(200).List()) != n {
				t.Errorf("%d favourites are counted, want %d", o.Int("favourites_count"), n)
			}
			if got := len(pendingTypes(alice.Client, "status_id", id)); got != 3*len(strings.Fields(tt.asks)) {
				t.Errorf("%d requests", got)
			}
		})
	}
	// Mentioned accounts may always reply, and so may the author of the post that it answers.
	first := other.Publish("first").ID()
	id := restricted(alice, rules([]string{}, nil), "status", "hey @followed", "in_reply_to_id", first)
	for m, want := range map[*apptest.User]int{followed: 200, other: 200, follower: 403} {
		m.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id).Want(want)
	}
	// A private message needs no approval, because others do not see it.
	id = restricted(alice, rules(nil, []string{"public"}))
	other.Post("/api/v1/statuses", "status", "@alice reply", "in_reply_to_id", id, "visibility", "direct").Want(200)
	if got := pendingTypes(alice.Client, "status_id", id); len(got) > 0 {
		t.Errorf("a direct reply makes the requests %v", got)
	}
	other.SendJSON("PUT", "/api/v1/svc/statuses/"+id+"/reactions/🔥", nil).Want(403)
}

// TestInteractionPolicyParameters checks the parameters of posts and edits, the old names, and invalid values, which change nothing.
func TestInteractionPolicyParameters(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	reply := func(o *apptest.Object) string { return shownRule(o, "can_reply") }
	old := alice.SendJSON("POST", "/api/v1/statuses", map[string]any{"status": "x", "interaction_policy": map[string]any{
		"can_reply": map[string]any{"always": []string{"author", "followers"}, "with_approval": []string{"public"}},
	}}).Want(200).Object()
	if got := reply(old); got != "[author followers] [public]" {
		t.Errorf("the old names make %s", got)
	}
	if got := shownRule(old, "can_favourite"); got != "[public] []" {
		t.Errorf("a missing rule is %s", got)
	}
	form := alice.Post("/api/v1/statuses", "status", "x", "interaction_policy[can_reply][automatic_approval][]", "followers").Want(200).Object()
	if got := reply(form); got != "[author followers] []" {
		t.Errorf("a form makes %s", got)
	}
	for _, bad := range []any{
		map[string]any{"can_reply": map[string]any{"always": []string{"friends"}}},
		map[string]any{"can_reply": map[string]any{"manual_approval": []string{"https://example.com/users/a"}}},
	} {
		alice.SendJSON("POST", "/api/v1/statuses", map[string]any{"status": "y", "interaction_policy": bad}).Want(422)
		alice.EditStatus(form.ID(), map[string]any{"status": "changed", "interaction_policy": bad}).Want(422)
		alice.SendJSON("PATCH", "/api/v1/interaction_policies/defaults", map[string]any{"public": bad}).Want(422)
		alice.SendJSON("PATCH", "/api/v1/interaction_policies/defaults", map[string]any{"publick": bad}).Want(422)
	}
	if got := reply(alice.Get("/api/v1/statuses/" + form.ID()).Want(200).Object()); got != "[author followers] []" {
		t.Errorf("after invalid edits the policy is %s", got)
	}
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	plain := alice.Post("/api/v1/statuses", "status", "x", "scheduled_at", at).Want(200).Object()
	if got := plain.Find("params.interaction_policy"); got != nil {
		t.Errorf("a scheduled status without a policy has %v", got)
	}
	later := alice.SendJSON("POST", "/api/v1/statuses", map[string]any{
		"status": "x", "scheduled_at": at, "visibility": "private", "interaction_policy": map[string]any{"can_reply": map[string]any{"manual_approval": []string{"followers"}}},
	}).Want(200).Object()
	for _, o := range []*apptest.Object{later, alice.Get("/api/v1/scheduled_statuses/" + later.ID()).Want(200).Object()} {
		for rule, want := range map[string]string{"can_reply": "[author] [followers]", "can_favourite": "[author followers mentioned] []", "can_reblog": "[author] []"} {
			rule = "params.interaction_policy." + rule
			if got := fmt.Sprint(o.Find(rule+".automatic_approval"), " ", o.Find(rule+".manual_approval")); got != want {
				t.Errorf("%s of a scheduled status is %s, want %s", rule, got, want)
			}
		}
	}
	edited := alice.EditStatus(form.ID(), map[string]any{"status": "x", "interaction_policy": rules(nil, []string{"public"})}).Want(200).Object()
	if got := reply(edited); got != "[author] [public]" || edited.At("edited_at") != nil {
		t.Errorf("after an edit the policy is %s, edited at %v", got, edited.At("edited_at"))
	}
	if got := reply(alice.EditStatus(form.ID(), map[string]any{"status": "z"}).Want(200).Object()); got != "[author] [public]" {
		t.Errorf("an edit without a policy makes %s", got)
	}
}

// TestDefaultInteractionPolicies sets the policies of new statuses by visibility.
func TestDefaultInteractionPolicies(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	const path = "/api/v1/interaction_policies/defaults"
	usual := alice.Get(path).Want(200).Object()
	for rule, want := range map[string]string{
		"public.can_reply": "[public]", "unlisted.can_reblog": "[public]", "private.can_favourite": "[author followers mentioned]",
		"private.can_reblog": "[author]", "direct.can_reply": "[author mentioned]",
	} {
		if got := fmt.Sprint(usual.At(rule + ".automatic_approval")); got != want {
			t.Errorf("%s is %s, want %s", rule, got, want)
		}
	}
	changed := alice.SendJSON("PATCH", path, map[string]any{"unlisted": rules([]string{"followers"}, nil)}).Want(200).Object()
	again := alice.Get(path).Want(200).Object()
	for _, o := range []*apptest.Object{changed, again} {
		if got := fmt.Sprint(o.At("unlisted.can_reply.automatic_approval"), o.At("public.can_reply.automatic_approval")); got != "[author followers] [public]" {
			t.Errorf("the policies are %s", got)
		}
	}
	for v, want := range map[string]string{"public": "[public] []", "unlisted": "[author followers] []"} {
		o := alice.Publish("x", "visibility", v)
		if got := shownRule(o, "can_reply"); got != want {
			t.Errorf("a %s post has %s, want %s", v, got, want)
		}
	}
	reset := alice.SendJSON("PATCH", path, map[string]any{"unlisted": nil}).Want(200).Object()
	if !reflect.DeepEqual(reset.At("unlisted"), usual.At("unlisted")) {
		t.Errorf("after a reset it is %v", reset.At("unlisted"))
	}
	for _, tt := range []struct {
		as     *apptest.Client
		status int
	}{{srv.As(nil), 401}, {srv.NewToken(alice, "read:statuses"), 403}} {
		tt.as.Get(path).Want(tt.status)
		tt.as.SendJSON("PATCH", path, map[string]any{}).Want(tt.status)
	}
}

// TestInteractionRequests approves and rejects interactions of local accounts.
func TestInteractionRequests(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddFollow(carol, bob)
	const path = "/api/v1/interaction_requests"
	start := func() (post, boost, reply string) {
		post = restricted(alice, rules(nil, []string{"public"}))
		bob.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
		boost = bob.Post("/api/v1/statuses/" + post + "/reblog").Want(200).Object().ID()
		return post, boost, bob.Publish("an answer to @carol", "in_reply_to_id", post).ID()
	}
	post, boost, reply := start()
	if got := alice.NotificationTypes(); !slices.Equal(got, []string{"pending.reply", "pending.reblog", "pending.favourite"}) {
		t.Errorf("alice is notified of %v", got)
	}
	if got := carol.NotificationTypes(); len(got) > 0 {
		t.Errorf("a pending reply notifies %v", got)
	}
	if ids := carol.Get("/api/v1/timelines/home").Want(200).IDs(); len(ids) > 0 {
		t.Errorf("a follower's home has %v", ids)
	}
	requests := alice.Get(path).Want(200).List()
	ids := make(map[string]string)
	for _, q := range requests {
		ids[q.Str("type")] = q.ID()
		if q.Str("account.id") != bob.ID || q.Str("status.id") != post || q.At("accepted_at") != nil || q.At("rejected_at") != nil || q.At("uri") != nil {
			t.Errorf("a request is %v", q)
		}
		if q.Str("type") == "reply" && q.Str("reply.id") != reply || q.Str("type") != "reply" && q.At("reply") != nil {
			t.Errorf("the request %s has the reply %v", q.Str("type"), q.At("reply"))
		}
	}
	apptest.WantPages(t, alice, path, []string{ids["reply"], ids["reblog"], ids["favourite"]})
	apptest.WantList(t, "without boosts", pendingTypes(alice.Client, "reblogs", "false"), "reply", "favourite")
	apptest.WantList(t, "of another post", pendingTypes(alice.Client, "status_id", reply))
	apptest.WantList(t, "of no post", pendingTypes(alice.Client, "status_id", "x"))
	apptest.WantList(t, "of others", pendingTypes(bob.Client))
	for _, tt := range []struct {
		as   *apptest.Client
		id   string
		want int
	}{
		{bob.Client, ids["reply"], 404}, {alice.Client, "x", 404}, {alice.Client, post, 404}, {srv.As(nil), ids["reply"], 401},
		{srv.NewToken(alice, "read:statuses"), ids["reply"], 403},
	} {
		tt.as.Get(path + "/" + tt.id).Want(tt.want)
		tt.as.Post(path + "/" + tt.id + "/authorize").Want(tt.want)
		tt.as.Post(path + "/" + tt.id + "/reject").Want(tt.want)
	}
	srv.As(nil).Get(path).Want(401)
	if q := alice.Get(path + "/" + ids["favourite"]).Want(200).Object(); q.Str("type") != "favourite" {
		t.Errorf("the request is %v", q)
	}

	for _, kind := range []string{"favourite", "reblog", "reply"} {
		for range 2 { // the second time changes nothing
			q := alice.Post(path + "/" + ids[kind] + "/authorize").Want(200).Object()
			if q.At("accepted_at") == nil || q.At("rejected_at") != nil || q.Str("uri") != srv.URL+"/authorizations/"+ids[kind] {
				t.Errorf("the approved %s is %v", kind, q)
			}
		}
	}
	o := alice.Get("/api/v1/statuses/" + post).Want(200).Object()
	if o.Int("favourites_count") != 1 || o.Int("reblogs_count") != 1 || o.Int("replies_count") != 1 {
		t.Errorf("%d favourites, %d boosts, %d replies", o.Int("favourites_count"), o.Int("reblogs_count"), o.Int("replies_count"))
	}
	if bob.Get("/api/v1/statuses/" + post).Want(200).Object().Bool("svc.pending_favourite") {
		t.Error("the approved favourite is pending")
	}
	srv.As(nil).Get("/api/v1/statuses/" + boost).Want(200)
	srv.As(nil).Get("/api/v1/statuses/" + reply).Want(200)
	apptest.WantList(t, "after the approval carol has", carol.NotificationTypes(), "mention")
	apptest.WantList(t, "after the approval", pendingTypes(alice.Client))
	if got := alice.NotificationTypes(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "pending.") }) {
		t.Errorf("after the approval alice has %v", got)
	}
	// An approved interaction can be revoked.
	if q := alice.Post(path + "/" + ids["reply"] + "/reject").Want(200).Object(); q.At("rejected_at") == nil || q.At("uri") != nil {
		t.Errorf("the revoked reply is %v", q)
	}
	alice.Post(path + "/" + ids["reply"] + "/reject").Want(404)
	srv.As(nil).Get("/api/v1/statuses/" + reply).Want(404)

	post, boost, reply = start()
	for _, q := range alice.Get(path).Want(200).List() {
		alice.Post(path + "/" + q.ID() + "/reject").Want(200)
	}
	bob.Get("/api/v1/statuses/" + reply).Want(404)
	bob.Get("/api/v1/statuses/" + boost).Want(404)
	o = bob.Get("/api/v1/statuses/" + post).Want(200).Object()
	if o.Bool("favourited") || o.Bool("reblogged") || o.Int("favourites_count") != 0 || o.Int("reblogs_count") != 0 {
		t.Errorf("after the rejection: favourited %v, reblogged %v, %d favourites", o.Bool("favourited"), o.Bool("reblogged"), o.Int("favourites_count"))
	}
	// Undoing, deleting and blocking end requests.
	post, _, reply = start()
	bob.Post("/api/v1/statuses/" + post + "/unfavourite").Want(200)
	bob.Do("DELETE", "/api/v1/statuses/"+reply, "", nil).Want(200)
	apptest.WantList(t, "after an undo", pendingTypes(alice.Client), "reblog")
	alice.AccountAction(bob.ID, "block")
	apptest.WantList(t, "after a block", pendingTypes(alice.Client))
}

package federation_test

import (
	"fmt"
	"slices"
	"testing"

	"svc/app/apptest"
)

// rule is a rule of an interaction policy, as GoToSocial writes it.
func rule(automatic, manual []any) apptest.Doc {
	return apptest.Doc{"automaticApproval": automatic, "manualApproval": manual}
}

// TestRemoteInteractionPolicy checks that local accounts can do with a remote post what its policy allows, in the names of all versions of
// GoToSocial.
func TestRemoteInteractionPolicy(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := srv.SignUp("other")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	nobody, public := []any{bob}, []any{apptest.Public}
	const manual = "manual"
	for _, tt := range []struct {
		name  string
		rule  any
		alice string // who follows bob; "": forbidden
		other string
	}{
		{"no rule", nil, "yes", "yes"},
		{"an empty rule", apptest.Doc{}, "yes", "yes"},
		{"everybody", rule(public, nil), "yes", "yes"},
		{"nobody", rule(nobody, nil), "", ""},
		{"followers", rule([]any{bob, bob + "/followers"}, nil), "yes", ""},
		{"accounts that the author follows", rule([]any{bob + "/following"}, nil), "", ""},
		{"approval", rule(nobody, public), manual, manual},
		{"followers, others after approval", rule([]any{bob + "/followers"}, public), "yes", manual},
		{"approval for followers", rule(nobody, []any{bob + "/followers"}), manual, ""},
		{"a named account", rule([]any{alice.URI()}, nil), manual, manual},
		{"former names", apptest.Doc{"always": nobody, "approvalRequired": public}, manual, manual},
		{"a single value", apptest.Doc{"always": bob + "/followers"}, "yes", ""},
		{"nonsense", apptest.Doc{"automaticApproval": 3, "manualApproval": apptest.Doc{"a": "b"}}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "policy", apptest.Doc{"interactionPolicy": apptest.Doc{"canLike": tt.rule, "canReply": tt.rule, "canAnnounce": tt.rule}})
			peer.PostAndSettle(srv, peer.Create(note))
			id := alice.WantPost(note["id"]).ID()
			for m, want := range map[*apptest.User]string{alice: tt.alice, other: tt.other} {
				path := "/api/v1/statuses/" + id
				reply := m.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id)
				if want == "" {
					m.Post(path+"/favourite").WantError(403, "The author of this post does not allow you to favourite it")
					m.Post(path+"/reblog").WantError(403, "The author of this post does not allow you to boost it")
					m.SendJSON("PUT", "/api/v1/svc/statuses/"+id+"/reactions/🔥", nil).WantError(403, "The author of this post does not allow you to favourite it")
					reply.WantError(403, "The author of this post does not allow you to reply to it")
					continue
				}
				m.Post(path + "/favourite").Want(200)
				boost := m.Post(path + "/reblog").Want(200).Object().ID()
				seen := map[string]int{"yes": 200, manual: 404}[want]
				srv.As(nil).Get("/api/v1/statuses/" + reply.Want(200).Object().ID()).Want(seen)
				srv.As(nil).Get("/api/v1/statuses/" + boost).Want(seen)
				m.Post(path + "/unfavourite").Want(200)
				m.Post(path + "/unreblog").Want(200)
			}
			o := alice.Get("/api/v1/statuses/" + id).Want(200).Object()
			if o.Int("favourites_count") != 0 || o.Int("reblogs_count") != 0 {
				t.Errorf("%d favourites and %d boosts are counted", o.Int("favourites_count"), o.Int("reblogs_count"))
			}
		})
	}
	// Mentioned accounts may always reply. An edit changes the policy.
	closed := apptest.Doc{"interactionPolicy": apptest.Doc{"canReply": rule(nobody, nil)}}
	note := peer.Note(bob, "hey @alice", closed, apptest.Doc{
		"cc": []any{alice.URI()}, "published": apptest.FromNow(-1000), "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI(), "name": "@alice"}},
	})
	peer.PostAndSettle(srv, peer.Create(note))
	id := alice.WantPost(note["id"]).ID()
	alice.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id).Want(200)
	other.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id).Want(403)
	peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"interactionPolicy": nil, "updated": apptest.FromNow(0)})))
	other.Post("/api/v1/statuses", "status", "reply", "in_reply_to_id", id).Want(200)
}

// TestRemoteQuotePolicy checks that a remote post is quoted only by accounts that its policy permits (FEP-044f).
func TestRemoteQuotePolicy(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, other := srv.SignUp("alice"), srv.SignUp("other")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	for _, tt := range []struct {
		name         string
		rule         any
		alice, other int
	}{
		{"no rule", nil, 200, 200},
		{"everybody", rule([]any{apptest.Public}, nil), 200, 200},
		{"everybody after approval", rule(nil, []any{apptest.Public}), 200, 200},
		{"followers", rule([]any{bob + "/followers"}, nil), 200, 422},
		{"nobody", rule([]any{bob}, nil), 422, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "quote me", apptest.Doc{"interactionPolicy": apptest.Doc{"canQuote": tt.rule}})
			peer.PostAndSettle(srv, peer.Create(note))
			id := alice.WantPost(note["id"]).ID()
			for m, want := range map[*apptest.User]int{alice: tt.alice, other: tt.other} {
				m.Post("/api/v1/statuses", "status", "look", "quoted_status_id", id).Want(want)
				current := map[int]string{200: "automatic", 422: "denied"}[want]
				if got := m.Get("/api/v1/statuses/" + id).Want(200).Object().Str("quote_approval.current_user"); got != current {
					t.Errorf("quote_approval of %s is %s, want %s", m.Nickname, got, current)
				}
			}
		})
	}
}

// TestPendingInteractions checks that a favourite, reply and boost that need approval are sent to the author of the post only, until that
// author accepts them, and are withdrawn when the author rejects them.
func TestPendingInteractions(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	elsewhere := apptest.StartFake(t)
	alice, local := srv.SignUp("alice"), srv.SignUp("local")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	elsewhere.AddFollower(srv, "follower", alice)
	local.AccountAction(alice.ID, "follow")
	alice.FollowRemote(bob)
	approval := rule([]any{bob}, []any{apptest.Public})
	policy := apptest.Doc{"interactionPolicy": apptest.Doc{"canLike": approval, "canReply": approval, "canAnnounce": approval}}
	var like, create, announce apptest.Doc
	var post, reply string
	start := func() {
		note := peer.Note(bob, "ask me", policy)
		peer.PostAndSettle(srv, peer.Create(note))
		peer.ClearDelivered()
		elsewhere.ClearDelivered()
		post = alice.WantPost(note["id"]).ID()
		alice.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
		alice.Post("/api/v1/statuses/" + post + "/reblog").Want(200)
		reply = alice.Publish("an answer to @local", "in_reply_to_id", post).ID()
		apptest.Settle(srv)
		like, create, announce = peer.OneDelivered("Like"), peer.OneDelivered("Create"), peer.OneDelivered("Announce")
		peer.ClearDelivered()
	}
	object := func(a apptest.Doc) apptest.Doc { return a["object"].(apptest.Doc) }
	wantPending := func() {
		t.Helper()
		apptest.Settle(srv)
		o := alice.Get("/api/v1/statuses/" + reply).Want(200).Object()
		if !o.Bool("svc.pending_approval") || o.Str("visibility") != "public" {
			t.Errorf("the reply of visibility %s is not marked as pending", o.Str("visibility"))
		}
		srv.As(nil).Get("/api/v1/statuses/" + reply).Want(404)
		if ids := srv.As(nil).Get("/api/v1/timelines/public?local=true").Want(200).IDs(); slices.Contains(ids, reply) {
			t.Error("a pending reply is in the public timeline")
		}
		if ids := srv.As(nil).Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).IDs(); len(ids) > 0 {
			t.Errorf("the profile has %v", ids)
		}
		if got := local.NotificationTypes(); len(got) > 0 {
			t.Errorf("a pending reply notifies: %v", got)
		}
		if sent := elsewhere.Delivered(); len(sent) > 0 {
			t.Errorf("others receive %v", sent)
		}
	}
	accept := func(by string, object any, changes ...apptest.Doc) {
		peer.PostAndSettle(srv, peer.Activity("Accept", by, object, changes...))
	}

	start()
	if got := fmt.Sprint(object(create)["to"], object(create)["cc"]); got != fmt.Sprint(create["to"], create["cc"]) || !slices.Contains(object(create)["to"].([]any), any(apptest.Public)) {
		t.Errorf("the reply is addressed to %s", got)
	}
	wantPending()
	for _, ref := range []any{like["id"], object(create)["id"], announce["id"]} { // others cannot approve or reject
		accept(eve, ref)
		peer.PostAndSettle(srv, peer.Activity("Reject", eve, ref))
	}
	wantPending()

	by := peer.NewID("authorizations")
	accept(bob, apptest.Doc{"id": object(create)["id"], "type": "Note"}, apptest.Doc{"result": by, "target": object(create)["inReplyTo"]})
	accept(bob, like["id"])
	accept(bob, apptest.Doc{
		"id": peer.NewID("requests"), "type": "AnnounceRequest", "actor": alice.URI(), "object": announce["object"], "instrument": announce["id"],
	}, apptest.Doc{"result": by + "/boost"})
	apptest.Settle(srv)
	if got := object(elsewhere.OneDelivered("Create")); got["replyAuthorization"] != by || got["id"] != object(create)["id"] {
		t.Errorf("the approved reply is %v with authorization %v", got["id"], got["replyAuthorization"])
	}
	if got := elsewhere.OneDelivered("Announce")["announceAuthorization"]; got != by+"/boost" {
		t.Errorf("the approved boost has authorization %v", got)
	}
	if o := srv.As(nil).Get("/api/v1/statuses/" + reply).Want(200).Object(); o.Str("visibility") != "public" || o.Bool("svc.pending_approval") {
		t.Errorf("the approved reply has visibility %s", o.Str("visibility"))
	}
	if got := local.NotificationTypes(); fmt.Sprint(got) != "[mention]" {
		t.Errorf("after the approval: %v", got)
	}
	home := local.Get("/api/v1/timelines/home").Want(200).IDs()
	if len(home) != 2 || !slices.Contains(home, reply) {
		t.Errorf("a follower's home has %v", home)
	}
	o := alice.Get("/api/v1/statuses/" + post).Want(200).Object()
	if !o.Bool("favourited") || !o.Bool("reblogged") || o.Int("replies_count") != 1 || o.Int("reblogs_count") != 1 {
		t.Errorf("after the approval: favourited %v, reblogged %v, %d replies, %d boosts", o.Bool("favourited"), o.Bool("reblogged"), o.Int("replies_count"), o.Int("reblogs_count"))
	}
	for _, ref := range []any{like["id"], object(create)["id"], announce["id"]} { // a later rejection does not delete
		peer.PostAndSettle(srv, peer.Activity("Reject", bob, ref))
	}
	srv.As(nil).Get("/api/v1/statuses/" + reply).Want(200)

	srv.Exec(`DELETE FROM notifications`)
	alice.Do("DELETE", "/api/v1/statuses/"+reply, "", nil).Want(200)
	alice.Post("/api/v1/statuses/" + post + "/unreblog").Want(200)
	apptest.Settle(srv)
	start()
	wantPending()
	for _, ref := range []any{like["id"], create["id"], announce["id"]} {
		peer.PostAndSettle(srv, peer.Activity("Reject", bob, ref))
	}
	apptest.Settle(srv)
	alice.Get("/api/v1/statuses/" + reply).Want(404)
	o = alice.Get("/api/v1/statuses/" + post).Want(200).Object()
	if o.Bool("favourited") || o.Bool("reblogged") || o.Int("favourites_count") != 0 || o.Int("reblogs_count") != 0 || o.Int("replies_count") != 0 {
		t.Errorf("after the rejection: favourited %v, reblogged %v", o.Bool("favourited"), o.Bool("reblogged"))
	}
	if sent := elsewhere.Delivered("Create", "Announce", "Delete"); len(sent) > 0 {
		t.Errorf("others receive %v", sent)
	}
}

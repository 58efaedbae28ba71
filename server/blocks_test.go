package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/social"
	"svc/store"
)

func TestBlock(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.AccountAction(bob.ID, "follow", "notify", "true")
	bob.AccountAction(alice.ID, "follow", "notify", "true")
	carol.UpdateProfile(map[string]any{"locked": true})
	alice.AccountAction(carol.ID, "follow")
	bob.Publish("hello @alice")
	mine := alice.Publish("hello @bob").ID()
	bob.Post("/api/v1/statuses/" + mine + "/favourite").Want(200)
	friends := alice.Post("/api/v1/lists", "title", "friends").Object().ID()
	alice.SendJSON("POST", "/api/v1/lists/"+friends+"/accounts", map[string]any{"account_ids": []string{bob.ID, carol.ID}}).Want(200)
	theirs := bob.Post("/api/v1/lists", "title", "friends").Object().ID()
	bob.SendJSON("POST", "/api/v1/lists/"+theirs+"/accounts", map[string]any{"account_ids": []string{alice.ID}}).Want(200)

	alice.AccountAction(bob.ID, "block").WantTrue(apptest.RelationshipFlags, "blocking")
	alice.AccountAction(bob.ID, "block").WantTrue(apptest.RelationshipFlags, "blocking")
	bob.Relationship(alice.ID).WantTrue(apptest.RelationshipFlags, "blocked_by")
	for _, tt := range []struct {
		name string
		as   *apptest.User
		path string
		want []string
	}{
		{"notifications by the blocked account are removed", alice, "/api/v1/notifications", []string{}},
		{"the blocked account is removed from lists", alice, "/api/v1/lists/" + friends + "/accounts", []string{carol.ID}},
		{"the viewer is removed from lists of the blocked account", bob, "/api/v1/lists/" + theirs + "/accounts", []string{}},
		{"posts of the blocked account are removed from list timelines", alice, "/api/v1/timelines/list/" + friends, []string{}},
		{"home", alice, "/api/v1/timelines/home", []string{mine}},
		{"blocks", alice, "/api/v1/blocks", []string{bob.ID}},
		{"blocks of the blocked account", bob, "/api/v1/blocks", []string{}},
	} {
		if got := tt.as.Get(tt.path).Want(200).IDs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, m := range []*apptest.User{alice, bob} {
		o := m.Get("/api/v1/accounts/" + m.Nickname).Object()
		if o.Int("followers_count")+o.Int("following_count") != 0 {
			t.Errorf("%s still counts follows: %v", m.Nickname, o.Fields)
		}
	}
	bob.Get("/api/v1/statuses/" + mine).Want(404)
	bob.Get("/api/v1/accounts/alice").Want(200)

	carol.AccountAction(alice.ID, "block")
	alice.Relationship(carol.ID).WantTrue(apptest.RelationshipFlags, "blocked_by")
	if got := carol.Get("/api/v1/follow_requests").IDs(); len(got) != 0 {
		t.Errorf("a request of the blocked account remains: %v", got)
	}

	alice.AccountAction(bob.ID, "unblock").WantTrue(apptest.RelationshipFlags)
	alice.AccountAction(bob.ID, "unblock").WantTrue(apptest.RelationshipFlags)
	bob.Get("/api/v1/statuses/" + mine).Want(200)
	for _, verb := range []string{"block", "unblock", "mute", "unmute"} {
		alice.Post("/api/v1/accounts/"+alice.ID+"/"+verb).WantError(403, "You cannot do that to yourself")
		alice.Post("/api/v1/accounts/0000000000000000AA/"+verb).WantError(404, "Record not found")
		srv.As(nil).Post("/api/v1/accounts/" + bob.ID + "/" + verb).Want(401)
	}
}

func TestMute(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.AccountAction(bob.ID, "follow")
	post := bob.Publish("hello").ID()
	home := func() []string { return alice.Get("/api/v1/timelines/home").Want(200).IDs() }
	for _, tt := range []struct {
		name    string
		verb    string
		params  []string
		want    []string
		expires time.Duration
	}{
		{"without an end", "mute", nil, []string{"muting", "muting_notifications"}, 0},
		{"again, but not notifications", "mute", []string{"notifications", "false"}, []string{"muting"}, 0},
		{"for a while", "mute", []string{"duration", "3600"}, []string{"muting", "muting_notifications"}, time.Hour},
		{"for another while", "mute", []string{"expires_in", "60"}, []string{"muting", "muting_notifications"}, time.Minute},
		{"without an end again", "mute", []string{"expires_in", "0"}, []string{"muting", "muting_notifications"}, 0},
		{"for a very long time", "mute", []string{"duration", "99999999999999"}, []string{"muting", "muting_notifications"}, 0},
		{"unmuted", "unmute", nil, nil, 0},
		{"unmuted twice", "unmute", nil, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.AccountAction(bob.ID, tt.verb, tt.params...)
			o.WantTrue(apptest.RelationshipFlags, append(tt.want, "following")...)
			muted := slices.Contains(tt.want, "muting")
			if got := home(); slices.Contains(got, post) == muted {
				t.Errorf("home is %v", got)
			}
			list := alice.Get("/api/v1/mutes").Want(200).List()
			if !muted {
				if len(list) != 0 {
					t.Errorf("%d mutes, want none", len(list))
				}
				return
			}
			for name, at := range map[string]any{"muting_expires_at": o.At("muting_expires_at"), "mute_expires_at": list[0].At("mute_expires_at")} {
				if tt.expires == 0 {
					if at != nil {
						t.Errorf("%s is %v, want null", name, at)
					}
					continue
				}
				when, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(at))
				if d := time.Until(when); err != nil || d > tt.expires || d < tt.expires-30*time.Second {
					t.Errorf("%s is %v, in %v, want %v", name, at, d, tt.expires)
				}
			}
		})
	}
	alice.Post("/api/v1/accounts/"+bob.ID+"/mute", "duration", "an hour").WantError(400, "duration - Invalid integer. Got: string.")
}

func TestMuteEnds(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.AccountAction(bob.ID, "mute", "duration", "1")
	alice.AccountAction(carol.ID, "mute", "duration", "1")
	alice.AccountAction(carol.ID, "mute")
	apptest.WaitFor(t, "the mute's end", func() bool {
		srv.RunJobs()
		return !alice.Relationship(bob.ID).Bool("muting")
	})
	if got := alice.Get("/api/v1/mutes").IDs(); !slices.Equal(got, []string{carol.ID}) {
		t.Errorf("muted accounts are %v, want those without an end", got)
	}
}

func TestMutedNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.AccountAction(bob.ID, "mute")
	bob.Publish("hello @alice")
	if got := alice.Get("/api/v1/notifications").IDs(); len(got) != 0 {
		t.Errorf("notifications of a muted account: %v", got)
	}
	if got := alice.Get("/api/v1/accounts/verify_credentials").Object().Int("svc.unread_notifications_count"); got != 0 {
		t.Errorf("%d unread, want none", got)
	}
}

func TestBlocksAndMutesPaging(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var ids []string
	for i := range 7 {
		m := srv.SignUp(fmt.Sprintf("m%d", i))
		alice.AccountAction(m.ID, "block")
		alice.AccountAction(m.ID, "mute")
		ids = append(ids, m.ID)
	}
	unavailable := srv.SignUp("unavailable")
	alice.AccountAction(unavailable.ID, "block")
	alice.AccountAction(unavailable.ID, "mute")
	srv.MakeUnavailable(unavailable)
	slices.Reverse(ids)
	for _, path := range []string{"/api/v1/blocks", "/api/v1/mutes"} {
		apptest.WantPages(t, alice, path+"/?limit=3&with_relationships=true", ids)
		if got := alice.Get(path+"/", "max_id", ids[4]).Want(200).IDs(); !slices.Equal(got, ids[5:]) {
			t.Errorf("%s: with the account id as cursor: got %v, want %v", path, got, ids[5:])
		}
		first := alice.Get(path, "with_relationships", "true").List()[0]
		if !first.Bool("svc.relationship.muting") {
			t.Errorf("%s: the relationship is not filled in: %v", path, first.Fields)
		}
		srv.As(nil).Get(path).Want(401)
	}
}

func TestDomainBlocks(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	dave, erin := srv.AddRemoteAccount("dave", "example.com"), srv.AddRemoteAccount("erin", "example.net")
	block := func(method string, body any) *apptest.Response {
		return alice.SendJSON(method, "/api/v1/domain_blocks", body)
	}
	for _, id := range []string{dave, erin} {
		var from, to store.AccountID
		from.UnmarshalText([]byte(id))
		to.UnmarshalText([]byte(alice.ID))
		follower, err := srv.DB.Account(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := srv.Social.Follow(t.Context(), follower, to, social.FollowOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	alice.AccountAction(dave, "follow")
	block("POST", map[string]any{"domain": "Example.COM"}).Want(200)
	block("POST", map[string]any{"domain": "example.com"}).Want(200)
	alice.Post("/api/v1/domain_blocks", "domain", "b\u00fccher.example").Want(200)
	if got := string(alice.Get("/api/v1/domain_blocks").Want(200).Body); got != `["example.com","xn--bcher-kva.example"]` {
		t.Errorf("domain blocks are %s", got)
	}
	alice.Relationship(dave).WantTrue(apptest.RelationshipFlags, "domain_blocking") // without a job
	srv.RunJobs()
	alice.Relationship(dave).WantTrue(apptest.RelationshipFlags, "domain_blocking")
	alice.Relationship(erin).WantTrue(apptest.RelationshipFlags, "followed_by")
	bob.Relationship(dave).WantTrue(apptest.RelationshipFlags)
	if got := alice.Get("/api/v1/accounts/alice").Object().Int("followers_count"); got != 1 {
		t.Errorf("%d followers, want 1", got)
	}
	for _, domain := range []string{"", "two words", "https://example.com/", "127.0.0.1:0", srv.Settings.Host()} {
		block("POST", map[string]any{"domain": domain}).WantError(422, "Validation failed: Domain is not a valid domain name")
	}
	block("POST", nil).Want(422)
	alice.Do("DELETE", "/api/v1/domain_blocks?domain=xn--bcher-kva.example", "", nil).Want(200)
	block("DELETE", map[string]any{"domain": "example.com"}).Want(200)
	block("DELETE", map[string]any{"domain": "example.com"}).Want(200)
	block("DELETE", map[string]any{"domain": "not a domain"}).Want(422)
	if got := string(alice.Get("/api/v1/domain_blocks").Body); got != "[]" {
		t.Errorf("domain blocks are %s", got)
	}
	alice.Relationship(dave).WantTrue(apptest.RelationshipFlags)
	srv.As(nil).Get("/api/v1/domain_blocks").Want(401)
	alice.Do("POST", "/api/v1/domain_blocks", "application/json", nil).Want(422)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for i := range 1000 {
			if err := tx.AddDomainBlock(t.Context(), alice.AccountID(), fmt.Sprintf("d%d.example", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	block("POST", map[string]any{"domain": "one.too.many.example"}).Want(422)
	block("POST", map[string]any{"domain": "d7.example"}).Want(200) // already blocked
}

package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"svc/social"
	"svc/store"
)

func TestBlock(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.to(bob.id, "follow", "notify", "true")
	bob.to(alice.id, "follow", "notify", "true")
	carol.update(map[string]any{"locked": true})
	alice.to(carol.id, "follow")
	bob.publish("hello @alice")
	mine := alice.publish("hello @bob").id()
	bob.post("/api/v1/statuses/" + mine + "/favourite").want(200)
	friends := alice.post("/api/v1/lists", "title", "friends").object().id()
	alice.send("POST", "/api/v1/lists/"+friends+"/accounts", map[string]any{"account_ids": []string{bob.id, carol.id}}).want(200)
	theirs := bob.post("/api/v1/lists", "title", "friends").object().id()
	bob.send("POST", "/api/v1/lists/"+theirs+"/accounts", map[string]any{"account_ids": []string{alice.id}}).want(200)

	alice.to(bob.id, "block").wantTruths(relations, "blocking")
	alice.to(bob.id, "block").wantTruths(relations, "blocking")
	bob.relationship(alice.id).wantTruths(relations, "blocked_by")
	for _, tt := range []struct {
		name string
		as   *member
		path string
		want []string
	}{
		{"the other's notifications are gone", alice, "/api/v1/notifications", []string{}},
		{"the list has lost its member", alice, "/api/v1/lists/" + friends + "/accounts", []string{carol.id}},
		{"and the other's list too", bob, "/api/v1/lists/" + theirs + "/accounts", []string{}},
		{"and what they posted there", alice, "/api/v1/timelines/list/" + friends, []string{}},
		{"home", alice, "/api/v1/timelines/home", []string{mine}},
		{"blocks", alice, "/api/v1/blocks", []string{bob.id}},
		{"the other's blocks", bob, "/api/v1/blocks", []string{}},
	} {
		if got := tt.as.get(tt.path).want(200).ids(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, m := range []*member{alice, bob} {
		o := m.get("/api/v1/accounts/" + m.nick).object()
		if o.num("followers_count")+o.num("following_count") != 0 {
			t.Errorf("%s still counts follows: %v", m.nick, o.m)
		}
	}
	bob.get("/api/v1/statuses/" + mine).want(404)
	bob.get("/api/v1/accounts/alice").want(200)

	carol.to(alice.id, "block")
	alice.relationship(carol.id).wantTruths(relations, "blocked_by")
	if got := carol.get("/api/v1/follow_requests").ids(); len(got) != 0 {
		t.Errorf("a request of the blocked is left: %v", got)
	}

	alice.to(bob.id, "unblock").wantTruths(relations)
	alice.to(bob.id, "unblock").wantTruths(relations)
	bob.get("/api/v1/statuses/" + mine).want(200)
	for _, verb := range []string{"block", "unblock", "mute", "unmute"} {
		alice.post("/api/v1/accounts/"+alice.id+"/"+verb).wantError(403, "You cannot do that to yourself")
		alice.post("/api/v1/accounts/0000000000000000AA/"+verb).wantError(404, "Record not found")
		srv.as(nil).post("/api/v1/accounts/" + bob.id + "/" + verb).want(401)
	}
}

func TestMute(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.to(bob.id, "follow")
	said := bob.publish("hello").id()
	home := func() []string { return alice.get("/api/v1/timelines/home").want(200).ids() }
	for _, tt := range []struct {
		name    string
		verb    string
		params  []string
		want    []string
		expires time.Duration
	}{
		{"for good", "mute", nil, []string{"muting", "muting_notifications"}, 0},
		{"again, but not notifications", "mute", []string{"notifications", "false"}, []string{"muting"}, 0},
		{"for a while", "mute", []string{"duration", "3600"}, []string{"muting", "muting_notifications"}, time.Hour},
		{"for another while", "mute", []string{"expires_in", "60"}, []string{"muting", "muting_notifications"}, time.Minute},
		{"for good again", "mute", []string{"expires_in", "0"}, []string{"muting", "muting_notifications"}, 0},
		{"for longer than anybody lives", "mute", []string{"duration", "99999999999999"}, []string{"muting", "muting_notifications"}, 0},
		{"not any more", "unmute", nil, nil, 0},
		{"nor twice", "unmute", nil, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.to(bob.id, tt.verb, tt.params...)
			o.wantTruths(relations, append(tt.want, "following")...)
			muted := slices.Contains(tt.want, "muting")
			if got := home(); slices.Contains(got, said) == muted {
				t.Errorf("home is %v", got)
			}
			list := alice.get("/api/v1/mutes").want(200).list()
			if !muted {
				if len(list) != 0 {
					t.Errorf("%d mutes, want none", len(list))
				}
				return
			}
			for name, at := range map[string]any{"muting_expires_at": o.at("muting_expires_at"), "mute_expires_at": list[0].at("mute_expires_at")} {
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
	alice.post("/api/v1/accounts/"+bob.id+"/mute", "duration", "an hour").wantError(400, "duration - Invalid integer. Got: string.")
}

func TestMuteEnds(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.to(bob.id, "mute", "duration", "1")
	alice.to(carol.id, "mute", "duration", "1")
	alice.to(carol.id, "mute")
	waitFor(t, "the mute's end", func() bool {
		srv.settle()
		return !alice.relationship(bob.id).truth("muting")
	})
	if got := alice.get("/api/v1/mutes").ids(); !slices.Equal(got, []string{carol.id}) {
		t.Errorf("muted are %v, want those for good", got)
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

func TestMutedNotifications(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.to(bob.id, "mute")
	bob.publish("hello @alice")
	if got := alice.get("/api/v1/notifications").ids(); len(got) != 0 {
		t.Errorf("told of the muted: %v", got)
	}
	if got := alice.get("/api/v1/accounts/verify_credentials").object().num("svc.unread_notifications_count"); got != 0 {
		t.Errorf("%d unread, want none", got)
	}
}

func TestBlocksAndMutesPaging(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	var ids []string
	for i := range 7 {
		m := srv.signUp(fmt.Sprintf("m%d", i))
		alice.to(m.id, "block")
		alice.to(m.id, "mute")
		ids = append(ids, m.id)
	}
	gone := srv.signUp("gone")
	alice.to(gone.id, "block")
	alice.to(gone.id, "mute")
	srv.withhold(gone)
	slices.Reverse(ids)
	for _, path := range []string{"/api/v1/blocks", "/api/v1/mutes"} {
		wantPages(t, alice, path+"/?limit=3&with_relationships=true", ids)
		if got := alice.get(path+"/", "max_id", ids[4]).want(200).ids(); !slices.Equal(got, ids[5:]) {
			t.Errorf("%s: the account id is the cursor: got %v, want %v", path, got, ids[5:])
		}
		first := alice.get(path, "with_relationships", "true").list()[0]
		if !first.truth("svc.relationship.muting") {
			t.Errorf("%s: the relationship is not filled in: %v", path, first.m)
		}
		srv.as(nil).get(path).want(401)
	}
}

func TestDomainBlocks(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	dave, erin := srv.remote("dave", "example.com"), srv.remote("erin", "example.net")
	block := func(method string, body any) *answer { return alice.send(method, "/api/v1/domain_blocks", body) }
	for _, id := range []string{dave, erin} {
		var from, to store.AccountID
		from.UnmarshalText([]byte(id))
		to.UnmarshalText([]byte(alice.id))
		follower, err := srv.db.Account(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := srv.social.Follow(t.Context(), follower, to, social.FollowOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	alice.to(dave, "follow")
	block("POST", map[string]any{"domain": "Example.COM"}).want(200)
	block("POST", map[string]any{"domain": "example.com"}).want(200)
	alice.post("/api/v1/domain_blocks", "domain", "b\u00fccher.example").want(200)
	if got := string(alice.get("/api/v1/domain_blocks").want(200).body); got != `["example.com","xn--bcher-kva.example"]` {
		t.Errorf("domain blocks are %s", got)
	}
	srv.settle()
	alice.relationship(dave).wantTruths(relations, "domain_blocking")
	alice.relationship(erin).wantTruths(relations, "followed_by")
	bob.relationship(dave).wantTruths(relations)
	if got := alice.get("/api/v1/accounts/alice").object().num("followers_count"); got != 1 {
		t.Errorf("%d followers, want 1", got)
	}
	for _, domain := range []string{"", "two words", "https://example.com/", "127.0.0.1:0", srv.settings.Host()} {
		block("POST", map[string]any{"domain": domain}).wantError(422, "Validation failed: Domain is not a valid domain name")
	}
	block("POST", nil).want(422)
	alice.do("DELETE", "/api/v1/domain_blocks?domain=xn--bcher-kva.example", "", nil).want(200)
	block("DELETE", map[string]any{"domain": "example.com"}).want(200)
	block("DELETE", map[string]any{"domain": "example.com"}).want(200)
	block("DELETE", map[string]any{"domain": "what is this"}).want(422)
	if got := string(alice.get("/api/v1/domain_blocks").body); got != "[]" {
		t.Errorf("domain blocks are %s", got)
	}
	alice.relationship(dave).wantTruths(relations)
	srv.as(nil).get("/api/v1/domain_blocks").want(401)
	alice.do("POST", "/api/v1/domain_blocks", "application/json", nil).want(422)
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		for i := range 1000 {
			if err := tx.AddDomainBlock(t.Context(), alice.accountID(), fmt.Sprintf("d%d.example", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	block("POST", map[string]any{"domain": "one.too.many.example"}).want(422)
	block("POST", map[string]any{"domain": "d7.example"}).want(200) // which is blocked already
}

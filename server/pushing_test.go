package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/store"
)

func TestPushMessages(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	d := alice.subscribe(service)
	srv.addEmoji("pets", map[string]string{"cat": "cat.png"})
	own := alice.publish("my own words")
	theirs := bob.publish("something of bob's")
	long := strings.Repeat("word ", 40)
	alice.send("POST", "/api/v1/accounts/"+bob.id+"/follow", nil).want(200)
	for _, tt := range []struct {
		name  string
		do    func()
		kind  string
		title string
		body  string
	}{
		{"mention", func() { bob.publish("hello <b> & @alice\n\nagain") }, "mention", "New Mention", "@bob: hello <b> & @alice again"},
		{"long mention", func() { bob.publish("@alice " + long) }, "mention", "New Mention", "@bob: " + string([]rune("@alice " + long)[:139]) + "…"},
		{"with a subject", func() { bob.publish("@alice the murderer is", "spoiler_text", "the film") }, "mention", "New Mention", "@bob: the film"},
		{"direct", func() { bob.publish("@alice psst", "visibility", "direct") }, "mention", "New Direct Message", "@bob: @alice psst"},
		{"follow", func() { bob.post("/api/v1/accounts/" + alice.id + "/follow").want(200) }, "follow", "New Follower", "@bob has followed you"},
		{"reblog", func() { bob.post("/api/v1/statuses/" + own.id() + "/reblog").want(200) }, "reblog", "New Repeat", "@bob repeated: my own words"},
		{"favourite", func() { bob.post("/api/v1/statuses/" + own.id() + "/favourite").want(200) }, "favourite", "New Favorite", "@bob has favorited your post"},
		{"reaction", func() { bob.reactWith(own.id(), "❤") }, "svc:emoji_reaction", "New Reaction", "@bob reacted with ❤️"},
		{"custom reaction", func() { bob.reactWith(own.id(), "cat") }, "svc:emoji_reaction", "New Reaction", "@bob reacted with :cat:"},
		{"update", func() {
			alice.post("/api/v1/statuses/" + theirs.id() + "/reblog").want(200)
			bob.send("PUT", "/api/v1/statuses/"+theirs.id(), map[string]any{"status": "something else"}).want(200)
		}, "update", "New Update", "@bob edited a status"},
		{"status", func() {
			alice.post("/api/v1/svc/accounts/" + bob.id + "/subscribe").want(200)
			bob.publish("for all")
		}, "status", "New Status", "@bob: for all"},
		{"follow request", func() {
			alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"locked": true}).want(200)
			srv.signUp("carol").post("/api/v1/accounts/" + alice.id + "/follow").want(200)
		}, "follow_request", "New Follow Request", "@carol has requested to follow you"},
		{"chat message", func() {
			chat := bob.post("/api/v1/svc/chats/by-account-id/" + alice.id).want(200).object().id()
			bob.post("/api/v1/svc/chats/"+chat+"/messages", "content", "hi <there>").want(200)
		}, "svc:chat_mention", "New Chat Message", "@bob: hi <there>"},
		{"chat attachment", func() {
			chat := bob.post("/api/v1/svc/chats/by-account-id/" + alice.id).want(200).object().id()
			bob.post("/api/v1/svc/chats/"+chat+"/messages", "media_id", bob.upload(pngFile(3, 3)).id()).want(200)
		}, "svc:chat_mention", "New Chat Message", "@bob: (Attachment)"},
		{"poll", func() {
			poll := bob.publish("which?", "poll[options][]", "this", "poll[options][]", "that", "poll[expires_in]", "3600").str("poll.id")
			alice.post("/api/v1/polls/"+poll+"/votes", "choices[]", "1").want(200)
			srv.settle()
			d.messages() // bob's posts are announced
			srv.insert(`UPDATE polls SET expires_at = 1000`)
			srv.insert(`UPDATE jobs SET run_at = 1000 WHERE kind LIKE '%poll%'`)
		}, "poll", "Poll Results", "which?\n○ this\n○ that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			srv.settle()
			header := d.sentHeader(t)
			messages := d.messages()
			if len(messages) != 1 {
				t.Fatalf("got %d messages, want 1: %v", len(messages), bodies(messages))
			}
			m := messages[0]
			for key, want := range map[string]any{
				"title": tt.title, "body": tt.body, "notification_type": tt.kind, "access_token": alice.token, "preferred_locale": "en",
			} {
				if got := m.at(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			if got := m.str("icon"); !strings.HasPrefix(got, srv.url+"/") {
				t.Errorf("the icon %q is not on the server", got)
			}
			// The app asks for more with what the message says.
			n := (&caller{srv, m.str("access_token")}).get(fmt.Sprint("/api/v1/notifications/", m.num("notification_id"))).want(200).object()
			if n.str("type") != tt.kind {
				t.Errorf("the notification is a %s", n.str("type"))
			}
			if n.has("status") && n.str("status.id") != m.str("svc.activity_id") || !n.has("status") && m.at("svc.activity_id") != nil {
				t.Errorf("activity_id is %v: %v", m.at("svc.activity_id"), n.m)
			}
			m.at("svc.direct_conversation_id")
			wantProof(t, header, service, srv.keys.VAPIDPublic())
			if header.Get("TTL") != "172800" || header.Get("Urgency") != "normal" {
				t.Errorf("TTL %q, Urgency %q", header.Get("TTL"), header.Get("Urgency"))
			}
		})
	}
}

// sentHeader returns the header of the only message that was sent.
func (d *device) sentHeader(t *testing.T) http.Header {
	t.Helper()
	d.service.mu.Lock()
	defer d.service.mu.Unlock()
	if len(d.sent) != 1 {
		t.Fatalf("%d messages were sent, want 1", len(d.sent))
	}
	return d.sent[0].header
}

// Clients that do not ask for the standard get what they know.
func TestPushEncodings(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for _, tt := range []struct {
		name     string
		standard any // nil: not sent
		want     string
	}{
		{"not said", nil, "aesgcm"},
		{"no", false, "aesgcm"},
		{"yes", true, "aes128gcm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := service.device()
			params := d.params("mention")
			params["subscription"].(map[string]any)["standard"] = tt.standard
			o := alice.send("POST", "/api/v1/push/subscription", params).want(200).object()
			if got := o.at("standard"); got != (tt.standard == true) {
				t.Errorf("standard is %v", got)
			}
			bob.publish("@alice hello")
			srv.settle()
			header := d.sentHeader(t)
			if got := header.Get("Content-Encoding"); got != tt.want {
				t.Errorf("the encoding is %q, want %q", got, tt.want)
			}
			if header.Get("TTL") == "" {
				t.Error("there is no TTL")
			}
			wantProof(t, header, service, srv.keys.VAPIDPublic())
			if got := bodies(d.messages()); !slices.Equal(got, []string{"@bob: @alice hello"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A message fits into one record whatever it has to tell.
func TestPushMessageSize(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	d := alice.subscribe(service)
	bob.publish("@alice " + strings.Repeat("e"+strings.Repeat("\u0301", 30), 150))
	srv.settle()
	if got := d.messages(); len(got) != 1 || !strings.HasPrefix(got[0].str("body"), "@bob: @alice e") {
		t.Errorf("got %v", bodies(got))
	}
}

func TestPushHidesContents(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	bob.upload(pngFile(3, 3))
	d := alice.subscribe(service)
	alice.send("PUT", "/api/svc/notification_settings", map[string]any{"hide_notification_contents": true}).want(200)
	bob.publish("@alice secret")
	bob.publish("@alice secret", "visibility", "direct")
	srv.settle()
	got := d.messages()
	if b := bodies(got); !slices.Equal(b, []string{"New Mention", "New Direct Message"}) {
		t.Errorf("bodies are %q", b)
	}
	for _, m := range got {
		text := fmt.Sprint(m.m)
		if m.has("title") || strings.Contains(text, "bob") || strings.Contains(text, "secret") || m.str("icon") != srv.url+"/images/avi.png" {
			t.Errorf("it tells too much: %v", m.m)
		}
	}
}

func TestPushPolicy(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	alice, followed, follower, stranger := srv.signUp("alice"), srv.signUp("followed"), srv.signUp("follower"), srv.signUp("stranger")
	srv.letFollow(alice, followed)
	srv.letFollow(follower, alice)
	d := alice.subscribe(service)
	for _, tt := range []struct {
		policy string
		want   []string
	}{
		{"all", []string{"followed", "follower", "stranger"}},
		{"followed", []string{"followed"}},
		{"follower", []string{"follower"}},
		{"none", []string{}},
	} {
		for _, place := range []string{"data", "beside"} {
			t.Run(tt.policy+" "+place, func(t *testing.T) {
				body := map[string]any{"policy": tt.policy}
				if place == "data" {
					body = map[string]any{"data": body}
				}
				alice.send("PUT", "/api/v1/push/subscription", body).want(200)
				for _, m := range []*member{followed, follower, stranger} {
					m.publish("@alice " + m.nick)
				}
				srv.settle()
				got := []string{}
				for _, b := range bodies(d.messages()) {
					got = append(got, strings.Fields(b)[2])
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("got messages of %v, want %v", got, tt.want)
				}
			})
		}
	}
}

// TestPushNotSent has everything happen that makes a message superfluous, before it is made or before it is sent.
func TestPushNotSent(t *testing.T) {
	const subscription = "/api/v1/push/subscription"
	for _, tt := range []struct {
		name          string
		before, after func(alice, bob *member, d *device, post *object)
	}{
		{"no such alert", func(alice, _ *member, d *device, _ *object) {
			alice.send("PUT", subscription, map[string]any{"data": map[string]any{"alerts": map[string]any{"favourite": true}}}).want(200)
		}, nil},
		{"muted", func(alice, bob *member, _ *device, _ *object) { alice.to(bob.id, "mute") }, nil},
		{"unsubscribed", func(alice, _ *member, _ *device, _ *object) { alice.do("DELETE", subscription+"/", "", nil).want(200) }, nil},
		{"muted meanwhile", nil, func(alice, bob *member, _ *device, _ *object) { alice.to(bob.id, "mute") }},
		{"thread muted meanwhile", nil, func(alice, _ *member, _ *device, post *object) {
			alice.post("/api/v1/statuses/" + post.id() + "/mute").want(200)
		}},
		{"blocked meanwhile", nil, func(alice, bob *member, _ *device, _ *object) { alice.to(bob.id, "block") }},
		{"read meanwhile", nil, func(alice, _ *member, _ *device, _ *object) {
			alice.post("/api/v1/svc/notifications/read", "max_id", alice.get("/api/v1/notifications").ids()[0]).want(200)
		}},
		{"dismissed meanwhile", nil, func(alice, _ *member, _ *device, _ *object) { alice.post("/api/v1/notifications/clear").want(200) }},
		{"deleted meanwhile", nil, func(_, bob *member, _ *device, post *object) {
			bob.do("DELETE", "/api/v1/statuses/"+post.id(), "", nil).want(200)
		}},
		{"unsubscribed meanwhile", nil, func(alice, _ *member, _ *device, _ *object) { alice.do("DELETE", subscription, "", nil).want(200) }},
		{"replaced meanwhile", nil, func(alice, _ *member, d *device, _ *object) { alice.subscribe(d.service) }},
		{"token revoked meanwhile", nil, func(alice, _ *member, _ *device, _ *object) {
			alice.api.as(nil).post("/oauth/revoke", "token", alice.token).want(200)
		}},
		{"token expired meanwhile", nil, func(alice, _ *member, _ *device, _ *object) {
			alice.api.insert(`UPDATE oauth_tokens SET expires_at = 1 WHERE account_id = ?`, alice.accountID())
		}},
		{"account deactivated meanwhile", nil, func(alice, _ *member, _ *device, _ *object) {
			alice.api.insert(`UPDATE users SET deactivated_at = 1 WHERE account_id = ?`, alice.accountID())
		}},
		{"signed out everywhere meanwhile", nil, func(alice, _ *member, _ *device, _ *object) {
			if err := alice.api.db.Update(alice.api.t.Context(), func(tx *store.Tx) error {
				return tx.RevokeTokens(alice.api.t.Context(), alice.accountID())
			}); err != nil {
				alice.api.t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := startPushAPI(t)
			service := newPushService(t)
			alice, bob := srv.signUp("alice"), srv.signUp("bob")
			d := alice.subscribe(service)
			if tt.before != nil {
				tt.before(alice, bob, d, nil)
			}
			post := bob.publish("@alice hello")
			if tt.after != nil {
				tt.after(alice, bob, d, post)
			}
			srv.settle()
			if d.tried() != 0 {
				t.Errorf("sent all the same: %v", bodies(d.messages()))
			}
			if n := srv.waiting("push"); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

// wait lets the server live at a time that is so much later, and with it what waits for its time in the queue.
func (a *api) wait(d time.Duration) {
	a.t.Helper()
	at := time.Now().Add(d)
	a.server.SetClock(func() time.Time { return at })
	a.insert(`UPDATE jobs SET run_at = 1 WHERE parked = 0 AND run_at <= ?`, store.At(at))
}

// waiting counts the jobs of a kind in the queue.
func (a *api) waiting(kind string) int {
	a.t.Helper()
	counts, err := a.db.JobCounts(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, c := range counts {
		if c.Kind == kind {
			return c.N
		}
	}
	return 0
}

// TestPushRefused looks at what becomes of a subscription, and of the message, when a push service refuses.
func TestPushRefused(t *testing.T) {
	srv := startPushAPI(t)
	bob := srv.signUp("bob")
	for _, tt := range []struct {
		status int
		gone   bool
	}{
		{404, true}, {410, true}, {400, true}, {403, true}, {413, true},
		{302, false}, {408, false}, {429, false}, {500, false}, {503, false},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			service := newPushService(t)
			alice := srv.signUp(fmt.Sprint("alice", tt.status))
			d := alice.subscribe(service)
			service.fail(tt.status, "Location", service.URL+"/elsewhere")
			bob.publish("@" + alice.nick + " hello")
			srv.settle()
			if got := d.tried(); got != 1 {
				t.Errorf("tried %d times at once, want 1", got)
			}
			a := alice.get("/api/v1/push/subscription")
			if tt.gone {
				a.wantError(404, "Record not found")
				return
			}
			a.want(200)
			service.fail(0)
			srv.wait(time.Minute)
			srv.settle()
			if got := d.messages(); len(got) != 1 {
				t.Errorf("got %d messages when the service worked again, want 1", len(got))
			}
			srv.server.SetClock(time.Now)
		})
	}
}

// TestPushRetries follows a message that nobody takes until it is given up.
func TestPushRetries(t *testing.T) {
	srv := startPushAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	service, other := newPushService(t), newPushService(t)
	d := alice.subscribe(service)
	service.fail(503)
	for i := range 3 {
		bob.publish(fmt.Sprint("@alice ", i))
	}
	srv.settle()
	if got := d.tried(); got != 1 {
		t.Errorf("a host that fails was tried %d times, want once", got)
	}
	carol := srv.signUp("carol")
	e := carol.subscribe(other)
	bob.publish("@carol hello")
	srv.settle()
	if got := e.messages(); len(got) != 1 {
		t.Errorf("%d messages by the host that works, want 1", len(got))
	}
	tries := 1
	for after := time.Minute; srv.waiting("push") > 0; after += 5 * time.Minute {
		if after > 24*time.Hour {
			t.Fatal("the messages are never given up")
		}
		srv.wait(after)
		srv.settle()
		if got := d.tried(); got > tries+1 {
			t.Errorf("after %v: %d tries at once", after, got-tries)
		}
		tries = d.tried()
	}
	if tries < 5 || tries > 40 {
		t.Errorf("tried %d times in all", tries)
	}
	alice.get("/api/v1/push/subscription").want(200)
}

// TestPushRetryAfter has a push service say when it wants to be asked again.
func TestPushRetryAfter(t *testing.T) {
	srv := startPushAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	service := newPushService(t)
	d := alice.subscribe(service)
	for _, tt := range []struct {
		name, header string
		pause        time.Duration
	}{
		{"seconds", "900", 15 * time.Minute},
		{"a date", time.Now().Add(20 * time.Minute).UTC().Format(http.TimeFormat), 20 * time.Minute},
		{"much too long", "999999999999", time.Hour},
		{"a date much too late", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service.fail(429, "Retry-After", tt.header)
			bob.publish("@alice " + tt.name)
			srv.settle()
			tried := d.tried()
			srv.wait(tt.pause - 5*time.Second)
			srv.settle()
			if d.tried() != tried {
				t.Error("tried too early")
			}
			service.fail(0)
			srv.wait(tt.pause + 5*time.Second)
			srv.settle()
			if got := d.messages(); len(got) != 1 {
				t.Errorf("got %d messages in the end, want 1", len(got))
			}
			srv.server.SetClock(time.Now)
		})
	}
}

// A push service that cannot be reached, or one whose name leads nowhere, costs tries only.
func TestPushUnreachable(t *testing.T) {
	srv := startPushAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	service := newPushService(t)
	alice.subscribe(service)
	service.Close()
	bob.publish("@alice hello")
	srv.settle()
	if srv.waiting("push") != 1 {
		t.Error("the message is lost")
	}
	if srv.count(`SELECT count(*) FROM jobs WHERE last_error LIKE '%/device/%'`) != 0 {
		t.Error("the address of the subscription is in the job's error")
	}
}

// TestSlowPushServices has somebody with many devices whose push services, all on hosts of their own, take their time: that person's
// messages wait, and other people's do not.
func TestSlowPushServices(t *testing.T) {
	srv := startPushAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	const pause = 50 * time.Millisecond
	srv.server.SetSlowPush(pause)
	var slow []*device
	for i := range 5 {
		service := newPushService(t)
		service.answer = func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(pause)
			w.WriteHeader(http.StatusCreated)
		}
		slow = append(slow, srv.newToken(alice, fmt.Sprint("push read s", i)).subscribe(service, "mention"))
	}
	tried := func() (n int) {
		for _, d := range slow {
			n += d.tried()
		}
		return n
	}
	quick := carol.subscribe(newPushService(t))
	bob.publish("@alice @carol hello")
	srv.settle()
	if got := tried(); got != 1 {
		t.Errorf("%d messages to slow services at once, want 1", got)
	}
	if got := quick.messages(); len(got) != 1 {
		t.Errorf("%d messages to somebody else, want 1", len(got))
	}
	for after := time.Minute; srv.waiting("push") > 0; after += 3 * time.Minute {
		if after > time.Hour {
			t.Fatalf("after an hour, %d of 5 have been sent", tried())
		}
		srv.wait(after)
		srv.settle()
	}
	if got := tried(); got != 5 {
		t.Errorf("%d messages in the end, want 5", got)
	}
}

// TestPushAtOnce has many people told by many devices, while the worker does several jobs at a time.
func TestPushAtOnce(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	bob := srv.signUp("bob")
	var people []*member
	var devices []*device
	var mentions strings.Builder
	for i := range 8 {
		m := srv.signUp(fmt.Sprint("m", i))
		people = append(people, m)
		devices = append(devices, m.subscribe(service), srv.newToken(m, "push read").subscribe(service, "mention"))
		mentions.WriteString(" @" + m.nick)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		srv.worker.Run(ctx)
		close(done)
	}()
	defer func() {
		stop()
		<-done
	}()
	for i := range 5 {
		bob.publish(fmt.Sprint(i, mentions.String()))
	}
	for deadline := time.Now().Add(30 * time.Second); srv.waiting("push") > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the jobs are not done")
		}
	}
	for i, d := range devices {
		if got := d.messages(); len(got) != 5 {
			t.Errorf("device %d of %s got %d messages, want 5", i, people[i/2].nick, len(got))
		}
	}
}

// A token that was renewed is the one that messages carry from then on.
func TestPushAfterRefresh(t *testing.T) {
	srv := startPushAPI(t)
	service := newPushService(t)
	srv.signUp("alice")
	bob := srv.signUp("bob")
	app := srv.registerApp()
	grant := srv.grant(app, "password", "username", "alice", "password", testPassword).want(200).object()
	d := (&caller{srv, grant.str("access_token")}).subscribe(service)
	renewed := srv.grant(app, "refresh_token", "refresh_token", grant.str("refresh_token")).want(200).object().str("access_token")
	bob.publish("@alice hello")
	srv.settle()
	got := d.messages()
	if len(got) != 1 || got[0].str("access_token") != renewed || renewed == grant.str("access_token") {
		t.Fatalf("got %v, want the token %q", got, renewed)
	}
	if srv.count(`SELECT count(*) FROM push_subscriptions WHERE instr(token, CAST(? AS BLOB))`, renewed) != 0 {
		t.Error("the token stands in the database")
	}
}

package stream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

func TestPushMessages(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	d := alice.SubscribePush(service)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	own := alice.Publish("my own words")
	theirs := bob.Publish("something of bob's")
	long := strings.Repeat("word ", 40)
	alice.SendJSON("POST", "/api/v1/accounts/"+bob.ID+"/follow", nil).Want(200)
	for _, tt := range []struct {
		name  string
		do    func()
		kind  string
		title string
		body  string
	}{
		{"mention", func() { bob.Publish("hello <b> & @alice\n\nagain") }, "mention", "New Mention", "@bob: hello <b> & @alice again"},
		{"long mention", func() { bob.Publish("@alice " + long) }, "mention", "New Mention", "@bob: " + string([]rune("@alice " + long)[:139]) + "…"},
		{"with a subject", func() { bob.Publish("@alice the murderer is", "spoiler_text", "the film") }, "mention", "New Mention", "@bob: the film"},
		{"direct", func() { bob.Publish("@alice psst", "visibility", "direct") }, "mention", "New Direct Message", "@bob: @alice psst"},
		{"follow", func() { bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200) }, "follow", "New Follower", "@bob has followed you"},
		{"reblog", func() { bob.Post("/api/v1/statuses/" + own.ID() + "/reblog").Want(200) }, "reblog", "New Repeat", "@bob repeated: my own words"},
		{"favourite", func() { bob.Post("/api/v1/statuses/" + own.ID() + "/favourite").Want(200) }, "favourite", "New Favorite", "@bob has favorited your post"},
		{"reaction", func() { bob.ReactWith(own.ID(), "❤") }, "svc:emoji_reaction", "New Reaction", "@bob reacted with ❤️"},
		{"custom reaction", func() { bob.ReactWith(own.ID(), "cat") }, "svc:emoji_reaction", "New Reaction", "@bob reacted with :cat:"},
		{"update", func() {
			alice.Post("/api/v1/statuses/" + theirs.ID() + "/reblog").Want(200)
			bob.SendJSON("PUT", "/api/v1/statuses/"+theirs.ID(), map[string]any{"status": "something else"}).Want(200)
		}, "update", "New Update", "@bob edited a status"},
		{"quote", func() { bob.Publish("look at this", "quote_id", own.ID()) }, "quote", "New Quote", "@bob quoted your post: look at this"},
		{"edit of a quoted status", func() {
			quoted := bob.Publish("quote me").ID()
			alice.Publish("look", "quote_id", quoted)
			bob.SendJSON("PUT", "/api/v1/statuses/"+quoted, map[string]any{"status": "quote me, all"}).Want(200)
		}, "quoted_update", "New Update", "@bob edited a post that you quoted"},
		{"status", func() {
			alice.Post("/api/v1/svc/accounts/" + bob.ID + "/subscribe").Want(200)
			bob.Publish("for all")
		}, "status", "New Status", "@bob: for all"},
		{"follow request", func() {
			alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"locked": true}).Want(200)
			srv.SignUp("carol").Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
		}, "follow_request", "New Follow Request", "@carol has requested to follow you"},
		{"chat message", func() {
			chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
			bob.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "hi <there>").Want(200)
		}, "svc:chat_mention", "New Chat Message", "@bob: hi <there>"},
		{"chat attachment", func() {
			chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
			bob.Post("/api/v1/svc/chats/"+chat+"/messages", "media_id", bob.Upload(apptest.PNG(3, 3)).ID()).Want(200)
		}, "svc:chat_mention", "New Chat Message", "@bob: (Attachment)"},
		{"poll", func() {
			poll := bob.Publish("which?", "poll[options][]", "this", "poll[options][]", "that", "poll[expires_in]", "3600").Str("poll.id")
			alice.Post("/api/v1/polls/"+poll+"/votes", "choices[]", "1").Want(200)
			srv.RunJobs()
			d.Messages() // discards the one about bob's post
			srv.Exec(`UPDATE polls SET expires_at = 1000`)
			srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind LIKE '%poll%'`)
		}, "poll", "Poll Results", "which?\n○ this\n○ that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			srv.RunJobs()
			header := d.SentHeader()
			messages := d.Messages()
			if len(messages) != 1 {
				t.Fatalf("got %d messages, want 1: %v", len(messages), apptest.MessageBodies(messages))
			}
			m := messages[0]
			for key, want := range map[string]any{
				"title": tt.title, "body": tt.body, "notification_type": tt.kind, "access_token": alice.Token, "preferred_locale": "en",
			} {
				if got := m.At(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			if got := m.Str("icon"); !strings.HasPrefix(got, srv.URL+"/") {
				t.Errorf("the icon %q is not on the server", got)
			}
			// Apps fetch the notification with the token and id of the message.
			n := (&apptest.Client{Server: srv, Token: m.Str("access_token")}).Get(fmt.Sprint("/api/v1/notifications/", m.Int("notification_id"))).Want(200).Object()
			if n.Str("type") != tt.kind {
				t.Errorf("the notification has type %s", n.Str("type"))
			}
			if n.Has("status") && n.Str("status.id") != m.Str("svc.activity_id") || !n.Has("status") && m.At("svc.activity_id") != nil {
				t.Errorf("activity_id is %v: %v", m.At("svc.activity_id"), n.Fields)
			}
			m.At("svc.direct_conversation_id") // must exist
			apptest.WantVAPID(t, header, service, srv.Keys.VAPIDPublic())
			if header.Get("TTL") != "172800" || header.Get("Urgency") != "normal" {
				t.Errorf("TTL %q, Urgency %q", header.Get("TTL"), header.Get("Urgency"))
			}
		})
	}
}

// TestPushEncodings checks that clients get aesgcm unless they ask for the standard, aes128gcm.
func TestPushEncodings(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, tt := range []struct {
		name     string
		standard any
		want     string
	}{
		{"null", nil, "aesgcm"},
		{"false", false, "aesgcm"},
		{"true", true, "aes128gcm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := service.NewDevice()
			params := d.SubscribeParams("mention")
			params["subscription"].(map[string]any)["standard"] = tt.standard
			o := alice.SendJSON("POST", pushPath, params).Want(200).Object()
			if got := o.At("standard"); got != (tt.standard == true) {
				t.Errorf("standard is %v", got)
			}
			bob.Publish("@alice hello")
			srv.RunJobs()
			header := d.SentHeader()
			if got := header.Get("Content-Encoding"); got != tt.want {
				t.Errorf("the encoding is %q, want %q", got, tt.want)
			}
			if header.Get("TTL") == "" {
				t.Error("there is no TTL")
			}
			apptest.WantVAPID(t, header, service, srv.Keys.VAPIDPublic())
			if got := apptest.MessageBodies(d.Messages()); !slices.Equal(got, []string{"@bob: @alice hello"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestPushMessageSize checks that a long text is shortened so that the message fits into one record.
func TestPushMessageSize(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	d := alice.SubscribePush(service)
	bob.Publish("@alice " + strings.Repeat("e"+strings.Repeat("\u0301", 30), 150))
	srv.RunJobs()
	if got := d.Messages(); len(got) != 1 || !strings.HasPrefix(got[0].Str("body"), "@bob: @alice e") {
		t.Errorf("got %v", apptest.MessageBodies(got))
	}
}

func TestPushHidesContents(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Upload(apptest.PNG(3, 3))
	d := alice.SubscribePush(service)
	alice.SendJSON("PUT", "/api/svc/notification_settings", map[string]any{"hide_notification_contents": true}).Want(200)
	bob.Publish("@alice secret")
	bob.Publish("@alice secret", "visibility", "direct")
	srv.RunJobs()
	got := d.Messages()
	if b := apptest.MessageBodies(got); !slices.Equal(b, []string{"New Mention", "New Direct Message"}) {
		t.Errorf("bodies are %q", b)
	}
	for _, m := range got {
		text := fmt.Sprint(m.Fields)
		if m.Has("title") || strings.Contains(text, "bob") || strings.Contains(text, "secret") || m.Str("icon") != srv.URL+"/images/avi.png" {
			t.Errorf("the message has contents: %v", m.Fields)
		}
	}
}

func TestPushPolicy(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice, followed, follower, other := srv.SignUp("alice"), srv.SignUp("followed"), srv.SignUp("follower"), srv.SignUp("other")
	srv.AddFollow(alice, followed)
	srv.AddFollow(follower, alice)
	d := alice.SubscribePush(service)
	for _, tt := range []struct {
		policy string
		want   []string
	}{
		{"all", []string{"followed", "follower", "other"}},
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
				alice.SendJSON("PUT", pushPath, body).Want(200)
				for _, m := range []*apptest.User{followed, follower, other} {
					m.Publish("@alice " + m.Nickname)
				}
				srv.RunJobs()
				got := []string{}
				for _, b := range apptest.MessageBodies(d.Messages()) {
					got = append(got, strings.Fields(b)[2])
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("got messages of %v, want %v", got, tt.want)
				}
			})
		}
	}
}

// TestPushNotSent checks each state that prevents a message, set before it is queued or between queueing and sending.
func TestPushNotSent(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after func(alice, bob *apptest.User, d *apptest.Device, post *apptest.Object)
	}{
		{"no such alert", func(alice, _ *apptest.User, d *apptest.Device, _ *apptest.Object) {
			alice.SendJSON("PUT", pushPath, map[string]any{"data": map[string]any{"alerts": map[string]any{"favourite": true}}}).Want(200)
		}, nil},
		{"muted", func(alice, bob *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.AccountAction(bob.ID, "mute")
		}, nil},
		{"unsubscribed", func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Do("DELETE", pushPath+"/", "", nil).Want(200)
		}, nil},
		{"muted meanwhile", nil, func(alice, bob *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.AccountAction(bob.ID, "mute")
		}},
		{"thread muted meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, post *apptest.Object) {
			alice.Post("/api/v1/statuses/" + post.ID() + "/mute").Want(200)
		}},
		{"blocked meanwhile", nil, func(alice, bob *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.AccountAction(bob.ID, "block")
		}},
		{"read meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Post("/api/v1/svc/notifications/read", "max_id", alice.Get("/api/v1/notifications").IDs()[0]).Want(200)
		}},
		{"dismissed meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Post("/api/v1/notifications/clear").Want(200)
		}},
		{"deleted meanwhile", nil, func(_, bob *apptest.User, _ *apptest.Device, post *apptest.Object) {
			bob.Do("DELETE", "/api/v1/statuses/"+post.ID(), "", nil).Want(200)
		}},
		{"unsubscribed meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Do("DELETE", pushPath, "", nil).Want(200)
		}},
		{"replaced meanwhile", nil, func(alice, _ *apptest.User, d *apptest.Device, _ *apptest.Object) { alice.SubscribePush(d.Service) }},
		{"token revoked meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Server.RevokeToken(alice.Token).Want(200)
		}},
		{"token expired meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Server.Exec(`UPDATE oauth_tokens SET expires_at = 1 WHERE account_id = ?`, alice.AccountID())
		}},
		{"account deactivated meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			alice.Server.Exec(`UPDATE users SET deactivated_at = 1 WHERE account_id = ?`, alice.AccountID())
		}},
		{"signed out everywhere meanwhile", nil, func(alice, _ *apptest.User, _ *apptest.Device, _ *apptest.Object) {
			if err := alice.Server.DB.Update(alice.Server.T.Context(), func(tx *store.Tx) error {
				return tx.RevokeTokens(alice.Server.T.Context(), alice.AccountID())
			}); err != nil {
				alice.Server.T.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.StartWithLoopback(t)
			service := apptest.StartPushService(t)
			alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
			d := alice.SubscribePush(service)
			if tt.before != nil {
				tt.before(alice, bob, d, nil)
			}
			post := bob.Publish("@alice hello")
			if tt.after != nil {
				tt.after(alice, bob, d, post)
			}
			srv.RunJobs()
			if d.Tries() != 0 {
				t.Errorf("sent anyway: %v", apptest.MessageBodies(d.Messages()))
			}
			if n := queuedJobs(srv, "push"); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestCurrentConversation checks that no event is sent for a conversation that is no longer listed when the event is rendered.
func TestCurrentConversation(t *testing.T) {
	srv := apptest.Start(t)
	author, viewer := srv.SignUp("author"), srv.SignUp("viewer")
	l := srv.OpenStream(viewer.Client, "stream", "direct")
	author.Publish("@viewer psst", "visibility", "direct")
	first := l.Events()
	var id store.DirectConversationID
	fmt.Sscan(viewer.Get("/api/v1/conversations").Want(200).List()[0].ID(), &id)
	emit := func() {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			tx.Emit(store.ConversationChanged{AccountID: viewer.AccountID(), ID: id})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	emit()
	l.WantEvents("without a block", fmt.Sprintf("direct: conversation %d", id))
	srv.AddBlock(viewer, author)
	l.Events()
	emit()
	l.WantEvents("after a block")
	if len(first) != 2 {
		t.Errorf("the post sent %v", first)
	}
}

// TestScheduledEvents publishes a scheduled post and ends a poll: each stream gets what its viewer may see then, with the viewer's votes.
func TestScheduledEvents(t *testing.T) {
	srv := apptest.Start(t)
	author, voter, follower, other := srv.SignUp("author"), srv.SignUp("voter"), srv.SignUp("follower"), srv.SignUp("other")
	for _, m := range []*apptest.User{voter, follower, other} {
		m.AccountAction(author.ID, "follow")
	}
	private := author.Schedule("for followers", "visibility", "private").ID()
	asked := author.PublishPoll([]string{"yes", "no"}, "hide_totals", "true")
	voter.Vote(asked, 1).Want(200)
	streams := map[string]*apptest.StreamClient{"": srv.OpenStream(nil, "stream", "public").Subscribe("public:local")}
	for _, m := range []*apptest.User{voter, follower, other} {
		streams[m.Nickname] = srv.OpenStream(m.Client, "stream", "user").Subscribe("public")
	}
	srv.AddBlock(author, other) // after the poll was posted
	for _, l := range streams {
		l.Events()
	}
	srv.MakeDue(private)
	id := follower.Get("/api/v1/timelines/home", "limit", "1").Want(200).List()[0].ID()
	streams["voter"].WantEvents("voter", "user: update "+id)
	streams["follower"].WantEvents("follower", "user: update "+id)
	streams["other"].WantEvents("a blocked account")
	streams[""].WantEvents("anonymous")

	srv.EndPoll(asked)
	for nick, want := range map[string]string{"voter": "true [1]", "follower": "false []", "": "<nil> <nil>"} {
		found := 0
		for _, s := range streams[nick].Events() {
			if s.Event != "status.update" || payloadID(s) != asked.ID() {
				continue
			}
			found++
			var st struct {
				Poll map[string]any
			}
			if err := json.Unmarshal([]byte(*s.Payload), &st); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(st.Poll["voted"], " ", st.Poll["own_votes"]); got != want || st.Poll["expired"] != true {
				t.Errorf("%q: %s of %v, want %s", nick, got, st.Poll, want)
			}
		}
		if found != 2 {
			t.Errorf("%q got the end of the poll %d times, want once on each stream", nick, found)
		}
	}
	streams["other"].WantEvents("a blocked account, when the poll ends")
}

// TestNotificationEvents checks which notifications are sent, and that they equal those of the list.
func TestNotificationEvents(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	l := srv.OpenStream(alice.Client, "stream", "user")
	l.Subscribe("user:notification")
	both := func(kind string) []string {
		return []string{"user: notification " + kind, "user:notification: notification " + kind}
	}
	bob.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
	l.WantEvents("favouriting", both("favourite")...)
	bob.AccountAction(alice.ID, "follow")
	l.WantEvents("following", both("follow")...)
	alice.AccountAction(bob.ID, "mute")
	l.Events()
	bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
	l.WantEvents("a boost by a muted account")
	alice.AccountAction(bob.ID, "unmute")
	alice.Post("/api/v1/statuses/" + st + "/mute").Want(200)
	l.Events()
	bob.Publish("@alice hello", "in_reply_to_id", st)
	l.WantEvents("a reply in a muted thread")
	bob.Publish("@alice hello")
	got := l.Events()
	if len(got) != 2 || got[0].Event != "notification" {
		t.Fatalf("got %v", got)
	}
	n := alice.Get("/api/v1/notifications", "limit", "1").Want(200).List()[0]
	var streamed any
	if err := json.Unmarshal([]byte(*got[0].Payload), &streamed); err != nil || fmt.Sprint(streamed) != fmt.Sprint(any(n.Fields)) {
		t.Errorf("streamed is %v, want %v", streamed, n.Fields)
	}
	// Types that are listed only on request are not sent either.
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		n := &store.Notification{AccountID: alice.AccountID(), Type: store.NotifyReport, FromID: bob.AccountID()}
		_, err := tx.AddNotification(t.Context(), n)
		tx.Emit(store.NotificationAdded{Notification: n})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.WantEvents("a report")
	apptest.WantIDs(t, "the list without the report", alice.Get("/api/v1/notifications", "limit", "1"), n.ID())
}

// TestFollowEvents checks what the follower gets when the state of a follow changes.
func TestFollowEvents(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	l, other := srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(bob.Client, "stream", "user")
	update := func(what, want string) {
		t.Helper()
		got := l.Events()
		if len(got) != 1 || got[0].Event != "svc:follow_relationships_update" {
			t.Fatalf("%s: got %v", what, got)
		}
		if *got[0].Payload != want {
			t.Errorf("%s: got %s, want %s", what, *got[0].Payload, want)
		}
	}
	payload := func(state string, following, followers int) string {
		return fmt.Sprintf(`{"state":%q,"follower":{"id":%q,"follower_count":0,"following_count":%d},"following":{"id":%q,"follower_count":%d,"following_count":0}}`,
			state, alice.ID, following, bob.ID, followers)
	}
	alice.AccountAction(bob.ID, "follow")
	update("following", payload("follow_accept", 1, 1))
	other.WantEvents("being followed", "user: notification follow")
	alice.AccountAction(bob.ID, "unfollow")
	l.WantEvents("unfollowing")
	bob.UpdateProfile(map[string]any{"locked": true})
	alice.AccountAction(bob.ID, "follow")
	update("requesting", payload("follow_pending", 0, 0))
	bob.Post("/api/v1/follow_requests/" + alice.ID + "/reject").Want(200)
	update("being rejected", payload("follow_reject", 0, 0))
	alice.AccountAction(bob.ID, "follow")
	update("requesting again", payload("follow_pending", 0, 0))
	bob.UpdateProfile(map[string]any{"hide_followers": true})
	bob.Post("/api/v1/follow_requests/" + alice.ID + "/authorize").Want(200)
	update("being accepted", payload("follow_accept", 1, 0))
	bob.AccountAction(alice.ID, "remove_from_followers")
	update("being removed", payload("follow_reject", 0, 0))
}

// TestAccountEvents checks on which streams the events of one account are sent: filters, conversations and chats.
func TestAccountEvents(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	all := []string{"user", "user:notification", "user:svc_chat", "direct"}
	streams := map[*apptest.User]*apptest.StreamClient{}
	for _, m := range []*apptest.User{alice, bob} {
		l := srv.OpenStream(m.Client)
		for _, stream := range all {
			l.Subscribe(stream)
		}
		streams[m] = l
	}
	narrow := srv.OpenStream(srv.NewToken(alice, "read:statuses"), "stream", "user")
	filter := func() {
		alice.Post("/api/v1/filters", "phrase", "nonsense", "context[]", "home").Want(200)
	}
	filter()
	streams[alice].WantEvents("a filter", "user: filters_changed", "user:notification: filters_changed")
	streams[bob].WantEvents("a filter of another account")

	direct := bob.Publish("@alice psst", "visibility", "direct").ID()
	conversations := map[*apptest.User]string{alice: alice.Get("/api/v1/conversations").IDs()[0], bob: bob.Get("/api/v1/conversations").IDs()[0]}
	streams[alice].WantEvents("a direct post", "user: notification mention", "user:notification: notification mention",
		"direct: conversation "+conversations[alice], "user: update "+direct, "direct: update "+direct)
	streams[bob].WantEvents("an own direct post", "direct: conversation "+conversations[bob], "user: update "+direct, "direct: update "+direct)

	chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
	bob.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").Want(200)
	alices := alice.Get("/api/v1/svc/chats").IDs()[0]
	streams[alice].WantEvents("a message", "user: svc:chat_update "+alices, "user:svc_chat: svc:chat_update "+alices)
	streams[bob].WantEvents("an own message", "user: svc:chat_update "+chat, "user:svc_chat: svc:chat_update "+chat)

	narrow.Events()
	filter()
	narrow.WantEvents("without scopes for chats and notifications", "user: filters_changed")
	bob.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").Want(200)
	bob.Publish("@alice hello", "visibility", "unlisted")
	narrow.WantEvents("a notification without its scope")
}

// TestAnnouncementEvents adds and deletes announcements.
func TestAnnouncementEvents(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	user, others := srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(bob.Client, "stream", "public")
	later := store.At(srv.DB.Now().Add(time.Hour))
	now, then := &store.Announcement{Text: "now", Content: "<p>now</p>"}, &store.Announcement{Text: "then", Content: "<p>then</p>", StartsAt: &later}
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.AddAnnouncement(t.Context(), now), tx.AddAnnouncement(t.Context(), then))
	})
	if err != nil {
		t.Fatal(err)
	}
	user.WantEvents("a current announcement", "user: announcement "+now.ID.String())
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteAnnouncement(t.Context(), now.ID) }); err != nil {
		t.Fatal(err)
	}
	user.WantEvents("a deleted announcement", "user: announcement.delete "+now.ID.String())
	others.WantEvents("announcements on public streams")
}

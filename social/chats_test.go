package social_test

import (
	"strings"
	"testing"
	"time"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// stranger makes an account that lives elsewhere.
func (b *bench) stranger(nick string) *store.Account {
	b.t.Helper()
	a := &store.Account{Nickname: nick, Domain: "example.net", ActorType: "Person", URI: "https://example.net/users/" + nick}
	b.update(func(tx *store.Tx) error { return tx.AddAccount(b.t.Context(), a) })
	return a
}

// received returns what somebody has of a chat with another, newest first.
func (b *bench) received(owner, other *store.Account) []*store.ChatEntry {
	b.t.Helper()
	c, err := b.db.ChatWith(b.t.Context(), owner.ID, other.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	if c == nil {
		return nil
	}
	list, err := b.db.ChatEntries(b.t.Context(), c.ID, store.Page{Limit: 20})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// Messages from elsewhere come in like those sent here, once each.
func TestReceiveChatMessage(t *testing.T) {
	b := newBench(t)
	alice, deaf, blocker, aloof := b.account("alice"), b.account("deaf"), b.account("blocker"), b.account("aloof")
	ray, eve := b.stranger("ray"), b.stranger("eve")
	no := false
	b.update(func(tx *store.Tx) error {
		deaf.AcceptsChatMessages = &no
		if err := tx.SaveAccount(t.Context(), deaf); err != nil {
			return err
		}
		return tx.AddDomainBlock(t.Context(), aloof.ID, "example.net")
	})
	if err := b.Block(t.Context(), blocker, ray.ID); err != nil {
		t.Fatal(err)
	}
	sent := time.Date(2024, 8, 20, 10, 0, 0, 0, time.UTC)
	message := func(id, content string) social.IncomingChatMessage {
		return social.IncomingChatMessage{URI: "https://example.net/objects/" + id, Content: content, CreatedAt: sent}
	}
	picture := message("c3", "")
	picture.Attachment = &store.Media{Type: "image", Mime: "image/png", RemoteURL: "https://example.net/a.png"}
	for _, tt := range []struct {
		name string
		to   *store.Account
		in   social.IncomingChatMessage
		want string
	}{
		{"a message", alice, message("c1", `hello <b onclick="x">you</b><script>y</script>`), ""},
		{"again", alice, message("c1", "something else"), ""},
		{"an attachment", alice, picture, ""},
		{"nothing", alice, message("c4", "<script>x</script>"), "no_content"},
		{"to who wants none", deaf, message("c5", "x"), "The recipient does not accept your messages"},
		{"to who blocks", blocker, message("c6", "x"), "The recipient does not accept your messages"},
		{"to who blocks the domain", aloof, message("c7", "x"), "The recipient does not accept your messages"},
		{"to somebody elsewhere", eve, message("c8", "x"), "Recipient does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := b.ReceiveChatMessage(t.Context(), ray, tt.to.ID, tt.in); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	list := b.received(alice, ray)
	if len(list) != 2 {
		t.Fatalf("%d messages, want 2", len(list))
	}
	first := list[1]
	if first.Content != "hello <b>you</b>" || first.CreatedAt != store.At(sent) || first.AuthorID != ray.ID || !first.Unread {
		t.Errorf("the message is %+v", first)
	}
	media, err := b.db.MediaOfMessages(t.Context(), []store.MessageID{list[0].MessageID})
	if err != nil || len(media) != 1 || media[0].RemoteURL != "https://example.net/a.png" || media[0].AccountID != ray.ID {
		t.Errorf("the attachment is %v, %v", media, err)
	}
	told, err := b.db.Notifications(t.Context(), alice.ID, store.NotificationFilter{Types: []store.NotificationType{store.NotifyChatMention}}, store.Page{Limit: 20})
	if err != nil || len(told) != 2 {
		t.Errorf("%d notifications, want 2 (%v)", len(told), err)
	}
	for _, other := range []*store.Account{alice, deaf, blocker, aloof} {
		if theirs := b.received(ray, other); theirs != nil {
			t.Errorf("who lives elsewhere has a chat: %v", theirs)
		}
	}

	// An answer stays here until somebody delivers it. What is retracted goes, and does not come again.
	c, err := b.OpenChat(t.Context(), alice, ray.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.SendChatMessage(t.Context(), alice, c.ID, social.ChatMessageDraft{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	if err := b.ReceiveChatMessageDelete(t.Context(), eve, message("c1", "").URI); !errs.IsNotFound(err) {
		t.Errorf("a stranger's retraction: %v", err)
	}
	for range 2 {
		if err := b.ReceiveChatMessageDelete(t.Context(), ray, message("c1", "").URI); err != nil {
			t.Fatal(err)
		}
	}
	// The same with what the recipient has deleted.
	if err := b.DeleteChatMessage(t.Context(), alice, c.ID, list[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, in := range []social.IncomingChatMessage{message("c1", "x"), message("c3", "x")} {
		if err := b.ReceiveChatMessage(t.Context(), ray, alice.ID, in); err != nil {
			t.Errorf("%s comes again: %v", in.URI, err)
		}
	}
	if list = b.received(alice, ray); len(list) != 1 || list[0].Content != "hi" || list[0].Unread {
		t.Errorf("what is left is %v", list)
	}
	if m, err := b.db.ChatMessage(t.Context(), list[0].MessageID); err != nil || !strings.HasPrefix(m.URI, "http://localhost:4000/objects/") || m.RecipientID != ray.ID {
		t.Errorf("the answer is %+v, %v", m, err)
	}
}

// What a message shows is not swept; what it showed is, a day after it has gone.
func TestSweepChatMedia(t *testing.T) {
	b := newBench(t)
	alice, bob := b.account("alice"), b.account("bob")
	sent, deleted, loose := b.upload(alice, "S"), b.upload(alice, "D"), b.upload(alice, "L")
	all := []*store.Media{sent, deleted, loose}
	c, err := b.OpenChat(t.Context(), alice, bob.ID)
	if err != nil {
		t.Fatal(err)
	}
	var last *store.ChatEntry
	for _, m := range all[:2] {
		if last, err = b.SendChatMessage(t.Context(), alice, c.ID, social.ChatMessageDraft{MediaID: &m.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := b.Publish(t.Context(), alice, social.Draft{Text: "x", MediaIDs: []store.MediaID{sent.ID}}); err != nil || len(st.Media) != 0 {
		t.Errorf("a post takes the attachment of a message: %v, %v", st.Media, err)
	}
	b.later(25 * time.Hour)
	b.sweep()
	b.wantThere(all, "SD", "SD")
	if err := b.DeleteChatMessage(t.Context(), alice, c.ID, last.ID); err != nil {
		t.Fatal(err)
	}
	b.sweep()
	b.later(25 * time.Hour)
	b.sweep()
	b.wantThere(all, "S", "S")
}

// The key of a message is shown for some minutes only.
func TestChatKeyIsShown(t *testing.T) {
	b := newBench(t)
	alice, bob := b.account("alice"), b.account("bob")
	c, err := b.OpenChat(t.Context(), alice, bob.ID)
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.SendChatMessage(t.Context(), alice, c.ID, social.ChatMessageDraft{Text: "x", IdempotencyKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"key", ""} {
		keys, err := b.db.RecentChatKeys(t.Context(), alice.ID, []store.MessageID{e.MessageID})
		if err != nil || keys[e.MessageID] != want {
			t.Errorf("the key is %q, want %q (%v)", keys[e.MessageID], want, err)
		}
		b.later(2 * time.Minute)
	}
}

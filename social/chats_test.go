package social_test

import (
	"strings"
	"testing"
	"time"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// chatEntries returns the messages of owner's chat with other, newest first.
func (b *harness) chatEntries(owner, other *store.Account) []*store.ChatEntry {
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

// Remote messages follow the rules of local ones, and are received once.
func TestReceiveChatMessage(t *testing.T) {
	b := newHarness(t)
	alice, refuser, blocker, domainBlocker := b.account("alice"), b.account("refuser"), b.account("blocker"), b.account("domainBlocker")
	ray, eve := b.remoteAccount("ray"), b.remoteAccount("eve")
	no := false
	b.update(func(tx *store.Tx) error {
		refuser.AcceptsChatMessages = &no
		if err := tx.SaveAccount(t.Context(), refuser); err != nil {
			return err
		}
		return tx.AddDomainBlock(t.Context(), domainBlocker.ID, "example.net")
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
		{"a repeated message", alice, message("c1", "something else"), ""},
		{"an attachment", alice, picture, ""},
		{"nothing", alice, message("c4", "<script>x</script>"), "no_content"},
		{"to an account that refuses messages", refuser, message("c5", "x"), "The recipient does not accept your messages"},
		{"to an account that blocks", blocker, message("c6", "x"), "The recipient does not accept your messages"},
		{"to an account that blocks the domain", domainBlocker, message("c7", "x"), "The recipient does not accept your messages"},
		{"to a remote account", eve, message("c8", "x"), "Recipient does not exist"},
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
	list := b.chatEntries(alice, ray)
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
	notifications, err := b.db.Notifications(t.Context(), alice.ID, store.NotificationFilter{Types: []store.NotificationType{store.NotifyChatMention}}, store.Page{Limit: 20})
	if err != nil || len(notifications.Rows) != 2 {
		t.Errorf("%d notifications, want 2 (%v)", len(notifications.Rows), err)
	}
	for _, other := range []*store.Account{alice, refuser, blocker, domainBlocker} {
		if theirs := b.chatEntries(ray, other); theirs != nil {
			t.Errorf("a remote account has a chat: %v", theirs)
		}
	}

	// A deleted message is not received again.
	c, err := b.OpenChat(t.Context(), alice, ray.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.SendChatMessage(t.Context(), alice, c.ID, social.ChatMessageDraft{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	if err := b.ReceiveChatMessageDelete(t.Context(), eve, message("c1", "").URI); !errs.IsNotFound(err) {
		t.Errorf("delete by another account: %v", err)
	}
	for range 2 {
		if err := b.ReceiveChatMessageDelete(t.Context(), ray, message("c1", "").URI); err != nil {
			t.Fatal(err)
		}
	}
	// Neither is one that the recipient has deleted.
	if err := b.DeleteChatMessage(t.Context(), alice, c.ID, list[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, in := range []social.IncomingChatMessage{message("c1", "x"), message("c3", "x")} {
		if err := b.ReceiveChatMessage(t.Context(), ray, alice.ID, in); err != nil {
			t.Errorf("%s is received again: %v", in.URI, err)
		}
	}
	if list = b.chatEntries(alice, ray); len(list) != 1 || list[0].Content != "hi" || list[0].Unread {
		t.Errorf("got messages %v", list)
	}
	if m, err := b.db.ChatMessage(t.Context(), list[0].MessageID); err != nil || !strings.HasPrefix(m.URI, b.Settings.BaseURL+"/objects/") || m.RecipientID != ray.ID {
		t.Errorf("the answer is %+v, %v", m, err)
	}
}

// The attachment of a message is removed a day after the message is deleted.
func TestSweepChatMedia(t *testing.T) {
	b := newHarness(t)
	alice, bob := b.account("alice"), b.account("bob")
	sent, deleted, detached := b.upload(alice, "S"), b.upload(alice, "D"), b.upload(alice, "L")
	all := []*store.Media{sent, deleted, detached}
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
	if _, err := b.Publish(t.Context(), alice, social.Draft{Content: social.Content{Text: "x"}, MediaIDs: []store.MediaID{sent.ID}}); err == nil {
		t.Error("a post takes the attachment of a message")
	}
	b.advance(25 * time.Hour)
	b.sweep()
	b.wantStored(all, "SD", "SD")
	if err := b.DeleteChatMessage(t.Context(), alice, c.ID, last.ID); err != nil {
		t.Fatal(err)
	}
	b.sweep()
	b.advance(25 * time.Hour)
	b.sweep()
	b.wantStored(all, "S", "S")
}

// The API returns the idempotency key of a message for a few minutes.
func TestChatKeyExpires(t *testing.T) {
	b := newHarness(t)
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
		b.advance(2 * time.Minute)
	}
}

package store_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/store"
)

// TestNotificationKinds checks that the description of each type of notifications is complete, and that no other type is stored.
func TestNotificationKinds(t *testing.T) {
	known := []string{"{account}", "{post}", "{message}", "{options}", "{emoji}"}
	for _, k := range store.NotificationKinds {
		if k.Rule < store.ByPolicy || k.Rule > store.ForStaff {
			t.Errorf("%s: no rule of the recipient's settings", k.Type)
		}
		if k.Alert != (k.Title != "" && k.Body != "") {
			t.Errorf("%s: an alert has a title and a text, another one has none", k.Type)
		}
		for _, name := range regexp.MustCompile(`\{.*?\}`).FindAllString(k.Body+k.Title+k.DirectTitle, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: unknown %s in its push message", k.Type, name)
			}
		}
		if (k.Link == "") != (k.Page == "") || k.Page != "" && !strings.HasPrefix(k.Page, "/web/") {
			t.Errorf("%s: link %q leads to %q", k.Type, k.Link, k.Page)
		}
		if stored, err := k.Type.Value(); err != nil || stored != string(k.Type) {
			t.Errorf("%s is stored as %v: %v", k.Type, stored, err)
		}
	}
	if _, err := store.NotificationType("toast").Value(); err == nil {
		t.Error("an unknown type is stored")
	}
}

// TestUnknownTypes checks that neither an account nor an attachment of an unknown type is stored: their tables accept any.
func TestUnknownTypes(t *testing.T) {
	db := open(t)
	for name, write := range map[string]func(context.Context, *store.Tx) error{
		"an account": func(ctx context.Context, tx *store.Tx) error {
			return tx.AddAccount(ctx, &store.Account{Nickname: "robot", URI: "https://example.org/robot", ActorType: "Robot"})
		},
		"an attachment": func(ctx context.Context, tx *store.Tx) error { return tx.AddMedia(ctx, &store.Media{Type: "model"}) },
		"a notification": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.AddNotification(ctx, &store.Notification{Type: "toast"})
			return err
		},
	} {
		err := db.Update(t.Context(), func(tx *store.Tx) error { return write(t.Context(), tx) })
		if err == nil || !strings.Contains(err.Error(), "type") {
			t.Errorf("%s of an unknown type: %v", name, err)
		}
	}
}

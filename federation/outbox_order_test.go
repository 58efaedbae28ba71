package federation_test

import (
	"context"
	"fmt"
	"svc/app/apptest"
	"testing"
	"time"
)

// TestOutboxOrder follows and unfollows quickly while several jobs run: the last activity says the final state.
func TestOutboxOrder(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddFollower(srv, "bob", true, alice)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Worker.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	srv.RunFederation()
	st := alice.Publish("0").ID()
	for round := range 20 {
		alice.AccountAction(bob.ID.String(), "follow")
		alice.EditStatus(st, apptest.Doc{"status": fmt.Sprint(round, " first")}).Want(200)
		alice.AccountAction(bob.ID.String(), "unfollow")
		alice.EditStatus(st, apptest.Doc{"status": fmt.Sprint(round, " second")}).Want(200)
		for deadline := time.Now().Add(10 * time.Second); ; {
			if srv.Count(`SELECT (SELECT count(*) FROM jobs WHERE kind = 'outbox') + (SELECT count(*) FROM deliveries)`) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the deliveries do not end")
			}
			time.Sleep(time.Millisecond)
		}
		last := make(map[string]apptest.Delivery)
		for _, m := range home.Take() {
			switch kind := m.Object.Str("type"); kind {
			case "Follow", "Undo":
				last["follow"] = m
			default:
				last["post"] = m
			}
		}
		if m, ok := last["follow"]; ok && m.Object.Str("type") != "Undo" {
			t.Errorf("round %d: the last is a %s", round, m.Object.Str("type"))
		}
		if m, ok := last["post"]; ok && m.Object.Str("object.content") != fmt.Sprintf("<p>%d second</p>", round) {
			t.Errorf("round %d: the last version is %s", round, m.Object.Str("object.content"))
		}
	}
}

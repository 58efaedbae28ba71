package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestToldInOrder has somebody change their mind quickly, while several jobs run at a time: what is told last is how things are.
func TestToldInOrder(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.follower(srv, "bob", true, alice)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.worker.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	srv.runCourier()
	st := alice.publish("0").id()
	for round := range 20 {
		alice.to(bob.ID.String(), "follow")
		alice.edit(st, jsonBody{"status": fmt.Sprint(round, " first")}).want(200)
		alice.to(bob.ID.String(), "unfollow")
		alice.edit(st, jsonBody{"status": fmt.Sprint(round, " second")}).want(200)
		for deadline := time.Now().Add(10 * time.Second); ; {
			if srv.count(`SELECT (SELECT count(*) FROM jobs WHERE kind = 'deed') + (SELECT count(*) FROM deliveries)`) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the deliveries do not come to an end")
			}
			time.Sleep(time.Millisecond)
		}
		last := make(map[string]letter)
		for _, m := range home.take() {
			switch kind := m.doc.str("type"); kind {
			case "Follow", "Undo":
				last["follow"] = m
			default:
				last["post"] = m
			}
		}
		if m, ok := last["follow"]; ok && m.doc.str("type") != "Undo" {
			t.Errorf("round %d: the last is a %s", round, m.doc.str("type"))
		}
		if m, ok := last["post"]; ok && m.doc.str("object.content") != fmt.Sprintf("<p>%d second</p>", round) {
			t.Errorf("round %d: the last version is %s", round, m.doc.str("object.content"))
		}
	}
}

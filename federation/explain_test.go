package federation_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/federation"
)

// TestExplainDeliveries asks for the recipients of a local post, for a failing host, and for incoming activities.
func TestExplainDeliveries(t *testing.T) {
	srv, good := apptest.StartWithFake(t)
	bad, hostile := apptest.StartFake(t), apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob := good.AddFollower(srv, "bob", alice)
	bad.AddFollower(srv, "carol", alice)
	hostile.AddFollower(srv, "dave", alice)
	bad.RefuseDeliveries(http.StatusServiceUnavailable)
	hostile.RefuseDeliveries(http.StatusForbidden)
	explain := func(address string) *federation.Explanation {
		t.Helper()
		e, err := srv.Federation.Operator.Explain(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	post := alice.Publish("hello")
	apptest.Settle(srv)
	e := explain(post.Str("url"))
	if len(e.Recipients) != 3 || e.Incoming != "" || len(e.Refusals) > 0 {
		t.Fatalf("the recipients are %+v", e.Recipients)
	}
	for _, to := range e.Recipients {
		want := map[string]string{good.Host: "nothing queued", bad.Host: "queued", hostile.Host: "refused"}[to.Host]
		if to.State != want || (to.LastError == "") != (want == "nothing queued") || len(to.Queued) != map[string]int{"queued": 1}[want] {
			t.Errorf("%s is %+v, want %q", to.Host, to, want)
		}
	}
	if e := explain(alice.Publish("only here", "visibility", "local").Str("uri")); len(e.Recipients) > 0 {
		t.Errorf("a local-only post is for %+v", e.Recipients)
	}
	for _, address := range []string{bad.Host, bad.URL, bad.URL + "/"} {
		e := explain(address)
		if len(e.Deliveries) != 1 || e.Deliveries[0].Type != "Create" || e.Peer == nil || e.Peer.Failures == 0 || e.Peer.LastError == "" || e.Fetched != nil {
			t.Errorf("%s: %+v, peer %+v", address, e, e.Peer)
		}
	}
	if e := explain(good.Host); len(e.Deliveries) > 0 {
		t.Errorf("%+v wait for a host that answers", e.Deliveries)
	}

	accepted := good.Create(good.Note(bob, "in reply", apptest.Doc{"inReplyTo": post.Str("uri")}))
	refused := good.Create(good.Note("http://127.0.0.1:1/users/eve", "forged"), apptest.Doc{"actor": bob})
	good.PostAndSettle(srv, accepted)
	good.PostAndSettle(srv, refused)
	for address, want := range map[string]string{
		accepted["id"].(string): "accepted", refused["id"].(string): "refused: ", good.URL + "/activities/unknown": "not seen",
	} {
		if got := explain(address).Incoming; !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

package federation_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestIncomingPolicies checks that remote posts pass the policies, delivered or fetched, and are stored as the policies change them.
func TestIncomingPolicies(t *testing.T) {
	apptest.SkipIfShort(t)
	picture := apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": "https://pictures.example/1.png", "name": "a cat"}}}
	old := apptest.Doc{"published": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339)}
	only := func(peer *apptest.FakeServer) []config.HostReason { return []config.HostReason{{Host: peer.Host}} }
	for _, tt := range []struct {
		name   string
		set    func(*config.Config, *apptest.FakeServer)
		note   apptest.Doc
		want   func(*apptest.Object) bool // nil: it is not accepted
		reason string
		home   bool
	}{
		{"media removal", func(c *config.Config, p *apptest.FakeServer) { c.MRFSimple.MediaRemoval = only(p) }, picture,
			func(o *apptest.Object) bool { return len(o.At("media_attachments").([]any)) == 0 }, "", true},
		{"media nsfw", func(c *config.Config, p *apptest.FakeServer) { c.MRFSimple.MediaNSFW = only(p) }, picture,
			func(o *apptest.Object) bool {
				return o.Bool("sensitive") && len(o.At("media_attachments").([]any)) == 1
			}, "", true},
		{"timeline removal", func(c *config.Config, p *apptest.FakeServer) { c.MRFSimple.FederatedTimelineRemoval = only(p) }, nil,
			func(o *apptest.Object) bool { return o.Str("visibility") == "unlisted" }, "", true},
		{"followers only", func(c *config.Config, p *apptest.FakeServer) { c.MRFSimple.FollowersOnly = only(p) }, nil,
			func(o *apptest.Object) bool { return o.Str("visibility") == "private" }, "", true},
		{"a keyword", func(c *config.Config, _ *apptest.FakeServer) { c.MRFKeyword.Reject = []string{"lottery"} }, apptest.Doc{"content": "<p>win the lottery</p>"},
			nil, "KeywordPolicy", false},
		{"a keyword in a description", func(c *config.Config, _ *apptest.FakeServer) { c.MRFKeyword.Reject = []string{"cat"} }, picture, nil, "KeywordPolicy", false},
		{"a word replaced", func(c *config.Config, _ *apptest.FakeServer) {
			c.MRFKeyword.Replace = []config.Replacement{{Pattern: "hello", Replacement: "goodbye"}}
		}, nil, func(o *apptest.Object) bool { return strings.Contains(o.Str("content"), "goodbye") }, "", true},
		{"a type", func(c *config.Config, _ *apptest.FakeServer) { c.MRFVocabulary.Reject = []string{"Note"} }, nil, nil, "VocabularyPolicy", false},
		{"an old post", func(c *config.Config, _ *apptest.FakeServer) { c.MRF.Policies = []string{"ObjectAgePolicy"} }, old,
			func(o *apptest.Object) bool { return o.Str("visibility") == "unlisted" }, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer := apptest.StartFake(t)
			srv := apptest.StartPeers(t, 1, func(c *config.Config) {
				c.MRF.Policies = []string{"SimplePolicy", "KeywordPolicy", "VocabularyPolicy"}
				tt.set(c, peer)
			})[0]
			alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
			alice.FollowRemote(bob)
			note := peer.Note(bob, "<p>hello</p>", tt.note)
			peer.PostAndSettle(srv, peer.Create(note))
			got := alice.FindPost(note["id"])
			if tt.want == nil {
				if reason := srv.Refusals(note["id"]); got != nil || !strings.Contains(reason, tt.reason) {
					t.Errorf("the post is %v, refused for %q", got, reason)
				}
				return
			}
			if got == nil || !tt.want(got) {
				t.Fatalf("the post is %v; refused for %q", got, srv.Refusals(note["id"]))
			}
			home := alice.Get("/api/v1/timelines/home").Want(200).IDs()
			if (len(home) == 1) != tt.home {
				t.Errorf("home has %v", home)
			}
		})
	}
}

// TestRejectedServer checks that a rejected server is neither accepted nor fetched from, and cannot read signed documents. Its Deletes
// are processed.
func TestRejectedServer(t *testing.T) {
	peer := apptest.StartFake(t)
	refused := func(c *config.Config) {
		c.MRF.Policies = []string{"SimplePolicy"}
		c.MRFSimple.Reject = []config.HostReason{{Host: peer.Host, Reason: "spam"}}
	}
	srv := apptest.StartPeers(t, 1, refused)[0]
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	peer.Deliver(srv, "/inbox", bob, peer.Create(peer.Note(bob, "<p>hello</p>"))).Want(http.StatusForbidden)
	alice.Get("/api/v2/search", "q", bob, "resolve", "true").Want(200)
	if n := peer.AllFetches(); n > 0 {
		t.Errorf("the server received %d requests", n)
	}
}

// TestPoliciesOnOtherActivities checks that follows, likes and other activities pass the policies, too.
func TestPoliciesOnOtherActivities(t *testing.T) {
	apptest.SkipIfShort(t)
	peer := apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = []string{"SimplePolicy", "VocabularyPolicy"}
		c.MRFSimple.RejectDeletes = []config.HostReason{{Host: peer.Host}}
		c.MRFSimple.ReportRemoval = []config.HostReason{{Host: peer.Host}}
		c.MRFSimple.AvatarRemoval = []config.HostReason{{Host: peer.Host}}
		c.MRFVocabulary.Reject = []string{"Like"}
	})[0]
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob", apptest.Doc{"icon": apptest.Doc{"type": "Image", "url": "https://pictures.example/bob.png"}})
	alice.FollowRemote(bob)
	note := peer.Note(bob, "<p>hello</p>")
	peer.PostAndSettle(srv, peer.Create(note))
	peer.PostAndSettle(srv, peer.Activity("Delete", bob, note["id"]))
	if alice.FindPost(note["id"]) == nil {
		t.Error("the post was deleted")
	}
	if got := alice.WantPost(note["id"]).Str("account.avatar"); !strings.HasSuffix(got, "/images/avi.png") {
		t.Errorf("the avatar is %s", got)
	}
	st := alice.Publish("like me")
	peer.PostAndSettle(srv, peer.Activity("Like", bob, srv.URL+"/objects/"+st.ID()))
	if n := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().Int("favourites_count"); n != 0 {
		t.Errorf("it has %d favourites", n)
	}
	report := peer.Activity("Flag", bob, []any{alice.URI()}, apptest.Doc{"content": "rude"})
	peer.PostAndSettle(srv, report)
	if got := srv.Refusals(report["id"]); !strings.Contains(got, "SimplePolicy") {
		t.Errorf("the report was refused for %q", got)
	}
}

// TestQuarantine checks that only public posts are delivered to quarantined servers.
func TestQuarantine(t *testing.T) {
	peer := apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.Federation.QuarantinedInstances = []config.HostReason{{Host: peer.Host}}
	})[0]
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	if got := len(peer.Delivered("Accept")); got != 1 {
		t.Fatalf("%d follows accepted", got)
	}
	alice.Publish("for followers", "visibility", "private")
	apptest.Settle(srv)
	if got := peer.Delivered("Create"); len(got) > 0 {
		t.Errorf("delivered %v", got)
	}
	alice.Publish("for all")
	apptest.Settle(srv)
	if got := peer.Delivered("Create"); len(got) != 1 {
		t.Errorf("delivered %d public posts", len(got))
	}
}

package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
)

// Posts from elsewhere pass the policies, whether they are sent or fetched, and are stored as these leave them.
func TestIncomingPolicies(t *testing.T) {
	picture := doc{"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": "https://pictures.example/1.png", "name": "a cat"}}}
	old := doc{"published": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339)}
	only := func(peer *fakePeer) []config.HostReason { return []config.HostReason{{Host: peer.host}} }
	for _, tt := range []struct {
		name   string
		set    func(*config.Config, *fakePeer)
		note   doc
		want   func(*object) bool // nil: it is not accepted
		reason string
		home   bool
	}{
		{"media removal", func(c *config.Config, p *fakePeer) { c.MRFSimple.MediaRemoval = only(p) }, picture,
			func(o *object) bool { return len(o.at("media_attachments").([]any)) == 0 }, "", true},
		{"media nsfw", func(c *config.Config, p *fakePeer) { c.MRFSimple.MediaNSFW = only(p) }, picture,
			func(o *object) bool { return o.truth("sensitive") && len(o.at("media_attachments").([]any)) == 1 }, "", true},
		{"timeline removal", func(c *config.Config, p *fakePeer) { c.MRFSimple.FederatedTimelineRemoval = only(p) }, nil,
			func(o *object) bool { return o.str("visibility") == "unlisted" }, "", true},
		{"followers only", func(c *config.Config, p *fakePeer) { c.MRFSimple.FollowersOnly = only(p) }, nil,
			func(o *object) bool { return o.str("visibility") == "private" }, "", true},
		{"a keyword", func(c *config.Config, _ *fakePeer) { c.MRFKeyword.Reject = []string{"lottery"} }, doc{"content": "<p>win the lottery</p>"},
			nil, "KeywordPolicy", false},
		{"a keyword in a description", func(c *config.Config, _ *fakePeer) { c.MRFKeyword.Reject = []string{"cat"} }, picture, nil, "KeywordPolicy", false},
		{"a word replaced", func(c *config.Config, _ *fakePeer) {
			c.MRFKeyword.Replace = []config.Replacement{{Pattern: "hello", Replacement: "goodbye"}}
		}, nil, func(o *object) bool { return strings.Contains(o.str("content"), "goodbye") }, "", true},
		{"a type", func(c *config.Config, _ *fakePeer) { c.MRFVocabulary.Reject = []string{"Note"} }, nil, nil, "VocabularyPolicy", false},
		{"an old post", func(c *config.Config, _ *fakePeer) { c.MRF.Policies = []string{"ObjectAgePolicy"} }, old,
			func(o *object) bool { return o.str("visibility") == "unlisted" }, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer := startFake(t)
			srv := startPeers(t, 1, func(c *config.Config) {
				c.MRF.Policies = []string{"SimplePolicy", "KeywordPolicy", "VocabularyPolicy"}
				tt.set(c, peer)
			})[0]
			alice, bob := srv.signUp("alice"), peer.actor("bob")
			alice.follows(bob)
			note := peer.note(bob, "<p>hello</p>", tt.note)
			peer.receive(srv, peer.create(note))
			got := alice.postOf(note["id"])
			if tt.want == nil {
				if reason := srv.refusals(note["id"]); got != nil || !strings.Contains(reason, tt.reason) {
					t.Errorf("the post is %v, refused for %q", got, reason)
				}
				return
			}
			if got == nil || !tt.want(got) {
				t.Fatalf("the post is %v; refused for %q", got, srv.refusals(note["id"]))
			}
			home := alice.get("/api/v1/timelines/home").want(200).ids()
			if (len(home) == 1) != tt.home {
				t.Errorf("home has %v", home)
			}
		})
	}
}

// A server that is rejected is neither listened to nor asked, and reads nothing that needs a signature. What it deletes is deleted.
func TestRejectedServer(t *testing.T) {
	peer := startFake(t)
	refused := func(c *config.Config) {
		c.MRF.Policies = []string{"SimplePolicy"}
		c.MRFSimple.Reject = []config.HostReason{{Host: peer.host, Reason: "spam"}}
	}
	srv := startPeers(t, 1, refused)[0]
	alice, bob := srv.signUp("alice"), peer.actor("bob")
	peer.deliver(srv, "/inbox", bob, peer.create(peer.note(bob, "<p>hello</p>"))).want(http.StatusForbidden)
	alice.get("/api/v2/search", "q", bob, "resolve", "true").want(200)
	if n := peer.askedAll(); n > 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

// Deeds pass the policies, too.
func TestIncomingDeedPolicies(t *testing.T) {
	peer := startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = []string{"SimplePolicy", "VocabularyPolicy"}
		c.MRFSimple.RejectDeletes = []config.HostReason{{Host: peer.host}}
		c.MRFSimple.ReportRemoval = []config.HostReason{{Host: peer.host}}
		c.MRFSimple.AvatarRemoval = []config.HostReason{{Host: peer.host}}
		c.MRFVocabulary.Reject = []string{"Like"}
	})[0]
	alice := srv.signUp("alice")
	bob := peer.actor("bob", doc{"icon": doc{"type": "Image", "url": "https://pictures.example/bob.png"}})
	alice.follows(bob)
	note := peer.note(bob, "<p>hello</p>")
	peer.receive(srv, peer.create(note))
	peer.receive(srv, peer.activity("Delete", bob, note["id"]))
	if alice.postOf(note["id"]) == nil {
		t.Error("the post was deleted")
	}
	if got := alice.wantPost(note["id"]).str("account.avatar"); !strings.HasSuffix(got, "/images/avi.png") {
		t.Errorf("the avatar is %s", got)
	}
	st := alice.publish("like me")
	peer.receive(srv, peer.activity("Like", bob, srv.url+"/objects/"+st.id()))
	if n := alice.get("/api/v1/statuses/" + st.id()).want(200).object().num("favourites_count"); n != 0 {
		t.Errorf("it has %d favourites", n)
	}
	report := peer.activity("Flag", bob, []any{alice.uri()}, doc{"content": "rude"})
	peer.receive(srv, report)
	if got := srv.refusals(report["id"]); !strings.Contains(got, "SimplePolicy") {
		t.Errorf("the report was refused for %q", got)
	}
}

// What is not for everybody does not go to servers in quarantine.
func TestQuarantine(t *testing.T) {
	peer := startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.Federation.QuarantinedInstances = []config.HostReason{{Host: peer.host}}
	})[0]
	alice, bob := srv.signUp("alice"), peer.actor("bob")
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	if got := len(peer.delivered("Accept")); got != 1 {
		t.Fatalf("%d follows accepted", got)
	}
	alice.publish("for followers", "visibility", "private")
	settle(srv)
	if got := peer.delivered("Create"); len(got) > 0 {
		t.Errorf("delivered %v", got)
	}
	alice.publish("for all")
	settle(srv)
	if got := peer.delivered("Create"); len(got) != 1 {
		t.Errorf("delivered %d public posts", len(got))
	}
}

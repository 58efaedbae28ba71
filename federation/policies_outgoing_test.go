package federation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestPoliciesOnPosts checks that local posts pass the policies: a refused one is an error and stores nothing, a changed one is changed
// for all.
func TestPoliciesOnPosts(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.MRF.Policies = append(c.MRF.Policies, "KeywordPolicy", "NoEmptyPolicy", "EnsureRePrepended", "ActivityExpirationPolicy")
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"politics"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
		c.MRFHashtag.Sensitive, c.MRFHashtag.Reject = []string{"spoilers"}, []string{"spam"}
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	refused := func(policy, reason string) string {
		return "The rules of this server do not allow this (" + policy + "): " + reason
	}
	keyword := refused("KeywordPolicy", "it has a rejected keyword (casino)")

	alice.Post("/api/v1/statuses", "status", "the CASINO").WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "x", "spoiler_text", "casino").WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "**cas**ino", "content_type", "text/markdown").WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "vote", "poll[options][]", "a", "poll[options][]", "casino", "poll[expires_in]", "600").WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "casino", "preview", "true").WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "casino", "scheduled_at", apptest.FromNow(time.Hour)).WantError(422, keyword)
	alice.Post("/api/v1/statuses", "status", "#Spam").WantError(422, refused("HashtagPolicy", "it has the hashtag #spam"))
	alice.Post("/api/v1/statuses", "status", "@bob").WantError(422, refused("NoEmptyPolicy", "it has no text"))
	apptest.WantIDs(t, "statuses after a refusal", alice.Get("/api/v1/accounts/alice/statuses"))
	apptest.WantIDs(t, "scheduled statuses after a refusal", alice.Get("/api/v1/scheduled_statuses"))
	if got := bob.Notifications(); len(got) != 0 {
		t.Errorf("notifications of bob: %v", got)
	}

	apptest.WantFields(t, "unlisted", alice.Publish("politics"), apptest.Doc{"visibility": "unlisted"})
	apptest.WantFields(t, "private stays", alice.Publish("politics", "visibility", "private"), apptest.Doc{"visibility": "private"})
	apptest.WantFields(t, "preview", alice.Publish("politics", "preview", "true"), apptest.Doc{"visibility": "unlisted"})
	apptest.WantFields(t, "sensitive", alice.Publish("#Spoilers"), apptest.Doc{"sensitive": true})
	apptest.WantFields(t, "replaced", alice.Publish("darn it"), apptest.Doc{"content": "<p>d**n it</p>", "sensitive": false, "visibility": "public"})

	st := alice.Publish("fine", "spoiler_text", "cats")
	if at, err := time.Parse(time.RFC3339, st.Str("svc.expires_at")); err != nil || time.Until(at) < 364*24*time.Hour {
		t.Errorf("it ends at %v, %v", at, err)
	}
	apptest.WantFields(t, "a reply", bob.Publish("me too", "spoiler_text", "cats", "in_reply_to_id", st.ID()), apptest.Doc{"spoiler_text": "re: cats"})

	// Edits pass the policies, too; the visibility stays.
	alice.EditStatus(st.ID(), apptest.Doc{"status": "casino"}).WantError(422, keyword)
	apptest.WantFields(t, "not edited", alice.Get("/api/v1/statuses/"+st.ID()).Object(), apptest.Doc{"content": "<p>fine</p>", "edited_at": nil})
	apptest.WantFields(t, "edited", alice.EditStatus(st.ID(), apptest.Doc{"status": "darn politics #spoilers"}).Want(200).Object(), apptest.Doc{"visibility": "public", "sensitive": true})
	if got := alice.Get("/api/v1/statuses/" + st.ID()).Object().Str("content"); !strings.HasPrefix(got, "<p>d**n politics") {
		t.Errorf("edited: %s", got)
	}
}

// TestPoliciesOnScheduled checks that policies also apply when a scheduled post is published, since rules may have changed.
func TestPoliciesOnScheduled(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	public, local := alice.Schedule("hello").ID(), alice.Schedule("psst", "visibility", "local").ID()
	srv.TagAccount(alice, "mrf_tag:sandbox")
	srv.MakeDue(public, local)
	posted := alice.Get("/api/v1/accounts/alice/statuses").Want(200).List()
	if len(posted) != 1 {
		t.Fatalf("there are %d", len(posted))
	}
	apptest.WantFields(t, "posted", posted[0], apptest.Doc{"content": "<p>hello</p>", "visibility": "private"})
	apptest.WantIDs(t, "scheduled statuses that were refused", alice.Get("/api/v1/scheduled_statuses"), local)
}

// TestTagPolicy covers the tags that moderators can give to accounts.
func TestTagPolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.TagAccount(alice, "mrf_tag:media-force-nsfw")
	apptest.WantFields(t, "sensitive", alice.Publish("x", "media_ids[]", srv.AddMedia(alice)), apptest.Doc{"sensitive": true})
	apptest.WantFields(t, "without pictures", alice.Publish("x"), apptest.Doc{"sensitive": false})
	had := alice.Publish("with a picture", "media_ids[]", srv.AddMedia(alice)).ID()

	srv.TagAccount(alice, "mrf_tag:media-strip", "mrf_tag:force-unlisted")
	picture := srv.AddMedia(alice)
	apptest.WantFields(t, "stripped", alice.Publish("x", "media_ids[]", picture), apptest.Doc{"media_attachments": []any{}, "visibility": "unlisted"})
	alice.Post("/api/v1/statuses", "media_ids[]", picture).WantError(422, "Cannot post an empty status without attachments")
	apptest.WantFields(t, "edited", alice.EditStatus(had, apptest.Doc{"status": "without", "media_ids": []string{picture}}).Want(200).Object(), apptest.Doc{"media_attachments": []any{}, "visibility": "public"})
	apptest.WantFields(t, "as others see it", bob.Get("/api/v1/statuses/"+had).Object(), apptest.Doc{"media_attachments": []any{}})

	srv.TagAccount(alice, "mrf_tag:sandbox")
	sandboxed := alice.Publish("hello @bob")
	apptest.WantFields(t, "sandboxed", sandboxed, apptest.Doc{"visibility": "private"})
	bob.Get("/api/v1/statuses/" + sandboxed.ID()).Want(200) // bob is mentioned
	srv.As(nil).Get("/api/v1/statuses/" + sandboxed.ID()).Want(404)
	alice.Post("/api/v1/statuses", "status", "x", "visibility", "local").
		WantError(422, "The rules of this server do not allow this (TagPolicy): the author may post for followers only")

	srv.TagAccount(alice, "mrf_tag:disable-remote-subscription")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	bob.Post("/api/v1/accounts/" + alice.ID + "/unfollow").Want(200)
	srv.TagAccount(alice, "mrf_tag:disable-any-subscription")
	bob.Post("/api/v1/accounts/"+alice.ID+"/follow").WantError(422, "The rules of this server do not allow this (TagPolicy): the account cannot be followed")
}

// TestPoliciesOnReplies covers the policies that depend on the parent and change visibility.
func TestPoliciesOnReplies(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.MRF.Policies = []string{"QuietReply", "FODirectReply", "ForceMention", "ForceMentionsInContent", "MentionPolicy"}
		c.MRFMention.Actors = []string{"https://example.org/nobody"}
	})
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddFollow(bob, alice)
	srv.AddFollow(carol, bob)
	root := alice.Publish("root")
	reply := bob.Publish("me too", "in_reply_to_id", root.ID())
	apptest.WantFields(t, "a reply", reply, apptest.Doc{"visibility": "unlisted"})
	if c := reply.Str("content"); !strings.HasPrefix(c, `<p><span class="recipients-inline">`) || strings.Count(c, "mention") != 1 || !strings.Contains(c, "alice") {
		t.Errorf("a reply says %s", c)
	}
	if got := alice.Notifications(); !slices.Equal(got, []string{"mention bob", "follow bob"}) && !slices.Equal(got, []string{"mention bob"}) {
		t.Errorf("notifications of alice: %v", got)
	}
	// An edit keeps the change, since policies apply again.
	if c := bob.EditStatus(reply.ID(), apptest.Doc{"status": "me three"}).Want(200).Object().Str("content"); !strings.Contains(c, "alice") || !strings.HasSuffix(c, "me three</p>") {
		t.Errorf("an edited reply says %s", c)
	}
	secret := alice.Publish("for followers", "visibility", "private")
	answer := bob.Publish("thanks", "in_reply_to_id", secret.ID(), "visibility", "private")
	apptest.WantFields(t, "an answer to followers", answer, apptest.Doc{"visibility": "direct"})
	alice.Get("/api/v1/statuses/" + answer.ID()).Want(200)
	carol.Get("/api/v1/statuses/" + answer.ID()).Want(404)
	apptest.WantIDs(t, "alice's conversations", alice.Get("/api/v1/conversations", "limit", "1"), alice.Get("/api/v1/conversations").IDs()...)
	if got := len(alice.Get("/api/v1/conversations").IDs()); got != 1 {
		t.Errorf("alice has %d conversations", got)
	}
	apptest.WantFields(t, "a quote", carol.Publish("look", "quote_id", root.ID()), apptest.Doc{"visibility": "public"})
	if got := alice.Notifications(); !slices.Contains(got, "mention carol") {
		t.Errorf("notifications of the quoted account: %v", got)
	}
	srv.Exec(`UPDATE accounts SET uri = 'https://example.org/nobody' WHERE id = ?`, carol.AccountID())
	bob.Post("/api/v1/statuses", "status", "hello @carol").
		WantError(422, "The rules of this server do not allow this (MentionPolicy): posts to https://example.org/nobody are rejected")
}

// TestImageClassification sends images to the classifying service before they are published.
func TestImageClassification(t *testing.T) {
	var requested []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Query().Get("url"))
		fmt.Fprint(w, `{"score":0.95}`)
	}))
	defer service.Close()
	srv := apptest.Start(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFNSFWAPI.URL = []string{"NsfwApiPolicy"}, service.URL
	})
	alice := srv.SignUp("alice")
	picture := alice.Upload(apptest.PNG(3, 3))
	apptest.WantFields(t, "a picture", alice.Publish("x", "media_ids[]", picture.ID()), apptest.Doc{"sensitive": true})
	if !slices.Equal(requested, []string{picture.Str("url")}) {
		t.Errorf("requested %v, want %s", requested, picture.Str("url"))
	}
	apptest.WantFields(t, "no picture", alice.Publish("x"), apptest.Doc{"sensitive": false})
	service.Close()
	apptest.WantFields(t, "no answer", alice.Publish("x", "media_ids[]", alice.Upload(apptest.PNG(4, 4)).ID()), apptest.Doc{"sensitive": false})
}

// TestPoliciesInInstance compares what the instance and nodeinfo say about policies.
func TestPoliciesInInstance(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"usual", func(*config.Config) {}, `{"enabled":true,"exclusions":false,"mrf_hashtag":{"federated_timeline_removal":[],"reject":[],"sensitive":["nsfw"]},` +
			`"mrf_object_age":{"actions":["delist","strip_followers"],"threshold":604800},"mrf_policies":["ObjectAgePolicy","TagPolicy","InlineQuotePolicy","HashtagPolicy"],` +
			`"quarantined_instances":[],"quarantined_instances_info":{"quarantined_instances":{}},"rejected_instances":{}}`},
		{"with reasons", func(c *config.Config) {
			c.MRF.Policies = []string{"SimplePolicy"}
			c.MRFSimple.Reject = []config.HostReason{{Host: "*.bad.example", Reason: "spam & more"}, {Host: "secret.example"}}
			c.MRF.TransparencyExclusions = []config.HostReason{{Host: "secret.example"}}
			c.Federation.QuarantinedInstances = []config.HostReason{{Host: "leaky.example", Reason: "leaks"}}
		}, `{"enabled":true,"exclusions":true,"mrf_hashtag":{"federated_timeline_removal":[],"reject":[],"sensitive":["nsfw"]},"mrf_policies":["SimplePolicy","HashtagPolicy"],` +
			`"mrf_simple":{"accept":[],"avatar_removal":[],"banner_removal":[],"federated_timeline_removal":[],"followers_only":[],"media_nsfw":[],"media_removal":[],"reject":["*.bad.example"],"reject_deletes":[],"report_removal":[]},` +
			`"mrf_simple_info":{"reject":{"*.bad.example":{"reason":"spam & more"}}},"quarantined_instances":["leaky.example"],` +
			`"quarantined_instances_info":{"quarantined_instances":{"leaky.example":{"reason":"leaks"}}},"rejected_instances":{}}`},
		{"not shown", func(c *config.Config) { c.MRF.Transparency = false }, `{"enabled":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t, tt.change)
			for _, path := range []string{"/api/v1/instance", "/api/v2/instance", "/nodeinfo/2.0", "/nodeinfo/2.1"} {
				if body := string(srv.As(nil).Get(path).Want(200).Body); !strings.Contains(body, `"federation":`+tt.want+`,"`) {
					t.Errorf("GET %s: got %s\nwant %s", path, body, tt.want)
				}
			}
		})
	}
}

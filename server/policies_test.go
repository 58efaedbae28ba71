package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
)

// tag gives an account the tags of a moderator.
func (a *api) tag(m *member, tags ...string) {
	a.t.Helper()
	a.insert(`UPDATE accounts SET tags = ? WHERE id = ?`, `["`+strings.Join(tags, `","`)+`"]`, m.accountID())
}

// TestPoliciesOnPosts has what people here write pass the policies: what is refused is answered and leaves nothing, what is changed is
// changed for everybody.
func TestPoliciesOnPosts(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.MRF.Policies = append(c.MRF.Policies, "KeywordPolicy", "NoEmptyPolicy", "EnsureRePrepended", "ActivityExpirationPolicy")
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"politics"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
		c.MRFHashtag.Sensitive, c.MRFHashtag.Reject = []string{"spoilers"}, []string{"spam"}
	})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	refused := func(policy, reason string) string {
		return "The rules of this server do not allow this (" + policy + "): " + reason
	}
	keyword := refused("KeywordPolicy", "it has a rejected keyword (casino)")

	alice.post("/api/v1/statuses", "status", "the CASINO").wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "x", "spoiler_text", "casino").wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "**cas**ino", "content_type", "text/markdown").wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "vote", "poll[options][]", "a", "poll[options][]", "casino", "poll[expires_in]", "600").wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "casino", "preview", "true").wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "casino", "scheduled_at", in(time.Hour)).wantError(422, keyword)
	alice.post("/api/v1/statuses", "status", "#Spam").wantError(422, refused("HashtagPolicy", "it has the hashtag #spam"))
	alice.post("/api/v1/statuses", "status", "@bob").wantError(422, refused("NoEmptyPolicy", "it says nothing"))
	wantIDs(t, "what is refused", alice.get("/api/v1/accounts/alice/statuses"))
	wantIDs(t, "what is refused, scheduled", alice.get("/api/v1/scheduled_statuses"))
	if got := bob.notified(); len(got) != 0 {
		t.Errorf("bob is told of it: %v", got)
	}

	wantMembers(t, "unlisted", alice.publish("politics"), jsonBody{"visibility": "unlisted"})
	wantMembers(t, "private stays", alice.publish("politics", "visibility", "private"), jsonBody{"visibility": "private"})
	wantMembers(t, "preview", alice.publish("politics", "preview", "true"), jsonBody{"visibility": "unlisted"})
	wantMembers(t, "sensitive", alice.publish("#Spoilers"), jsonBody{"sensitive": true})
	wantMembers(t, "replaced", alice.publish("darn it"), jsonBody{"content": "<p>d**n it</p>", "sensitive": false, "visibility": "public"})

	st := alice.publish("fine", "spoiler_text", "cats")
	if at, err := time.Parse(time.RFC3339, st.str("svc.expires_at")); err != nil || time.Until(at) < 364*24*time.Hour {
		t.Errorf("it ends at %v, %v", at, err)
	}
	wantMembers(t, "a reply", bob.publish("me too", "spoiler_text", "cats", "in_reply_to_id", st.id()), jsonBody{"spoiler_text": "re: cats"})

	// Edits pass them too; whom a post is for stays as it is.
	alice.edit(st.id(), jsonBody{"status": "casino"}).wantError(422, keyword)
	wantMembers(t, "not edited", alice.get("/api/v1/statuses/"+st.id()).object(), jsonBody{"content": "<p>fine</p>", "edited_at": nil})
	wantMembers(t, "edited", alice.edit(st.id(), jsonBody{"status": "darn politics #spoilers"}).want(200).object(), jsonBody{"visibility": "public", "sensitive": true})
	if got := alice.get("/api/v1/statuses/" + st.id()).object().str("content"); !strings.HasPrefix(got, "<p>d**n politics") {
		t.Errorf("edited: %s", got)
	}
}

// TestPoliciesOnScheduled asks again when the time has come: rules may have changed since.
func TestPoliciesOnScheduled(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	public, local := alice.schedule("hello").id(), alice.schedule("psst", "visibility", "local").id()
	srv.tag(alice, "mrf_tag:sandbox")
	srv.due(public, local)
	posted := alice.get("/api/v1/accounts/alice/statuses").want(200).list()
	if len(posted) != 1 {
		t.Fatalf("there are %d", len(posted))
	}
	wantMembers(t, "posted", posted[0], jsonBody{"content": "<p>hello</p>", "visibility": "private"})
	wantIDs(t, "what could not be posted", alice.get("/api/v1/scheduled_statuses"), local)
}

// TestTagPolicy tries what moderators can do to people with tags.
func TestTagPolicy(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	srv.tag(alice, "mrf_tag:media-force-nsfw")
	wantMembers(t, "sensitive", alice.publish("x", "media_ids[]", srv.letUpload(alice)), jsonBody{"sensitive": true})
	wantMembers(t, "without pictures", alice.publish("x"), jsonBody{"sensitive": false})
	had := alice.publish("with a picture", "media_ids[]", srv.letUpload(alice)).id()

	srv.tag(alice, "mrf_tag:media-strip", "mrf_tag:force-unlisted")
	picture := srv.letUpload(alice)
	wantMembers(t, "stripped", alice.publish("x", "media_ids[]", picture), jsonBody{"media_attachments": []any{}, "visibility": "unlisted"})
	alice.post("/api/v1/statuses", "media_ids[]", picture).wantError(422, "Cannot post an empty status without attachments")
	wantMembers(t, "edited", alice.edit(had, jsonBody{"status": "without", "media_ids": []string{picture}}).want(200).object(), jsonBody{"media_attachments": []any{}, "visibility": "public"})
	wantMembers(t, "as others see it", bob.get("/api/v1/statuses/"+had).object(), jsonBody{"media_attachments": []any{}})

	srv.tag(alice, "mrf_tag:sandbox")
	sandboxed := alice.publish("hello @bob")
	wantMembers(t, "sandboxed", sandboxed, jsonBody{"visibility": "private"})
	bob.get("/api/v1/statuses/" + sandboxed.id()).want(200) // who is mentioned
	srv.as(nil).get("/api/v1/statuses/" + sandboxed.id()).want(404)
	alice.post("/api/v1/statuses", "status", "x", "visibility", "local").
		wantError(422, "The rules of this server do not allow this (TagPolicy): the author may write to followers only")

	srv.tag(alice, "mrf_tag:disable-remote-subscription")
	bob.post("/api/v1/accounts/" + alice.id + "/follow").want(200)
	bob.post("/api/v1/accounts/" + alice.id + "/unfollow").want(200)
	srv.tag(alice, "mrf_tag:disable-any-subscription")
	bob.post("/api/v1/accounts/"+alice.id+"/follow").wantError(422, "The rules of this server do not allow this (TagPolicy): the account cannot be followed")
}

// TestPoliciesOnReplies tries those that look at what a post replies to, and change whom it is for.
func TestPoliciesOnReplies(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.MRF.Policies = []string{"QuietReply", "FODirectReply", "ForceMention", "ForceMentionsInContent", "MentionPolicy"}
		c.MRFMention.Actors = []string{"https://example.org/nobody"}
	})
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	srv.letFollow(bob, alice)
	srv.letFollow(carol, bob)
	root := alice.publish("root")
	reply := bob.publish("me too", "in_reply_to_id", root.id())
	wantMembers(t, "a reply", reply, jsonBody{"visibility": "unlisted"})
	if c := reply.str("content"); !strings.HasPrefix(c, `<p><span class="recipients-inline">`) || strings.Count(c, "mention") != 1 || !strings.Contains(c, "alice") {
		t.Errorf("a reply says %s", c)
	}
	if got := alice.notified(); !slices.Equal(got, []string{"mention bob", "follow bob"}) && !slices.Equal(got, []string{"mention bob"}) {
		t.Errorf("alice is told %v", got)
	}
	// An edit keeps it, since it is made anew of the text.
	if c := bob.edit(reply.id(), jsonBody{"status": "me three"}).want(200).object().str("content"); !strings.Contains(c, "alice") || !strings.HasSuffix(c, "me three</p>") {
		t.Errorf("an edited reply says %s", c)
	}
	secret := alice.publish("for followers", "visibility", "private")
	answer := bob.publish("thanks", "in_reply_to_id", secret.id(), "visibility", "private")
	wantMembers(t, "an answer to followers", answer, jsonBody{"visibility": "direct"})
	alice.get("/api/v1/statuses/" + answer.id()).want(200)
	carol.get("/api/v1/statuses/" + answer.id()).want(404)
	wantIDs(t, "alice's conversations", alice.get("/api/v1/conversations", "limit", "1"), alice.get("/api/v1/conversations").ids()...)
	if got := len(alice.get("/api/v1/conversations").ids()); got != 1 {
		t.Errorf("alice has %d conversations", got)
	}
	wantMembers(t, "a quote", carol.publish("look", "quote_id", root.id()), jsonBody{"visibility": "public"})
	if got := alice.notified(); !slices.Contains(got, "mention carol") {
		t.Errorf("who is quoted is told %v", got)
	}
	srv.insert(`UPDATE accounts SET uri = 'https://example.org/nobody' WHERE id = ?`, carol.accountID())
	bob.post("/api/v1/statuses", "status", "hello @carol").
		wantError(422, "The rules of this server do not allow this (MentionPolicy): nobody may write to https://example.org/nobody")
}

// TestPicturesAreJudged has a service look at pictures before they are published.
func TestPicturesAreJudged(t *testing.T) {
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("url"))
		fmt.Fprint(w, `{"score":0.95}`)
	}))
	defer service.Close()
	srv := startAPI(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFNSFWAPI.URL = []string{"NsfwApiPolicy"}, service.URL
	})
	alice := srv.signUp("alice")
	picture := alice.upload(pngFile(3, 3))
	wantMembers(t, "a picture", alice.publish("x", "media_ids[]", picture.id()), jsonBody{"sensitive": true})
	if !slices.Equal(asked, []string{picture.str("url")}) {
		t.Errorf("asked for %v, want %s", asked, picture.str("url"))
	}
	wantMembers(t, "no picture", alice.publish("x"), jsonBody{"sensitive": false})
	service.Close()
	wantMembers(t, "no answer", alice.publish("x", "media_ids[]", alice.upload(pngFile(4, 4)).id()), jsonBody{"sensitive": false})
}

// TestPoliciesShown compares what the instance and nodeinfo tell of policies.
func TestPoliciesShown(t *testing.T) {
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
			srv := startAPI(t, tt.change)
			for _, path := range []string{"/api/v1/instance", "/api/v2/instance", "/nodeinfo/2.0", "/nodeinfo/2.1"} {
				if body := string(srv.as(nil).get(path).want(200).body); !strings.Contains(body, `"federation":`+tt.want+`,"`) {
					t.Errorf("GET %s: got %s\nwant %s", path, body, tt.want)
				}
			}
		})
	}
}

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

// policyCase is a remote post that one policy acts on.
type policyCase struct {
	policy string
	name   string
	set    func(*config.Config, *apptest.FakeServer)
	actor  apptest.Doc
	note   func(p *apptest.FakeServer, alice *apptest.User, parent *apptest.Object) apptest.Doc // changes of the note
	want   apptest.Doc                                                                          // of the post; nil: it is refused
	check  func(t *testing.T, alice *apptest.User, st *apptest.Object)
}

func noteOf(d apptest.Doc) func(*apptest.FakeServer, *apptest.User, *apptest.Object) apptest.Doc {
	return func(*apptest.FakeServer, *apptest.User, *apptest.Object) apptest.Doc { return d }
}

// addressed returns the addressing of a note to an account without mentioning it.
func addressed(visibility string, more ...string) func(*apptest.FakeServer, *apptest.User, *apptest.Object) apptest.Doc {
	return func(p *apptest.FakeServer, alice *apptest.User, _ *apptest.Object) apptest.Doc {
		to := []any{alice.URI()}
		for _, m := range more {
			to = append(to, m)
		}
		if visibility == "private" {
			to = append(to, p.URL+"/users/bob/followers")
		}
		return apptest.Doc{"to": to, "cc": []any{}}
	}
}

func addressedOpenly(n int) func(*apptest.FakeServer, *apptest.User, *apptest.Object) apptest.Doc {
	return func(p *apptest.FakeServer, alice *apptest.User, _ *apptest.Object) apptest.Doc {
		to := []any{apptest.Public}
		for i := range n {
			to = append(to, fmt.Sprintf("%s/users/r%d", p.URL, i))
		}
		return apptest.Doc{"to": to}
	}
}

var (
	policyPicture = apptest.Doc{"type": "Document", "mediaType": "image/png", "url": "https://pictures.example/1.png", "name": "a cat"}
	policyEmoji   = apptest.Doc{"type": "Emoji", "name": ":bad:", "icon": apptest.Doc{"type": "Image", "url": "https://pictures.example/emoji.png"}}
	unchanged     = apptest.Doc{"visibility": "public", "sensitive": false}
)

func hashtag(name string) apptest.Doc {
	return apptest.Doc{"type": "Hashtag", "name": "#" + name, "href": "https://x.example/tags/" + name}
}

func hostList(p *apptest.FakeServer) []config.HostReason { return []config.HostReason{{Host: p.Host}} }

// policyCases has for each policy on remote posts one that it acts on, and one that it leaves alone.
var policyCases = []policyCase{
	{policy: "NoOpPolicy", want: unchanged},
	{policy: "DropPolicy"},
	{policy: "SimplePolicy", name: "not accepted", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFSimple.Accept = []config.HostReason{{Host: "other.example"}}
	}},
	{policy: "SimplePolicy", name: "accepted", set: func(c *config.Config, p *apptest.FakeServer) { c.MRFSimple.Accept = hostList(p) }, want: unchanged},
	{policy: "TagPolicy", want: unchanged},
	{policy: "SubchainPolicy", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "~r/users\\/bob$/", Policies: []string{"KeywordPolicy"}}}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"hello"}
	}, want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "SubchainPolicy", name: "of others", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "carol", Policies: []string{"DropPolicy"}}}
	}, want: unchanged},
	{policy: "RejectNonPublic", name: "public", want: unchanged},
	{policy: "RejectNonPublic", name: "for followers", note: addressed("private")},
	{policy: "RejectNonPublic", name: "direct", note: addressed("direct")},
	{policy: "RejectNonPublic", name: "for followers, allowed", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFRejectNonPublic.AllowFollowersOnly = true
	}, note: addressed("private"), want: apptest.Doc{"visibility": "private"}},
	{policy: "RejectNonPublic", name: "direct, allowed", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFRejectNonPublic.AllowDirect = true
	}, note: addressed("direct"), want: apptest.Doc{"visibility": "direct"}},
	{policy: "EnsureRePrepended", note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"inReplyTo": parent.Str("uri"), "summary": "cats"}
	}, want: apptest.Doc{"spoiler_text": "re: cats"}},
	{policy: "AntiLinkSpamPolicy", note: noteOf(apptest.Doc{"content": `<p><a href="https://spam.example/">win</a></p>`}),
		want: unchanged}, // TestPoliciesOnUnknownAccounts covers the refusal
	{policy: "AntiMentionSpamPolicy", note: addressed("direct")},
	{policy: "AntiMentionSpamPolicy", name: "without mentions", want: unchanged},
	{policy: "MentionPolicy", set: func(c *config.Config, p *apptest.FakeServer) { c.MRFMention.Actors = []string{p.URL + "/users/carol"} },
		note: func(p *apptest.FakeServer, _ *apptest.User, _ *apptest.Object) apptest.Doc {
			return apptest.Doc{"cc": []any{p.URL + "/users/carol"}}
		}},
	{policy: "VocabularyPolicy", name: "a poll", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFVocabulary.Reject = []string{"Question"} },
		note: noteOf(apptest.Doc{"type": "Question", "oneOf": []any{apptest.Doc{"type": "Note", "name": "a"}, apptest.Doc{"type": "Note", "name": "b"}}})},
	{policy: "VocabularyPolicy", name: "no poll", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFVocabulary.Reject = []string{"Question"} }, want: unchanged},
	{policy: "ObjectAgePolicy", name: "refused", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFObjectAge.Actions = []string{"reject"} },
		note: func(*apptest.FakeServer, *apptest.User, *apptest.Object) apptest.Doc {
			return apptest.Doc{"published": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339)}
		}},
	{policy: "HellthreadPolicy", name: "few", note: addressedOpenly(10), want: unchanged},
	{policy: "HellthreadPolicy", name: "many", note: addressedOpenly(11), want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "HellthreadPolicy", name: "too many", note: addressedOpenly(21)},
	{policy: "KeywordPolicy", name: "an option of a poll", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFKeyword.Reject = []string{"~r/CASINO/i"} },
		note: noteOf(apptest.Doc{"type": "Question", "oneOf": []any{apptest.Doc{"type": "Note", "name": "a casino"}, apptest.Doc{"type": "Note", "name": "b"}}})},
	{policy: "KeywordPolicy", name: "the title", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFKeyword.Reject = []string{"casino"} },
		note: noteOf(apptest.Doc{"type": "Article", "name": "My Casino"})},
	{policy: "KeywordPolicy", name: "the subject", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFKeyword.FederatedTimelineRemoval = []string{"casino"}
	},
		note: noteOf(apptest.Doc{"summary": "casino"}), want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "HashtagPolicy", name: "sensitive", note: noteOf(apptest.Doc{"tag": []any{hashtag("NSFW")}}), want: apptest.Doc{"sensitive": true}},
	{policy: "HashtagPolicy", name: "refused", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFHashtag.Reject = []string{"spam"} },
		note: noteOf(apptest.Doc{"tag": hashtag("Spam")})},
	{policy: "HashtagPolicy", name: "unlisted", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFHashtag.FederatedTimelineRemoval = []string{"spam"}
	},
		note: noteOf(apptest.Doc{"tag": hashtag("Spam")}), want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "EmojiPolicy", name: "removed", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFEmoji.RemoveShortcode = []string{"bad"} },
		note: noteOf(apptest.Doc{"tag": []any{policyEmoji}, "content": "<p>:bad:</p>"}), want: apptest.Doc{"emojis": []any{}, "visibility": "public"}},
	{policy: "EmojiPolicy", name: "unlisted", set: func(c *config.Config, _ *apptest.FakeServer) {
		c.MRFEmoji.FederatedTimelineRemovalURL = []string{"pictures.example"}
	}, note: noteOf(apptest.Doc{"tag": []any{policyEmoji}, "content": "<p>:bad:</p>"}), want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "NormalizeMarkup", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFNormalizeMarkup.ScrubPolicy = "strict" },
		note: noteOf(apptest.Doc{"content": "<p><b>loud</b> <i>words</i></p>"}), want: apptest.Doc{"content": "<p>loud words</p>"}},
	{policy: "NoPlaceholderTextPolicy", note: noteOf(apptest.Doc{"content": "<p>.</p>", "attachment": []any{policyPicture}}), want: apptest.Doc{"content": ""}},
	{policy: "ForceBotUnlistedPolicy", actor: apptest.Doc{"type": "Service"}, want: apptest.Doc{"visibility": "unlisted"}},
	{policy: "ForceBotUnlistedPolicy", name: "a person", want: unchanged},
	{policy: "UserAllowListPolicy", set: func(c *config.Config, p *apptest.FakeServer) {
		c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: p.Host, Actors: []string{p.URL + "/users/carol"}}}
	}},
	{policy: "UserAllowListPolicy", name: "allowed", set: func(c *config.Config, p *apptest.FakeServer) {
		c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: p.Host, Actors: []string{p.URL + "/users/bob"}}}
	}, want: unchanged},
	{policy: "ForceMention", note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"inReplyTo": parent.Str("uri")}
	}, want: unchanged,
		check: func(t *testing.T, alice *apptest.User, st *apptest.Object) {
			if got := apptest.ListField(st, "mentions", "id"); !slices.Equal(got, []string{alice.ID}) {
				t.Errorf("it mentions %v", got)
			}
			apptest.WantList(t, "notifications of alice without addressing her", alice.NotificationTypes())
		}},
	{policy: "ForceMention", name: "turned off", set: func(c *config.Config, _ *apptest.FakeServer) { c.MRFForceMention.MentionParent = false },
		note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
			return apptest.Doc{"inReplyTo": parent.Str("uri")}
		}, want: apptest.Doc{"mentions": []any{}}},
	{policy: "ForceMention", name: "of the quoted author", note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"quoteUrl": parent.Str("uri")}
	},
		check: func(t *testing.T, alice *apptest.User, st *apptest.Object) {
			if got := apptest.ListField(st, "mentions", "id"); !slices.Equal(got, []string{alice.ID}) {
				t.Errorf("it mentions %v", got)
			}
		}, want: unchanged},
	{policy: "ForceMentionsInContent", note: func(_ *apptest.FakeServer, alice *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"inReplyTo": parent.Str("uri"), "cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}}
	}, check: func(t *testing.T, _ *apptest.User, st *apptest.Object) {
		if got := st.Str("content"); !strings.HasPrefix(got, `<p><span class="recipients-inline">`) || !strings.Contains(got, ">alice<") {
			t.Errorf("it says %s", got)
		}
	}, want: unchanged},
	{policy: "InlineQuotePolicy", note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"quoteUrl": parent.Str("uri")}
	},
		check: func(t *testing.T, _ *apptest.User, st *apptest.Object) {
			if got := st.Str("content"); !strings.Contains(got, "RT:") {
				t.Errorf("it says %s", got)
			}
		}, want: unchanged},
	{policy: "QuoteToLinkTagPolicy", want: unchanged},
	{policy: "QuietReply", note: func(_ *apptest.FakeServer, _ *apptest.User, parent *apptest.Object) apptest.Doc {
		return apptest.Doc{"inReplyTo": parent.Str("uri")}
	}, want: unchanged},
	{policy: "FODirectReply", want: unchanged},
	{policy: "NoEmptyPolicy", want: unchanged},
	{policy: "ActivityExpirationPolicy", want: apptest.Doc{"svc.expires_at": nil}},
}

// TestEveryPolicyOnIncomingPosts tries each policy with a delivered post.
func TestEveryPolicyOnIncomingPosts(t *testing.T) {
	apptest.SkipIfShort(t)
	for _, tt := range policyCases {
		t.Run(strings.TrimSpace(tt.policy+" "+tt.name), func(t *testing.T) {
			peer := apptest.StartFake(t)
			srv := apptest.StartPeers(t, 1, func(c *config.Config) {
				c.MRF.Policies = []string{tt.policy}
				if tt.set != nil {
					tt.set(c, peer)
				}
			})[0]
			alice := srv.SignUp("alice")
			bob := peer.AddActor("bob", tt.actor)
			var parent *apptest.Object
			if tt.policy != "DropPolicy" && tt.name != "not accepted" {
				alice.FollowRemote(bob)
				parent = alice.Publish("my post", "spoiler_text", "cats")
			}
			note := peer.Note(bob, "<p>hello</p>")
			if tt.note != nil {
				note = peer.Note(bob, "<p>hello</p>", tt.note(peer, alice, parent))
			}
			d := peer.Create(note)
			answer := peer.Deliver(srv, "/inbox", bob, d)
			apptest.Settle(srv)
			got := alice.FindPost(note["id"])
			if tt.want == nil {
				if reason := srv.Refusals(note["id"]); got != nil || answer.Status != http.StatusForbidden && !strings.Contains(reason, tt.policy) {
					t.Errorf("it is %v, answered with %d, refused for %q", got, answer.Status, reason)
				}
				return
			}
			if got == nil {
				t.Fatalf("it is refused for %q", srv.Refusals(note["id"]))
			}
			apptest.WantFields(t, "the post", got, tt.want)
			if tt.check != nil {
				tt.check(t, alice, got)
			}
		})
	}
}

// wantRefusal fails the test unless a policy refused the object with an id.
func wantRefusal(a *apptest.Server, what string, id any, policy string) {
	a.T.Helper()
	if got := a.Refusals(id); !strings.Contains(got, policy) {
		a.T.Errorf("%s: refused for %q, want %s", what, got, policy)
	}
}

// TestPoliciesOnUnknownAccounts checks that accounts without posts must not mention local accounts or publish links.
func TestPoliciesOnUnknownAccounts(t *testing.T) {
	link := apptest.Doc{"content": `<p><a href="https://spam.example/">win</a></p>`}
	for policy, changes := range map[string]apptest.Doc{"AntiLinkSpamPolicy": link, "AntiMentionSpamPolicy": nil} {
		srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.MRF.Policies, c.MRFAntiMentionSpam.UserAgeLimit = []string{policy}, 0 })
		alice := srv.SignUp("alice")
		mention := apptest.Doc{"cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}}
		bob := peer.AddActor("bob", apptest.Doc{"published": "2019-01-01T00:00:00Z"})
		note := peer.Note(bob, "<p>hello</p>", mention, changes)
		peer.PostAndSettle(srv, peer.Create(note))
		wantRefusal(srv, "a post of an unknown account", note["id"], policy)
		// An account with posts is not limited.
		parent := alice.Publish("hello")
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "<p>me too</p>", apptest.Doc{"inReplyTo": parent.Str("uri")})))
		again := peer.Note(bob, "<p>hello</p>", mention, changes)
		peer.PostAndSettle(srv, peer.Create(again))
		if alice.FindPost(again["id"]) == nil {
			t.Errorf("%s: an account with posts is refused for %q", policy, srv.Refusals(again["id"]))
		}
	}
}

// TestPoliciesOnChats checks that chat messages pass the policies in both directions.
func TestPoliciesOnChats(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) {
		c.MRF.Policies = []string{"KeywordPolicy", "EmojiPolicy", "TagPolicy", "MentionPolicy"}
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
		c.MRFEmoji.RemoveShortcode = []string{"bad"}
	})
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	id := srv.FetchActor(bob)
	refused := peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": "a <b>cas</b>ino"})
	peer.PostAndSettle(srv, refused)
	wantRefusal(srv, "a message", refused["id"], "KeywordPolicy")
	peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": "darn :bad:", "tag": []any{policyEmoji}, "attachment": policyPicture}))
	srv.Exec(`UPDATE accounts SET tags = '["mrf_tag:media-strip"]' WHERE uri = ?`, bob)
	srv.FetchActor(bob)
	peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": "stripped", "attachment": policyPicture}))
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + id).Want(200).Object().ID()
	apptest.WantList(t, "alice reads", alice.ChatMessages(chat), "stripped", "d**n :bad:")
	messages := alice.Get("/api/v1/svc/chats/" + chat + "/messages").Want(200).List()
	apptest.WantFields(t, "the first message", messages[1], apptest.Doc{"emojis": []any{}})
	if messages[1].At("attachment") == nil {
		t.Error("the attachment is gone")
	}

	mine := alice.Post("/api/v1/svc/chats/by-account-id/" + carol.ID).Want(200).Object().ID()
	for _, to := range []string{chat, mine} {
		alice.Post("/api/v1/svc/chats/"+to+"/messages", "content", "casino").
			WantError(422, "The rules of this server do not allow this (KeywordPolicy): it has a rejected keyword (casino)")
		if got := alice.SendChat(to, "darn").Str("content"); got != "d**n" {
			t.Errorf("alice says %s", got)
		}
	}
	srv.TagAccount(alice, "mrf_tag:media-strip")
	alice.Post("/api/v1/svc/chats/"+mine+"/messages", "media_id", srv.AddMedia(alice)).WantError(400, "no_content")
}

// TestPoliciesOnEveryPath checks that posts pass the policies when they are edited, boosted, relayed or looked up.
func TestPoliciesOnEveryPath(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) {
		c.MRF.Policies = []string{"KeywordPolicy", "SimplePolicy"}
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"politics"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
	})
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	relay := FollowFakeRelay(t, srv, root, peer)
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	alice.FollowRemote(bob)

	note := peer.Note(bob, "<p>fine</p>")
	peer.Serve(note)
	peer.PostAndSettle(srv, peer.Create(note))
	edit := func(content string) apptest.Doc {
		note["content"], note["updated"] = content, time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)
		return peer.Activity("Update", bob, note)
	}
	bad := edit("<p>a casino</p>")
	peer.PostAndSettle(srv, bad)
	wantRefusal(srv, "an edit", bad["id"], "KeywordPolicy")
	peer.PostAndSettle(srv, edit("<p>darn politics</p>"))
	apptest.WantFields(t, "the edited post", alice.WantPost(note["id"]), apptest.Doc{"content": "<p>d**n politics</p>", "visibility": "public"})

	ways := map[string]func(id any) apptest.Doc{
		"boosted": func(id any) apptest.Doc {
			return peer.Activity("Announce", bob, id, apptest.Doc{"to": []any{apptest.Public}})
		},
		"relayed":   func(id any) apptest.Doc { return peer.Activity("Announce", relay, id) },
		"forwarded": nil,
		"searched":  nil,
		"a parent":  nil,
	}
	for name, announce := range ways {
		for _, content := range []string{"<p>a casino</p>", "<p>darn politics</p>"} {
			n := peer.Note(carol, content)
			peer.Serve(n)
			switch name {
			case "forwarded":
				peer.Deliver(srv, "/inbox", relay, peer.Create(n)).Want(http.StatusAccepted)
			case "searched":
				alice.Get("/api/v2/search", "q", n["id"].(string), "resolve", "true").Want(200)
			case "a parent":
				peer.Post(srv, peer.Create(peer.Note(bob, "<p>an answer</p>", apptest.Doc{"inReplyTo": n["id"]})))
			default:
				peer.Post(srv, announce(n["id"]))
			}
			apptest.Settle(srv)
			got := alice.FindPost(n["id"])
			if strings.Contains(content, "casino") {
				if got != nil {
					t.Errorf("%s: %v", name, got)
				}
				continue
			}
			if got == nil {
				t.Errorf("%s: it is not here", name)
				continue
			}
			apptest.WantFields(t, name, got, apptest.Doc{"content": "<p>d**n politics</p>", "visibility": "unlisted"})
		}
	}
}

// TestPoliciesOnProfiles checks that profiles pass the policies when they are fetched and when they are sent.
func TestPoliciesOnProfiles(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) {
		c.MRF.Policies = []string{"EmojiPolicy"}
		c.MRFEmoji.RemoveURL = []string{"pictures.example/emoji"}
	})
	alice := srv.SignUp("alice")
	good := apptest.Doc{"type": "Emoji", "name": ":good:", "icon": apptest.Doc{"type": "Image", "url": "https://pictures.example/good.png"}}
	bob := peer.AddActor("bob", apptest.Doc{"name": "Bob :bad: :good:", "tag": []any{policyEmoji, good}})
	alice.FollowRemote(bob)
	shown := func() {
		t.Helper()
		if got := apptest.ListField(alice.Get("/api/v1/accounts/"+srv.KnownID(bob)).Want(200).Object(), "emojis", "shortcode"); !slices.Equal(got, []string{"good"}) {
			t.Errorf("the emoji are %v", got)
		}
	}
	shown()
	peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.Doc{
		"id": bob, "type": "Person", "preferredUsername": "bob", "name": "Bobby :bad: :good:", "inbox": bob + "/inbox", "tag": []any{policyEmoji, good},
	}))
	if got := alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200).Object().Str("display_name"); got != "Bobby :bad: :good:" {
		t.Errorf("bob is called %s", got)
	}
	shown()
	st := alice.Publish("react")
	react := peer.Activity("EmojiReact", bob, st.Str("uri"), apptest.Doc{"content": ":bad:", "tag": []any{policyEmoji}})
	peer.PostAndSettle(srv, react)
	wantRefusal(srv, "a reaction", react["id"], "EmojiPolicy")
}

// TestPoliciesOnFollowsAndReports checks that bots cannot follow accounts that do not want it, and that reports need a comment.
func TestPoliciesOnFollowsAndReports(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) {
		c.MRF.Policies = []string{"AntiFollowbotPolicy", "RemoteReportPolicy", "TagPolicy"}
	})
	alice, shy := srv.SignUp("alice"), srv.SignUp("shy")
	bot, bob, server := peer.AddActor("bot", apptest.Doc{"type": "Service"}), peer.AddActor("bob"), peer.AddActor("instance", apptest.Doc{"type": "Application"})
	follow := peer.Activity("Follow", bot, alice.URI())
	peer.PostAndSettle(srv, follow)
	wantRefusal(srv, "a bot", follow["id"], "AntiFollowbotPolicy")
	alice.FollowRemote(bot)
	peer.PostAndSettle(srv, peer.Activity("Follow", bot, alice.URI()))
	alice.Relationship(srv.KnownID(bot)).WantTrue(apptest.RelationshipFlags, "following", "followed_by")
	srv.TagAccount(shy, "mrf_tag:disable-remote-subscription")
	srv.FetchActor(bob)
	follow = peer.Activity("Follow", bob, shy.URI())
	peer.PostAndSettle(srv, follow)
	wantRefusal(srv, "a follow by a bot", follow["id"], "TagPolicy")
	for name, tt := range map[string]struct {
		flag apptest.Doc
		ok   bool
	}{
		"of a server":    {peer.Activity("Flag", server, []any{alice.URI()}, apptest.Doc{"content": "rude"}), false},
		"without a word": {peer.Activity("Flag", bob, []any{alice.URI()}), false},
		"a summary":      {peer.Activity("Flag", bob, alice.URI(), apptest.Doc{"summary": "rude"}), true},
		"of a person":    {peer.Activity("Flag", bob, []any{shy.URI()}, apptest.Doc{"content": "rude"}), true},
	} {
		before := srv.Count(`SELECT count(*) FROM reports`)
		peer.PostAndSettle(srv, tt.flag)
		if got := srv.Count(`SELECT count(*) FROM reports`) > before; got != tt.ok {
			t.Errorf("a report %s: %v, refused for %q", name, got, srv.Refusals(tt.flag["id"]))
		}
	}
}

// TestPoliciesThatCallServices covers the policies that send requests because of incoming posts.
func TestPoliciesThatCallServices(t *testing.T) {
	peer := apptest.StartFake(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		score := 0.1
		if strings.HasSuffix(r.URL.Query().Get("url"), "/1.png") {
			score = 0.9
		}
		fmt.Fprintf(w, `{"score":%v}`, score)
	}))
	defer service.Close()
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = []string{"NsfwApiPolicy", "MediaProxyWarmingPolicy", "StealEmojiPolicy", "FollowBotPolicy"}
		c.MRFNSFWAPI.URL, c.MRFNSFWAPI.Unlist = service.URL, true
		c.MRFStealEmoji.Hosts = []string{peer.Host}
		c.MRFFollowBot.FollowerNickname = "robot"
	})[0]
	robot, alice := srv.SignUp("robot"), srv.SignUp("alice")
	robot.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"bot": true}).Want(200)
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	picture := apptest.PNG(3, 3)
	for name, declared := range map[string]string{
		"/1.png": "image/png", "/2.png": "image/png", "/cat.png": "application/octet-stream", "/document.png": "application/activity+json",
	} {
		peer.Respond(name, http.StatusOK, declared, picture)
	}
	emoji := func(name string) apptest.Doc {
		return apptest.Doc{"type": "Emoji", "name": ":" + name + ":", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/" + name + ".png"}}
	}
	post := func(name string) apptest.Doc {
		n := peer.Note(bob, "<p>:cat: :document:</p>", apptest.Doc{
			"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + name}},
			"tag":        []any{emoji("cat"), emoji("document")},
		})
		peer.PostAndSettle(srv, peer.Create(n))
		return n
	}
	apptest.WantFields(t, "a bad picture", alice.WantPost(post("/1.png")["id"]), apptest.Doc{"sensitive": true, "visibility": "unlisted"})
	apptest.WantFields(t, "a good one", alice.WantPost(post("/2.png")["id"]), apptest.Doc{"sensitive": false, "visibility": "public"})
	apptest.WaitFor(t, "the pictures are fetched", func() bool { return peer.Fetches("/1.png") == 1 && peer.Fetches("/2.png") == 1 })
	apptest.WaitFor(t, "the emoji is copied", func() bool { return srv.Emojis.Has("cat") })
	apptest.WaitFor(t, "the other one is fetched", func() bool { return peer.Fetches("/document.png") > 0 })
	srv.RunJobs()
	if srv.Emojis.Has("document") {
		t.Error("a picture that is declared as a document is copied")
	}
	robot.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "requested")
	peer.OneDelivered("Follow")
}

// TestSimplePolicyOnProfilesAndBoosts covers removed avatars and headers, and whose posts hosts may boost.
func TestSimplePolicyOnProfilesAndBoosts(t *testing.T) {
	peer := apptest.StartFake(t)
	for _, tt := range []struct {
		name string
		set  func(*config.MRFSimple)
		want string
	}{
		{"unlisted", func(s *config.MRFSimple) { s.FederatedTimelineRemoval = hostList(peer) }, "unlisted"},
		{"for followers", func(s *config.MRFSimple) { s.FollowersOnly = hostList(peer) }, "private"},
	} {
		srv := apptest.StartPeers(t, 1, func(c *config.Config) {
			c.MRF.Policies = []string{"SimplePolicy"}
			c.MRFSimple.AvatarRemoval, c.MRFSimple.BannerRemoval = hostList(peer), hostList(peer)
			tt.set(&c.MRFSimple)
		})[0]
		alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
		picture := func(name string) apptest.Doc {
			return apptest.Doc{"type": "Image", "url": "https://pictures.example/" + name}
		}
		bob := peer.AddActor("bob", apptest.Doc{"icon": picture("a.png"), "image": picture("b.png")})
		alice.FollowRemote(bob)
		shown := func() {
			t.Helper()
			for _, key := range []string{"avatar", "header"} {
				if got := alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200).Object().Str(key); !strings.HasPrefix(got, srv.URL+"/images/") {
					t.Errorf("the %s is %s", key, got)
				}
			}
		}
		shown()
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.Doc{
			"id": bob, "type": "Person", "preferredUsername": "bob", "inbox": bob + "/inbox", "icon": picture("c.png"), "image": picture("d.png"),
		}))
		shown()
		st := carol.Publish("boost me")
		peer.PostAndSettle(srv, peer.Activity("Announce", bob, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}}))
		home := alice.Get("/api/v1/timelines/home").Want(200).List()
		if len(home) != 1 || home[0].At("reblog") == nil || home[0].Str("visibility") != tt.want {
			t.Errorf("%s: home has %v", tt.name, home)
		}
	}
}

// TestPoliciesGoByHandles checks that an account is rejected by the host of its id and by that of its handle, also if it is known.
func TestPoliciesGoByHandles(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFSimple.Reject = []string{"SimplePolicy"}, []config.HostReason{{Host: "handles.example"}}
	})
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	srv.Exec(`UPDATE accounts SET domain = 'handles.example' WHERE uri = ?`, bob)
	note := peer.Note(bob, "<p>hello</p>")
	peer.Serve(note)
	peer.Deliver(srv, "/inbox", bob, peer.Create(note)).Want(403)
	alice.Get("/api/v2/search", "q", note["id"].(string), "resolve", "true").Want(200)
	st := alice.Publish("like me")
	peer.Deliver(srv, "/inbox", bob, peer.Activity("Like", bob, st.Str("uri"))).Want(403)
	if got := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("favourites_count"); got != 0 {
		t.Errorf("%d favourites", got)
	}
	if got := alice.FindPost(note["id"]); got != nil {
		t.Errorf("the post is stored: %v", got)
	}
	srv.SignUp("carol").Post("/api/v1/accounts/"+srv.KnownID(bob)+"/follow").
		WantError(422, "The rules of this server do not allow this (SimplePolicy): the host handles.example is on the reject list")
}

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

// policyCase is a post from elsewhere that one policy has something to say about.
type policyCase struct {
	policy string
	name   string
	set    func(*config.Config, *fakePeer)
	actor  doc
	note   func(p *fakePeer, alice *member, parent *object) doc // changes of the note
	want   jsonBody                                             // of the post; nil: it is refused
	check  func(t *testing.T, alice *member, st *object)
}

func noteOf(d doc) func(*fakePeer, *member, *object) doc {
	return func(*fakePeer, *member, *object) doc { return d }
}

// to addresses a note to somebody without naming them.
func addressed(visibility string, more ...string) func(*fakePeer, *member, *object) doc {
	return func(p *fakePeer, alice *member, _ *object) doc {
		to := []any{alice.uri()}
		for _, m := range more {
			to = append(to, m)
		}
		if visibility == "private" {
			to = append(to, p.url+"/users/bob/followers")
		}
		return doc{"to": to, "cc": []any{}}
	}
}

func addressedOpenly(n int) func(*fakePeer, *member, *object) doc {
	return func(p *fakePeer, alice *member, _ *object) doc {
		to := []any{toPublic}
		for i := range n {
			to = append(to, fmt.Sprintf("%s/users/r%d", p.url, i))
		}
		return doc{"to": to}
	}
}

var (
	policyPicture = doc{"type": "Document", "mediaType": "image/png", "url": "https://pictures.example/1.png", "name": "a cat"}
	policyEmoji   = doc{"type": "Emoji", "name": ":bad:", "icon": doc{"type": "Image", "url": "https://pictures.example/emoji.png"}}
	unchanged     = jsonBody{"visibility": "public", "sensitive": false}
)

func hashtag(name string) doc {
	return doc{"type": "Hashtag", "name": "#" + name, "href": "https://x.example/tags/" + name}
}

func hostList(p *fakePeer) []config.HostReason { return []config.HostReason{{Host: p.host}} }

// policyCases are for each policy that looks at posts from elsewhere one that it does something about, and one that it leaves alone.
var policyCases = []policyCase{
	{policy: "NoOpPolicy", want: unchanged},
	{policy: "DropPolicy"},
	{policy: "SimplePolicy", name: "not accepted", set: func(c *config.Config, _ *fakePeer) {
		c.MRFSimple.Accept = []config.HostReason{{Host: "other.example"}}
	}},
	{policy: "SimplePolicy", name: "accepted", set: func(c *config.Config, p *fakePeer) { c.MRFSimple.Accept = hostList(p) }, want: unchanged},
	{policy: "TagPolicy", want: unchanged},
	{policy: "SubchainPolicy", set: func(c *config.Config, _ *fakePeer) {
		c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "~r/users\\/bob$/", Policies: []string{"KeywordPolicy"}}}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"hello"}
	}, want: jsonBody{"visibility": "unlisted"}},
	{policy: "SubchainPolicy", name: "of others", set: func(c *config.Config, _ *fakePeer) {
		c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "carol", Policies: []string{"DropPolicy"}}}
	}, want: unchanged},
	{policy: "RejectNonPublic", name: "public", want: unchanged},
	{policy: "RejectNonPublic", name: "for followers", note: addressed("private")},
	{policy: "RejectNonPublic", name: "direct", note: addressed("direct")},
	{policy: "RejectNonPublic", name: "for followers, allowed", set: func(c *config.Config, _ *fakePeer) {
		c.MRFRejectNonPublic.AllowFollowersOnly = true
	}, note: addressed("private"), want: jsonBody{"visibility": "private"}},
	{policy: "RejectNonPublic", name: "direct, allowed", set: func(c *config.Config, _ *fakePeer) {
		c.MRFRejectNonPublic.AllowDirect = true
	}, note: addressed("direct"), want: jsonBody{"visibility": "direct"}},
	{policy: "EnsureRePrepended", note: func(_ *fakePeer, _ *member, parent *object) doc {
		return doc{"inReplyTo": parent.str("uri"), "summary": "cats"}
	}, want: jsonBody{"spoiler_text": "re: cats"}},
	{policy: "AntiLinkSpamPolicy", note: noteOf(doc{"content": `<p><a href="https://spam.example/">win</a></p>`}),
		want: unchanged}, // alice follows, but nobody here is followed: see the strangers below
	{policy: "AntiMentionSpamPolicy", note: addressed("direct")},
	{policy: "AntiMentionSpamPolicy", name: "to nobody", want: unchanged},
	{policy: "MentionPolicy", set: func(c *config.Config, p *fakePeer) { c.MRFMention.Actors = []string{p.url + "/users/carol"} },
		note: func(p *fakePeer, _ *member, _ *object) doc { return doc{"cc": []any{p.url + "/users/carol"}} }},
	{policy: "VocabularyPolicy", name: "a poll", set: func(c *config.Config, _ *fakePeer) { c.MRFVocabulary.Reject = []string{"Question"} },
		note: noteOf(doc{"type": "Question", "oneOf": []any{doc{"type": "Note", "name": "a"}, doc{"type": "Note", "name": "b"}}})},
	{policy: "VocabularyPolicy", name: "no poll", set: func(c *config.Config, _ *fakePeer) { c.MRFVocabulary.Reject = []string{"Question"} }, want: unchanged},
	{policy: "ObjectAgePolicy", name: "refused", set: func(c *config.Config, _ *fakePeer) { c.MRFObjectAge.Actions = []string{"reject"} },
		note: func(*fakePeer, *member, *object) doc {
			return doc{"published": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339)}
		}},
	{policy: "HellthreadPolicy", name: "few", note: addressedOpenly(10), want: unchanged},
	{policy: "HellthreadPolicy", name: "many", note: addressedOpenly(11), want: jsonBody{"visibility": "unlisted"}},
	{policy: "HellthreadPolicy", name: "too many", note: addressedOpenly(21)},
	{policy: "KeywordPolicy", name: "an option of a poll", set: func(c *config.Config, _ *fakePeer) { c.MRFKeyword.Reject = []string{"~r/CASINO/i"} },
		note: noteOf(doc{"type": "Question", "oneOf": []any{doc{"type": "Note", "name": "a casino"}, doc{"type": "Note", "name": "b"}}})},
	{policy: "KeywordPolicy", name: "the title", set: func(c *config.Config, _ *fakePeer) { c.MRFKeyword.Reject = []string{"casino"} },
		note: noteOf(doc{"type": "Article", "name": "My Casino"})},
	{policy: "KeywordPolicy", name: "the subject", set: func(c *config.Config, _ *fakePeer) { c.MRFKeyword.FederatedTimelineRemoval = []string{"casino"} },
		note: noteOf(doc{"summary": "casino"}), want: jsonBody{"visibility": "unlisted"}},
	{policy: "HashtagPolicy", name: "sensitive", note: noteOf(doc{"tag": []any{hashtag("NSFW")}}), want: jsonBody{"sensitive": true}},
	{policy: "HashtagPolicy", name: "refused", set: func(c *config.Config, _ *fakePeer) { c.MRFHashtag.Reject = []string{"spam"} },
		note: noteOf(doc{"tag": hashtag("Spam")})},
	{policy: "HashtagPolicy", name: "unlisted", set: func(c *config.Config, _ *fakePeer) { c.MRFHashtag.FederatedTimelineRemoval = []string{"spam"} },
		note: noteOf(doc{"tag": hashtag("Spam")}), want: jsonBody{"visibility": "unlisted"}},
	{policy: "EmojiPolicy", name: "removed", set: func(c *config.Config, _ *fakePeer) { c.MRFEmoji.RemoveShortcode = []string{"bad"} },
		note: noteOf(doc{"tag": []any{policyEmoji}, "content": "<p>:bad:</p>"}), want: jsonBody{"emojis": []any{}, "visibility": "public"}},
	{policy: "EmojiPolicy", name: "unlisted", set: func(c *config.Config, _ *fakePeer) {
		c.MRFEmoji.FederatedTimelineRemovalURL = []string{"pictures.example"}
	}, note: noteOf(doc{"tag": []any{policyEmoji}, "content": "<p>:bad:</p>"}), want: jsonBody{"visibility": "unlisted"}},
	{policy: "NormalizeMarkup", set: func(c *config.Config, _ *fakePeer) { c.MRFNormalizeMarkup.ScrubPolicy = "strict" },
		note: noteOf(doc{"content": "<p><b>loud</b> <i>words</i></p>"}), want: jsonBody{"content": "<p>loud words</p>"}},
	{policy: "NoPlaceholderTextPolicy", note: noteOf(doc{"content": "<p>.</p>", "attachment": []any{policyPicture}}), want: jsonBody{"content": ""}},
	{policy: "ForceBotUnlistedPolicy", actor: doc{"type": "Service"}, want: jsonBody{"visibility": "unlisted"}},
	{policy: "ForceBotUnlistedPolicy", name: "a person", want: unchanged},
	{policy: "UserAllowListPolicy", set: func(c *config.Config, p *fakePeer) {
		c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: p.host, Actors: []string{p.url + "/users/carol"}}}
	}},
	{policy: "UserAllowListPolicy", name: "allowed", set: func(c *config.Config, p *fakePeer) {
		c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: p.host, Actors: []string{p.url + "/users/bob"}}}
	}, want: unchanged},
	{policy: "ForceMention", note: func(_ *fakePeer, _ *member, parent *object) doc { return doc{"inReplyTo": parent.str("uri")} }, want: unchanged,
		check: func(t *testing.T, alice *member, st *object) {
			if got := members(st, "mentions", "id"); !slices.Equal(got, []string{alice.id}) {
				t.Errorf("it mentions %v", got)
			}
			wantList(t, "alice, who is not addressed, is told", alice.told())
		}},
	{policy: "ForceMention", name: "turned off", set: func(c *config.Config, _ *fakePeer) { c.MRFForceMention.MentionParent = false },
		note: func(_ *fakePeer, _ *member, parent *object) doc { return doc{"inReplyTo": parent.str("uri")} }, want: jsonBody{"mentions": []any{}}},
	{policy: "ForceMention", name: "of who is quoted", note: func(_ *fakePeer, _ *member, parent *object) doc { return doc{"quoteUrl": parent.str("uri")} },
		check: func(t *testing.T, alice *member, st *object) {
			if got := members(st, "mentions", "id"); !slices.Equal(got, []string{alice.id}) {
				t.Errorf("it mentions %v", got)
			}
		}, want: unchanged},
	{policy: "ForceMentionsInContent", note: func(_ *fakePeer, alice *member, parent *object) doc {
		return doc{"inReplyTo": parent.str("uri"), "cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}}
	}, check: func(t *testing.T, _ *member, st *object) {
		if got := st.str("content"); !strings.HasPrefix(got, `<p><span class="recipients-inline">`) || !strings.Contains(got, ">alice<") {
			t.Errorf("it says %s", got)
		}
	}, want: unchanged},
	{policy: "InlineQuotePolicy", note: func(_ *fakePeer, _ *member, parent *object) doc { return doc{"quoteUrl": parent.str("uri")} },
		check: func(t *testing.T, _ *member, st *object) {
			if got := st.str("content"); !strings.Contains(got, "RT:") {
				t.Errorf("it says %s", got)
			}
		}, want: unchanged},
	{policy: "QuoteToLinkTagPolicy", want: unchanged},
	{policy: "QuietReply", note: func(_ *fakePeer, _ *member, parent *object) doc { return doc{"inReplyTo": parent.str("uri")} }, want: unchanged},
	{policy: "FODirectReply", want: unchanged},
	{policy: "NoEmptyPolicy", want: unchanged},
	{policy: "ActivityExpirationPolicy", want: jsonBody{"svc.expires_at": nil}},
}

// TestEveryPolicyOnIncomingPosts tries each policy with a post that is delivered.
func TestEveryPolicyOnIncomingPosts(t *testing.T) {
	for _, tt := range policyCases {
		t.Run(strings.TrimSpace(tt.policy+" "+tt.name), func(t *testing.T) {
			peer := startFake(t)
			srv := startPeers(t, 1, func(c *config.Config) {
				c.MRF.Policies = []string{tt.policy}
				if tt.set != nil {
					tt.set(c, peer)
				}
			})[0]
			alice := srv.signUp("alice")
			bob := peer.actor("bob", tt.actor)
			var parent *object
			if tt.policy != "DropPolicy" && tt.name != "not accepted" {
				alice.follows(bob)
				parent = alice.publish("my post", "spoiler_text", "cats")
			}
			note := peer.note(bob, "<p>hello</p>")
			if tt.note != nil {
				note = peer.note(bob, "<p>hello</p>", tt.note(peer, alice, parent))
			}
			d := peer.create(note)
			answer := peer.deliver(srv, "/inbox", bob, d)
			settle(srv)
			got := alice.postOf(note["id"])
			if tt.want == nil {
				if reason := srv.refusals(note["id"]); got != nil || answer.status != http.StatusForbidden && !strings.Contains(reason, tt.policy) {
					t.Errorf("it is %v, answered with %d, refused for %q", got, answer.status, reason)
				}
				return
			}
			if got == nil {
				t.Fatalf("it is refused for %q", srv.refusals(note["id"]))
			}
			wantMembers(t, "the post", got, tt.want)
			if tt.check != nil {
				tt.check(t, alice, got)
			}
		})
	}
}

// refusedFor fails the test unless what has an id was refused by a policy.
func (a *api) refusedFor(what string, id any, policy string) {
	a.t.Helper()
	if got := a.refusals(id); !strings.Contains(got, policy) {
		a.t.Errorf("%s: refused for %q, want %s", what, got, policy)
	}
}

// Strangers are not to name people here, or to spread links.
func TestPoliciesOnStrangers(t *testing.T) {
	link := doc{"content": `<p><a href="https://spam.example/">win</a></p>`}
	for policy, changes := range map[string]doc{"AntiLinkSpamPolicy": link, "AntiMentionSpamPolicy": nil} {
		srv, peer := startWithPeer(t, func(c *config.Config) { c.MRF.Policies, c.MRFAntiMentionSpam.UserAgeLimit = []string{policy}, 0 })
		alice := srv.signUp("alice")
		mention := doc{"cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}}
		bob := peer.actor("bob", doc{"published": "2019-01-01T00:00:00Z"})
		note := peer.note(bob, "<p>hello</p>", mention, changes)
		peer.receive(srv, peer.create(note))
		srv.refusedFor("a stranger's post", note["id"], policy)
		// Who has posts here is none any more.
		parent := alice.publish("hello")
		peer.receive(srv, peer.create(peer.note(bob, "<p>me too</p>", doc{"inReplyTo": parent.str("uri")})))
		again := peer.note(bob, "<p>hello</p>", mention, changes)
		peer.receive(srv, peer.create(again))
		if alice.postOf(again["id"]) == nil {
			t.Errorf("%s: who has posted is refused for %q", policy, srv.refusals(again["id"]))
		}
	}
}

// Messages of chats pass the policies in both directions.
func TestPoliciesOnChats(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) {
		c.MRF.Policies = []string{"KeywordPolicy", "EmojiPolicy", "TagPolicy", "MentionPolicy"}
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
		c.MRFEmoji.RemoveShortcode = []string{"bad"}
	})
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob := peer.actor("bob")
	id := srv.meet(bob)
	refused := peer.message(bob, alice.uri(), doc{"content": "a <b>cas</b>ino"})
	peer.receive(srv, refused)
	srv.refusedFor("a message", refused["id"], "KeywordPolicy")
	peer.receive(srv, peer.message(bob, alice.uri(), doc{"content": "darn :bad:", "tag": []any{policyEmoji}, "attachment": policyPicture}))
	srv.insert(`UPDATE accounts SET tags = '["mrf_tag:media-strip"]' WHERE uri = ?`, bob)
	srv.meet(bob)
	peer.receive(srv, peer.message(bob, alice.uri(), doc{"content": "stripped", "attachment": policyPicture}))
	chat := alice.post("/api/v1/svc/chats/by-account-id/" + id).want(200).object().id()
	wantList(t, "alice reads", alice.messages(chat), "stripped", "d**n :bad:")
	messages := alice.get("/api/v1/svc/chats/" + chat + "/messages").want(200).list()
	wantMembers(t, "the first message", messages[1], jsonBody{"emojis": []any{}})
	if messages[1].at("attachment") == nil {
		t.Error("the attachment is gone")
	}

	mine := alice.post("/api/v1/svc/chats/by-account-id/" + carol.id).want(200).object().id()
	for _, to := range []string{chat, mine} {
		alice.post("/api/v1/svc/chats/"+to+"/messages", "content", "casino").
			wantError(422, "The rules of this server do not allow this (KeywordPolicy): it has a rejected keyword (casino)")
		if got := alice.say(to, "darn").str("content"); got != "d**n" {
			t.Errorf("alice says %s", got)
		}
	}
	srv.tag(alice, "mrf_tag:media-strip")
	alice.post("/api/v1/svc/chats/"+mine+"/messages", "media_id", srv.letUpload(alice)).wantError(400, "no_content")
}

// Posts pass the policies whatever way they come: edited, boosted, by a relay, or looked for.
func TestPoliciesOnOtherWays(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) {
		c.MRF.Policies = []string{"KeywordPolicy", "SimplePolicy"}
		c.MRFKeyword.Reject = []string{"casino"}
		c.MRFKeyword.FederatedTimelineRemoval = []string{"politics"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "darn", Replacement: "d**n"}}
	})
	root, alice := srv.relayAdmin(), srv.signUp("alice")
	relay := followFakeRelay(t, srv, root, peer)
	bob, carol := peer.actor("bob"), peer.actor("carol")
	alice.follows(bob)

	note := peer.note(bob, "<p>fine</p>")
	peer.serve(note)
	peer.receive(srv, peer.create(note))
	edit := func(content string) doc {
		note["content"], note["updated"] = content, time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)
		return peer.activity("Update", bob, note)
	}
	bad := edit("<p>a casino</p>")
	peer.receive(srv, bad)
	srv.refusedFor("an edit", bad["id"], "KeywordPolicy")
	peer.receive(srv, edit("<p>darn politics</p>"))
	wantMembers(t, "the edited post", alice.wantPost(note["id"]), jsonBody{"content": "<p>d**n politics</p>", "visibility": "public"})

	ways := map[string]func(id any) doc{
		"boosted":   func(id any) doc { return peer.activity("Announce", bob, id, doc{"to": []any{toPublic}}) },
		"relayed":   func(id any) doc { return peer.activity("Announce", relay, id) },
		"forwarded": nil,
		"searched":  nil,
		"a parent":  nil,
	}
	for name, announce := range ways {
		for _, content := range []string{"<p>a casino</p>", "<p>darn politics</p>"} {
			n := peer.note(carol, content)
			peer.serve(n)
			switch name {
			case "forwarded":
				peer.deliver(srv, "/inbox", relay, peer.create(n)).want(http.StatusAccepted)
			case "searched":
				alice.get("/api/v2/search", "q", n["id"].(string), "resolve", "true").want(200)
			case "a parent":
				peer.post(srv, peer.create(peer.note(bob, "<p>an answer</p>", doc{"inReplyTo": n["id"]})))
			default:
				peer.post(srv, announce(n["id"]))
			}
			settle(srv)
			got := alice.postOf(n["id"])
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
			wantMembers(t, name, got, jsonBody{"content": "<p>d**n politics</p>", "visibility": "unlisted"})
		}
	}
}

// What actors say of themselves passes the policies when it is fetched and when it is sent.
func TestPoliciesOnProfiles(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) {
		c.MRF.Policies = []string{"EmojiPolicy"}
		c.MRFEmoji.RemoveURL = []string{"pictures.example/emoji"}
	})
	alice := srv.signUp("alice")
	good := doc{"type": "Emoji", "name": ":good:", "icon": doc{"type": "Image", "url": "https://pictures.example/good.png"}}
	bob := peer.actor("bob", doc{"name": "Bob :bad: :good:", "tag": []any{policyEmoji, good}})
	alice.follows(bob)
	shown := func() {
		t.Helper()
		if got := members(alice.get("/api/v1/accounts/"+srv.known(bob)).want(200).object(), "emojis", "shortcode"); !slices.Equal(got, []string{"good"}) {
			t.Errorf("the emoji are %v", got)
		}
	}
	shown()
	peer.receive(srv, peer.activity("Update", bob, doc{
		"id": bob, "type": "Person", "preferredUsername": "bob", "name": "Bobby :bad: :good:", "inbox": bob + "/inbox", "tag": []any{policyEmoji, good},
	}))
	if got := alice.get("/api/v1/accounts/" + srv.known(bob)).want(200).object().str("display_name"); got != "Bobby :bad: :good:" {
		t.Errorf("bob is called %s", got)
	}
	shown()
	st := alice.publish("react")
	react := peer.activity("EmojiReact", bob, st.str("uri"), doc{"content": ":bad:", "tag": []any{policyEmoji}})
	peer.receive(srv, react)
	srv.refusedFor("a reaction", react["id"], "EmojiPolicy")
}

// Bots do not follow those who do not want it, and reports have to say something.
func TestPoliciesOnFollowsAndReports(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) {
		c.MRF.Policies = []string{"AntiFollowbotPolicy", "RemoteReportPolicy", "TagPolicy"}
	})
	alice, shy := srv.signUp("alice"), srv.signUp("shy")
	bot, bob, server := peer.actor("bot", doc{"type": "Service"}), peer.actor("bob"), peer.actor("instance", doc{"type": "Application"})
	follow := peer.activity("Follow", bot, alice.uri())
	peer.receive(srv, follow)
	srv.refusedFor("a bot", follow["id"], "AntiFollowbotPolicy")
	alice.follows(bot)
	peer.receive(srv, peer.activity("Follow", bot, alice.uri()))
	alice.relationship(srv.known(bot)).wantTruths(relations, "following", "followed_by")
	srv.tag(shy, "mrf_tag:disable-remote-subscription")
	srv.meet(bob)
	follow = peer.activity("Follow", bob, shy.uri())
	peer.receive(srv, follow)
	srv.refusedFor("a follow of who is not to be followed", follow["id"], "TagPolicy")
	for name, tt := range map[string]struct {
		flag doc
		ok   bool
	}{
		"of a server":    {peer.activity("Flag", server, []any{alice.uri()}, doc{"content": "rude"}), false},
		"without a word": {peer.activity("Flag", bob, []any{alice.uri()}), false},
		"a summary":      {peer.activity("Flag", bob, alice.uri(), doc{"summary": "rude"}), true},
		"of a person":    {peer.activity("Flag", bob, []any{shy.uri()}, doc{"content": "rude"}), true},
	} {
		before := srv.count(`SELECT count(*) FROM reports`)
		peer.receive(srv, tt.flag)
		if got := srv.count(`SELECT count(*) FROM reports`) > before; got != tt.ok {
			t.Errorf("a report %s: %v, refused for %q", name, got, srv.refusals(tt.flag["id"]))
		}
	}
}

// The policies that ask others do so about what comes in.
func TestPoliciesThatAsk(t *testing.T) {
	peer := startFake(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		score := 0.1
		if strings.HasSuffix(r.URL.Query().Get("url"), "/1.png") {
			score = 0.9
		}
		fmt.Fprintf(w, `{"score":%v}`, score)
	}))
	defer service.Close()
	srv := startPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = []string{"NsfwApiPolicy", "MediaProxyWarmingPolicy", "StealEmojiPolicy", "FollowBotPolicy"}
		c.MRFNSFWAPI.URL, c.MRFNSFWAPI.Unlist = service.URL, true
		c.MRFStealEmoji.Hosts = []string{peer.host}
		c.MRFFollowBot.FollowerNickname = "robot"
	})[0]
	robot, alice := srv.signUp("robot"), srv.signUp("alice")
	robot.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"bot": true}).want(200)
	bob := peer.actor("bob")
	alice.follows(bob)
	picture := pngFile(3, 3)
	for _, name := range []string{"/1.png", "/2.png", "/cat.png"} {
		peer.respond(name, http.StatusOK, "image/png", picture)
	}
	post := func(name string) doc {
		n := peer.note(bob, "<p>:cat:</p>", doc{
			"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": peer.url + name}},
			"tag":        []any{doc{"type": "Emoji", "name": ":cat:", "icon": doc{"type": "Image", "url": peer.url + "/cat.png"}}},
		})
		peer.receive(srv, peer.create(n))
		return n
	}
	wantMembers(t, "a bad picture", alice.wantPost(post("/1.png")["id"]), jsonBody{"sensitive": true, "visibility": "unlisted"})
	wantMembers(t, "a good one", alice.wantPost(post("/2.png")["id"]), jsonBody{"sensitive": false, "visibility": "public"})
	waitFor(t, "the pictures are fetched", func() bool { return peer.asked("/1.png") == 1 && peer.asked("/2.png") == 1 })
	waitFor(t, "the emoji is copied", func() bool { return srv.emojis.Has("cat") })
	robot.relationship(srv.known(bob)).wantTruths(relations, "requested")
	peer.only("Follow")
}

// What hosts may show of people, and whom they may boost for.
func TestSimplePolicyOnProfilesAndBoosts(t *testing.T) {
	peer := startFake(t)
	for _, tt := range []struct {
		name string
		set  func(*config.MRFSimple)
		want string
	}{
		{"unlisted", func(s *config.MRFSimple) { s.FederatedTimelineRemoval = hostList(peer) }, "unlisted"},
		{"for followers", func(s *config.MRFSimple) { s.FollowersOnly = hostList(peer) }, "private"},
	} {
		srv := startPeers(t, 1, func(c *config.Config) {
			c.MRF.Policies = []string{"SimplePolicy"}
			c.MRFSimple.AvatarRemoval, c.MRFSimple.BannerRemoval = hostList(peer), hostList(peer)
			tt.set(&c.MRFSimple)
		})[0]
		alice, carol := srv.signUp("alice"), srv.signUp("carol")
		picture := func(name string) doc { return doc{"type": "Image", "url": "https://pictures.example/" + name} }
		bob := peer.actor("bob", doc{"icon": picture("a.png"), "image": picture("b.png")})
		alice.follows(bob)
		shown := func() {
			t.Helper()
			for _, key := range []string{"avatar", "header"} {
				if got := alice.get("/api/v1/accounts/" + srv.known(bob)).want(200).object().str(key); !strings.HasPrefix(got, srv.url+"/images/") {
					t.Errorf("the %s is %s", key, got)
				}
			}
		}
		shown()
		peer.receive(srv, peer.activity("Update", bob, doc{
			"id": bob, "type": "Person", "preferredUsername": "bob", "inbox": bob + "/inbox", "icon": picture("c.png"), "image": picture("d.png"),
		}))
		shown()
		st := carol.publish("boost me")
		peer.receive(srv, peer.activity("Announce", bob, st.str("uri"), doc{"to": []any{toPublic}}))
		home := alice.get("/api/v1/timelines/home").want(200).list()
		if len(home) != 1 || home[0].at("reblog") == nil || home[0].str("visibility") != tt.want {
			t.Errorf("%s: home has %v", tt.name, home)
		}
	}
}

// An account is of its server, and of the host in its handle: whoever is refused by that is refused, also if it is known.
func TestPoliciesGoByHandles(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFSimple.Reject = []string{"SimplePolicy"}, []config.HostReason{{Host: "handles.example"}}
	})
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	srv.insert(`UPDATE accounts SET domain = 'handles.example' WHERE uri = ?`, bob)
	note := peer.note(bob, "<p>hello</p>")
	peer.serve(note)
	peer.deliver(srv, "/inbox", bob, peer.create(note)).want(403)
	alice.get("/api/v2/search", "q", note["id"].(string), "resolve", "true").want(200)
	st := alice.publish("like me")
	peer.deliver(srv, "/inbox", bob, peer.activity("Like", bob, st.str("uri"))).want(403)
	if got := alice.get("/api/v1/statuses/" + st.id()).object().num("favourites_count"); got != 0 {
		t.Errorf("%d favourites", got)
	}
	if got := alice.postOf(note["id"]); got != nil {
		t.Errorf("the post is here: %v", got)
	}
	srv.signUp("carol").post("/api/v1/accounts/"+srv.known(bob)+"/follow").
		wantError(422, "The rules of this server do not allow this (SimplePolicy): the host handles.example is in the reject list")
}

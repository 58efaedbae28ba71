package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/app/apptest/peers"
	"svc/internal/config"
)

// peerWorld is this server with the user alice, and a simulated server with the account ben. They follow each other.
type peerWorld struct {
	*testing.T
	srv   *apptest.Server
	alice *apptest.User
	staff *apptest.User
	peer  *peers.Server
	ben   string
	group string // of the server, if it has groups
	names int
}

// startPeerWorld starts it for a kind of server.
func startPeerWorld(t *testing.T, p *peers.Profile) *peerWorld {
	srv := apptest.StartWithLoopback(t, func(c *config.Config) {
		c.Federation.SendBlocks, c.Cards.Enabled = true, false
		c.Instance.RegistrationsOpen = true
	})
	w := &peerWorld{T: t, srv: srv, alice: srv.SignUp("alice"), staff: srv.SignUpAdmin(), peer: peers.Start(t, p)}
	w.ben = w.peer.AddActor("ben")
	w.alice.FollowRemote(w.ben)
	if p.DoesSend("group") {
		w.group = w.peer.AddActor("group", peers.Doc{"type": "Group", "followers": w.peer.ActorID("group") + "/followers"})
		w.alice.FollowRemote(w.group)
	}
	if p.DoesSend("follow") {
		w.peer.Deliver(w.alice, w.peer.Follow(w.ben, w.alice.URI()))
	} else {
		ben, err := srv.Federation.Actors.Actor(t.Context(), w.ben)
		if err != nil {
			t.Fatal(err)
		}
		srv.AddRemoteFollow(ben, w.alice, false)
	}
	return w
}

// in returns a copy for a subtest.
func (w *peerWorld) in(t *testing.T) *peerWorld {
	copied := *w
	copied.T, copied.srv.T, copied.peer.T = t, t, t
	return &copied
}

// another returns the id of a new actor.
func (w *peerWorld) another(changes ...peers.Doc) string {
	w.names++
	return w.peer.AddActor(strings.ToLower(strings.NewReplacer("/", "", "-", "").Replace(w.Name()[strings.LastIndex(w.Name(), "/")+1:]))+fmt.Sprint(w.names), changes...)
}

// known returns the API id of a remote account.
func (w *peerWorld) known(uri string) string {
	w.Helper()
	id := w.srv.KnownID(uri)
	if id == "" {
		w.Fatalf("%s is unknown", uri)
	}
	return id
}

// posted delivers a new post of ben and returns it as alice sees it.
func (w *peerWorld) posted(d peers.Draft) (peers.Doc, *apptest.Object) {
	w.Helper()
	if d.Text == "" {
		d.Text = "hello from " + w.peer.Name
	}
	post := w.peer.NewPost(w.ben, d)
	w.peer.Deliver(w.alice, w.peer.Create(post))
	return post, w.alice.WantPost(post["id"])
}

// want checks a member of an entity.
func (w *peerWorld) want(o *apptest.Object, path string, want any) {
	w.Helper()
	if got := o.Find(path); fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s is %v, want %v, in %v", path, got, want, o.Fields)
	}
}

// status returns a status as alice sees it.
func (w *peerWorld) status(o *apptest.Object) *apptest.Object {
	w.Helper()
	return w.alice.Get("/api/v1/statuses/" + o.ID()).Want(200).Object()
}

func (w *peerWorld) wantVisibility(visibility string) {
	w.Helper()
	_, o := w.posted(peers.Draft{Visibility: visibility, Mentions: []*apptest.User{w.alice}})
	w.want(o, "visibility", visibility)
	w.want(o, "account.id", w.known(w.ben))
	if got := w.alice.Get("/api/v1/timelines/home").Want(200).IDs(); !slices.Contains(got, o.ID()) {
		w.Errorf("it is not in the home timeline")
	}
}

// fromPeers has the check of each function that other servers send.
var fromPeers = map[string]func(w *peerWorld){
	"follow": func(w *peerWorld) {
		cleo := w.another()
		w.peer.Deliver(w.alice, w.peer.Follow(cleo, w.alice.URI()))
		w.peer.WantTook("accept " + cleo)
		w.alice.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags, "followed_by")
	},
	"accept": func(w *peerWorld) { answerFromPeer(w, "Accept", "following") },
	"reject": func(w *peerWorld) {
		answerFromPeer(w, "Reject")
	},
	"unfollow": func(w *peerWorld) {
		cleo := w.another()
		follow := w.peer.Follow(cleo, w.alice.URI())
		w.peer.Deliver(w.alice, follow, w.peer.Undo(follow))
		w.alice.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags)
	},
	"public":    func(w *peerWorld) { w.wantVisibility("public") },
	"unlisted":  func(w *peerWorld) { w.wantVisibility("unlisted") },
	"followers": func(w *peerWorld) { w.wantVisibility("private") },
	"direct": func(w *peerWorld) {
		post := w.peer.NewPost(w.ben, peers.Draft{Text: "only you", Visibility: "direct", Mentions: []*apptest.User{w.alice}})
		w.peer.Deliver(w.alice, w.peer.Create(post))
		w.want(w.alice.WantPost(post["id"]), "visibility", "direct")
	},
	"warning": func(w *peerWorld) {
		_, o := w.posted(peers.Draft{Warning: "spiders"})
		w.want(o, "spoiler_text", "spiders")
		w.want(o, "sensitive", true)
	},
	"media": func(w *peerWorld) {
		d := peers.Draft{AltText: "a lake"}
		if w.peer.Profile == peers.Lemmy {
			d.Type, d.Name, d.Audience = "Page", "Lake", w.group
		}
		_, o := w.posted(d)
		w.want(o, "media_attachments.0.description", "a lake")
		w.want(o, "media_attachments.0.type", "image")
	},
	"poll": func(w *peerWorld) {
		_, o := w.posted(peers.Draft{Options: []string{"tea", "coffee"}})
		w.want(o, "poll.options.1.title", "coffee")
		w.want(o, "poll.expired", false)
	},
	"vote": func(w *peerWorld) {
		poll := w.alice.PublishPoll([]string{"tea", "coffee", "water"}, "multiple", "true")
		w.peer.Deliver(w.alice, w.peer.Vote(w.ben, w.alice, poll.Str("uri"), "tea", "coffee")...)
		for i, n := range []int{1, 1, 0} {
			w.want(w.status(poll), fmt.Sprintf("poll.options.%d.votes_count", i), n)
		}
	},
	"reply": func(w *peerWorld) {
		mine := w.alice.Publish("what do you think?")
		_, o := w.posted(peers.Draft{ReplyTo: mine.Str("uri"), Mentions: []*apptest.User{w.alice}})
		w.want(o, "in_reply_to_id", mine.ID())
		w.want(w.status(mine), "replies_count", 1)
	},
	"mention": func(w *peerWorld) { // by an unknown account, which costs the fetches of its actor and WebFinger
		cleo := w.another()
		before := w.peer.AllFetches()
		post := w.peer.NewPost(cleo, peers.Draft{Text: "hello", Mentions: []*apptest.User{w.alice}})
		w.peer.Deliver(w.alice, w.peer.Create(post))
		if n := w.peer.AllFetches() - before; n != 2 {
			w.Errorf("it costs %d fetches, want 2", n)
		}
		o := w.alice.WantPost(post["id"])
		w.want(o, "mentions.0.id", w.alice.ID)
		w.want(w.alice.Get("/api/v1/notifications").Want(200).List()[0], "status.id", o.ID())
	},
	"hashtag": func(w *peerWorld) {
		_, o := w.posted(peers.Draft{Hashtags: []string{"Cats"}})
		w.want(o, "tags.0.name", "cats")
	},
	"emoji": func(w *peerWorld) {
		_, o := w.posted(peers.Draft{Text: "look :blobcat:", Emoji: "blobcat"})
		w.want(o, "emojis.0.shortcode", "blobcat")
	},
	"boost": func(w *peerWorld) {
		mine := w.alice.Publish("boost me")
		boost := w.peer.Boost(w.ben, mine.Str("uri"))
		w.peer.Deliver(w.alice, boost)
		w.want(w.status(mine), "reblogs_count", 1)
		w.peer.Deliver(w.alice, w.peer.Undo(boost))
		w.want(w.status(mine), "reblogs_count", 0)
	},
	"favourite": func(w *peerWorld) {
		mine := w.alice.Publish("like me")
		like := w.peer.Act("Like", w.ben, mine.Str("uri"))
		w.peer.Deliver(w.alice, like)
		w.want(w.status(mine), "favourites_count", 1)
		w.peer.Deliver(w.alice, w.peer.Undo(like))
		w.want(w.status(mine), "favourites_count", 0)
	},
	"reaction": func(w *peerWorld) {
		mine := w.alice.Publish("react to me")
		react := w.peer.Act("EmojiReact", w.ben, mine.Str("uri"), peers.Doc{"content": "🔥"})
		w.peer.Deliver(w.alice, react)
		w.want(w.status(mine), "svc.emoji_reactions.0.name", "🔥")
		w.peer.Deliver(w.alice, w.peer.Undo(react))
		w.want(w.status(mine), "svc.emoji_reactions.0", nil)
	},
	"edit": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{Text: "frist"})
		w.peer.Deliver(w.alice, w.peer.Update(post, peers.Doc{"content": "<p>first</p>", "updated": apptest.FromNow(1e9)}))
		w.want(w.status(o), "content", "<p>first</p>")
		if w.status(o).At("edited_at") == nil {
			w.Error("it is not an edit")
		}
	},
	"delete": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{})
		w.peer.Deliver(w.alice, w.peer.Delete(post))
		w.alice.Get("/api/v1/statuses/" + o.ID()).Want(404)
	},
	"quote": func(w *peerWorld) {
		mine := w.alice.Publish("quote me")
		_, o := w.posted(peers.Draft{Quote: mine.Str("uri")})
		w.want(o, "quote.quoted_status.id", mine.ID())
		w.want(w.alice.Get("/api/v1/notifications", "types[]", "quote").Want(200).List()[0], "status.id", o.ID())
	},
	"pin": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{})
		featured := peers.Doc{"id": w.ben + "/collections/featured", "type": "OrderedCollection", "totalItems": 1, "orderedItems": []any{post["id"]}}
		w.peer.Serve(featured)
		pin := w.peer.Act("Add", w.ben, post["id"], peers.Doc{"target": featured["id"]})
		if w.peer.Profile == peers.GoToSocial { // which tells others by an Update
			pin = w.peer.Update(w.peer.ActorDocument("ben"))
		}
		w.peer.Deliver(w.alice, pin)
		pinned := func() []string {
			return w.alice.Get("/api/v1/accounts/" + w.known(w.ben) + "/statuses?pinned=true").Want(200).IDs()
		}
		apptest.WantList(w.T, "pinned posts", pinned(), o.ID())
		if w.peer.Profile != peers.GoToSocial {
			w.peer.Serve(peers.Copy(featured, peers.Doc{"totalItems": 0, "orderedItems": []any{}}))
			w.peer.Deliver(w.alice, w.peer.Act("Remove", w.ben, post["id"], peers.Doc{"target": featured["id"]}))
			apptest.WantList(w.T, "pinned posts", pinned())
		}
	},
	"move": func(w *peerWorld) {
		cleo := w.another()
		w.alice.FollowRemote(cleo)
		target := w.another(peers.Doc{"alsoKnownAs": []any{cleo}})
		if w.peer.Profile != peers.Snac { // which never writes it
			w.peer.AddActor(w.peer.Document(cleo)["preferredUsername"].(string), peers.Doc{"movedTo": target})
		}
		w.peer.Deliver(w.alice, w.peer.Act("Move", cleo, cleo, peers.Doc{"target": target, "to": []any{cleo + "/followers"}}))
		w.peer.WantTook("follow "+target, "unfollow "+cleo)
	},
	"block": func(w *peerWorld) {
		cleo := w.another()
		w.alice.FollowRemote(cleo)
		block := w.peer.Act("Block", cleo, w.alice.URI())
		w.peer.Deliver(w.alice, block)
		w.alice.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags, "blocked_by")
		w.peer.Deliver(w.alice, w.peer.Undo(block))
		w.alice.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags)
	},
	"report": func(w *peerWorld) {
		mine := w.alice.Publish("buy now")
		w.peer.Deliver(w.alice, w.peer.Act("Flag", w.ben, []any{w.alice.URI(), mine.Str("uri")}, peers.Doc{
			"content": "spam, see " + mine.Str("uri"), "to": []any{w.alice.URI()},
		}))
		report := w.staff.Get("/api/v1/notifications", "types[]", "svc:report").Want(200).List()[0]
		w.want(report, "report.statuses.0.id", mine.ID())
	},
	"profile": func(w *peerWorld) {
		w.peer.Deliver(w.alice, w.peer.Update(w.peer.ActorDocument("ben", peers.Doc{"name": "Ben B."})))
		w.want(w.alice.Get("/api/v1/accounts/"+w.known(w.ben)).Want(200).Object(), "display_name", "Ben B.")
	},
	"rotation": func(w *peerWorld) {
		cleo := w.another()
		like := func() { w.peer.Deliver(w.alice, w.peer.Act("Like", cleo, w.alice.Publish("like me").Str("uri"))) }
		like()
		doc := w.peer.RotateKey(cleo)
		w.peer.Deliver(w.alice, w.peer.Update(doc))
		w.peer.UseNewKey(cleo)
		like()
		if n := len(w.alice.Get("/api/v1/notifications", "types[]", "favourite", "account_id", w.known(cleo)).Want(200).List()); n != 2 {
			w.Errorf("%d favourites arrived, want 2", n)
		}
	},
	"thread": func(w *peerWorld) {
		root := w.peer.NewPost(w.ben, peers.Draft{Text: "root"})
		middle := w.peer.NewPost(w.ben, peers.Draft{Text: "middle", ReplyTo: root["id"].(string)})
		_, o := w.posted(peers.Draft{Text: "leaf", ReplyTo: middle["id"].(string), Mentions: []*apptest.User{w.alice}})
		thread := w.alice.Get("/api/v1/statuses/" + o.ID() + "/context").Want(200).Object()
		w.want(thread, "ancestors.0.uri", root["id"])
		w.want(thread, "ancestors.1.uri", middle["id"])
	},
	"page": func(w *peerWorld) {
		post := w.peer.NewPost(w.ben, peers.Draft{Text: "found by its page"})
		if !w.peer.PageRedirects {
			w.peer.ServeAt(post["url"].(string), post)
		}
		found := w.alice.Get("/api/v2/search", "q", post["url"].(string), "resolve", "true", "type", "statuses").Want(200).Object()
		w.want(found, "statuses.0.uri", post["id"])
	},
	"chat": func(w *peerWorld) {
		sent := w.peer.Chat(w.ben, w.alice, "psst")
		w.peer.Deliver(w.alice, sent)
		chats := w.alice.Get("/api/v2/svc/chats").Want(200).List()
		if len(chats) != 1 {
			w.Fatalf("%d chats", len(chats))
		}
		w.want(chats[0], "account.id", w.known(w.ben))
		apptest.WantList(w.T, "messages", w.alice.ChatMessages(chats[0].ID()), "psst")
		w.peer.Deliver(w.alice, w.peer.Delete(sent["object"].(peers.Doc)))
		apptest.WantList(w.T, "messages after the deletion", w.alice.ChatMessages(chats[0].ID()))
	},
	"synchronization": func(w *peerWorld) { // the other server has lost a follow
		cleo := w.another()
		w.alice.FollowRemote(cleo)
		w.staff.FollowRemote(cleo)
		w.peer.SetFollowers(cleo, w.alice.URI())
		w.peer.Deliver(w.alice, w.peer.Create(w.peer.NewPost(cleo, peers.Draft{Text: "for my followers", Visibility: "private"})))
		w.alice.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags, "following")
		w.staff.Relationship(w.known(cleo)).WantTrue(apptest.RelationshipFlags)
		w.peer.WantTook("unfollow " + cleo)
	},
	"group": groupFromPeer,
	"article": func(w *peerWorld) {
		_, o := w.posted(peers.Draft{Type: "Article", Name: "On lakes", Text: "They are wet."})
		if content := o.Str("content"); !strings.Contains(content, "On lakes") || !strings.Contains(content, "They are wet.") {
			w.Errorf("the article is %s", content)
		}
	},
	"video": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{Type: "Video", Name: "A lake", Text: "seen *yesterday*", Audience: w.group})
		w.want(o, "url", post["url"].([]any)[0].(peers.Doc)["href"])
		w.want(o, "media_attachments.0.type", "video")
		if content := o.Str("content"); !strings.Contains(content, "A lake") {
			w.Errorf("the video is %s", content)
		}
	},
}

// answerFromPeer sends a follow, which is answered, and checks the relationship.
func answerFromPeer(w *peerWorld, kind string, flags ...string) {
	w.Helper()
	dora := w.another()
	id := w.srv.FetchActor(dora)
	w.alice.AccountAction(id, "follow")
	apptest.Settle(w.srv)
	w.peer.WantTook("follow " + dora)
	w.peer.Deliver(w.alice, w.peer.Answer(kind, dora, w.peer.LastReceived("Follow")))
	w.alice.Relationship(id).WantTrue(apptest.RelationshipFlags, flags...)
}

// groupFromPeer checks that a post that a group announces is the group's boost.
func groupFromPeer(w *peerWorld) {
	d := peers.Draft{Text: "in the group", Audience: w.group}
	switch w.peer.Profile {
	case peers.Lemmy:
		d.Type, d.Name = "Page", "News"
	case peers.PeerTube:
		d.Type, d.Name = "Video", "News"
	}
	author := w.another() // without followers
	post := w.peer.NewPost(author, d)
	var object any = post["id"]
	if w.peer.Profile == peers.Lemmy {
		object = peers.Copy(w.peer.Create(post), peers.Doc{"@context": nil})
	}
	w.peer.Deliver(w.alice, w.peer.Act("Announce", w.group, object, peers.Doc{"to": []any{apptest.Public}, "cc": []any{w.group + "/followers"}}))
	boost := w.alice.Get("/api/v1/timelines/home").Want(200).List()[0]
	w.want(boost, "account.id", w.known(w.group))
	w.want(boost, "reblog.uri", post["id"])
	w.want(boost, "reblog.account.id", w.known(author))
}

// TestFromPeers checks for each kind of server that the activities that it sends are understood.
func TestFromPeers(t *testing.T) {
	apptest.SkipIfShort(t)
	for _, p := range peers.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			w := startPeerWorld(t, p)
			for _, function := range peers.Functions {
				if !p.DoesSend(function.Name) {
					continue
				}
				t.Run(function.Name, func(t *testing.T) {
					w := w.in(t)
					w.peer.Took()
					fromPeers[function.Name](w)
				})
			}
		})
	}
}

// TestForwardedProof checks that the proof in an activity of Ghost counts where its signature does not: when another server forwards it.
func TestForwardedProof(t *testing.T) {
	w := startPeerWorld(t, peers.Ghost)
	carrier := apptest.StartFake(t)
	carl := carrier.AddActor("carl")
	w.alice.FollowRemote(carl)
	for _, tt := range []struct {
		name   string
		change func(peers.Doc)
		want   int
	}{
		{"proven", func(peers.Doc) {}, 1},
		{"changed since", func(d peers.Doc) { d["content"] = "x" }, 0},
		{"without a proof", func(d peers.Doc) { delete(d, "proof") }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mine := w.alice.Publish(tt.name)
			like := w.peer.Proven(w.peer.Act("Like", w.ben, mine.Str("uri")))
			tt.change(like)
			carrier.Deliver(w.srv, "/inbox", carl, like)
			if n := w.alice.Favourites(mine.ID()); n != tt.want {
				t.Errorf("%d favourites, want %d: %s", n, tt.want, w.srv.Refusals(like["id"]))
			}
		})
	}
}

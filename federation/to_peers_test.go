package federation_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/app/apptest/peers"
	"svc/federation"
)

// publish posts as alice and returns the status, and the post as the other server has it.
func (w *peerWorld) publish(text string, params ...string) (*apptest.Object, *peers.Post) {
	w.Helper()
	o := w.alice.Publish(text, params...)
	apptest.Settle(w.srv)
	return o, w.peer.Post(o.Str("uri"))
}

// wantSent posts as alice and checks how the other server shows the post.
func (w *peerWorld) wantSent(visibility, text string, params ...string) *peers.Post {
	w.Helper()
	o, p := w.publish(text, params...)
	w.peer.WantTook(visibility + " " + o.Str("uri"))
	if p.Visibility != visibility {
		w.Errorf("the visibility is %s, want %s", p.Visibility, visibility)
	}
	return p
}

// handle returns the handle of ben in posts.
func (w *peerWorld) handle() string {
	return fmt.Sprint("@", w.peer.Document(w.ben)["preferredUsername"], "@", w.peer.Host)
}

// do calls an action of alice on a status and returns what the other server took.
func (w *peerWorld) do(o *apptest.Object, action string) {
	w.Helper()
	w.alice.Post("/api/v1/statuses/" + o.ID() + "/" + action).Want(200)
	apptest.Settle(w.srv)
}

// wantUndone checks an action of alice on a post of ben, and its withdrawal.
func (w *peerWorld) wantUndone(function, action, undo string) {
	w.Helper()
	post, o := w.posted(w.draft())
	w.do(o, action)
	w.do(o, undo)
	w.peer.WantTook(function+" "+post["id"].(string), "un"+function+" "+post["id"].(string))
}

// draft returns a post in the type that the other server is about.
func (w *peerWorld) draft() peers.Draft {
	switch w.peer.Profile {
	case peers.Lemmy:
		return peers.Draft{Type: "Page", Name: "News", Audience: w.group}
	case peers.PeerTube:
		return peers.Draft{Type: "Video", Name: "News", Audience: w.group}
	}
	return peers.Draft{}
}

// toPeers has the check of each function that other servers understand.
var toPeers = map[string]func(w *peerWorld){
	"follow": func(w *peerWorld) {
		dora := w.another()
		w.alice.AccountAction(w.srv.FetchActor(dora), "follow")
		apptest.Settle(w.srv)
		w.peer.WantTook("follow " + dora)
	},
	"unfollow": func(w *peerWorld) {
		dora := w.another()
		id := w.srv.FetchActor(dora)
		for _, action := range []string{"follow", "unfollow"} {
			w.alice.AccountAction(id, action)
			apptest.Settle(w.srv)
		}
		w.peer.WantTook("follow "+dora, "unfollow "+dora)
	},
	"accept": func(w *peerWorld) {
		cleo := w.another()
		w.peer.Deliver(w.alice, w.peer.Follow(cleo, w.alice.URI()))
		w.peer.WantTook("accept " + cleo)
		w.peer.Deliver(w.alice, w.peer.Follow(cleo, w.alice.URI()))
		w.peer.WantTook("accept " + cleo) // again, because the first may have been lost
	},
	"reject": func(w *peerWorld) {
		cleo := w.another()
		w.peer.Deliver(w.alice, w.peer.Follow(cleo, w.alice.URI()))
		w.alice.AccountAction(w.known(cleo), "remove_from_followers")
		apptest.Settle(w.srv)
		w.peer.WantTook("accept "+cleo, "reject "+cleo)
	},
	"public":    func(w *peerWorld) { w.wantSent("public", "hello") },
	"unlisted":  func(w *peerWorld) { w.wantSent("unlisted", "hello", "visibility", "unlisted") },
	"followers": func(w *peerWorld) { w.wantSent("followers", "hello", "visibility", "private") },
	"direct": func(w *peerWorld) {
		p := w.wantSent("direct", w.handle()+" hello", "visibility", "direct")
		if last := w.peer.LastReceived("Create"); len(last["to"].([]any)) != 1 || len(last["cc"].([]any)) != 0 {
			w.Errorf("a direct post is for %v and %v", last["to"], last["cc"])
		}
		apptest.WantList(w.T, "mentions", p.Mentions, w.ben)
	},
	"warning": func(w *peerWorld) {
		if p := w.wantSent("public", w.handle()+" eight legs", "spoiler_text", "spiders", "media_ids[]", w.picture()); p.Warning != "spiders" || !p.Sensitive {
			w.Errorf("the warning is %q, sensitive %v", p.Warning, p.Sensitive)
		}
	},
	"media": func(w *peerWorld) {
		p := w.wantSent("public", "look", "media_ids[]", w.picture())
		apptest.WantList(w.T, "alternative texts", p.AltTexts, "a lake")
	},
	"poll": func(w *peerWorld) {
		poll := w.alice.PublishPoll([]string{"tea", "coffee"})
		apptest.Settle(w.srv)
		p := w.peer.Post(poll.Str("uri"))
		if p.Type != "Question" {
			w.Errorf("a poll is a %s", p.Type)
		}
		apptest.WantList(w.T, "options", p.Options, "tea", "coffee")
	},
	"vote": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{Options: []string{"tea", "coffee"}})
		w.alice.Vote(o, 1).Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook("vote " + post["id"].(string) + " coffee")
	},
	"reply": func(w *peerWorld) {
		post, o := w.posted(w.draft())
		_, p := w.publish(w.handle()+" I see", "in_reply_to_id", o.ID())
		if p.ReplyTo != post["id"] || p.Visibility != "public" {
			w.Errorf("it is a %s reply to %s", p.Visibility, p.ReplyTo)
		}
		apptest.WantList(w.T, "mentions", p.Mentions, w.ben)
	},
	"mention": func(w *peerWorld) {
		p := w.wantSent("public", "hi "+w.handle())
		apptest.WantList(w.T, "mentions", p.Mentions, w.ben)
		if profile := w.alice.Get("/api/v1/accounts/" + w.known(w.ben)).Want(200).Object().Str("url"); !strings.Contains(p.Text, profile) {
			w.Errorf("the mention does not link to the profile: %s", p.Text)
		}
	},
	"hashtag": func(w *peerWorld) {
		p := w.wantSent("public", "look at #Cats", "media_ids[]", w.picture())
		apptest.WantList(w.T, "hashtags", p.Hashtags, "#cats")
	},
	"emoji": func(w *peerWorld) {
		w.srv.AddEmoji("cats", map[string]string{"blobcat": "blobcat.png"})
		p := w.wantSent("public", "look :blobcat:")
		apptest.WantList(w.T, "emoji", p.Emoji, ":blobcat:")
	},
	"boost":     func(w *peerWorld) { w.wantUndone("boost", "reblog", "unreblog") },
	"favourite": func(w *peerWorld) { w.wantUndone("favourite", "favourite", "unfavourite") },
	"reaction": func(w *peerWorld) {
		post, o := w.posted(peers.Draft{})
		w.alice.ReactWith(o.ID(), "🔥")
		apptest.Settle(w.srv)
		w.alice.React("DELETE", o.ID(), "🔥").Want(200)
		apptest.Settle(w.srv)
		effect := fmt.Sprintf("reaction %s 🔥", post["id"])
		w.peer.WantTook(effect, "un"+effect)
	},
	"edit": func(w *peerWorld) {
		o, _ := w.replied("frist")
		w.alice.EditStatus(o.ID(), map[string]any{"status": w.handle() + " first"}).Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook("edit " + o.Str("uri"))
		if p := w.peer.Post(o.Str("uri")); !strings.Contains(p.Text, "first") || !p.Edited {
			w.Errorf("the edited post is %+v", p)
		}
	},
	"delete": func(w *peerWorld) {
		o, _ := w.replied("oops")
		w.alice.Do("DELETE", "/api/v1/statuses/"+o.ID(), "", nil).Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook("delete " + o.Str("uri"))
	},
	"quote": quoteToPeer,
	"pin": func(w *peerWorld) {
		o, _ := w.publish("pinned")
		w.do(o, "pin")
		w.do(o, "unpin")
		w.peer.WantTook("pin "+o.Str("uri"), "unpin "+o.Str("uri"))
	},
	"move": func(w *peerWorld) {
		carol := w.srv.SignUp("carol")
		w.peer.Deliver(carol, w.peer.Follow(w.ben, carol.URI()))
		target := w.another(peers.Doc{"alsoKnownAs": []any{carol.URI()}})
		carol.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", w.peer.Document(target)["preferredUsername"].(string)+"@"+w.peer.Host).Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook("move " + target)
	},
	"block": func(w *peerWorld) {
		dora := w.another()
		id := w.srv.FetchActor(dora)
		for _, action := range []string{"block", "unblock"} {
			w.alice.AccountAction(id, action)
			apptest.Settle(w.srv)
		}
		w.peer.WantTook("block "+dora, "unblock "+dora)
	},
	"report": func(w *peerWorld) {
		post, o := w.posted(w.draft())
		w.alice.Post("/api/v1/reports", "account_id", w.known(w.ben), "status_ids[]", o.ID(), "comment", "spam", "forward", "true").Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook(fmt.Sprintf("report %s %s: spam", w.ben, post["id"]))
	},
	"profile": func(w *peerWorld) {
		w.alice.UpdateProfile(apptest.Doc{"display_name": "Alice of " + w.peer.Name})
		w.srv.RunDelayedJobs()
		apptest.Settle(w.srv)
		w.peer.WantTook("profile " + w.alice.URI() + " Alice of " + w.peer.Name)
	},
	"rotation": func(w *peerWorld) {
		_, before := w.replied("before") // with the old key
		if _, err := w.srv.Federation.Operator.RotateKeys(w.Context(), federation.Rotation{Name: "alice"}); err != nil {
			w.Fatal(err)
		}
		apptest.Settle(w.srv)
		w.srv.Exec(`UPDATE jobs SET run_at = 1 WHERE kind = 'retire_keys'`)
		apptest.Settle(w.srv)
		_, after := w.replied("after")
		w.peer.Took() // fails if it refused a signature
		if before.ID == after.ID {
			w.Error("nothing arrived after the rotation")
		}
	},
	"thread": func(w *peerWorld) {
		root := w.alice.Publish("root")
		reply := w.alice.Publish("reply", "in_reply_to_id", root.ID())
		other := w.peer.NewPost(w.ben, peers.Draft{Text: "another reply", ReplyTo: root.Str("uri"), Mentions: []*apptest.User{w.alice}})
		w.peer.Deliver(w.alice, w.peer.Create(other))
		collection, _ := w.peer.Fetch(root.Str("uri"))["replies"].(peers.Doc)
		var items []any
		for page := collection["first"]; page != nil; {
			if address, ok := page.(string); ok {
				page = w.peer.Fetch(address)
			}
			items = append(items, listOf(page.(peers.Doc)["items"])...)
			page = page.(peers.Doc)["next"]
		}
		if fmt.Sprint(items) != fmt.Sprint([]any{reply.Str("uri"), other["id"]}) {
			w.Errorf("the replies are %v, want %s and %s", items, reply.Str("uri"), other["id"])
		}
		if parent := w.peer.Fetch(reply.Str("uri"))["inReplyTo"]; parent != root.Str("uri") {
			w.Errorf("the reply is to %v", parent)
		}
	},
	"chat": func(w *peerWorld) {
		chat := w.alice.Post("/api/v1/svc/chats/by-account-id/" + w.known(w.ben)).Want(200).Object().ID()
		message := w.alice.SendChat(chat, "psst")
		apptest.Settle(w.srv)
		w.peer.WantTook("chat " + w.ben + " psst")
		id := w.peer.LastReceived("Create")["object"].(peers.Doc)["id"].(string)
		w.alice.Do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+message.ID(), "", nil).Want(200)
		apptest.Settle(w.srv)
		w.peer.WantTook("delete " + id)
	},
	"synchronization": func(w *peerWorld) {
		o, _ := w.publish("before", "visibility", "private")
		if took := w.peer.Took(); len(took) != 1 || took[0] != "followers "+o.Str("uri") {
			w.Errorf("with the same followers it took %q", took)
		}
		w.peer.LoseFollow(w.ben, w.alice.URI())
		o, _ = w.publish("after", "visibility", "private")
		w.peer.WantTook("followers "+o.Str("uri"), "synchronization "+w.ben)
	},
	"page": func(w *peerWorld) {
		o := w.alice.Publish("found by its page")
		if d := w.peer.Fetch(w.srv.URL + "/@alice/" + o.ID()); d["id"] != o.Str("uri") {
			w.Errorf("the page is %v", d)
		}
		if d := w.peer.Fetch(w.srv.URL + "/@alice"); d["id"] != w.alice.URI() {
			w.Errorf("the profile is %v", d)
		}
	},
}

// quoteToPeer quotes a post of ben. Servers with FEP-044f are asked, and say yes.
func quoteToPeer(w *peerWorld) {
	post, quoted := w.posted(peers.Draft{})
	o, p := w.publish("look", "quoted_status_id", quoted.ID())
	if p.Quote != post["id"] {
		w.Errorf("it quotes %q, want %s", p.Quote, post["id"])
	}
	if w.peer.Profile != peers.Mastodon {
		return
	}
	w.peer.WantTook("quote " + post["id"].(string))
	authorization := peers.Doc{
		"id": w.ben + "/quote_authorizations/1", "type": "QuoteAuthorization", "attributedTo": w.ben, "interactingObject": o.Str("uri"), "interactionTarget": post["id"],
	}
	w.peer.Serve(authorization)
	w.peer.Deliver(w.alice, w.peer.Answer("Accept", w.ben, w.peer.LastReceived("QuoteRequest"), peers.Doc{"result": authorization["id"]}))
	if p := w.peer.Post(o.Str("uri")); p.Authorization != authorization["id"] {
		w.Errorf("the authorization is %q", p.Authorization)
	}
}

// replied answers a post of ben, so that each kind of server keeps the reply.
func (w *peerWorld) replied(text string) (*apptest.Object, *peers.Post) {
	w.Helper()
	_, o := w.posted(w.draft())
	return w.publish(w.handle()+" "+text, "in_reply_to_id", o.ID())
}

// picture uploads a picture and returns its id.
func (w *peerWorld) picture() string {
	w.Helper()
	return w.alice.Upload(apptest.JPEG(40, 30), apptest.ValuePart("description", "a lake")).ID()
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// TestToPeers checks for each kind of server that it understands the activities that it receives, and refuses none.
func TestToPeers(t *testing.T) {
	apptest.SkipIfShort(t)
	for _, p := range peers.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			w := startPeerWorld(t, p)
			for _, function := range peers.Functions {
				if !p.DoesRead(function.Name) {
					continue
				}
				t.Run(function.Name, func(t *testing.T) {
					w := w.in(t)
					apptest.Settle(w.srv)
					w.peer.Took()
					toPeers[function.Name](w)
					w.peer.Took()
				})
			}
		})
	}
}

package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// exposure is one status, and all that is made around it so that there is something to find on every path.
type exposure struct {
	visibility string
	id         string
	root       string // a public status of the same author that it replies to
	answer     string // a public reply of its author to it
	boost      string // by somebody whom everybody follows
	url        string
	poll       string            // of the status
	lists      map[string]string // by the viewer's token
	told       map[string]string // a notification of it, likewise
	folders    map[string]string // a folder that it is in, likewise
	author     *member
	booster    *member
}

// TestVisibility looks for statuses of every visibility as everybody, on every path that can name a status.
//
// To cover a new path, add it to the table: found tells whether the viewer gets to see the status there, and want, if it is not
// simply whether the viewer may see the status, when that is right.
func TestVisibility(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Statuses.MaxPinned = 100 })
	author, booster := srv.signUp("author"), srv.signUp("booster")
	follower, mentioned, friend := srv.signUp("follower"), srv.signUp("mentioned"), srv.signUp("friend")
	stranger, blocked := srv.signUp("stranger"), srv.signUp("blocked")
	author.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": false}).want(200)
	list := srv.letList(author, friend, blocked)
	signedIn := []*member{author, follower, mentioned, friend, stranger, blocked}
	viewers := append(slices.Clone(signedIn), nil)
	srv.letFollow(follower, author)
	srv.letFollow(blocked, author)
	srv.letBlock(author, blocked) // who is followed by them, mentions them and has them on the list all the same
	lists := map[string]string{}
	for _, m := range signedIn {
		srv.letFollow(m, booster)
		lists[m.token] = srv.letList(m, author)
	}
	sees := func(viewer *member, v string) bool {
		switch viewer {
		case author:
			return true
		case blocked:
			return false
		case mentioned:
			return true
		case follower:
			return v == "public" || v == "unlisted" || v == "local" || v == "private"
		case friend:
			return v == "public" || v == "unlisted" || v == "local" || v == "list"
		case stranger:
			return v == "public" || v == "unlisted" || v == "local"
		}
		return v == "public" || v == "unlisted"
	}
	signed := func(viewer *member, v string) bool { return viewer != nil && sees(viewer, v) }
	isDirect := func(viewer *member, v string) bool { return signed(viewer, v) && v == "direct" }
	inPublic := func(viewer *member, v string) bool { return sees(viewer, v) && (v == "public" || v == "local") }

	// There are three kinds of paths: those under the status's own, lists that may have it, and deeds.
	ok := func(method, path string) func(*caller, *exposure) bool {
		return func(c *caller, x *exposure) bool {
			return c.do(method, strings.ReplaceAll(path, ":id", x.id), "", nil).status == 200
		}
	}
	in := func(path string) func(*caller, *exposure) bool {
		return func(c *caller, x *exposure) bool {
			a := c.get(x.path(path, c))
			return a.status == 200 && slices.Contains(a.ids(), x.id)
		}
	}
	deed := func(do, undo string) func(*caller, *exposure) bool {
		return func(c *caller, x *exposure) bool {
			done := c.post("/api/v1/statuses/"+x.id+do).status == 200
			undone := c.post("/api/v1/statuses/"+x.id+undo).status == 200
			if done != undone && do != "/reblog" && do != "/pin" {
				t.Errorf("%s: %s is %v, %s is %v", x.visibility, do, done, undo, undone)
			}
			return done
		}
	}
	paths := []struct {
		name  string
		found func(*caller, *exposure) bool
		want  func(viewer *member, v string) bool
	}{
		{"show", ok("GET", "/api/v1/statuses/:id"), nil},
		{"by ids", in("/api/v1/statuses?ids[]=:id"), nil},
		{"context", ok("GET", "/api/v1/statuses/:id/context"), nil},
		{"card", ok("GET", "/api/v1/statuses/:id/card"), nil},
		{"oembed", func(c *caller, x *exposure) bool { return c.get("/api/oembed", "url", x.url).status == 200 },
			func(_ *member, v string) bool { return v == "public" || v == "unlisted" }},
		{"history", ok("GET", "/api/v1/statuses/:id/history"), nil},
		{"source", ok("GET", "/api/v1/statuses/:id/source"), signed},
		{"favourited_by", ok("GET", "/api/v1/statuses/:id/favourited_by"), nil},
		{"reblogged_by", ok("GET", "/api/v1/statuses/:id/reblogged_by"), nil},
		{"quotes", ok("GET", "/api/v1/svc/statuses/:id/quotes"), nil},
		{"descendant", inThread("root", "descendants"), nil},
		{"ancestor", inThread("answer", "ancestors"), nil},
		{"parent_visible", func(c *caller, x *exposure) bool {
			a := c.get("/api/v1/statuses/" + x.answer)
			return a.status == 200 && a.object().truth("svc.parent_visible")
		}, nil},
		{"boost", func(c *caller, x *exposure) bool {
			a := c.get("/api/v1/statuses/" + x.boost)
			return a.status == 200 && a.object().str("reblog.id") == x.id
		}, nil},
		{"boosts of the booster", boosted("/api/v1/accounts/booster/statuses?limit=40"), nil},
		{"boosts at home", boosted("/api/v1/timelines/home?limit=40"), signed},
		{"account", in("/api/v1/accounts/author/statuses?limit=40"), nil},
		{"pinned", in("/api/v1/accounts/author/statuses?limit=40&pinned=true"), nil},
		{"tagged", in("/api/v1/accounts/author/statuses?limit=40&tagged=exposed"), nil},
		{"home", in("/api/v1/timelines/home?limit=40"), func(viewer *member, v string) bool {
			return signed(viewer, v) && (viewer == author || viewer == follower || v == "direct" || v == "list")
		}},
		{"public", in("/api/v1/timelines/public?limit=40"), inPublic},
		{"local", in("/api/v1/timelines/public?limit=40&local=true"), inPublic},
		{"tag", in("/api/v1/timelines/tag/exposed?limit=40"), inPublic},
		{"list", in("/api/v1/timelines/list/:list?limit=40"), signed},
		{"direct", in("/api/v1/timelines/direct?limit=40"), isDirect},
		{"conversations", func(c *caller, x *exposure) bool { return x.conversation(c) != "" }, isDirect},
		{"statuses of a conversation", func(c *caller, x *exposure) bool {
			a := c.get("/api/v1/svc/conversations/" + x.conversation(c) + "/statuses")
			return a.status == 200 && slices.Contains(a.ids(), x.id)
		}, isDirect},
		{"reading conversations", func(c *caller, x *exposure) bool {
			a := c.post("/api/v1/conversations/" + x.conversation(c) + "/read")
			return a.status == 200 && a.object().str("last_status.id") == x.id
		}, isDirect},
		{"statuses of the author's conversation", func(c *caller, x *exposure) bool {
			a := c.get("/api/v1/svc/conversations/" + x.conversation(srv.as(author)) + "/statuses")
			return a.status == 200 && slices.Contains(a.ids(), x.id)
		}, func(viewer *member, v string) bool { return viewer == author && v == "direct" }},
		{"mentions", notifiedOf("mention"), func(viewer *member, _ string) bool { return viewer == mentioned }},
		{"notifications", notifiedOf("status"), signed},
		{"favourites", in("/api/v1/favourites?limit=40"), signed},
		{"bookmarks", in("/api/v1/bookmarks?limit=40"), signed},
		{"bookmarks in a folder", func(c *caller, x *exposure) bool {
			if c.token == "" {
				return false
			}
			return in("/api/v1/bookmarks?limit=40&folder_id="+x.folders[c.token])(c, x)
		}, signed},
		{"filing a bookmark", func(c *caller, x *exposure) bool {
			a := c.send("POST", "/api/v1/statuses/"+x.id+"/bookmark", map[string]any{"folder_id": x.folders[c.token]})
			return a.status == 200
		}, signed},
		{"favourites of the author", in("/api/v1/svc/accounts/:author/favourites?limit=40"), nil},
		{"search by its address", func(c *caller, x *exposure) bool {
			statuses := c.get("/api/v2/search", "q", x.url).want(200).object().at("statuses").([]any)
			return len(statuses) == 1 && statuses[0].(map[string]any)["id"] == x.id
		}, nil},
		{"search by its words", func(c *caller, x *exposure) bool {
			found := c.get("/api/v2/search", "q", "look exposed from:author", "limit", "40").want(200).object()
			return slices.Contains(members(found, "statuses", "id"), x.id)
		}, nil},
		{"home by its hashtag", func(c *caller, x *exposure) bool {
			if c.token == "" || c.token == author.token || c.token == follower.token {
				return true // see it all the same
			}
			c.post("/api/v1/tags/exposed/follow").want(200)
			defer c.post("/api/v1/tags/exposed/unfollow")
			return slices.Contains(c.get("/api/v1/timelines/home?limit=40").want(200).ids(), x.id)
		}, func(viewer *member, v string) bool {
			return viewer == nil || viewer == author || viewer == follower || inPublic(viewer, v) || signed(viewer, v) && (v == "direct" || v == "list")
		}},
		{"reading notifications", func(c *caller, x *exposure) bool {
			a := c.post("/api/v1/svc/notifications/read", "id", x.told[c.token])
			return a.status == 200 && a.object().str("status.id") == x.id
		}, signed},
		{"favouriting", deed("/favourite", "/unfavourite"), signed},
		{"bookmarking", deed("/bookmark", "/unbookmark"), signed},
		{"muting the thread", deed("/mute", "/unmute"), signed},
		{"boosting", deed("/reblog", "/unreblog"), func(viewer *member, v string) bool {
			return signed(viewer, v) && (v == "public" || v == "unlisted" || v == "local" || v == "private" && viewer == author)
		}},
		{"pinning", deed("/pin", "/unpin"), func(viewer *member, v string) bool {
			return viewer == author && (v == "public" || v == "unlisted")
		}},
		{"reactions", func(c *caller, x *exposure) bool {
			return len(c.get("/api/v1/svc/statuses/"+x.id+"/reactions").want(200).list()) > 0
		}, nil},
		{"reactions with an emoji", func(c *caller, x *exposure) bool {
			return len(c.get("/api/v1/svc/statuses/"+x.boost+"/reactions/❤").want(200).list()) > 0
		}, nil},
		{"reacting", func(c *caller, x *exposure) bool {
			do := func(method string) bool {
				return c.send(method, "/api/v1/svc/statuses/"+x.id+"/reactions/🔥", nil).status == 200
			}
			done, undone := do("PUT"), do("DELETE")
			if done != undone {
				t.Errorf("%s: reacting is %v, taking it back %v", x.visibility, done, undone)
			}
			return done
		}, signed},
		{"favouriting the boost", func(c *caller, x *exposure) bool {
			return c.post("/api/v1/statuses/"+x.boost+"/favourite").status == 200
		}, signed},
		{"filtering", func(c *caller, x *exposure) bool {
			made := c.send("POST", "/api/v2/filters", map[string]any{"title": "filter", "context": "home"})
			if made.status != 200 {
				return false
			}
			filter := "/api/v2/filters/" + made.object().id()
			defer func() { c.send("DELETE", filter, nil).want(200) }()
			return c.send("POST", filter+"/statuses", map[string]any{"status_id": x.id}).status == 200
		}, signed},
		{"replying", func(c *caller, x *exposure) bool {
			a := c.post("/api/v1/statuses", "status", "a reply", "in_reply_to_id", x.id, "visibility", "direct")
			if a.status != 200 {
				return false
			}
			c.do("DELETE", "/api/v1/statuses/"+a.object().id(), "", nil).want(200)
			return true
		}, signed},
		{"poll", func(c *caller, x *exposure) bool { return c.get("/api/v1/polls/"+x.poll).status == 200 }, nil},
		{"voting", func(c *caller, x *exposure) bool {
			return c.post("/api/v1/polls/"+x.poll+"/votes", "choices[]", "1").status == 200
		}, func(viewer *member, v string) bool { return signed(viewer, v) && viewer != author }},
		{"streams", streamed, func(viewer *member, v string) bool { return sees(viewer, v) && (viewer != nil || v == "public") }},
		{"editing", func(c *caller, x *exposure) bool {
			return c.send("PUT", "/api/v1/statuses/"+x.id, map[string]any{"status": "@mentioned @blocked edited #exposed"}).status == 200
		}, func(viewer *member, _ string) bool { return viewer == author }},
		{"deleting", ok("DELETE", "/api/v1/statuses/:id"), func(viewer *member, _ string) bool { return viewer == author }},
	}

	var exposed []*exposure
	for _, v := range []string{"public", "unlisted", "local", "private", "direct", "list"} {
		x := &exposure{visibility: v, author: author, booster: booster, lists: lists, told: map[string]string{}, folders: map[string]string{}}
		param := v
		if v == "list" {
			param += ":" + list
		}
		x.root = author.publish("root").id()
		st := author.publish("@mentioned @blocked look #exposed", "visibility", param, "in_reply_to_id", x.root,
			"poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "1000")
		x.id, x.url, x.poll = st.id(), st.str("url"), st.str("poll.id")
		x.answer = srv.letAnswer(author, x.id)
		x.boost = srv.letBoost(booster, x.id)
		for _, m := range signedIn {
			x.told[m.token] = srv.letKnow(m, author, x.id)
			x.folders[m.token] = m.send("POST", "/api/v1/svc/bookmark_folders", map[string]any{"name": v}).want(200).object().id()
			srv.insert(`UPDATE bookmarks SET folder_id = (SELECT max(id) FROM bookmark_folders) WHERE account_id = ? AND status_id = ?`, m.accountID(), statusID(x.id))
		}
		author.send("PUT", "/api/v1/svc/statuses/"+x.id+"/reactions/❤", nil).want(200)
		srv.insert(`INSERT INTO pins (status_id, account_id, pinned_at) VALUES (?, ?, 1)`, statusID(x.id), author.accountID())
		exposed = append(exposed, x)
	}
	for _, p := range paths {
		for _, x := range exposed {
			for i := range viewers {
				viewer := viewers[len(viewers)-1-i] // the author last: then it may be deleted
				name := "the anonymous"
				if viewer != nil {
					name = viewer.nick
				}
				want := sees(viewer, x.visibility)
				if p.want != nil {
					want = p.want(viewer, x.visibility)
				}
				if got := p.found(srv.as(viewer), x); got != want {
					t.Errorf("%s: %s finds the %s status: %v, want %v", p.name, name, x.visibility, got, want)
				}
			}
		}
	}
}

// path fills in the parameters of a path.
func (x *exposure) path(path string, c *caller) string {
	return strings.NewReplacer(":id", x.id, ":author", x.author.id, ":list", x.lists[c.token]).Replace(path)
}

// conversation returns the conversation that has the status last, "" if the caller has none.
func (x *exposure) conversation(c *caller) string {
	a := c.get("/api/v1/conversations?limit=40")
	if a.status != 200 {
		return ""
	}
	for _, o := range a.list() {
		if o.str("last_status.id") == x.id {
			return o.id()
		}
	}
	return ""
}

// inThread finds the status in the context of its root or of the answer to it.
func inThread(of, part string) func(*caller, *exposure) bool {
	return func(c *caller, x *exposure) bool {
		id := x.root
		if of == "answer" {
			id = x.answer
		}
		a := c.get("/api/v1/statuses/" + id + "/context")
		return a.status == 200 && slices.ContainsFunc(a.object().at(part).([]any), func(st any) bool { return st.(map[string]any)["id"] == x.id })
	}
}

// streamed finds the status in what any stream says of an edit.
func streamed(c *caller, x *exposure) bool {
	l := c.api.listen(c)
	defer l.conn.Close()
	for _, stream := range []string{"user", "user:notification", "direct", "public", "public:local", "public:remote"} {
		l.ask("type", "subscribe", "stream", stream)
	}
	l.ask("type", "subscribe", "stream", "hashtag", "tag", "exposed")
	l.ask("type", "subscribe", "stream", "list", "list", x.lists[c.token])
	x.author.edit(x.id, map[string]any{"status": fmt.Sprint("@mentioned @blocked look #exposed ", rand.Int64())}).want(200)
	return slices.ContainsFunc(l.heard(), func(s said) bool { return strings.Contains(*s.Payload, x.id) })
}

// boosted finds the boost in a list.
func boosted(path string) func(*caller, *exposure) bool {
	return func(c *caller, x *exposure) bool {
		a := c.get(path)
		return a.status == 200 && slices.Contains(a.ids(), x.boost)
	}
}

// notifiedOf finds the status in a notification.
func notifiedOf(kind string) func(*caller, *exposure) bool {
	return func(c *caller, x *exposure) bool {
		a := c.get("/api/v1/notifications", "types[]", kind, "limit", "80")
		if a.status != 200 {
			return false
		}
		for _, n := range a.list() {
			if n.str("status.id") == x.id {
				return c.get("/api/v1/notifications/"+n.id()).status == 200
			}
		}
		return false
	}
}

// letAnswer makes a public reply to a status, whatever that is.
func (a *api) letAnswer(by *member, id string) string {
	a.t.Helper()
	answer := by.publish("answer").id()
	a.insert(`UPDATE statuses SET in_reply_to_id = ?1, in_reply_to_account_id = ?2, conversation_id = (SELECT conversation_id FROM statuses WHERE id = ?1)
		WHERE id = ?3`, statusID(id), by.accountID(), statusID(answer))
	return answer
}

// letBoost makes a public boost of a status, whatever that is.
func (a *api) letBoost(by *member, id string) string {
	a.t.Helper()
	boost := by.publish("boost").id()
	a.insert(`UPDATE statuses SET reblog_of_id = ?, content = '' WHERE id = ?`, statusID(id), statusID(boost))
	return boost
}

// letKnow has somebody been told of a status, and have it among their favourites and bookmarks, as if they had seen it once. It
// returns the notification's id.
func (a *api) letKnow(m, author *member, id string) string {
	a.t.Helper()
	for _, table := range []string{"favourites", "bookmarks"} {
		a.insert(fmt.Sprintf(`INSERT INTO %s (id, account_id, status_id) VALUES (abs(random() %% 1000000000), ?, ?)`, table), m.accountID(), statusID(id))
	}
	told := fmt.Sprint(rand.Int64N(1_000_000_000) + 1)
	a.insert(`INSERT INTO notifications (id, account_id, type, from_id, status_id) VALUES (?, ?, ?, ?, ?)`,
		told, m.accountID(), store.NotifyStatus, author.accountID(), statusID(id))
	return told
}

// The accounts of the server itself are nobody whom anybody would have to be kept from seeing: readers do not look for that.
func TestServersOwnAccountsCostNothing(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	sees := func(want bool) {
		t.Helper()
		if got, err := srv.db.SeesAllOpen(t.Context(), alice.accountID()); err != nil || got != want {
			t.Errorf("sees all that is open: %v, %v, want %v", got, err, want)
		}
	}
	sees(true)
	if err := srv.db.Update(t.Context(), func(tx *store.Tx) error { return tx.SetWithheld(t.Context(), bob.accountID(), true) }); err != nil {
		t.Fatal(err)
	}
	sees(false)
}

package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// exposure is one status with replies, a boost, notifications and so on, so that every path can return it.
type exposure struct {
	visibility    string
	id            string
	root          string // a public status of the same author that it replies to
	answer        string // a public reply to it by its author
	boost         string // by an account that all viewers follow
	url           string
	poll          string            // of the status
	lists         map[string]string // by the viewer's token
	notifications map[string]string // a notification about it, by token
	folders       map[string]string // a bookmark folder with it, by token
	author        *apptest.User
	booster       *apptest.User
}

// TestVisibility requests statuses of every visibility as every kind of viewer, on every path that can return a status.
//
// To cover a new path, add it to the table: found returns whether the response contains the status. want returns whether it should, and is
// nil if that is so whenever the status is visible to the viewer.
func TestVisibility(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t, func(c *config.Config) { c.Statuses.MaxPinned = 100 })
	author, booster := srv.SignUp("author"), srv.SignUp("booster")
	follower, mentioned, friend := srv.SignUp("follower"), srv.SignUp("mentioned"), srv.SignUp("friend")
	unrelated, blocked := srv.SignUp("unrelated"), srv.SignUp("blocked")
	author.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": false}).Want(200)
	list := srv.AddList(author, friend, blocked)
	signedIn := []*apptest.User{author, follower, mentioned, friend, unrelated, blocked}
	viewers := append(slices.Clone(signedIn), nil)
	srv.AddFollow(follower, author)
	srv.AddFollow(blocked, author)
	srv.AddBlock(author, blocked) // although the author follows, mentions and lists the blocked account
	lists := map[string]string{}
	for _, m := range signedIn {
		srv.AddFollow(m, booster)
		lists[m.Token] = srv.AddList(m, author)
	}
	sees := func(viewer *apptest.User, v string) bool {
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
		case unrelated:
			return v == "public" || v == "unlisted" || v == "local"
		}
		return v == "public" || v == "unlisted"
	}
	signed := func(viewer *apptest.User, v string) bool { return viewer != nil && sees(viewer, v) }
	isDirect := func(viewer *apptest.User, v string) bool { return signed(viewer, v) && v == "direct" }
	inPublic := func(viewer *apptest.User, v string) bool { return sees(viewer, v) && (v == "public" || v == "local") }

	// There are three kinds of paths: the status and its subresources, lists, and actions.
	ok := func(method, path string) func(*apptest.Client, *exposure) bool {
		return func(c *apptest.Client, x *exposure) bool {
			return c.Do(method, strings.ReplaceAll(path, ":id", x.id), "", nil).Status == 200
		}
	}
	in := func(path string) func(*apptest.Client, *exposure) bool {
		return func(c *apptest.Client, x *exposure) bool {
			a := c.Get(x.path(path, c))
			return a.Status == 200 && slices.Contains(a.IDs(), x.id)
		}
	}
	action := func(do, undo string) func(*apptest.Client, *exposure) bool {
		return func(c *apptest.Client, x *exposure) bool {
			done := c.Post("/api/v1/statuses/"+x.id+do).Status == 200
			undone := c.Post("/api/v1/statuses/"+x.id+undo).Status == 200
			if done != undone && do != "/reblog" && do != "/pin" {
				t.Errorf("%s: %s returned %v, %s returned %v", x.visibility, do, done, undo, undone)
			}
			return done
		}
	}
	paths := []struct {
		name  string
		found func(*apptest.Client, *exposure) bool
		want  func(viewer *apptest.User, v string) bool
	}{
		{"show", ok("GET", "/api/v1/statuses/:id"), nil},
		{"by ids", in("/api/v1/statuses?ids[]=:id"), nil},
		{"context", ok("GET", "/api/v1/statuses/:id/context"), nil},
		{"card", ok("GET", "/api/v1/statuses/:id/card"), nil},
		{"oembed", func(c *apptest.Client, x *exposure) bool { return c.Get("/api/oembed", "url", x.url).Status == 200 },
			func(_ *apptest.User, v string) bool { return v == "public" || v == "unlisted" }},
		{"history", ok("GET", "/api/v1/statuses/:id/history"), nil},
		{"source", ok("GET", "/api/v1/statuses/:id/source"), signed},
		{"favourited_by", ok("GET", "/api/v1/statuses/:id/favourited_by"), nil},
		{"reblogged_by", ok("GET", "/api/v1/statuses/:id/reblogged_by"), nil},
		{"quotes", ok("GET", "/api/v1/svc/statuses/:id/quotes"), nil},
		{"descendant", inThread("root", "descendants"), nil},
		{"ancestor", inThread("answer", "ancestors"), nil},
		{"parent_visible", func(c *apptest.Client, x *exposure) bool {
			a := c.Get("/api/v1/statuses/" + x.answer)
			return a.Status == 200 && a.Object().Bool("svc.parent_visible")
		}, nil},
		{"boost", func(c *apptest.Client, x *exposure) bool {
			a := c.Get("/api/v1/statuses/" + x.boost)
			return a.Status == 200 && a.Object().Str("reblog.id") == x.id
		}, nil},
		{"boosts of the booster", boosted("/api/v1/accounts/booster/statuses?limit=40"), nil},
		{"boosts at home", boosted("/api/v1/timelines/home?limit=40"), signed},
		{"account", in("/api/v1/accounts/author/statuses?limit=40"), nil},
		{"pinned", in("/api/v1/accounts/author/statuses?limit=40&pinned=true"), nil},
		{"tagged", in("/api/v1/accounts/author/statuses?limit=40&tagged=exposed"), nil},
		{"home", in("/api/v1/timelines/home?limit=40"), func(viewer *apptest.User, v string) bool {
			return signed(viewer, v) && (viewer == author || viewer == follower || v == "direct" || v == "list")
		}},
		{"public", in("/api/v1/timelines/public?limit=40"), inPublic},
		{"local", in("/api/v1/timelines/public?limit=40&local=true"), inPublic},
		{"tag", in("/api/v1/timelines/tag/exposed?limit=40"), inPublic},
		{"list", in("/api/v1/timelines/list/:list?limit=40"), signed},
		{"direct", in("/api/v1/timelines/direct?limit=40"), isDirect},
		{"conversations", func(c *apptest.Client, x *exposure) bool { return x.conversation(c) != "" }, isDirect},
		{"statuses of a conversation", func(c *apptest.Client, x *exposure) bool {
			a := c.Get("/api/v1/svc/conversations/" + x.conversation(c) + "/statuses")
			return a.Status == 200 && slices.Contains(a.IDs(), x.id)
		}, isDirect},
		{"reading conversations", func(c *apptest.Client, x *exposure) bool {
			a := c.Post("/api/v1/conversations/" + x.conversation(c) + "/read")
			return a.Status == 200 && a.Object().Str("last_status.id") == x.id
		}, isDirect},
		{"statuses of the author's conversation", func(c *apptest.Client, x *exposure) bool {
			a := c.Get("/api/v1/svc/conversations/" + x.conversation(srv.As(author)) + "/statuses")
			return a.Status == 200 && slices.Contains(a.IDs(), x.id)
		}, func(viewer *apptest.User, v string) bool { return viewer == author && v == "direct" }},
		{"mentions", notifiedOf("mention"), func(viewer *apptest.User, _ string) bool { return viewer == mentioned }},
		{"notifications", notifiedOf("status"), signed},
		{"favourites", in("/api/v1/favourites?limit=40"), signed},
		{"bookmarks", in("/api/v1/bookmarks?limit=40"), signed},
		{"bookmarks in a folder", func(c *apptest.Client, x *exposure) bool {
			if c.Token == "" {
				return false
			}
			return in("/api/v1/bookmarks?limit=40&folder_id="+x.folders[c.Token])(c, x)
		}, signed},
		{"filing a bookmark", func(c *apptest.Client, x *exposure) bool {
			a := c.SendJSON("POST", "/api/v1/statuses/"+x.id+"/bookmark", map[string]any{"folder_id": x.folders[c.Token]})
			return a.Status == 200
		}, signed},
		{"favourites of the author", in("/api/v1/svc/accounts/:author/favourites?limit=40"), nil},
		{"search by its URL", func(c *apptest.Client, x *exposure) bool {
			statuses := c.Get("/api/v2/search", "q", x.url).Want(200).Object().At("statuses").([]any)
			return len(statuses) == 1 && statuses[0].(map[string]any)["id"] == x.id
		}, nil},
		{"search by its words", func(c *apptest.Client, x *exposure) bool {
			found := c.Get("/api/v2/search", "q", "look exposed from:author", "limit", "40").Want(200).Object()
			return slices.Contains(apptest.ListField(found, "statuses", "id"), x.id)
		}, nil},
		{"home by its hashtag", func(c *apptest.Client, x *exposure) bool {
			if c.Token == "" || c.Token == author.Token || c.Token == follower.Token {
				return true // follows the author and has the status at home anyway
			}
			c.Post("/api/v1/tags/exposed/follow").Want(200)
			defer c.Post("/api/v1/tags/exposed/unfollow")
			return slices.Contains(c.Get("/api/v1/timelines/home?limit=40").Want(200).IDs(), x.id)
		}, func(viewer *apptest.User, v string) bool {
			return viewer == nil || viewer == author || viewer == follower || inPublic(viewer, v) || signed(viewer, v) && (v == "direct" || v == "list")
		}},
		{"reading notifications", func(c *apptest.Client, x *exposure) bool {
			a := c.Post("/api/v1/svc/notifications/read", "id", x.notifications[c.Token])
			return a.Status == 200 && a.Object().Str("status.id") == x.id
		}, signed},
		{"favouriting", action("/favourite", "/unfavourite"), signed},
		{"bookmarking", action("/bookmark", "/unbookmark"), signed},
		{"muting the thread", action("/mute", "/unmute"), signed},
		{"boosting", action("/reblog", "/unreblog"), func(viewer *apptest.User, v string) bool {
			return signed(viewer, v) && (v == "public" || v == "unlisted" || v == "local" || v == "private" && viewer == author)
		}},
		{"pinning", action("/pin", "/unpin"), func(viewer *apptest.User, v string) bool {
			return viewer == author && (v == "public" || v == "unlisted")
		}},
		{"reactions", func(c *apptest.Client, x *exposure) bool {
			return len(c.Get("/api/v1/svc/statuses/"+x.id+"/reactions").Want(200).List()) > 0
		}, nil},
		{"reactions with an emoji", func(c *apptest.Client, x *exposure) bool {
			return len(c.Get("/api/v1/svc/statuses/"+x.boost+"/reactions/❤").Want(200).List()) > 0
		}, nil},
		{"reacting", func(c *apptest.Client, x *exposure) bool {
			do := func(method string) bool {
				return c.SendJSON(method, "/api/v1/svc/statuses/"+x.id+"/reactions/🔥", nil).Status == 200
			}
			done, undone := do("PUT"), do("DELETE")
			if done != undone {
				t.Errorf("%s: reacting returned %v, removing the reaction %v", x.visibility, done, undone)
			}
			return done
		}, signed},
		{"favouriting the boost", func(c *apptest.Client, x *exposure) bool {
			return c.Post("/api/v1/statuses/"+x.boost+"/favourite").Status == 200
		}, signed},
		{"filtering", func(c *apptest.Client, x *exposure) bool {
			made := c.SendJSON("POST", "/api/v2/filters", map[string]any{"title": "filter", "context": "home"})
			if made.Status != 200 {
				return false
			}
			filter := "/api/v2/filters/" + made.Object().ID()
			defer func() { c.SendJSON("DELETE", filter, nil).Want(200) }()
			return c.SendJSON("POST", filter+"/statuses", map[string]any{"status_id": x.id}).Status == 200
		}, signed},
		{"replying", func(c *apptest.Client, x *exposure) bool {
			a := c.Post("/api/v1/statuses", "status", "a reply", "in_reply_to_id", x.id, "visibility", "direct")
			if a.Status != 200 {
				return false
			}
			c.Do("DELETE", "/api/v1/statuses/"+a.Object().ID(), "", nil).Want(200)
			return true
		}, signed},
		{"poll", func(c *apptest.Client, x *exposure) bool { return c.Get("/api/v1/polls/"+x.poll).Status == 200 }, nil},
		{"voting", func(c *apptest.Client, x *exposure) bool {
			return c.Post("/api/v1/polls/"+x.poll+"/votes", "choices[]", "1").Status == 200
		}, func(viewer *apptest.User, v string) bool { return signed(viewer, v) && viewer != author }},
		{"streams", streamed, func(viewer *apptest.User, v string) bool { return sees(viewer, v) && (viewer != nil || v == "public") }},
		{"editing", func(c *apptest.Client, x *exposure) bool {
			return c.SendJSON("PUT", "/api/v1/statuses/"+x.id, map[string]any{"status": "@mentioned @blocked edited #exposed"}).Status == 200
		}, func(viewer *apptest.User, _ string) bool { return viewer == author }},
		{"deleting", ok("DELETE", "/api/v1/statuses/:id"), func(viewer *apptest.User, _ string) bool { return viewer == author }},
	}

	var exposed []*exposure
	for _, v := range []string{"public", "unlisted", "local", "private", "direct", "list"} {
		x := &exposure{visibility: v, author: author, booster: booster, lists: lists, notifications: map[string]string{}, folders: map[string]string{}}
		param := v
		if v == "list" {
			param += ":" + list
		}
		x.root = author.Publish("root").ID()
		st := author.Publish("@mentioned @blocked look #exposed", "visibility", param, "in_reply_to_id", x.root,
			"poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "1000")
		x.id, x.url, x.poll = st.ID(), st.Str("url"), st.Str("poll.id")
		x.answer = addReply(srv, author, x.id)
		x.boost = addReblog(srv, booster, x.id)
		for _, m := range signedIn {
			x.notifications[m.Token] = addRecipient(srv, m, author, x.id)
			x.folders[m.Token] = m.SendJSON("POST", "/api/v1/svc/bookmark_folders", map[string]any{"name": v}).Want(200).Object().ID()
			srv.Exec(`UPDATE bookmarks SET folder_id = (SELECT max(id) FROM bookmark_folders) WHERE account_id = ? AND status_id = ?`, m.AccountID(), apptest.StatusID(x.id))
		}
		author.SendJSON("PUT", "/api/v1/svc/statuses/"+x.id+"/reactions/❤", nil).Want(200)
		srv.Exec(`INSERT INTO pins (status_id, account_id, pinned_at) VALUES (?, ?, 1)`, apptest.StatusID(x.id), author.AccountID())
		exposed = append(exposed, x)
	}
	for _, p := range paths {
		for _, x := range exposed {
			for i := range viewers {
				viewer := viewers[len(viewers)-1-i] // the author comes last because the last path deletes the status
				name := "an anonymous client"
				if viewer != nil {
					name = viewer.Nickname
				}
				want := sees(viewer, x.visibility)
				if p.want != nil {
					want = p.want(viewer, x.visibility)
				}
				if got := p.found(srv.As(viewer), x); got != want {
					t.Errorf("%s: %s finds the %s status: %v, want %v", p.name, name, x.visibility, got, want)
				}
			}
		}
	}
}

// path fills in the parameters of a path.
func (x *exposure) path(path string, c *apptest.Client) string {
	return strings.NewReplacer(":id", x.id, ":author", x.author.ID, ":list", x.lists[c.Token]).Replace(path)
}

// conversation returns the caller's conversation whose last status is the status, "" if there is none.
func (x *exposure) conversation(c *apptest.Client) string {
	a := c.Get("/api/v1/conversations?limit=40")
	if a.Status != 200 {
		return ""
	}
	for _, o := range a.List() {
		if o.Str("last_status.id") == x.id {
			return o.ID()
		}
	}
	return ""
}

// inThread returns a function that looks for the status in the context of its root or of a reply to it.
func inThread(of, part string) func(*apptest.Client, *exposure) bool {
	return func(c *apptest.Client, x *exposure) bool {
		id := x.root
		if of == "answer" {
			id = x.answer
		}
		a := c.Get("/api/v1/statuses/" + id + "/context")
		return a.Status == 200 && slices.ContainsFunc(a.Object().At(part).([]any), func(st any) bool { return st.(map[string]any)["id"] == x.id })
	}
}

// streamed returns true if any stream sends an event with the status when it is edited.
func streamed(c *apptest.Client, x *exposure) bool {
	l := c.Server.OpenStream(c)
	defer l.Conn.Close()
	for _, stream := range []string{"user", "user:notification", "direct", "public", "public:local", "public:remote"} {
		l.Ask("type", "subscribe", "stream", stream)
	}
	l.Ask("type", "subscribe", "stream", "hashtag", "tag", "exposed")
	l.Ask("type", "subscribe", "stream", "list", "list", x.lists[c.Token])
	x.author.EditStatus(x.id, map[string]any{"status": fmt.Sprint("@mentioned @blocked look #exposed ", rand.Int64())}).Want(200)
	return slices.ContainsFunc(l.Events(), func(s apptest.StreamEvent) bool { return strings.Contains(*s.Payload, x.id) })
}

// boosted returns a function that looks for the boost in a list.
func boosted(path string) func(*apptest.Client, *exposure) bool {
	return func(c *apptest.Client, x *exposure) bool {
		a := c.Get(path)
		return a.Status == 200 && slices.Contains(a.IDs(), x.boost)
	}
}

// notifiedOf returns a function that looks for the status in notifications.
func notifiedOf(kind string) func(*apptest.Client, *exposure) bool {
	return func(c *apptest.Client, x *exposure) bool {
		a := c.Get("/api/v1/notifications", "types[]", kind, "limit", "80")
		if a.Status != 200 {
			return false
		}
		for _, n := range a.List() {
			if n.Str("status.id") == x.id {
				return c.Get("/api/v1/notifications/"+n.ID()).Status == 200
			}
		}
		return false
	}
}

// addReply creates a public reply to a status of any visibility.
func addReply(a *apptest.Server, by *apptest.User, id string) string {
	a.T.Helper()
	answer := by.Publish("answer").ID()
	a.Exec(`UPDATE statuses SET in_reply_to_id = ?1, in_reply_to_account_id = ?2, conversation_id = (SELECT conversation_id FROM statuses WHERE id = ?1)
		WHERE id = ?3`, apptest.StatusID(id), by.AccountID(), apptest.StatusID(answer))
	return answer
}

// addReblog creates a public boost of a status of any visibility.
func addReblog(a *apptest.Server, by *apptest.User, id string) string {
	a.T.Helper()
	boost := by.Publish("boost").ID()
	a.Exec(`UPDATE statuses SET reblog_of_id = ?, content = '' WHERE id = ?`, apptest.StatusID(id), apptest.StatusID(boost))
	return boost
}

// addRecipient adds a notification about a status, a favourite and a bookmark for m, as if the status was visible to m before. It
// returns the id of the notification.
func addRecipient(a *apptest.Server, m, author *apptest.User, id string) string {
	a.T.Helper()
	for _, table := range []string{"favourites", "bookmarks"} {
		a.Exec(fmt.Sprintf(`INSERT INTO %s (id, account_id, status_id) VALUES (abs(random() %% 1000000000), ?, ?)`, table), m.AccountID(), apptest.StatusID(id))
	}
	notifications := fmt.Sprint(rand.Int64N(1_000_000_000) + 1)
	a.Exec(`INSERT INTO notifications (id, account_id, type, from_id, status_id) VALUES (?, ?, ?, ?, ?)`,
		notifications, m.AccountID(), store.NotifyStatus, author.AccountID(), apptest.StatusID(id))
	return notifications
}

// TestSeesAllWithServerActors checks that the server's own accounts do not disable the fast path for viewers without restrictions.
func TestSeesAllWithServerActors(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	sees := func(want bool) {
		t.Helper()
		if got, err := srv.DB.SeesAllUnrestricted(t.Context(), alice.AccountID()); err != nil || got != want {
			t.Errorf("SeesAllUnrestricted returned %v, %v, want %v", got, err, want)
		}
	}
	sees(true)
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.SetUnavailable(t.Context(), bob.AccountID(), true) }); err != nil {
		t.Fatal(err)
	}
	sees(false)
}

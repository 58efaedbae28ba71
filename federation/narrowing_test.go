package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// narrowing is a post of a remote author with everything that local accounts can make of it.
type narrowing struct {
	id, uri, author              string
	boost, quote, reply, boostAs string
	lists                        map[string]string // by token
}

// narrowedPaths are paths that may show the post. :id, :author and the others are filled in.
var narrowedPaths = strings.Fields(`
	/api/v1/statuses/:id /api/v1/statuses?ids[]=:id /api/v1/statuses/:id/context /api/v1/statuses/:id/history /api/v1/statuses/:id/source
	/api/v1/statuses/:id/favourited_by /api/v1/statuses/:id/reblogged_by /api/v1/statuses/:id/quotes /api/v1/statuses/:id/card
	/api/v1/statuses/:boost /api/v1/statuses/:quote /api/v1/statuses/:reply/context
	/api/v1/timelines/home /api/v1/timelines/public /api/v1/timelines/public?remote=true /api/v1/timelines/tag/exposed /api/v1/timelines/list/:list
	/api/v1/timelines/direct /api/v1/conversations /api/v1/accounts/:author/statuses /api/v1/accounts/:boostAs/statuses
	/api/v1/bookmarks /api/v1/favourites /api/v1/notifications /api/v2/notifications /api/v1/svc/accounts/:boostAs/favourites
	/api/v2/search?q=needle /api/v2/search?q=:uri /api/v1/trends/statuses
	/@booster /@booster.rss /@booster.atom /@booster/:boost /@quoter /@quoter/:quote /@quoter.rss /tags/exposed /tags/exposed.rss /public /`)

func (n *narrowing) path(path string, c *apptest.Client) string {
	return strings.NewReplacer(":id", n.id, ":author", n.author, ":boostAs", n.boostAs, ":boost", n.boost, ":quote", n.quote, ":reply", n.reply,
		":list", n.lists[c.Token], ":uri", n.uri).Replace(path)
}

// leaks returns the paths that show one of the texts to a client.
func (n *narrowing) leaks(c *apptest.Client, texts ...string) (found []string) {
	for _, p := range narrowedPaths {
		if strings.Contains(p, ":list") && n.lists[c.Token] == "" {
			continue
		}
		body := string(c.Get(n.path(p, c)).Body)
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(body, text) }) {
			found = append(found, p)
		}
	}
	return found
}

// TestUpdateNarrowsAudience sends Updates that address fewer accounts than the Create did. Whoever is no longer addressed loses the post, its new
// text and its versions on every path and stream, whoever is still addressed gets the new text, and nobody gains access.
func TestUpdateNarrowsAudience(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	follower, mentioned, stranger := srv.SignUp("follower"), srv.SignUp("mentioned"), srv.SignUp("stranger")
	booster, quoter, fan := srv.SignUp("booster"), srv.SignUp("quoter"), srv.SignUp("fan")
	bob := peer.AddActor("bob")
	follower.FollowRemote(bob)
	booster.FollowRemote(bob)
	srv.AddFollow(fan, booster)
	author := srv.KnownID(bob)
	lists := make(map[string]string)
	for _, m := range []*apptest.User{follower, stranger, mentioned, fan} {
		id := m.AddList("all", nil)
		srv.Exec(`INSERT INTO list_members (list_id, account_id) VALUES (?, ?)`, int64(store.ParseID[store.ListID](id)), int64(store.ParseID[store.AccountID](author)))
		lists[m.Token] = id
	}
	followers := bob + "/followers"
	audiences := map[string]apptest.Doc{
		"public":                      {"to": []any{apptest.Public, mentioned.URI()}, "cc": []any{followers}},
		"unlisted":                    {"to": []any{followers, mentioned.URI()}, "cc": []any{apptest.Public}},
		"followers and the mentioned": {"to": []any{followers, mentioned.URI()}, "cc": []any{}},
		"followers":                   {"to": []any{followers}, "cc": []any{}},
		"the mentioned":               {"to": []any{mentioned.URI()}, "cc": []any{}},
		"an unknown collection":       {"to": []any{bob + "/circles/1"}, "cc": []any{}},
		"nobody":                      {"to": []any{}, "cc": []any{}},
		"nothing":                     {"to": nil, "cc": nil},
	}
	sees := func(m *apptest.User, audience string) bool {
		switch m {
		case follower, booster:
			return !slices.Contains([]string{"the mentioned", "an unknown collection", "nobody"}, audience)
		case mentioned:
			return !slices.Contains([]string{"followers", "an unknown collection", "nobody"}, audience)
		}
		return audience == "public" || audience == "unlisted"
	}
	for i, tt := range []struct{ before, after string }{
		{"public", "unlisted"}, {"public", "followers and the mentioned"}, {"public", "followers"}, {"public", "the mentioned"},
		{"public", "an unknown collection"}, {"public", "nobody"}, {"public", "nothing"}, {"unlisted", "public"}, {"unlisted", "followers"},
		{"unlisted", "the mentioned"}, {"followers and the mentioned", "followers"}, {"followers and the mentioned", "public"},
		{"followers and the mentioned", "the mentioned"}, {"followers", "followers and the mentioned"}, {"followers", "public"},
		{"the mentioned", "public"}, {"the mentioned", "followers"}, {"the mentioned", "an unknown collection"},
	} {
		t.Run(tt.before+" to "+tt.after, func(t *testing.T) {
			oldText, newText := fmt.Sprintf("needle-old-%d", i), fmt.Sprintf("needle-new-%d", i)
			note := peer.Note(bob, oldText, audiences[tt.before], apptest.Doc{
				"published": apptest.FromNow(-time.Hour),
				"tag":       []any{apptest.Doc{"type": "Hashtag", "name": "#exposed"}, apptest.Doc{"type": "Mention", "href": mentioned.URI(), "name": "@mentioned"}},
			})
			peer.PostAndSettle(srv, peer.Create(note))
			found, err := srv.DB.StatusIDByURI(t.Context(), note["id"].(string))
			if err != nil || found == 0 {
				t.Fatalf("the post is not there: %v", err)
			}
			n := &narrowing{id: found.String(), uri: note["id"].(string), author: author, boostAs: booster.ID, lists: lists}
			viewers := []*apptest.User{follower, mentioned, stranger, fan, nil}
			if tt.before == "public" || tt.before == "unlisted" {
				n.boost = booster.Post("/api/v1/statuses/" + n.id + "/reblog").Want(200).Object().ID()
				n.quote = quoter.Publish("look", "quoted_status_id", n.id).ID()
				n.reply = quoter.Publish("hm", "in_reply_to_id", n.id).ID()
			}
			for _, m := range []*apptest.User{follower, mentioned, stranger, fan} {
				if sees(m, tt.before) {
					m.Post("/api/v1/statuses/" + n.id + "/favourite").Want(200)
					m.Post("/api/v1/statuses/" + n.id + "/bookmark").Want(200)
				}
				if got := m.Get("/api/v1/statuses/"+n.id).Status == 200; got != sees(m, tt.before) {
					t.Fatalf("before the Update, %s sees the post: %v", m.Nickname, got)
				}
			}
			streams := make(map[*apptest.User]*apptest.StreamClient)
			for _, m := range viewers {
				l := srv.OpenStream(srv.As(m), "stream", "public")
				if m != nil {
					l.Subscribe("user").Subscribe("list", "list", lists[m.Token])
				}
				l.Subscribe("hashtag", "tag", "exposed")
				streams[m] = l
			}
			counted := srv.Count(`SELECT statuses_count FROM accounts WHERE uri = ?`, bob)

			update := apptest.With(note, audiences[tt.after])
			for _, key := range []string{"to", "cc"} {
				if update[key] == nil {
					delete(update, key)
				}
			}
			update["content"], update["updated"] = newText, apptest.FromNow(-time.Minute)
			peer.PostAndSettle(srv, peer.Activity("Update", bob, update))

			for _, m := range viewers {
				name, c := "an anonymous client", srv.As(m)
				if m != nil {
					name = m.Nickname
				}
				before := sees(m, tt.before)
				want := before && (sees(m, tt.after) || tt.after == "nothing")
				a := c.Get("/api/v1/statuses/" + n.id)
				if got := a.Status == 200; got != want || got && a.Object().Str("content") != newText {
					t.Errorf("%s sees the post: %v, want %v: %s", name, got, want, a.Body)
				}
				events := streams[m].Events()
				deleted := slices.ContainsFunc(events, func(s apptest.StreamEvent) bool { return s.Event == "delete" && s.Payload != nil && *s.Payload == n.id })
				updated := slices.ContainsFunc(events, func(s apptest.StreamEvent) bool {
					return s.Event == "status.update" && strings.Contains(*s.Payload, newText)
				})
				if want && deleted || !want && updated {
					t.Errorf("%s sees it: %v, and gets the events %v", name, want, events)
				}
				onStream := tt.before == "public" || m == follower && before || m == mentioned && tt.before == "the mentioned"
				if onStream && !want && !deleted {
					t.Errorf("%s is not told that the post is gone: %v", name, events)
				}
				if m == fan && n.boost != "" && !want && !slices.ContainsFunc(events, func(s apptest.StreamEvent) bool {
					return s.Event == "delete" && *s.Payload == n.boost
				}) {
					t.Errorf("%s is not told that the boost is gone: %v", name, events)
				}
				if m == follower && want && !updated {
					t.Errorf("%s does not get the new version: %v", name, events)
				}
				if want {
					continue
				}
				if found := n.leaks(c, oldText, newText); len(found) > 0 {
					t.Errorf("%s finds the post on %v", name, found)
				}
				streams[m].Conn.Close()
			}
			was, is := tt.before == "public" || tt.before == "unlisted", tt.after == "public" || tt.after == "unlisted" || tt.after == "nothing"
			want := counted
			if was && !is {
				want--
			}
			if got := srv.Count(`SELECT statuses_count FROM accounts WHERE uri = ?`, bob); got != want {
				t.Errorf("the author has %d posts, want %d", got, want)
			}
			for _, l := range streams {
				l.Conn.Close()
			}
		})
	}
}

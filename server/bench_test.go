package server_test

import (
	"fmt"
	"net/url"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// benchServer returns a server with ten users who follow each other and have 2 000 posts: a fifth are replies with mentions, a third have a
// hashtag, a third have favourites.
func benchServer(b *testing.B) (*apptest.Server, []*apptest.User) {
	srv := apptest.Start(b, func(c *config.Config) { c.Federation.AllowLoopback = true }) // with federation enabled
	var people []*apptest.User
	for i := range 10 {
		people = append(people, srv.SignUp(fmt.Sprintf("p%d", i)))
	}
	for _, p := range people {
		for _, other := range people {
			if other != p {
				p.Post("/api/v1/accounts/" + other.ID + "/follow").Want(200)
			}
		}
	}
	var ids []string
	for i := range 2000 {
		p := people[i%10]
		text := fmt.Sprintf("post number %d of the river and the lamp in the quiet orange garden, and a window of copper", i)
		var params []string
		if i%3 == 0 {
			text += " #bench"
		}
		if i%5 == 1 {
			text = "@" + people[(i+3)%10].Nickname + " " + text
		}
		if i%5 == 2 {
			params = []string{"in_reply_to_id", ids[i/2]}
		}
		id := p.Publish(text, params...).ID()
		ids = append(ids, id)
		if i%3 == 1 {
			people[(i+1)%10].Post("/api/v1/statuses/" + id + "/favourite").Want(200)
		}
	}
	return srv, people
}

// longThread posts a status with 100 replies, each to one of those before, and returns its id.
func longThread(people []*apptest.User) string {
	ids := []string{people[0].Publish("the root of a thread").ID()}
	for i := range 100 {
		to := ids[0]
		if i%3 > 0 {
			to = ids[i*2/3]
		}
		ids = append(ids, people[i%10].Publish(fmt.Sprintf("reply number %d to the long thread about the lamp", i), "in_reply_to_id", to).ID())
	}
	return ids[0]
}

// BenchmarkRead measures requests without the network and net/http.
func BenchmarkRead(b *testing.B) {
	srv, people := benchServer(b)
	root := longThread(people)
	last := people[0].Get("/api/v1/timelines/home").IDs()[0]
	ids := url.Values{}
	for _, p := range people {
		ids.Add("id[]", p.ID)
	}
	for _, bb := range []struct{ name, path string }{
		{"home20", "/api/v1/timelines/home?limit=20"},
		{"home40", "/api/v1/timelines/home?limit=40"},
		{"local20", "/api/v1/timelines/public?local=true&limit=20"},
		{"account_statuses", "/api/v1/accounts/" + people[1].ID + "/statuses?limit=20"},
		{"context100", "/api/v1/statuses/" + root + "/context"},
		{"notifications", "/api/v1/notifications?limit=20"},
		{"status", "/api/v1/statuses/" + last},
		{"verify_credentials", "/api/v1/accounts/verify_credentials"},
		{"relationships", "/api/v1/accounts/relationships?" + ids.Encode()},
		{"search_account", "/api/v2/search?q=p1&type=accounts&limit=20"},
		{"search_status", "/api/v2/search?q=orange+lamp&type=statuses&limit=20"},
		{"search_hashtag", "/api/v2/search?q=bench&type=hashtags&limit=20"},
	} {
		b.Run(bb.name, func(b *testing.B) { benchRequests(srv, b, "GET", bb.path, people[0].Token, "") })
	}
	addFilter := func(i, keywords int) {
		var attributes []any
		for k := range keywords {
			attributes = append(attributes, map[string]any{"keyword": fmt.Sprintf("unwanted%d", i+1000*k), "whole_word": i%2 == 0})
		}
		people[0].SendJSON("POST", "/api/v2/filters", map[string]any{
			"title": "f", "context": []string{"home"}, "filter_action": "hide", "keywords_attributes": attributes,
		}).Want(200)
	}
	for i, n := range []int{20, 80} { // 20 keywords, then 500
		for j := range n {
			addFilter(100*i+j, 1+5*i)
		}
		b.Run(fmt.Sprintf("home20_%d_keywords", 20+480*i), func(b *testing.B) {
			benchRequests(srv, b, "GET", "/api/v1/timelines/home?limit=20", people[0].Token, "")
		})
	}
}

// BenchmarkPost measures a post with a mention and a hashtag, until all its rows are on disk; then the same with 90 more accounts
// that are not in use, which must not make it slower.
func BenchmarkPost(b *testing.B) {
	srv, people := benchServer(b)
	b.Run("post", func(b *testing.B) { benchRequests(srv, b, "POST", "/api/v1/statuses", people[0].Token, benchPost) })
	for i := range 90 {
		srv.SignUp(fmt.Sprintf("idle%d", i))
	}
	b.Run("post_90_idle", func(b *testing.B) { benchRequests(srv, b, "POST", "/api/v1/statuses", people[0].Token, benchPost) })
}

var benchPost = url.Values{"status": {"@p1 a post with a #hashtag and some words that make it as long as posts are"}}.Encode()

// BenchmarkMixed measures nine reads of home and a post that appears in it.
func BenchmarkMixed(b *testing.B) {
	srv, people := benchServer(b)
	b.ReportAllocs()
	for b.Loop() {
		for range 9 {
			srv.BenchRequest(b, "GET", "/api/v1/timelines/home?limit=20", people[0].Token, "")
		}
		srv.BenchRequest(b, "POST", "/api/v1/statuses", people[1].Token, benchPost)
	}
}

// benchRequests sends the same request to the handler repeatedly.
func benchRequests(a *apptest.Server, b *testing.B, method, path, token, body string) {
	b.ReportAllocs()
	for b.Loop() {
		a.BenchRequest(b, method, path, token, body)
	}
}

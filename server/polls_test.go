package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestPollForms sends the same poll in all encodings.
func TestPollForms(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	alice := srv.SignUp("alice")
	form := "status=tea%3F&poll[options][]=+yes+%3Acat%3A+%3Cb%3E&poll[options][]=no%0Atea&poll[expires_in]=600&poll[multiple]=true&poll[hide_totals]=1"
	for name, a := range map[string]*apptest.Response{
		"urlencoded": alice.Do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded", strings.NewReader(form)),
		"multipart": alice.SendForm("POST", "/api/v1/statuses", apptest.ValuePart("status", "tea?"), apptest.ValuePart("poll[options][]", "yes :cat: <b>"),
			apptest.ValuePart("poll[options][]", "no tea"), apptest.ValuePart("poll[options][]", ""), apptest.ValuePart("poll[expires_in]", "600"), apptest.ValuePart("poll[multiple]", "true"),
			apptest.ValuePart("poll[hide_totals]", "true")),
		"indexes": alice.Do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded",
			strings.NewReader(strings.NewReplacer("options][]=+", "options][0]=", "options][]", "options][1]").Replace(form))),
		"JSON": alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "tea?", "media_ids": nil, "poll": apptest.Doc{
			"options": []any{"yes :cat: <b>", "no tea", "no tea "}, "expires_in": "600", "multiple": true, "hide_totals": true,
		}}),
		"the query": alice.Do("POST", "/api/v1/statuses?"+form, "", nil),
	} {
		st := a.Want(200).Object()
		for _, p := range []*apptest.Object{apptest.PollOf(st), alice.Get("/api/v1/polls/" + st.Str("poll.id")).Want(200).Object()} {
			apptest.WantFields(t, name, p, apptest.Doc{
				"expired": false, "multiple": true, "votes_count": 0.0, "voters_count": 0.0, "voted": true, "own_votes": []any{}, "svc.non_anonymous": false,
			})
			if got, want := apptest.PollOptions(p), "yes :cat: <b> ?, no tea ?"; got != want {
				t.Errorf("%s: options are %q, want %q", name, got, want)
			}
			if e := p.At("emojis").([]any); len(e) != 1 || e[0].(map[string]any)["shortcode"] != "cat" {
				t.Errorf("%s: emojis are %v", name, e)
			}
			end, err := time.Parse(time.RFC3339, p.Str("expires_at"))
			if d := time.Until(end); err != nil || d < 9*time.Minute || d > 10*time.Minute {
				t.Errorf("%s: it ends in %v, %v", name, d, err)
			}
		}
	}
	for name, poll := range map[string]any{"null": nil, "nothing": apptest.Doc{}, "text": "", "flags only": apptest.Doc{"multiple": false, "hide_totals": false}} {
		if got := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "x", "poll": poll}).Want(200).Object().At("poll"); got != nil {
			t.Errorf("%s creates the poll %v", name, got)
		}
	}
}

func TestPollLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Polls = config.Polls{MaxOptions: 3, MaxOptionLength: 5, MinExpiration: time.Minute, MaxExpiration: time.Hour}
	})
	alice := srv.SignUp("alice")
	long := "abcdef"
	for _, tt := range []struct {
		name    string
		options any
		in      any
		want    int
		error   string
	}{
		{"at all limits", []string{"a", "b", "äöüäö"}, 3600, 200, ""},
		{"the shortest time", []string{"a", "b"}, 60, 200, ""},
		{"too late, with other faults", []string{long}, 3601, 422, "Expiration date is too far in the future"},
		{"much too late", []string{"a", "b"}, int64(9223372036854775807), 422, "Expiration date is too far in the future"},
		{"too soon, with other faults", []string{long}, 59, 422, "Expiration date is too soon"},
		{"in the past", []string{"a", "b"}, -1, 422, "Expiration date is too soon"},
		{"one option, which is too long", []string{long, long}, 60, 422, "Poll must contain at least 2 options"},
		{"no options", []string{}, 60, 422, "Poll must contain at least 2 options"},
		{"options missing", nil, 60, 422, "Poll must contain at least 2 options"},
		{"options without text", []string{"a", " ", "\u0000"}, 60, 422, "Poll must contain at least 2 options"},
		{"too many, one of them too long", []string{"a", "b", "c", long}, 60, 422, "Poll can't contain more than 3 options"},
		{"the maximum, with a repetition", []string{"a", "b", "c", "a "}, 60, 200, ""},
		{"too long", []string{"a", long}, 60, 422, "Poll options cannot be longer than 5 characters each"},
		{"without an end", []string{"a", "b"}, nil, 400, "Missing field: expires_in."},
		{"an expiry that is not a number", []string{"a", "b"}, "soon", 400, "expires_in - Invalid integer. Got: string."},
		{"an option that is not a text", []any{apptest.Doc{"title": "a"}, "b"}, 60, 400, "0 - Invalid string. Got: object."},
	} {
		for _, preview := range []bool{false, true} {
			a := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "x", "preview": preview, "poll": apptest.Doc{"options": tt.options, "expires_in": tt.in}})
			if tt.error == "" {
				if p := a.Want(200).Object().Str("poll.id"); preview && p != "svc:fakeid" {
					t.Errorf("%s: the poll of a preview has the id %s", tt.name, p)
				}
				continue
			}
			t.Run(fmt.Sprint(tt.name, preview), func(t *testing.T) { a.WantError(tt.want, tt.error) })
		}
	}
	alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "x", "poll": "yes or no"}).WantError(400, "poll - Invalid object. Got: string.")
	alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"poll": apptest.Doc{"options": []string{"a", "b"}, "expires_in": 60}}).
		WantError(422, "Cannot post an empty status without attachments")
	picture := srv.AddMedia(alice)
	st := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"media_ids": []string{picture}, "poll": apptest.Doc{"options": []string{"a", "b"}, "expires_in": 60}}).Want(200).Object()
	if len(st.At("media_attachments").([]any)) != 1 || apptest.PollOptions(apptest.PollOf(st)) != "a 0, b 0" {
		t.Errorf("a picture with a poll is %v", st.Fields)
	}
}

func TestVote(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave, erin := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave"), srv.SignUp("erin")
	srv.AddBlock(alice, dave)
	single, many := alice.PublishPoll([]string{"yes", "no", "maybe"}), alice.PublishPoll([]string{"a", "b", "c"}, "multiple", "true")
	hidden := alice.PublishPoll([]string{"a", "b"}, "hide_totals", "true")
	ended, secret := alice.PublishPoll([]string{"a", "b"}), alice.Publish("psst @bob", "visibility", "direct",
		"poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "60")
	srv.EndPoll(ended)
	bob.Post("/api/v1/statuses/" + single.ID() + "/reblog").Want(200)
	deleted := alice.PublishPoll([]string{"a", "b"})
	alice.Do("DELETE", "/api/v1/statuses/"+deleted.ID(), "", nil).Want(200)
	for _, tt := range []struct {
		name    string
		as      *apptest.User
		st      *apptest.Object
		choices []any
		want    int
		error   string
		options string
		own     []any
	}{
		{"a number", bob, single, []any{1}, 200, "", "yes 0, no 1, maybe 0", []any{1.0}},
		{"again", bob, single, []any{0}, 422, "Already voted", "yes 0, no 1, maybe 0", nil},
		{"the same again", bob, single, []any{1}, 422, "Already voted", "yes 0, no 1, maybe 0", nil},
		{"nothing, after a vote", bob, single, []any{}, 422, "Already voted", "yes 0, no 1, maybe 0", nil},
		{"two in a single-choice poll", carol, single, []any{0, 1}, 422, "Too many choices", "yes 0, no 1, maybe 0", nil},
		{"an unknown option", carol, single, []any{3}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"two unknown options", carol, single, []any{3, 4}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"a negative one", carol, single, []any{-1}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"none", carol, single, []any{}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"a word", carol, single, []any{"yes"}, 400, "0 - Invalid integer. Got: string.", "yes 0, no 1, maybe 0", nil},
		{"a text, twice", carol, single, []any{"0", "0"}, 200, "", "yes 1, no 1, maybe 0", []any{0.0}},
		{"several", bob, many, []any{"2", 0, 2}, 200, "", "a 1, b 0, c 1", []any{0.0, 2.0}},
		{"one more", bob, many, []any{1}, 422, "Already voted", "a 1, b 0, c 1", nil},
		{"all", carol, many, []any{0, 1, 2}, 200, "", "a 2, b 1, c 2", []any{0.0, 1.0, 2.0}},
		{"of the viewer", alice, single, []any{0}, 422, "Poll's author can't vote", "yes 1, no 1, maybe 0", nil},
		{"of the viewer, an unknown option", alice, single, []any{7}, 422, "Poll's author can't vote", "yes 1, no 1, maybe 0", nil},
		{"hidden", bob, hidden, []any{1}, 200, "", "a ?, b ?", []any{1.0}},
		{"ended", bob, ended, []any{0}, 422, "The poll has already ended", "a 0, b 0", nil},
		{"by a blocked account", dave, single, []any{0}, 404, "Record not found", "", nil},
		{"not addressed", carol, secret, []any{0}, 404, "Record not found", "", nil},
		{"addressed", bob, secret, []any{0}, 200, "", "a 1, b 0", []any{0.0}},
		{"deleted", bob, deleted, []any{0}, 404, "Record not found", "", nil},
		{"without a token", nil, single, []any{0}, 401, "The access token is invalid", "yes 1, no 1, maybe 0", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := srv.As(tt.as)
			path := "/api/v1/polls/" + tt.st.Str("poll.id")
			a := c.SendJSON("POST", path+"/votes", apptest.Doc{"choices": tt.choices})
			if tt.error != "" {
				a.WantError(tt.want, tt.error)
			} else {
				apptest.WantFields(t, "the response", a.Want(200).Object(), apptest.Doc{"voted": true, "own_votes": tt.own})
			}
			if tt.options == "" {
				c.Get(path).WantError(404, "Record not found")
				return
			}
			for _, p := range []*apptest.Object{c.Get(path).Want(200).Object(), apptest.PollOf(c.Get("/api/v1/statuses/" + tt.st.ID()).Want(200).Object())} {
				if got := apptest.PollOptions(p); got != tt.options {
					t.Errorf("options are %q, want %q", got, tt.options)
				}
			}
		})
	}
	bob.Post("/api/v1/polls/"+single.Str("poll.id")+"/votes").WantError(400, "Missing field: choices.")
	bob.Post("/api/v1/polls/17/votes", "choices[]", "0").WantError(404, "Record not found")
	bob.Get("/api/v1/polls/"+single.ID()).WantError(404, "Record not found")

	apptest.WantFields(t, "several voters", carol.Get("/api/v1/polls/"+many.Str("poll.id")).Object(), apptest.Doc{
		"votes_count": 5.0, "voters_count": 2.0, "voted": true, "own_votes": []any{0.0, 1.0, 2.0},
	})
	apptest.WantFields(t, "a viewer without a vote", erin.Get("/api/v1/polls/"+many.Str("poll.id")).Object(), apptest.Doc{"voted": false, "own_votes": []any{}})
	apptest.WantFields(t, "the author", alice.Get("/api/v1/polls/"+many.Str("poll.id")).Object(), apptest.Doc{"voted": true, "own_votes": []any{}})
	if p := srv.As(nil).Get("/api/v1/polls/" + many.Str("poll.id")).Want(200).Object(); p.Has("voted") || p.Has("own_votes") {
		t.Errorf("anonymous viewers see %v", p.Fields)
	}
	// So do timelines, boosts, and polls with totals that are hidden until the end.
	for _, path := range []string{"/api/v1/timelines/public", "/api/v1/accounts/bob/statuses"} {
		for _, st := range bob.Get(path).Want(200).List() {
			if r, ok := st.At("reblog").(map[string]any); ok {
				apptest.WantFields(t, path, &apptest.Object{T: t, Fields: r}, apptest.Doc{"id": single.ID(), "poll.own_votes": []any{1.0}})
			} else if st.ID() != single.ID() {
				continue
			}
			apptest.WantFields(t, path, st, apptest.Doc{"poll.own_votes": []any{1.0}, "poll.votes_count": 2.0, "poll.voted": true})
		}
	}
	apptest.WantFields(t, "hidden", bob.Get("/api/v1/polls/"+hidden.Str("poll.id")).Object(), apptest.Doc{"votes_count": 1.0, "expired": false})
	srv.EndPoll(hidden)
	p := bob.Get("/api/v1/polls/" + hidden.Str("poll.id")).Object()
	apptest.WantFields(t, "hidden before the end", p, apptest.Doc{"expired": true})
	if got := apptest.PollOptions(p); got != "a 0, b 1" {
		t.Errorf("after the end options are %q", got)
	}
}

// TestConcurrentVotes checks that concurrent votes of an account count once, and that votes of several accounts all count.
func TestConcurrentVotes(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := alice.PublishPoll([]string{"a", "b"}, "multiple", "true")
	voted := make([]int, 20)
	var wg sync.WaitGroup
	for i := range voted {
		wg.Go(func() { voted[i] = []*apptest.User{bob, carol}[i%2].Vote(st, i/2%2).Status })
	}
	wg.Wait()
	slices.Sort(voted)
	if voted[0] != 200 || voted[1] != 200 || voted[2] != 422 || voted[19] != 422 {
		t.Errorf("response statuses are %v", voted)
	}
	apptest.WantFields(t, "the poll", alice.Get("/api/v1/polls/"+st.Str("poll.id")).Object(), apptest.Doc{"votes_count": 2.0, "voters_count": 2.0})
}

// addRichPolls adds polls in all states and scheduled statuses, and returns one of each.
func addRichPolls(a *apptest.Server, rich, other *apptest.User, statuses *[]string) (poll, scheduled string) {
	a.T.Helper()
	a.AddEmoji("more", map[string]string{"tea": "tea.png"})
	for _, more := range [][]string{nil, {"hide_totals", "true"}, {"multiple", "true"}} {
		st := rich.PublishPoll([]string{"yes :tea:", "no"}, more...)
		*statuses, poll = append(*statuses, st.ID()), st.Str("poll.id")
		WantEntity(a.T.(*testing.T), "other", other.Vote(st, 0), "Poll")
	}
	ended := rich.PublishPoll([]string{"a", "b"})
	a.EndPoll(ended)
	rich.EditStatus(ended.ID(), apptest.Doc{"status": "without a poll"}).Want(200)
	*statuses = append(*statuses, ended.ID())
	later := time.Now().Add(time.Hour)
	for _, body := range []apptest.Doc{{"status": "x"}, {
		"status": "y", "spoiler_text": "cw", "language": "de", "expires_in": 4000, "visibility": "private", "in_reply_to_id": ended.ID(),
		"media_ids": []string{a.AddMedia(rich)}, "poll": apptest.Doc{"options": []string{"a", "b"}, "expires_in": 600},
	}} {
		body["scheduled_at"] = later
		response := rich.SendJSON("POST", "/api/v1/statuses", body)
		WantEntity(a.T.(*testing.T), "rich", response, "ScheduledStatus")
		scheduled = response.Object().ID()
	}
	response := rich.SendJSON("PUT", "/api/v1/scheduled_statuses/"+scheduled, apptest.Doc{"scheduled_at": later.Add(time.Hour)})
	WantEntity(a.T.(*testing.T), "rich", response, "ScheduledStatus")
	return poll, scheduled
}

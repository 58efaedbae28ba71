package server_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

// jsonBody is an object to send.
type jsonBody = map[string]any

// ask posts a poll that is open for a day, with more parameters of the poll as pairs, and returns the status.
func (m *member) ask(options []string, more ...string) *object {
	m.api.t.Helper()
	p := []string{"poll[expires_in]", "86400"}
	for _, o := range options {
		p = append(p, "poll[options][]", o)
	}
	for i := 0; i+1 < len(more); i += 2 {
		p = append(p, "poll["+more[i]+"]", more[i+1])
	}
	return m.publish("what do you think?", p...)
}

// vote votes in the poll of a status.
func (m *member) vote(st *object, choices ...any) *answer {
	m.api.t.Helper()
	return m.send("POST", "/api/v1/polls/"+st.str("poll.id")+"/votes", jsonBody{"choices": choices})
}

// endPoll brings the end of the poll of a status about.
func (a *api) endPoll(st *object) {
	a.t.Helper()
	a.insert(`UPDATE polls SET expires_at = 1000 WHERE status_id = ?`, statusID(st.id()))
	a.insert(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "poll:"+st.id())
	a.settle()
}

// pollOptions returns the options of a poll, as in "yes 2, no ?".
func pollOptions(poll *object) string {
	var list []string
	for _, o := range poll.at("options").([]any) {
		option := o.(map[string]any)
		votes := option["votes_count"]
		if votes == nil {
			votes = "?"
		}
		list = append(list, fmt.Sprint(option["title"], " ", votes))
	}
	return strings.Join(list, ", ")
}

func pollOf(o *object) *object { return &object{o.t, o.at("poll").(map[string]any)} }

// wantMembers compares members of an object.
func wantMembers(t *testing.T, what string, o *object, want jsonBody) {
	t.Helper()
	for path, value := range want {
		if got := o.at(path); !reflect.DeepEqual(got, value) {
			t.Errorf("%s: %s is %v, want %v", what, path, got, value)
		}
	}
}

// All forms of a request make the same poll.
func TestPollForms(t *testing.T) {
	srv := startAPI(t)
	srv.addEmoji("pets", map[string]string{"cat": "cat.png"})
	alice := srv.signUp("alice")
	form := "status=tea%3F&poll[options][]=+yes+%3Acat%3A+%3Cb%3E&poll[options][]=no%0Atea&poll[expires_in]=600&poll[multiple]=true&poll[hide_totals]=1"
	for name, a := range map[string]*answer{
		"urlencoded": alice.do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded", strings.NewReader(form)),
		"multipart": alice.form("POST", "/api/v1/statuses", valuePart("status", "tea?"), valuePart("poll[options][]", "yes :cat: <b>"),
			valuePart("poll[options][]", "no tea"), valuePart("poll[options][]", ""), valuePart("poll[expires_in]", "600"), valuePart("poll[multiple]", "true"),
			valuePart("poll[hide_totals]", "true")),
		"indexes": alice.do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded",
			strings.NewReader(strings.NewReplacer("options][]=+", "options][0]=", "options][]", "options][1]").Replace(form))),
		"JSON": alice.send("POST", "/api/v1/statuses", jsonBody{"status": "tea?", "media_ids": nil, "poll": jsonBody{
			"options": []any{"yes :cat: <b>", "no tea", "no tea "}, "expires_in": "600", "multiple": true, "hide_totals": true,
		}}),
		"the query": alice.do("POST", "/api/v1/statuses?"+form, "", nil),
	} {
		st := a.want(200).object()
		for _, p := range []*object{pollOf(st), alice.get("/api/v1/polls/" + st.str("poll.id")).want(200).object()} {
			wantMembers(t, name, p, jsonBody{
				"expired": false, "multiple": true, "votes_count": 0.0, "voters_count": 0.0, "voted": true, "own_votes": []any{}, "svc.non_anonymous": false,
			})
			if got, want := pollOptions(p), "yes :cat: <b> ?, no tea ?"; got != want {
				t.Errorf("%s: options are %q, want %q", name, got, want)
			}
			if e := p.at("emojis").([]any); len(e) != 1 || e[0].(map[string]any)["shortcode"] != "cat" {
				t.Errorf("%s: emojis are %v", name, e)
			}
			end, err := time.Parse(time.RFC3339, p.str("expires_at"))
			if d := time.Until(end); err != nil || d < 9*time.Minute || d > 10*time.Minute {
				t.Errorf("%s: it ends in %v, %v", name, d, err)
			}
		}
	}
	for name, poll := range map[string]any{"null": nil, "nothing": jsonBody{}, "text": "", "flags only": jsonBody{"multiple": false, "hide_totals": false}} {
		if got := alice.send("POST", "/api/v1/statuses", jsonBody{"status": "x", "poll": poll}).want(200).object().at("poll"); got != nil {
			t.Errorf("%s makes the poll %v", name, got)
		}
	}
}

func TestPollLimits(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.Polls = config.Polls{MaxOptions: 3, MaxOptionLength: 5, MinExpiration: time.Minute, MaxExpiration: time.Hour}
	})
	alice := srv.signUp("alice")
	long := "abcdef"
	for _, tt := range []struct {
		name    string
		options any
		in      any
		want    int
		error   string
	}{
		{"just right", []string{"a", "b", "äöüäö"}, 3600, 200, ""},
		{"the shortest time", []string{"a", "b"}, 60, 200, ""},
		{"too late, and wrong in every other way", []string{long}, 3601, 422, "Expiration date is too far in the future"},
		{"in ages", []string{"a", "b"}, int64(9223372036854775807), 422, "Expiration date is too far in the future"},
		{"too soon, and wrong in every other way", []string{long}, 59, 422, "Expiration date is too soon"},
		{"over", []string{"a", "b"}, -1, 422, "Expiration date is too soon"},
		{"one option, and that too long", []string{long, long}, 60, 422, "Poll must contain at least 2 options"},
		{"no options", []string{}, 60, 422, "Poll must contain at least 2 options"},
		{"nothing said of options", nil, 60, 422, "Poll must contain at least 2 options"},
		{"options without text", []string{"a", " ", "\u0000"}, 60, 422, "Poll must contain at least 2 options"},
		{"too many, one of them too long", []string{"a", "b", "c", long}, 60, 422, "Poll can't contain more than 3 options"},
		{"as many, but for repetitions", []string{"a", "b", "c", "a "}, 60, 200, ""},
		{"too long", []string{"a", long}, 60, 422, "Poll options cannot be longer than 5 characters each"},
		{"without an end", []string{"a", "b"}, nil, 400, "Missing field: expires_in."},
		{"no number", []string{"a", "b"}, "soon", 400, "expires_in - Invalid integer. Got: string."},
		{"options are no texts", []any{jsonBody{"title": "a"}, "b"}, 60, 400, "0 - Invalid string. Got: object."},
	} {
		for _, preview := range []bool{false, true} {
			a := alice.send("POST", "/api/v1/statuses", jsonBody{"status": "x", "preview": preview, "poll": jsonBody{"options": tt.options, "expires_in": tt.in}})
			if tt.error == "" {
				if p := a.want(200).object().str("poll.id"); preview && p != "svc:fakeid" {
					t.Errorf("%s: the poll of a preview has the id %s", tt.name, p)
				}
				continue
			}
			t.Run(fmt.Sprint(tt.name, preview), func(t *testing.T) { a.wantError(tt.want, tt.error) })
		}
	}
	alice.send("POST", "/api/v1/statuses", jsonBody{"status": "x", "poll": "yes or no"}).wantError(400, "poll - Invalid object. Got: string.")
	alice.send("POST", "/api/v1/statuses", jsonBody{"poll": jsonBody{"options": []string{"a", "b"}, "expires_in": 60}}).
		wantError(422, "Cannot post an empty status without attachments")
	picture := srv.letUpload(alice)
	st := alice.send("POST", "/api/v1/statuses", jsonBody{"media_ids": []string{picture}, "poll": jsonBody{"options": []string{"a", "b"}, "expires_in": 60}}).want(200).object()
	if len(st.at("media_attachments").([]any)) != 1 || pollOptions(pollOf(st)) != "a 0, b 0" {
		t.Errorf("a picture with a poll is %v", st.m)
	}
}

func TestVote(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave, erin := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave"), srv.signUp("erin")
	srv.letBlock(alice, dave)
	single, many := alice.ask([]string{"yes", "no", "maybe"}), alice.ask([]string{"a", "b", "c"}, "multiple", "true")
	hidden := alice.ask([]string{"a", "b"}, "hide_totals", "true")
	over, secret := alice.ask([]string{"a", "b"}), alice.publish("psst @bob", "visibility", "direct",
		"poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "60")
	srv.endPoll(over)
	bob.post("/api/v1/statuses/" + single.id() + "/reblog").want(200)
	gone := alice.ask([]string{"a", "b"})
	alice.do("DELETE", "/api/v1/statuses/"+gone.id(), "", nil).want(200)
	for _, tt := range []struct {
		name    string
		as      *member
		st      *object
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
		{"two of one", carol, single, []any{0, 1}, 422, "Too many choices", "yes 0, no 1, maybe 0", nil},
		{"an option that there is not", carol, single, []any{3}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"too many that there are not", carol, single, []any{3, 4}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"a negative one", carol, single, []any{-1}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"none", carol, single, []any{}, 422, "Invalid indices", "yes 0, no 1, maybe 0", nil},
		{"a word", carol, single, []any{"yes"}, 400, "0 - Invalid integer. Got: string.", "yes 0, no 1, maybe 0", nil},
		{"a text, twice", carol, single, []any{"0", "0"}, 200, "", "yes 1, no 1, maybe 0", []any{0.0}},
		{"several", bob, many, []any{"2", 0, 2}, 200, "", "a 1, b 0, c 1", []any{0.0, 2.0}},
		{"one more", bob, many, []any{1}, 422, "Already voted", "a 1, b 0, c 1", nil},
		{"all", carol, many, []any{0, 1, 2}, 200, "", "a 2, b 1, c 2", []any{0.0, 1.0, 2.0}},
		{"one's own", alice, single, []any{0}, 422, "Poll's author can't vote", "yes 1, no 1, maybe 0", nil},
		{"one's own, and wrong", alice, single, []any{7}, 422, "Poll's author can't vote", "yes 1, no 1, maybe 0", nil},
		{"hidden", bob, hidden, []any{1}, 200, "", "a ?, b ?", []any{1.0}},
		{"ended", bob, over, []any{0}, 422, "The poll has already ended", "a 0, b 0", nil},
		{"by somebody who is blocked", dave, single, []any{0}, 404, "Record not found", "", nil},
		{"not addressed", carol, secret, []any{0}, 404, "Record not found", "", nil},
		{"addressed", bob, secret, []any{0}, 200, "", "a 1, b 0", []any{0.0}},
		{"deleted", bob, gone, []any{0}, 404, "Record not found", "", nil},
		{"without a token", nil, single, []any{0}, 401, "The access token is invalid", "yes 1, no 1, maybe 0", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := srv.as(tt.as)
			path := "/api/v1/polls/" + tt.st.str("poll.id")
			a := c.send("POST", path+"/votes", jsonBody{"choices": tt.choices})
			if tt.error != "" {
				a.wantError(tt.want, tt.error)
			} else {
				wantMembers(t, "the answer", a.want(200).object(), jsonBody{"voted": true, "own_votes": tt.own})
			}
			if tt.options == "" {
				c.get(path).wantError(404, "Record not found")
				return
			}
			for _, p := range []*object{c.get(path).want(200).object(), pollOf(c.get("/api/v1/statuses/" + tt.st.id()).want(200).object())} {
				if got := pollOptions(p); got != tt.options {
					t.Errorf("options are %q, want %q", got, tt.options)
				}
			}
		})
	}
	bob.post("/api/v1/polls/"+single.str("poll.id")+"/votes").wantError(400, "Missing field: choices.")
	bob.post("/api/v1/polls/17/votes", "choices[]", "0").wantError(404, "Record not found")
	bob.get("/api/v1/polls/"+single.id()).wantError(404, "Record not found")

	wantMembers(t, "several voters", carol.get("/api/v1/polls/"+many.str("poll.id")).object(), jsonBody{
		"votes_count": 5.0, "voters_count": 2.0, "voted": true, "own_votes": []any{0.0, 1.0, 2.0},
	})
	wantMembers(t, "who did not vote", erin.get("/api/v1/polls/"+many.str("poll.id")).object(), jsonBody{"voted": false, "own_votes": []any{}})
	wantMembers(t, "the author", alice.get("/api/v1/polls/"+many.str("poll.id")).object(), jsonBody{"voted": true, "own_votes": []any{}})
	if p := srv.as(nil).get("/api/v1/polls/" + many.str("poll.id")).want(200).object(); p.has("voted") || p.has("own_votes") {
		t.Errorf("the anonymous see %v", p.m)
	}
	// The same in lists, on boosts, and with totals that are shown at the end only.
	for _, path := range []string{"/api/v1/timelines/public", "/api/v1/accounts/bob/statuses"} {
		for _, st := range bob.get(path).want(200).list() {
			if r, ok := st.at("reblog").(map[string]any); ok {
				wantMembers(t, path, &object{t, r}, jsonBody{"id": single.id(), "poll.own_votes": []any{1.0}})
			} else if st.id() != single.id() {
				continue
			}
			wantMembers(t, path, st, jsonBody{"poll.own_votes": []any{1.0}, "poll.votes_count": 2.0, "poll.voted": true})
		}
	}
	wantMembers(t, "hidden", bob.get("/api/v1/polls/"+hidden.str("poll.id")).object(), jsonBody{"votes_count": 1.0, "expired": false})
	srv.endPoll(hidden)
	p := bob.get("/api/v1/polls/" + hidden.str("poll.id")).object()
	wantMembers(t, "hidden until now", p, jsonBody{"expired": true})
	if got := pollOptions(p); got != "a 0, b 1" {
		t.Errorf("the end shows %q", got)
	}
}

// Who votes twice at once has voted once, and nobody's vote is lost.
func TestVoteAtTheSameTime(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	st := alice.ask([]string{"a", "b"}, "multiple", "true")
	voted := make([]int, 20)
	var wg sync.WaitGroup
	for i := range voted {
		wg.Go(func() { voted[i] = []*member{bob, carol}[i%2].vote(st, i/2%2).status })
	}
	wg.Wait()
	slices.Sort(voted)
	if voted[0] != 200 || voted[1] != 200 || voted[2] != 422 || voted[19] != 422 {
		t.Errorf("answers are %v", voted)
	}
	wantMembers(t, "the poll", alice.get("/api/v1/polls/"+st.str("poll.id")).object(), jsonBody{"votes_count": 2.0, "voters_count": 2.0})
}

// enrichWithPolls has two people make polls in all states, and posts for later, and returns one of each.
func (a *api) enrichWithPolls(rich, other *member, statuses *[]string) (poll, scheduled string) {
	a.t.Helper()
	a.addEmoji("more", map[string]string{"tea": "tea.png"})
	for _, more := range [][]string{nil, {"hide_totals", "true"}, {"multiple", "true"}} {
		st := rich.ask([]string{"yes :tea:", "no"}, more...)
		*statuses, poll = append(*statuses, st.id()), st.str("poll.id")
		wantEntity(a.t.(*testing.T), "the other", other.vote(st, 0), "Poll")
	}
	ended := rich.ask([]string{"a", "b"})
	a.endPoll(ended)
	rich.edit(ended.id(), jsonBody{"status": "no poll any more"}).want(200)
	*statuses = append(*statuses, ended.id())
	later := time.Now().Add(time.Hour)
	for _, body := range []jsonBody{{"status": "x"}, {
		"status": "y", "spoiler_text": "cw", "language": "de", "expires_in": 4000, "visibility": "private", "in_reply_to_id": ended.id(),
		"media_ids": []string{a.letUpload(rich)}, "poll": jsonBody{"options": []string{"a", "b"}, "expires_in": 600},
	}} {
		body["scheduled_at"] = later
		answer := rich.send("POST", "/api/v1/statuses", body)
		wantEntity(a.t.(*testing.T), "the rich", answer, "ScheduledStatus")
		scheduled = answer.object().id()
	}
	answer := rich.send("PUT", "/api/v1/scheduled_statuses/"+scheduled, jsonBody{"scheduled_at": later.Add(time.Hour)})
	wantEntity(a.t.(*testing.T), "the rich", answer, "ScheduledStatus")
	return poll, scheduled
}

// has tells whether a query of the test's own has a row.
func (a *api) has(query string, args ...any) (bool, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.dir, store.File)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}

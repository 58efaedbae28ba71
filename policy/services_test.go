package policy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"svc/internal/config"
	"svc/store"
)

// nameServer answers queries for A records from a table.
func nameServer(t *testing.T, table map[string][4]byte) (port int, asked *atomic.Int32) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	asked = new(atomic.Int32)
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			asked.Add(1)
			m.Header.Response, m.Header.Authoritative, m.Additionals = true, true, nil
			q := m.Questions[0]
			if a, ok := table[strings.ToLower(q.Name.String())]; ok {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}, Body: &dnsmessage.AResource{A: a}}}
			} else {
				m.Header.RCode = dnsmessage.RCodeNameError
			}
			if reply, err := m.Pack(); err == nil {
				conn.WriteTo(reply, from)
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port, asked
}

func TestBlockList(t *testing.T) {
	port, asked := nameServer(t, map[string][4]byte{
		"bad.example.bl.test.": {127, 0, 0, 2}, "complaint.example.bl.test.": {127, 255, 255, 254}, "parked.example.bl.test.": {192, 0, 2, 1},
	})
	c := New(settings(t, func(c *config.Config) {
		c.MRFDNSRBL = config.MRFDNSRBL{Nameserver: "127.0.0.1", Port: port, Zone: "bl.test"}
	}, "DNSRBLPolicy"), Deps{})
	for host, want := range map[string]bool{"bad.example": true, "bad.example:8443": true, "fine.example": false, "complaint.example": false, "parked.example": false} {
		for range 2 {
			err := c.Post(t.Context(), with(remote(), func(p *Post) { p.Host = host }))
			if got := rejectedBy(t, err) != ""; got != want {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
	if got := asked.Load(); got != 4 {
		t.Errorf("asked %d times, want once for each host", got)
	}
}

func TestScorer(t *testing.T) {
	answers := map[string]string{"good": `{"score":0.1}`, "bad": `{"score":0.9,"url":"x"}`, "strange": `{"score":"much"}`, "none": `{}`, "broken": `{`}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("key") != "1" {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprint(w, answers[r.URL.Query().Get("url")])
	}))
	defer ts.Close()
	score := newScorer(ts.URL + "/judge?key=1")
	for picture, want := range map[string]float64{"good": 0.1, "bad": 0.9, "strange": -1, "none": -1, "broken": -1, "missing": -1} {
		got, err := score(t.Context(), picture)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%s: got %v, %v", picture, got, err)
		}
	}
	ts.Close()
	if _, err := score(t.Context(), "good"); err == nil {
		t.Error("got an answer of nobody")
	}
}

// TestInspect checks that local images are classified before they are published, and that publishing sends no requests.
func TestInspect(t *testing.T) {
	asked := 0
	d := Deps{Score: func(context.Context, string) (float64, error) {
		asked++
		return 0.9, nil
	}}
	for name, c := range map[string]*Chain{
		"by itself": New(settings(t, nil, "NsfwApiPolicy"), d),
		"for some": New(settings(t, func(c *config.Config) {
			c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "alice", Policies: []string{"NsfwApiPolicy"}}}
		}, "SubchainPolicy"), d),
	} {
		post := func() *Post {
			return with(local(), func(p *Post) { p.Attachments = []Attachment{{URL: "https://here.example/media/1", MediaType: "image"}} })
		}
		asked = 0
		p := post()
		if err := c.Post(t.Context(), p); err != nil || p.Sensitive || asked > 0 {
			t.Errorf("%s: %v, %v, asked %d times", name, p.Sensitive, err, asked)
		}
		if !c.Inspects() {
			t.Fatalf("%s: nothing is inspected", name)
		}
		c.Inspect(t.Context(), []string{"https://here.example/media/1"})
		p = post()
		if err := c.Post(t.Context(), p); err != nil || !p.Sensitive || asked != 1 {
			t.Errorf("%s: %v, %v, asked %d times", name, p.Sensitive, err, asked)
		}
	}
}

func TestResultCache(t *testing.T) {
	at, queries := now, 0
	c := newResultCache(Deps{Now: func() time.Time { return at }}, func(_ context.Context, key string) (int, error) {
		queries++
		if key == "bad" {
			return 0, errors.New("no answer")
		}
		return len(key), nil
	})
	get := func(key string, want int) {
		t.Helper()
		queries = 0
		if v, err := c.get(t.Context(), key); queries != want || err == nil && v != len(key) {
			t.Errorf("%s: got %d, %v, %d queries", key, v, err, queries)
		}
	}
	get("one", 1)
	get("one", 0)
	get("bad", 1)
	get("bad", 1)
	at = at.Add(resultTTL)
	get("one", 1)
}

// TestDeferredRequests checks that a service's result is left open where a request would block, unless it is cached.
func TestDeferredRequests(t *testing.T) {
	later := errors.New("others have to be asked")
	port, _ := nameServer(t, map[string][4]byte{"there.example.bl.test.": {127, 0, 0, 2}})
	for _, policy := range []string{"DNSRBLPolicy", "NsfwApiPolicy"} {
		wait := false
		c := New(settings(t, func(c *config.Config) {
			c.MRFDNSRBL.Port, c.MRFDNSRBL.Zone, c.MRFNSFWAPI.Reject = port, "bl.test", true
		}, policy), Deps{
			CheckNetwork: func(context.Context) error {
				if wait {
					return nil
				}
				return later
			},
			Score: func(context.Context, string) (float64, error) { return 1, nil },
		})
		if err := c.Post(t.Context(), remote()); !errors.Is(err, later) {
			t.Errorf("%s, when nobody waits: %v", policy, err)
		}
		for _, wait = range []bool{true, false} {
			if got := rejectedBy(t, c.Post(t.Context(), remote())); got != policy {
				t.Errorf("%s, wait = %v: refused by %q", policy, wait, got)
			}
		}
	}
}

// jobsOf returns the payloads of a post's jobs as text.
func jobsOf(p *Post) string {
	var list []string
	for _, j := range p.Jobs {
		list = append(list, fmt.Sprintf("%s %+v", j.Payload.Kind().Name, j.Payload))
	}
	return strings.Join(list, ", ")
}

func TestStealEmoji(t *testing.T) {
	c := New(settings(t, func(c *config.Config) {
		c.MRFStealEmoji.Hosts, c.MRFStealEmoji.RejectedShortcodes = []string{"there.example"}, []string{"bad"}
	}, "StealEmojiPolicy"), Deps{HasEmoji: func(code string) bool { return code == "known" }})
	emoji := []Emoji{{"new", "x"}, {"known", "x"}, {"verybad", "x"}, {"../up", "x"}, {"", "x"}}
	other := with(remote(), func(p *Post) { p.Host = "other.example" })
	for p, want := range map[*Post]string{remote(): "copy_emoji {Pack:stolen Shortcode:new URL:x MaxBytes:50000}", other: "", local(): ""} {
		p.Emoji = emoji
		if err := c.Post(t.Context(), p); err != nil || jobsOf(p) != want {
			t.Errorf("%s: jobs %q, want %q: %v", p.Host, jobsOf(p), want, err)
		}
	}
}

func TestProxyWarming(t *testing.T) {
	c := New(settings(t, nil, "MediaProxyWarmingPolicy"), Deps{})
	ours := with(local(), func(p *Post) { p.Attachments = []Attachment{{URL: "ours"}} })
	for p, want := range map[*Post]string{remote(): "fetch_proxied {URLs:[https://there.example/p.png]}", ours: ""} {
		if err := c.Post(t.Context(), p); err != nil || jobsOf(p) != want {
			t.Errorf("%s: jobs %q, want %q: %v", p.Host, jobsOf(p), want, err)
		}
	}
}

func TestFollowBot(t *testing.T) {
	const follow = "bot_follow {BotID:000000000000000007 TargetID:000000000000000008}"
	for _, tt := range []struct {
		name   string
		change func(*Post, *fakeAccounts)
		want   string
	}{
		{"remote account", func(*Post, *fakeAccounts) {}, follow},
		{"locked", func(p *Post, _ *fakeAccounts) { p.Author.Locked = true }, ""},
		{"refuses bots", func(p *Post, _ *fakeAccounts) { p.Author.Note = "<p>me #NoBot</p>" }, ""},
		{"local", func(p *Post, _ *fakeAccounts) { p.Author.Domain = "" }, ""},
		{"unknown", func(p *Post, _ *fakeAccounts) { p.Author = nil }, ""},
		{"followed already", func(_ *Post, f *fakeAccounts) { f.follows = true }, ""},
		{"no such bot", func(_ *Post, f *fakeAccounts) { f.bot = nil }, ""},
		{"not a bot", func(_ *Post, f *fakeAccounts) { f.bot.ActorType = "Person" }, ""},
		{"unavailable bot", func(_ *Post, f *fakeAccounts) { f.bot.Unavailable = true }, ""},
	} {
		accounts := &fakeAccounts{bot: &store.Account{ID: 7, Nickname: "robot", ActorType: "Service"}}
		c := New(settings(t, func(c *config.Config) { c.MRFFollowBot.FollowerNickname = "@robot" }, "FollowBotPolicy"), Deps{Accounts: accounts})
		p := remote()
		p.Author.ID = 8
		tt.change(p, accounts)
		if err := c.Post(t.Context(), p); err != nil || jobsOf(p) != tt.want {
			t.Errorf("%s: jobs %q, want %q: %v", tt.name, jobsOf(p), tt.want, err)
		}
	}
}

package policy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"svc/internal/config"
	"svc/store"
)

// nameServer answers questions for A records on this machine: what table has, and nothing else.
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

// TestInspect judges pictures of people here before they are published: the publishing itself asks nobody.
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

func TestMemo(t *testing.T) {
	at, asked := now, 0
	m := newResultCache(func() time.Time { return at }, func(_ context.Context, key string) (int, error) {
		asked++
		if key == "bad" {
			return 0, errors.New("no answer")
		}
		return len(key), nil
	})
	get := func(key string, wantAsked int) {
		t.Helper()
		asked = 0
		if v, err := m.get(t.Context(), key); asked != wantAsked || err == nil && v != len(key) {
			t.Errorf("%s: got %d, %v, asked %d times", key, v, err, asked)
		}
	}
	get("one", 1)
	get("one", 0)
	get("bad", 1)
	get("bad", 1)
	at = at.Add(resultTTL)
	get("one", 1)
	for i := range 3 * maxCachedResults {
		get(fmt.Sprint("key", i), 1)
	}
	if len(m.entries) > maxCachedResults {
		t.Errorf("%d are kept", len(m.entries))
	}
}

// TestAskedLater: where nobody can be waited for, what others have to say is left open, unless it is known.
func TestAskedLater(t *testing.T) {
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

// fakeEmojis notes what is copied.
type fakeEmojis struct{ has, copied []string }

func (s *fakeEmojis) Has(code string) bool { return slices.Contains(s.has, code) }
func (s *fakeEmojis) Copy(_ context.Context, pack string, e Emoji, most int64) {
	s.copied = append(s.copied, fmt.Sprint(pack, "/", e.Shortcode, " ", most))
}

func TestStealEmoji(t *testing.T) {
	s := &fakeEmojis{has: []string{"known"}}
	c := New(settings(t, func(c *config.Config) {
		c.MRFStealEmoji.Hosts, c.MRFStealEmoji.RejectedShortcodes = []string{"there.example"}, []string{"bad"}
	}, "StealEmojiPolicy"), Deps{Emoji: s})
	emoji := []Emoji{{"new", "x"}, {"known", "x"}, {"verybad", "x"}, {"../up", "x"}, {"", "x"}}
	for _, p := range []*Post{remote(), with(remote(), func(p *Post) { p.Host = "other.example" }), local()} {
		p.Emoji = emoji
		if err := c.Post(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(s.copied, ", "); got != "stolen/new 50000" {
		t.Errorf("copied %s", got)
	}
}

func TestWarming(t *testing.T) {
	var warmed []string
	c := New(settings(t, nil, "MediaProxyWarmingPolicy"), Deps{WarmProxy: func(_ context.Context, address string) { warmed = append(warmed, address) }})
	p := with(remote(), func(p *Post) { p.Former = []Version{{Attachments: []Attachment{{URL: "before"}}}} })
	l := with(local(), func(p *Post) { p.Attachments = []Attachment{{URL: "ours"}} })
	if err := errors.Join(c.Post(t.Context(), p), c.Post(t.Context(), l)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(warmed, " "); got != "https://there.example/p.png before" {
		t.Errorf("warmed %s", got)
	}
}

func TestFollowBot(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Post)
		want   bool
	}{
		{"somebody", func(*Post) {}, true},
		{"locked", func(p *Post) { p.Author.Locked = true }, false},
		{"who does not want it", func(p *Post) { p.Author.Note = "<p>me #NoBot</p>" }, false},
		{"of here", func(p *Post) { p.Author.Domain = "" }, false},
		{"unknown", func(p *Post) { p.Author = nil }, false},
	} {
		var followed *store.Account
		d := Deps{Follow: func(_ context.Context, nickname string, whom *store.Account) {
			if followed = whom; nickname != "robot" {
				t.Errorf("%s follows", nickname)
			}
		}}
		c := New(settings(t, func(c *config.Config) { c.MRFFollowBot.FollowerNickname = "@robot" }, "FollowBotPolicy"), d)
		p := with(remote(), tt.change)
		if err := c.Post(t.Context(), p); err != nil || (followed != nil) != tt.want {
			t.Errorf("%s: followed %v, %v", tt.name, followed, err)
		}
	}
}

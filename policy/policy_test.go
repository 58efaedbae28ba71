package policy

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

var now = time.Date(2025, 6, 7, 8, 0, 0, 0, time.UTC)

// fakeAccounts answers what the rules ask about accounts.
type fakeAccounts struct {
	posted, followed bool
	follows          bool
	accounts         map[string]*store.Account
	bot              *store.Account // what AccountByName returns
	err              error
	queries          int
}

func (f *fakeAccounts) HasStatusesAndFollowers(context.Context, store.AccountID) (bool, bool, error) {
	f.queries++
	return f.posted, f.followed, f.err
}

func (f *fakeAccounts) Follows(context.Context, store.AccountID, store.AccountID) (bool, error) {
	f.queries++
	return f.follows, f.err
}

func (f *fakeAccounts) FollowOf(context.Context, store.AccountID, store.AccountID) (*store.Follow, error) {
	f.queries++
	if f.follows {
		return new(store.Follow), f.err
	}
	return nil, f.err
}

func (f *fakeAccounts) AccountByName(_ context.Context, nickname, domain string) (*store.Account, error) {
	f.queries++
	if f.bot == nil || f.bot.Nickname != nickname || domain != "" {
		return nil, errs.ErrRecordNotFound
	}
	return f.bot, f.err
}

func (f *fakeAccounts) AccountsByURI(context.Context, []string) (map[string]*store.Account, error) {
	f.queries++
	return f.accounts, f.err
}

// settings returns valid settings of the server here.example with some policies.
func settings(t testing.TB, change func(*config.Config), policies ...string) *config.Live {
	t.Helper()
	c := config.Default()
	c.Server.URL = "https://here.example"
	c.MRF.Policies = policies
	if change != nil {
		change(c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return config.NewLive(c)
}

func hosts(names ...string) []config.HostReason {
	var list []config.HostReason
	for _, n := range names {
		list = append(list, config.HostReason{Host: n})
	}
	return list
}

func account(uri, actorType string, tags ...string) *store.Account {
	a := &store.Account{ID: idAt(now.Add(-time.Hour)), URI: uri, Nickname: uri[strings.LastIndex(uri, "/")+1:], Domain: hostOf(uri), ActorType: actorType, CreatedAt: store.At(now.AddDate(-5, 0, 0))}
	a.Tags.V = tags
	return a
}

// idAt returns the id of an account that was added at a time.
func idAt(t time.Time) store.AccountID { return store.AccountID(t.UnixMilli() << 10) }

const (
	bobID   = "https://there.example/users/bob"
	aliceID = "https://here.example/users/alice"
)

// remote returns an ordinary post by a remote account.
func remote() *Post {
	return &Post{
		Author: account(bobID, "Person"), ActorID: bobID, Host: "there.example", ID: "https://there.example/1",
		ActivityType: "Create", ObjectType: "Note", Visibility: store.Public, PublishedAt: now.Add(-time.Minute),
		Content: "<p>hello</p>", Attachments: []Attachment{{0, "https://there.example/p.png", "image/png"}},
	}
}

// local returns an ordinary post by a local account.
func local() *Post {
	a := account(aliceID, "Person")
	a.Domain = ""
	return &Post{Local: true, Author: a, ActorID: aliceID, ActivityType: "Create", ObjectType: "Note", Visibility: store.Public, Content: "<p>hello</p>"}
}

func with(p *Post, change func(*Post)) *Post {
	change(p)
	return p
}

// rejectedBy returns the short name of the policy that caused err, "" for no error.
func rejectedBy(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var r *Rejected
	if !errors.As(err, &r) {
		t.Fatalf("%v is no refusal", err)
	}
	if r.Policy == "" || r.Reason == "" {
		t.Errorf("%#v has no host or no reason", r)
	}
	return r.Policy
}

func TestEveryPolicyExists(t *testing.T) {
	names := config.PolicyNames()
	for _, name := range names {
		if builders[name] == nil {
			t.Errorf("nothing makes %s", name)
		}
	}
	if len(builders) != len(names) {
		t.Errorf("%d policies are made, %d can be named", len(builders), len(names))
	}
	rest := without(without(names, "DropPolicy"), "NoOpPolicy")
	c := New(settings(t, nil, rest...), Deps{Now: func() time.Time { return now }, Accounts: &fakeAccounts{posted: true}})
	for name, p := range map[string]*Post{"remote": remote(), "local": local(), "empty": {Host: "x.example"}} {
		if err := c.Post(t.Context(), p); err != nil {
			t.Errorf("a post %s: %v", name, err)
		}
	}
	if err := c.Profile(t.Context(), &Profile{Host: "there.example"}); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"Follow", "Like", "Announce", "Delete", "Undo", "EmojiReact", "Move", ""} {
		if err := c.Activity(t.Context(), &Activity{Type: kind, Host: "there.example"}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		policies, want []string
	}{
		{nil, []string{"HashtagPolicy"}},
		{[]string{"HashtagPolicy", "NoOpPolicy"}, []string{"NoOpPolicy", "HashtagPolicy"}},
		{[]string{"KeywordPolicy", "SimplePolicy"}, []string{"KeywordPolicy", "SimplePolicy", "HashtagPolicy"}},
	} {
		c := New(settings(t, nil, tt.policies...), Deps{})
		if !slices.Equal(c.now().names, tt.want) {
			t.Errorf("got %v, want %v", c.now().names, tt.want)
		}
	}
	// The first that refuses is the one that is named, and what an earlier one changes, a later one sees.
	change := func(c *config.Config) {
		c.MRFSimple.Reject = hosts("there.example")
		c.MRFKeyword.Reject = []string{"hello"}
	}
	for _, order := range [][]string{{"SimplePolicy", "KeywordPolicy"}, {"KeywordPolicy", "SimplePolicy"}} {
		if got := rejectedBy(t, New(settings(t, change, order...), Deps{}).Post(t.Context(), remote())); got != order[0] {
			t.Errorf("%v: rejected by %s", order, got)
		}
	}
	change = func(c *config.Config) {
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "hello", Replacement: "."}}
	}
	p := remote()
	if err := New(settings(t, change, "KeywordPolicy", "NoPlaceholderTextPolicy"), Deps{}).Post(t.Context(), p); err != nil || p.Content != "" {
		t.Errorf("got %q, %v", p.Content, err)
	}
}

type broken struct{}

func (broken) post(context.Context, *Post) error { panic("oops") }
func (broken) host(string) error                 { panic("oops") }

func TestBrokenRuleRefuses(t *testing.T) {
	c := New(settings(t, nil), Deps{})
	c.now().add("Broken", broken{})
	var r *Rejected
	if err := c.Post(t.Context(), remote()); !errors.As(err, &r) || r.Policy != "Broken" || r.Err == nil {
		t.Errorf("got %v", err)
	}
	if err := c.Host("there.example"); !errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
	// A failed read is not a refusal: the activity is retried.
	cause := errors.New("the disk is full")
	c = New(settings(t, nil, "AntiMentionSpamPolicy"), Deps{Now: func() time.Time { return now }, Accounts: &fakeAccounts{err: cause}})
	err := c.Post(t.Context(), with(remote(), func(p *Post) { p.Recipients = []Recipient{{ID: aliceID}} }))
	if !errors.Is(err, cause) || errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{c.Post(t.Context(), &Post{}), c.Profile(t.Context(), &Profile{}), c.Activity(t.Context(), &Activity{})} {
		if rejectedBy(t, err) == "" {
			t.Error("a post without a host passes")
		}
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		entry, host string
		want        bool
	}{
		{"bad.example", "bad.example", true},
		{"BAD.Example", "bad.example", true},
		{"bad.example", "sub.bad.example", false},
		{"*.bad.example", "bad.example", true},
		{"*.bad.example", "sub.bad.example", true},
		{"*.bad.example", "a.b.bad.example", true},
		{"*.bad.example", "notbad.example", false},
		{"*.bad.example", "bad.example.org", false},
		{"bad.example", "bad.example:8443", true},
		{"*.bad.example", "sub.bad.example:8443", true},
		{"bad.example:8443", "bad.example:8443", true},
		{"bad.example:8443", "bad.example", false},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"*.bücher.example", "a.xn--bcher-kva.example", true},
		{"bad.example", "", false},
		{"127.0.0.1:4001", "127.0.0.1:4001", true},
		{"127.0.0.1:4001", "127.0.0.1:4002", false},
	} {
		c := New(settings(t, func(c *config.Config) {
			c.MRFSimple.Reject = hosts(tt.entry)
			c.Federation.QuarantinedInstances = hosts(tt.entry)
			c.Federation.RejectedInstances = hosts(tt.entry)
		}, "SimplePolicy"), Deps{})
		if got := c.Host(tt.host) != nil; got != tt.want {
			t.Errorf("%s rejects %q: %v", tt.entry, tt.host, got)
		}
		if c.Quarantined(tt.host) != tt.want || c.RejectsFetches(tt.host) != tt.want {
			t.Errorf("%s quarantines %q: %v", tt.entry, tt.host, !tt.want)
		}
	}
}

func TestHostCheck(t *testing.T) {
	for _, tt := range []struct {
		name     string
		policies []string
		change   func(*config.Config)
		host     string
		want     string
	}{
		{"nothing is set", []string{"SimplePolicy"}, nil, "there.example", ""},
		{"SimplePolicy is not on", nil, func(c *config.Config) { c.MRFSimple.Reject = hosts("there.example") }, "there.example", ""},
		{"accepted", []string{"SimplePolicy"}, func(c *config.Config) { c.MRFSimple.Accept = hosts("*.there.example") }, "a.there.example", ""},
		{"not accepted", []string{"SimplePolicy"}, func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, "there.example", "SimplePolicy"},
		{"our own", []string{"SimplePolicy"}, func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, "here.example", ""},
		{"accepted and rejected", []string{"SimplePolicy"}, func(c *config.Config) {
			c.MRFSimple.Accept, c.MRFSimple.Reject = hosts("there.example"), hosts("there.example")
		}, "there.example", "SimplePolicy"},
		{"all is dropped", []string{"DropPolicy"}, nil, "there.example", "DropPolicy"},
		{"our own when all is dropped", []string{"DropPolicy"}, nil, "here.example", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rejectedBy(t, New(settings(t, tt.change, tt.policies...), Deps{}).Host(tt.host)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	show := func(c *config.Live) string {
		t.Helper()
		b, err := json.Marshal(New(c, Deps{}).Describe())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	usual := config.Default()
	usual.Server.URL = "https://here.example"
	if got, want := show(config.NewLive(usual)), `{"enabled":true,"exclusions":false,`+
		`"mrf_hashtag":{"federated_timeline_removal":[],"reject":[],"sensitive":["nsfw"]},`+
		`"mrf_object_age":{"actions":["delist","strip_followers"],"threshold":604800},`+
		`"mrf_policies":["ObjectAgePolicy","TagPolicy","InlineQuotePolicy","HashtagPolicy"],`+
		`"quarantined_instances":[],"quarantined_instances_info":{"quarantined_instances":{}},"rejected_instances":{}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	full := settings(t, func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: "*.bad.example", Reason: "spam"}, {Host: "quiet.example"}, {Host: "secret.example", Reason: "hidden"}}
		c.MRFSimple.MediaNSFW = hosts("pics.example", "SECRET.example")
		c.MRF.TransparencyExclusions = []config.HostReason{{Host: "secret.example", Reason: "privacy"}}
		c.Federation.QuarantinedInstances = []config.HostReason{{Host: "leaky.example", Reason: "leaks"}, {Host: "other.example"}}
		c.Federation.RejectedInstances = []config.HostReason{{Host: "reader.example", Reason: "scrapes"}}
		c.MRFKeyword.Reject = []string{"~r/win\\s+big/i"}
		c.MRFKeyword.Replace = []config.Replacement{{Pattern: "a", Replacement: "b"}}
		c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: "few.example", Actors: []string{"https://few.example/1", "https://few.example/2"}}}
	}, "SimplePolicy", "KeywordPolicy", "UserAllowListPolicy", "RejectNonPublic", "VocabularyPolicy", "HellthreadPolicy", "EmojiPolicy", "RemoteReportPolicy", "DNSRBLPolicy", "NsfwApiPolicy")
	if got, want := show(full), `{"enabled":true,"exclusions":true,`+
		`"mrf_dnsrbl":{"nameserver":"127.0.0.1","port":53,"zone":""},`+
		`"mrf_emoji":{"federated_timeline_removal_shortcode":[],"federated_timeline_removal_url":[],"remove_shortcode":[],"remove_url":[]},`+
		`"mrf_hashtag":{"federated_timeline_removal":[],"reject":[],"sensitive":["nsfw"]},`+
		`"mrf_hellthread":{"delist_threshold":10,"reject_threshold":20},`+
		`"mrf_keyword":{"federated_timeline_removal":[],"reject":["~r/win\\s+big/i"],"replace":[{"pattern":"a","replacement":"b"}]},`+
		`"mrf_nsfw_api":{"mark_sensitive":true,"reject":false,"threshold":0.7,"unlist":false},`+
		`"mrf_policies":["SimplePolicy","KeywordPolicy","UserAllowListPolicy","RejectNonPublic","VocabularyPolicy","HellthreadPolicy","EmojiPolicy","RemoteReportPolicy","DNSRBLPolicy","NsfwApiPolicy","HashtagPolicy"],`+
		`"mrf_rejectnonpublic":{"allow_direct":false,"allow_followersonly":false},`+
		`"mrf_remote_report":{"reject_all":false,"reject_anonymous":true,"reject_empty_message":true,"reject_third_party":false},`+
		`"mrf_simple":{"accept":[],"avatar_removal":[],"banner_removal":[],"federated_timeline_removal":[],"followers_only":[],"media_nsfw":["pics.example"],"media_removal":[],"reject":["*.bad.example","quiet.example"],"reject_deletes":[],"report_removal":[]},`+
		`"mrf_simple_info":{"reject":{"*.bad.example":{"reason":"spam"}}},`+
		`"mrf_user_allowlist":{"few.example":2},"mrf_vocabulary":{"accept":[],"reject":[]},`+
		`"quarantined_instances":["leaky.example","other.example"],"quarantined_instances_info":{"quarantined_instances":{"leaky.example":{"reason":"leaks"}}},`+
		`"rejected_instances":{"reader.example":{"reason":"scrapes"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	full.Load().MRF.Transparency, full.Load().Federation.Enabled = false, false
	if got := show(full); got != `{"enabled":false}` {
		t.Errorf("without transparency: %s", got)
	}
}

// TestDefaultsSendNoRequests checks that the default policies neither query nor send requests for a local post.
func TestDefaultsSendNoRequests(t *testing.T) {
	accounts := &fakeAccounts{}
	c := New(config.NewLive(config.Default()), Deps{Accounts: accounts})
	if c.NeedsAccounts() || c.Inspects() {
		t.Error("the default policies need queries")
	}
	p, want := local(), local()
	want.Host = c.now().localHost
	want.Tags, p.Tags = []string{"cats"}, []string{"cats"}
	if err := c.Post(t.Context(), p); err != nil || accounts.queries > 0 || !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, %v, want %+v", p, err, want)
	}
}

func BenchmarkDefaultsOnLocalPost(b *testing.B) {
	c := New(config.NewLive(config.Default()), Deps{Accounts: &fakeAccounts{}})
	p := local()
	for b.Loop() {
		if err := c.Post(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}

package policy

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

func recipients(n int) []Recipient {
	list := make([]Recipient, n)
	for i := range list {
		list[i] = Recipient{ID: aliceID + strings.Repeat("x", i)}
	}
	return list
}

// TestPosts tries each policy with posts that it refuses, changes and leaves alone.
func TestPosts(t *testing.T) {
	someHost := "there.example"
	parent := func(v store.Visibility, spoiler string) *Related {
		return &Related{ID: "https://there.example/0", URL: "https://there.example/@carol/0", Author: account("https://there.example/users/carol", "Person"), Visibility: v, Spoiler: spoiler}
	}
	pictures := func(scores map[string]float64) func(context.Context, string) (float64, error) {
		return func(_ context.Context, address string) (float64, error) {
			if s, ok := scores[address]; ok {
				return s, nil
			}
			return 0, errors.New("no answer")
		}
	}
	const picture = "https://there.example/p.png"
	for _, tt := range []struct {
		policy   string
		name     string
		settings func(*config.Config)
		deps     Deps
		post     *Post
		refused  bool
		want     func(*Post) // what it does to the post
	}{
		{policy: "NoOpPolicy", post: remote()},
		{policy: "DropPolicy", post: remote(), refused: true},
		{policy: "DropPolicy", name: "local", post: local(), refused: true},

		{policy: "SimplePolicy", name: "nothing set", post: remote()},
		{policy: "SimplePolicy", name: "reject", settings: func(c *config.Config) { c.MRFSimple.Reject = hosts(someHost) }, post: remote(), refused: true},
		{policy: "SimplePolicy", name: "reject by the handle", settings: func(c *config.Config) { c.MRFSimple.Reject = hosts("handles.example") },
			post: with(remote(), func(p *Post) { p.Author.Domain = "handles.example" }), refused: true},
		{policy: "SimplePolicy", name: "accept others", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, post: remote(), refused: true},
		{policy: "SimplePolicy", name: "accept others, local", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, post: local()},
		{policy: "SimplePolicy", name: "accept", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts(someHost) }, post: remote()},
		{policy: "SimplePolicy", name: "media removal", settings: func(c *config.Config) { c.MRFSimple.MediaRemoval = hosts(someHost) },
			post: remote(), want: func(p *Post) { p.Attachments = nil }},
		{policy: "SimplePolicy", name: "media nsfw", settings: func(c *config.Config) { c.MRFSimple.MediaNSFW = hosts(someHost) }, post: remote(), want: func(p *Post) { p.Sensitive = true }},
		{policy: "SimplePolicy", name: "media nsfw of others", settings: func(c *config.Config) { c.MRFSimple.MediaNSFW = hosts("other.example") }, post: remote()},
		{policy: "SimplePolicy", name: "timeline removal", settings: func(c *config.Config) { c.MRFSimple.FederatedTimelineRemoval = hosts(someHost) }, post: remote(), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "SimplePolicy", name: "timeline removal of a private one", settings: func(c *config.Config) { c.MRFSimple.FederatedTimelineRemoval = hosts(someHost) },
			post: with(remote(), func(p *Post) { p.Visibility = store.Private })},
		{policy: "SimplePolicy", name: "followers only", settings: func(c *config.Config) { c.MRFSimple.FollowersOnly = hosts(someHost) }, post: remote(), want: func(p *Post) { p.Visibility = store.Private }},
		{policy: "SimplePolicy", name: "followers only of a direct one", settings: func(c *config.Config) { c.MRFSimple.FollowersOnly = hosts(someHost) },
			post: with(remote(), func(p *Post) { p.Visibility = store.Direct })},
		{policy: "SimplePolicy", name: "our own", settings: func(c *config.Config) { c.MRFSimple.MediaNSFW = hosts("here.example") }, post: local(), want: func(p *Post) { p.Sensitive = true }},

		{policy: "TagPolicy", name: "no tags", post: remote()},
		{policy: "TagPolicy", name: "unknown author", post: with(remote(), func(p *Post) { p.Author = nil })},
		{policy: "TagPolicy", name: "other tags", post: with(remote(), func(p *Post) { p.Author.Tags.V = []string{"friend", "mrf_tag:quarantine"} })},
		{policy: "TagPolicy", name: "sensitive", post: with(remote(), func(p *Post) { p.Author.Tags.V = []string{"mrf_tag:media-force-nsfw"} }), want: func(p *Post) { p.Sensitive = true }},
		{policy: "TagPolicy", name: "sensitive edit", post: with(remote(), func(p *Post) { p.ActivityType, p.Author.Tags.V = "Update", []string{"mrf_tag:media-force-nsfw"} }), want: func(p *Post) { p.Sensitive = true }},
		{policy: "TagPolicy", name: "sensitive without media", post: with(local(), func(p *Post) { p.Author.Tags.V = []string{"mrf_tag:media-force-nsfw"} })},
		{policy: "TagPolicy", name: "media", post: with(remote(), func(p *Post) { p.Author.Tags.V = []string{"mrf_tag:media-strip"} }), want: func(p *Post) { p.Attachments = nil }},
		{policy: "TagPolicy", name: "unlisted", post: with(remote(), func(p *Post) { p.Author.Tags.V = []string{"mrf_tag:force-unlisted"} }), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "TagPolicy", name: "sandbox", post: with(remote(), func(p *Post) { p.Author.Tags.V = []string{"mrf_tag:sandbox"} }), want: func(p *Post) { p.Visibility = store.Private }},
		{policy: "TagPolicy", name: "sandbox, unlisted", post: with(local(), func(p *Post) { p.Visibility, p.Author.Tags.V = store.Unlisted, []string{"mrf_tag:sandbox"} }), want: func(p *Post) { p.Visibility = store.Private }},
		{policy: "TagPolicy", name: "sandbox, for this server", post: with(local(), func(p *Post) { p.Visibility, p.Author.Tags.V = store.Local, []string{"mrf_tag:sandbox"} }), refused: true},

		{policy: "SubchainPolicy", name: "another actor", settings: func(c *config.Config) {
			c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "other.example", Policies: []string{"DropPolicy"}}}
		}, post: remote()},
		{policy: "SubchainPolicy", name: "only the first entry counts", settings: func(c *config.Config) {
			c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "~r{^https://there}", Policies: []string{"NoOpPolicy"}}, {Pattern: "there", Policies: []string{"DropPolicy"}}}
		}, post: remote()},

		{policy: "RejectNonPublic", name: "public", post: remote()},
		{policy: "RejectNonPublic", name: "local", post: with(local(), func(p *Post) { p.Visibility = store.Local })},
		{policy: "RejectNonPublic", name: "private", post: with(remote(), func(p *Post) { p.Visibility = store.Private }), refused: true},
		{policy: "RejectNonPublic", name: "direct", post: with(remote(), func(p *Post) { p.Visibility = store.Direct }), refused: true},
		{policy: "RejectNonPublic", name: "list", post: with(local(), func(p *Post) { p.Visibility = store.ListOnly }), refused: true},
		{policy: "RejectNonPublic", name: "an edit", post: with(remote(), func(p *Post) { p.Visibility, p.ActivityType = store.Direct, "Update" })},
		{policy: "RejectNonPublic", name: "private allowed", settings: func(c *config.Config) { c.MRFRejectNonPublic.AllowFollowersOnly = true }, post: with(remote(), func(p *Post) { p.Visibility = store.Private })},
		{policy: "RejectNonPublic", name: "direct is not private", settings: func(c *config.Config) { c.MRFRejectNonPublic.AllowFollowersOnly = true }, post: with(remote(), func(p *Post) { p.Visibility = store.Direct }), refused: true},
		{policy: "RejectNonPublic", name: "direct allowed", settings: func(c *config.Config) { c.MRFRejectNonPublic.AllowDirect = true }, post: with(remote(), func(p *Post) { p.Visibility = store.Direct })},

		{policy: "EnsureRePrepended", name: "the same subject", post: with(remote(), func(p *Post) {
			p.Parent, p.Spoiler = parent(store.Public, "cats"), "cats"
		}), want: func(p *Post) { p.Spoiler = "re: cats" }},
		{policy: "EnsureRePrepended", name: "another subject", post: with(remote(), func(p *Post) { p.Parent, p.Spoiler = parent(store.Public, "cats"), "dogs" })},
		{policy: "EnsureRePrepended", name: "there already", post: with(remote(), func(p *Post) { p.Parent, p.Spoiler = parent(store.Public, "RE: cats"), "RE: cats" })},
		{policy: "EnsureRePrepended", name: "no subject", post: with(remote(), func(p *Post) { p.Parent = parent(store.Public, "") })},
		{policy: "EnsureRePrepended", name: "no reply", post: with(remote(), func(p *Post) { p.Spoiler = "cats" })},

		{policy: "AntiLinkSpamPolicy", name: "a link by an unknown account", deps: Deps{Accounts: &fakeAccounts{}}, post: with(remote(), func(p *Post) { p.Content = `<a href="https://buy.example">x</a>` }), refused: true},
		{policy: "AntiLinkSpamPolicy", name: "of nobody", deps: Deps{Accounts: &fakeAccounts{posted: true}}, post: with(remote(), func(p *Post) { p.Author, p.Content = nil, `<a href="https://buy.example">x</a>` }), refused: true},
		{policy: "AntiLinkSpamPolicy", name: "no links", deps: Deps{Accounts: &fakeAccounts{}}, post: remote()},
		{policy: "AntiLinkSpamPolicy", name: "mentions and hashtags", deps: Deps{Accounts: &fakeAccounts{}}, post: with(remote(), func(p *Post) {
			p.Content = `<a class="u-url mention" href="https://here.example/@alice">@alice</a> <a class="hashtag" href="https://there.example/tags/x">#x</a>`
		})},
		{policy: "AntiLinkSpamPolicy", name: "an account with posts", deps: Deps{Accounts: &fakeAccounts{posted: true}}, post: with(remote(), func(p *Post) { p.Content = `<a href="https://buy.example">x</a>` })},
		{policy: "AntiLinkSpamPolicy", name: "a followed account", deps: Deps{Accounts: &fakeAccounts{followed: true}}, post: with(remote(), func(p *Post) { p.Content = `<a href="https://buy.example">x</a>` })},
		{policy: "AntiLinkSpamPolicy", name: "local", post: with(local(), func(p *Post) { p.Content = `<a href="https://buy.example">x</a>` })},

		{policy: "AntiMentionSpamPolicy", name: "to nobody", deps: Deps{Accounts: &fakeAccounts{}}, post: remote()},
		{policy: "AntiMentionSpamPolicy", name: "500 mentions by an unknown account", deps: Deps{Accounts: &fakeAccounts{}}, post: with(remote(), func(p *Post) { p.Recipients = recipients(500) }), refused: true},
		{policy: "AntiMentionSpamPolicy", name: "an account with posts", deps: Deps{Accounts: &fakeAccounts{posted: true}}, post: with(remote(), func(p *Post) { p.Recipients = recipients(1) })},
		{policy: "AntiMentionSpamPolicy", name: "a new account with posts", deps: Deps{Accounts: &fakeAccounts{posted: true}},
			post: with(remote(), func(p *Post) { p.Recipients, p.Author.ID = recipients(1), idAt(now.Add(-29*time.Second)) }), refused: true},
		{policy: "AntiMentionSpamPolicy", name: "of nobody", deps: Deps{Accounts: &fakeAccounts{posted: true}}, post: with(remote(), func(p *Post) { p.Recipients, p.Author = recipients(1), nil }), refused: true},
		{policy: "AntiMentionSpamPolicy", name: "local", post: with(local(), func(p *Post) { p.Recipients = recipients(1) })},

		{policy: "MentionPolicy", name: "to another account", settings: func(c *config.Config) { c.MRFMention.Actors = []string{bobID} }, post: with(remote(), func(p *Post) { p.Recipients = recipients(2) })},
		{policy: "MentionPolicy", name: "to one of them", settings: func(c *config.Config) { c.MRFMention.Actors = []string{bobID, aliceID} }, post: with(remote(), func(p *Post) { p.Recipients = recipients(2) }), refused: true},

		{policy: "VocabularyPolicy", name: "nothing set", post: remote()},
		{policy: "VocabularyPolicy", name: "both accepted", settings: func(c *config.Config) { c.MRFVocabulary.Accept = []string{"Create", "Note"} }, post: remote()},
		{policy: "VocabularyPolicy", name: "one not accepted", settings: func(c *config.Config) { c.MRFVocabulary.Accept = []string{"Create", "Article"} }, post: remote(), refused: true},
		{policy: "VocabularyPolicy", name: "rejected", settings: func(c *config.Config) { c.MRFVocabulary.Reject = []string{"Note"} }, post: remote(), refused: true},

		{policy: "ObjectAgePolicy", name: "new", post: with(remote(), func(p *Post) { p.PublishedAt = now.Add(-7 * 24 * time.Hour) })},
		{policy: "ObjectAgePolicy", name: "old", post: with(remote(), func(p *Post) { p.PublishedAt = now.Add(-7*24*time.Hour - time.Second) }), want: func(p *Post) { p.Visibility, p.NoFollowers = store.Unlisted, true }},
		{policy: "ObjectAgePolicy", name: "old and private", post: with(remote(), func(p *Post) { p.PublishedAt, p.Visibility = now.AddDate(-1, 0, 0), store.Private }), want: func(p *Post) { p.Visibility, p.NoFollowers = store.Direct, true }},
		{policy: "ObjectAgePolicy", name: "old, rejected", settings: func(c *config.Config) { c.MRFObjectAge.Actions = []string{"reject"} }, post: with(remote(), func(p *Post) { p.PublishedAt = now.AddDate(-1, 0, 0) }), refused: true},
		{policy: "ObjectAgePolicy", name: "an edit", post: with(remote(), func(p *Post) { p.PublishedAt, p.ActivityType = now.AddDate(-1, 0, 0), "Update" })},
		{policy: "ObjectAgePolicy", name: "of the future", post: with(remote(), func(p *Post) { p.PublishedAt = now.AddDate(100, 0, 0) })},
		{policy: "ObjectAgePolicy", name: "no time", post: with(remote(), func(p *Post) { p.PublishedAt = time.Time{} })},

		{policy: "HellthreadPolicy", name: "few", post: with(remote(), func(p *Post) { p.Recipients = recipients(10) })},
		{policy: "HellthreadPolicy", name: "many", post: with(remote(), func(p *Post) { p.Recipients = recipients(11) }), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "HellthreadPolicy", name: "too many", post: with(remote(), func(p *Post) { p.Recipients = recipients(21) }), refused: true},
		{policy: "HellthreadPolicy", name: "off", settings: func(c *config.Config) { c.MRFHellthread = config.MRFHellthread{} }, post: with(remote(), func(p *Post) { p.Recipients = recipients(500) })},
		{policy: "HellthreadPolicy", name: "a poll", post: with(remote(), func(p *Post) { p.Recipients, p.ObjectType = recipients(21), "Question" })},

		{policy: "KeywordPolicy", name: "none", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"casino"} }, post: remote()},
		{policy: "KeywordPolicy", name: "in the text", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"HELLO"} }, post: remote(), refused: true},
		{policy: "KeywordPolicy", name: "within markup", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"casino"} }, post: with(remote(), func(p *Post) { p.Content = "<p>cas<b></b>in<i>o</i></p>" }), refused: true},
		{policy: "KeywordPolicy", name: "as an entity", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"casino"} }, post: with(remote(), func(p *Post) { p.Content = "cas&#105;no" }), refused: true},
		{policy: "KeywordPolicy", name: "in an address", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"casino.example"} }, post: with(remote(), func(p *Post) { p.Content = `<a href="https://casino.example">x</a>` }), refused: true},
		{policy: "KeywordPolicy", name: "in the subject", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"~r/^cas.no$/"} }, post: with(remote(), func(p *Post) { p.Spoiler = "casino" }), refused: true},
		{policy: "KeywordPolicy", name: "in an option", settings: func(c *config.Config) { c.MRFKeyword.Reject = []string{"casino"} }, post: with(remote(), func(p *Post) { p.OtherText = []string{"a", "casino"} }), refused: true},
		{policy: "KeywordPolicy", name: "unlisted", settings: func(c *config.Config) { c.MRFKeyword.FederatedTimelineRemoval = []string{"hello"} }, post: remote(), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "KeywordPolicy", name: "replaced", settings: func(c *config.Config) {
			c.MRFKeyword.Replace = []config.Replacement{{Pattern: "~r/h(e)llo/", Replacement: "good $1 <script>x</script>day"}}
		}, post: with(remote(), func(p *Post) { p.Spoiler = "hello" }), want: func(p *Post) {
			p.Content, p.Spoiler = "<p>good $1 day</p>", "good $1 <script>x</script>day"
		}},
		{policy: "KeywordPolicy", name: "replaced within a link", settings: func(c *config.Config) {
			c.MRFKeyword.Replace = []config.Replacement{{Pattern: "tube.example", Replacement: "front.example"}}
		}, post: with(remote(), func(p *Post) { p.Content = `<a class="u-url mention" href="https://tube.example/1">x</a>` }), want: func(p *Post) { p.Content = `<a class="u-url mention" href="https://front.example/1">x</a>` }},
		{policy: "KeywordPolicy", name: "too long to be searched", post: with(remote(), func(p *Post) { p.Content = strings.Repeat("a", maxSearchedBytes+1) }), refused: true},
		{policy: "KeywordPolicy", name: "too long after a replacement", settings: func(c *config.Config) {
			c.MRFKeyword.Replace = []config.Replacement{{Pattern: "a", Replacement: strings.Repeat("a", 1000)}, {Pattern: "a", Replacement: strings.Repeat("a", 1000)}}
		}, post: with(remote(), func(p *Post) { p.Content = strings.Repeat("a", 1000) }), refused: true},

		{policy: "HashtagPolicy", name: "others", post: with(remote(), func(p *Post) { p.Tags = []string{"cats"} })},
		{policy: "HashtagPolicy", name: "sensitive", post: with(remote(), func(p *Post) { p.Tags = []string{"cats", "#NSFW"} }), want: func(p *Post) { p.Sensitive = true }},
		{policy: "HashtagPolicy", name: "rejected", settings: func(c *config.Config) { c.MRFHashtag.Reject = []string{"Spam"} }, post: with(remote(), func(p *Post) { p.Tags = []string{"spam"} }), refused: true},
		{policy: "HashtagPolicy", name: "rejected in another spelling", settings: func(c *config.Config) { c.MRFHashtag.Reject = []string{"català"} }, post: with(remote(), func(p *Post) { p.Tags = []string{"catala"} }), refused: true},
		{policy: "HashtagPolicy", name: "unlisted", settings: func(c *config.Config) { c.MRFHashtag.FederatedTimelineRemoval = []string{"politics"} }, post: with(remote(), func(p *Post) { p.Tags = []string{"Politics"} }), want: func(p *Post) { p.Visibility = store.Unlisted }},

		{policy: "EmojiPolicy", name: "removed", settings: func(c *config.Config) {
			c.MRFEmoji.RemoveShortcode, c.MRFEmoji.RemoveURL = []string{"bad"}, []string{"~r/evil/"}
		},
			post: with(remote(), func(p *Post) {
				p.Emoji = []Emoji{{"verybad", "https://x.example/1"}, {"good", "https://x.example/2"}, {"fine", "https://evil.example/3"}}
			}), want: func(p *Post) {
				p.Emoji = []Emoji{{"good", "https://x.example/2"}}
			}},
		{policy: "EmojiPolicy", name: "unlisted", settings: func(c *config.Config) { c.MRFEmoji.FederatedTimelineRemovalShortcode = []string{"~r/^blob/"} },
			post: with(remote(), func(p *Post) { p.Emoji = []Emoji{{"blobcat", "https://x.example/1"}} }), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "EmojiPolicy", name: "unlisted by address", settings: func(c *config.Config) { c.MRFEmoji.FederatedTimelineRemovalURL = []string{"x.example"} },
			post: with(remote(), func(p *Post) { p.Emoji = []Emoji{{"blobcat", "https://x.example/1"}} }), want: func(p *Post) { p.Visibility = store.Unlisted }},

		{policy: "NormalizeMarkup", name: "default", post: with(remote(), func(p *Post) {
			p.Content = `<p onclick="x"><b>a</b><script>y</script>`
		}),
			want: func(p *Post) { p.Content = "<p><b>a</b></p>" }},
		{policy: "NormalizeMarkup", name: "strict", settings: func(c *config.Config) { c.MRFNormalizeMarkup.ScrubPolicy = "strict" },
			post: with(remote(), func(p *Post) { p.Content = "<p><b>a</b></p>" }), want: func(p *Post) { p.Content = "<p>a</p>" }},

		{policy: "NoPlaceholderTextPolicy", name: "a dot with a picture", post: with(remote(), func(p *Post) { p.Content = "<p>.</p>" }), want: func(p *Post) { p.Content = "" }},
		{policy: "NoPlaceholderTextPolicy", name: "a dot alone", post: with(local(), func(p *Post) { p.Content = "." })},
		{policy: "NoPlaceholderTextPolicy", name: "more than a dot", post: with(remote(), func(p *Post) { p.Content = ".." })},

		{policy: "NoEmptyPolicy", name: "words", post: local()},
		{policy: "NoEmptyPolicy", name: "nothing", post: with(local(), func(p *Post) { p.Content = "<p> </p>" }), refused: true},
		{policy: "NoEmptyPolicy", name: "mentions only", post: with(local(), func(p *Post) {
			p.Content = `<span class="h-card"><a class="u-url mention" href="https://x.example/@a">@<span>a</span></a></span> `
		}), refused: true},
		{policy: "NoEmptyPolicy", name: "a mention and a word", post: with(local(), func(p *Post) { p.Content = `<a class="mention" href="x">@a</a> hi` })},
		{policy: "NoEmptyPolicy", name: "a picture", post: with(local(), func(p *Post) { p.Content, p.Attachments = "", []Attachment{{}} })},
		{policy: "NoEmptyPolicy", name: "a poll", post: with(local(), func(p *Post) { p.Content, p.ObjectType = "", "Question" })},
		{policy: "NoEmptyPolicy", name: "remote", post: with(remote(), func(p *Post) { p.Content, p.Attachments = "", nil })},

		{policy: "ActivityExpirationPolicy", name: "none set", post: local(), want: func(p *Post) { p.ExpiresAt = now.AddDate(0, 0, 365) }},
		{policy: "ActivityExpirationPolicy", name: "earlier", post: with(local(), func(p *Post) { p.ExpiresAt = now.Add(time.Hour) })},
		{policy: "ActivityExpirationPolicy", name: "later", settings: func(c *config.Config) { c.MRFActivityExpiration.Days = 1 }, post: with(local(), func(p *Post) { p.ExpiresAt = now.AddDate(1, 0, 0) }), want: func(p *Post) { p.ExpiresAt = now.AddDate(0, 0, 1) }},
		{policy: "ActivityExpirationPolicy", name: "an edit", post: with(local(), func(p *Post) { p.ActivityType = "Update" })},
		{policy: "ActivityExpirationPolicy", name: "remote", post: remote()},

		{policy: "ForceBotUnlistedPolicy", name: "a person", post: remote()},
		{policy: "ForceBotUnlistedPolicy", name: "a bot", post: with(remote(), func(p *Post) { p.Author.ActorType = "Service" }), want: func(p *Post) { p.Visibility = store.Unlisted }},

		{policy: "UserAllowListPolicy", name: "of another host", settings: func(c *config.Config) {
			c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: "few.example"}}
		}, post: remote()},
		{policy: "UserAllowListPolicy", name: "listed", settings: func(c *config.Config) {
			c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: someHost, Actors: []string{bobID}}}
		}, post: remote()},
		{policy: "UserAllowListPolicy", name: "not listed", settings: func(c *config.Config) {
			c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: someHost, Actors: []string{bobID + "2"}}}
		}, post: remote(), refused: true},

		{policy: "ForceMention", name: "both", post: with(remote(), func(p *Post) {
			p.Parent, p.Quote = parent(store.Public, ""), &Related{Author: account("https://q.example/dave", "Person")}
		}),
			want: func(p *Post) {
				p.Recipients = []Recipient{{ID: p.Parent.Author.URI, Account: p.Parent.Author, Mentioned: true}, {ID: p.Quote.Author.URI, Account: p.Quote.Author, Mentioned: true}}
			}},
		{policy: "ForceMention", name: "off", settings: func(c *config.Config) { c.MRFForceMention = config.MRFForceMention{} }, post: with(remote(), func(p *Post) { p.Parent, p.Quote = parent(store.Public, ""), parent(store.Public, "") })},
		{policy: "ForceMention", name: "addressed already", post: with(remote(), func(p *Post) {
			p.Parent, p.Recipients = parent(store.Public, ""), []Recipient{{ID: "https://there.example/users/carol"}}
		}),
			want: func(p *Post) { p.Recipients[0].Mentioned = true }},
		{policy: "ForceMention", name: "oneself", post: with(remote(), func(p *Post) { p.Parent = &Related{Author: p.Author} })},
		{policy: "ForceMention", name: "none of their business", post: with(remote(), func(p *Post) { p.Quote, p.Visibility = parent(store.Public, ""), store.Direct })},

		{policy: "ForceMentionsInContent", name: "missing", deps: Deps{Accounts: &fakeAccounts{accounts: map[string]*store.Account{aliceID: {URI: aliceID, URL: "https://here.example/@alice", Nickname: "alice"}}}},
			post: with(remote(), func(p *Post) {
				p.Parent = parent(store.Public, "")
				p.Recipients = []Recipient{{ID: aliceID, Mentioned: true}, {ID: p.Parent.Author.URI, Account: p.Parent.Author, Mentioned: true}, {ID: "https://x.example/1"}}
			}), want: func(p *Post) {
				p.Content = `<p><span class="recipients-inline"><span class="h-card"><a class="u-url mention" href="https://there.example/users/carol" rel="ugc">@<span>carol</span></a></span> ` +
					`<span class="h-card"><a class="u-url mention" href="https://here.example/@alice" rel="ugc">@<span>alice</span></a></span> </span>hello</p>`
			}},
		{policy: "ForceMentionsInContent", name: "there", post: with(remote(), func(p *Post) {
			p.Parent = parent(store.Public, "")
			p.Recipients = []Recipient{{ID: p.Parent.Author.URI, Account: p.Parent.Author, Mentioned: true}}
			p.Content = `<a href="https://there.example/users/carol">@carol</a>`
		})},
		{policy: "ForceMentionsInContent", name: "no reply", post: with(remote(), func(p *Post) { p.Recipients = []Recipient{{ID: aliceID, Mentioned: true}} })},

		{policy: "InlineQuotePolicy", name: "a quote", post: with(remote(), func(p *Post) { p.Quote = parent(store.Public, "") }), want: func(p *Post) {
			link := `<span class="quote-inline"><br><br><bdi>RT:</bdi> <a href="https://there.example/@carol/0" rel="nofollow noopener noreferrer" target="_blank">https://there.example/@carol/0</a></span>`
			p.Content = "<p>hello" + link + "</p>"
		}},
		{policy: "InlineQuotePolicy", name: "there", post: with(remote(), func(p *Post) { p.Quote, p.Content = parent(store.Public, ""), `RE: https://there.example/0` })},
		{policy: "InlineQuotePolicy", name: "there in a class", post: with(remote(), func(p *Post) { p.Quote, p.Content = parent(store.Public, ""), `<span class="quote-inline">x</span>` })},
		{policy: "InlineQuotePolicy", name: "with an evil address", post: with(remote(), func(p *Post) { p.Quote, p.Content = &Related{URL: `javascript:"><script>alert(1)</script>`}, "x" }), want: func(p *Post) {
			p.Content = `x<span class="quote-inline"><br><br><bdi>RT:</bdi> javascript:"&gt;&lt;script&gt;alert(1)&lt;/script&gt;</span>`
		}},
		{policy: "InlineQuotePolicy", name: "no quote", post: remote()},

		{policy: "QuietReply", name: "a reply", post: with(local(), func(p *Post) { p.Parent = parent(store.Public, "") }), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "QuietReply", name: "no reply", post: local()},
		{policy: "QuietReply", name: "remote", post: with(remote(), func(p *Post) { p.Parent = parent(store.Public, "") })},

		{policy: "FODirectReply", name: "to a private post", post: with(local(), func(p *Post) { p.Parent, p.Visibility = parent(store.Private, ""), store.Private }), want: func(p *Post) { p.Visibility = store.Direct }},
		{policy: "FODirectReply", name: "to a public post", post: with(local(), func(p *Post) { p.Parent, p.Visibility = parent(store.Public, ""), store.Private })},
		{policy: "FODirectReply", name: "remote", post: with(remote(), func(p *Post) { p.Parent, p.Visibility = parent(store.Private, ""), store.Private })},

		{policy: "NsfwApiPolicy", name: "fine", deps: Deps{Score: pictures(map[string]float64{picture: 0.69})}, post: remote()},
		{policy: "NsfwApiPolicy", name: "no answer", deps: Deps{Score: pictures(nil)}, post: remote()},
		{policy: "NsfwApiPolicy", name: "sensitive", deps: Deps{Score: pictures(map[string]float64{picture: 0.7})}, post: remote(), want: func(p *Post) { p.Sensitive = true }},
		{policy: "NsfwApiPolicy", name: "unlisted", settings: func(c *config.Config) { c.MRFNSFWAPI.Unlist, c.MRFNSFWAPI.MarkSensitive = true, false }, deps: Deps{Score: pictures(map[string]float64{picture: 1})}, post: remote(), want: func(p *Post) { p.Visibility = store.Unlisted }},
		{policy: "NsfwApiPolicy", name: "rejected", settings: func(c *config.Config) { c.MRFNSFWAPI.Reject = true }, deps: Deps{Score: pictures(map[string]float64{picture: 1})}, post: remote(), refused: true},
		{policy: "NsfwApiPolicy", name: "no picture", settings: func(c *config.Config) { c.MRFNSFWAPI.Reject = true }, deps: Deps{Score: pictures(map[string]float64{picture: 1})}, post: with(remote(), func(p *Post) { p.Attachments[0].MediaType = "video/mp4" })},

		{policy: "DNSRBLPolicy", name: "listed", settings: zone, deps: Deps{DNSListed: func(_ context.Context, name string) (bool, error) { return name == someHost, nil }}, post: with(remote(), func(p *Post) { p.Host += ":8443" }), refused: true},
		{policy: "DNSRBLPolicy", name: "not listed", settings: zone, deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return false, nil }}, post: remote()},
		{policy: "DNSRBLPolicy", name: "no answer", settings: zone, deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return true, errors.New("no answer") }}, post: remote()},
		{policy: "DNSRBLPolicy", name: "no zone", deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return true, nil }}, post: remote()},
		{policy: "DNSRBLPolicy", name: "local", settings: zone, deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return true, nil }}, post: local()},
	} {
		t.Run(tt.policy+" "+tt.name, func(t *testing.T) {
			tt.deps.Now = func() time.Time { return now }
			c := New(settings(t, tt.settings, tt.policy), tt.deps)
			want := *tt.post
			want.Recipients = append([]Recipient(nil), want.Recipients...)
			if want.Local {
				want.Host = c.now().localHost
			}
			if tt.want != nil {
				tt.want(&want)
			}
			err := c.Post(t.Context(), tt.post)
			got := rejectedBy(t, err)
			if (got == tt.policy) != tt.refused || !tt.refused && err != nil {
				t.Fatalf("got %v, refused should be %v", err, tt.refused)
			}
			if len(want.Emoji) == 0 && len(tt.post.Emoji) == 0 {
				tt.post.Emoji = want.Emoji
			}
			if !tt.refused && !reflect.DeepEqual(tt.post, &want) {
				t.Errorf("got  %+v\nwant %+v", *tt.post, want)
			}
		})
	}
}

func zone(c *config.Config) { c.MRFDNSRBL.Zone = "bl.example" }

// TestActivities does the same for other activities.
func TestActivities(t *testing.T) {
	activity := func(kind string, change func(*Activity)) *Activity {
		d := &Activity{Type: kind, Actor: account(bobID, "Person"), ActorID: bobID, Host: "there.example", ObjectIDs: []string{aliceID}, Content: "bad"}
		if change != nil {
			change(d)
		}
		return d
	}
	tagged := func(tag string) func(*Activity) {
		return func(d *Activity) { d.Target = account(aliceID, "Person", tag) }
	}
	reject := func(c *config.Config) { c.MRFSimple.Reject = hosts("there.example") }
	for _, tt := range []struct {
		policy   string
		name     string
		settings func(*config.Config)
		deps     Deps
		activity *Activity
		refused  bool
		want     store.Visibility
	}{
		{policy: "DropPolicy", activity: activity("Like", nil), refused: true},
		{policy: "SimplePolicy", name: "rejected", settings: reject, activity: activity("Follow", nil), refused: true},
		{policy: "SimplePolicy", name: "rejected by the handle", settings: func(c *config.Config) { c.MRFSimple.Reject = hosts("handles.example") }, activity: activity("Follow", func(d *Activity) { d.Actor.Domain = "handles.example" }), refused: true},
		{policy: "SimplePolicy", name: "a report, by the handle", settings: func(c *config.Config) { c.MRFSimple.ReportRemoval = hosts("handles.example") }, activity: activity("Flag", func(d *Activity) { d.Actor.Domain = "handles.example" }), refused: true},
		{policy: "SimplePolicy", name: "accepted whatever the handle", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts("there.example") }, activity: activity("Follow", func(d *Activity) { d.Actor.Domain = "handles.example" })},
		{policy: "SimplePolicy", name: "rejected, undo", settings: reject, activity: activity("Undo", nil), refused: true},
		{policy: "SimplePolicy", name: "rejected, but a deletion", settings: reject, activity: activity("Delete", nil)},
		{policy: "SimplePolicy", name: "not accepted, but a deletion", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, activity: activity("Delete", nil)},
		{policy: "SimplePolicy", name: "not accepted, local", settings: func(c *config.Config) { c.MRFSimple.Accept = hosts("other.example") }, activity: &Activity{Local: true, Type: "Follow"}},
		{policy: "SimplePolicy", name: "a deletion", settings: func(c *config.Config) { c.MRFSimple.RejectDeletes = hosts("there.example") }, activity: activity("Delete", nil), refused: true},
		{policy: "SimplePolicy", name: "a report", settings: func(c *config.Config) { c.MRFSimple.ReportRemoval = hosts("there.example") }, activity: activity("Flag", nil), refused: true},
		{policy: "SimplePolicy", name: "a like", settings: func(c *config.Config) { c.MRFSimple.ReportRemoval = hosts("there.example") }, activity: activity("Like", nil)},
		{policy: "SimplePolicy", name: "a boost of a rejected host", settings: reject, activity: activity("Announce", func(d *Activity) {
			d.Host, d.Actor.Domain, d.ObjectIDs = "fine.example", "fine.example", []string{"https://THERE.example:443/1"}
		}), refused: true},
		{policy: "SimplePolicy", name: "an Undo", settings: reject, activity: activity("Undo", func(d *Activity) {
			d.Host, d.Actor.Domain, d.ObjectIDs = "fine.example", "fine.example", []string{"https://there.example/1"}
		})},
		{policy: "SimplePolicy", name: "a boost, unlisted", settings: func(c *config.Config) { c.MRFSimple.FederatedTimelineRemoval = hosts("there.example") }, activity: activity("Announce", nil), want: store.Unlisted},
		{policy: "SimplePolicy", name: "a boost, for followers", settings: func(c *config.Config) { c.MRFSimple.FollowersOnly = hosts("there.example") }, activity: activity("Announce", nil), want: store.Private},

		{policy: "TagPolicy", name: "no tag", activity: activity("Follow", tagged("friend"))},
		{policy: "TagPolicy", name: "remote follows", activity: activity("Follow", tagged("mrf_tag:disable-remote-subscription")), refused: true},
		{policy: "TagPolicy", name: "remote likes", activity: activity("Like", tagged("mrf_tag:disable-any-subscription"))},
		{policy: "TagPolicy", name: "any follows", activity: activity("Follow", tagged("mrf_tag:disable-any-subscription")), refused: true},
		{policy: "TagPolicy", name: "local follows", activity: activity("Follow", func(d *Activity) { tagged("mrf_tag:disable-remote-subscription")(d); d.Local = true })},
		{policy: "TagPolicy", name: "any local follows", activity: activity("Follow", func(d *Activity) { tagged("mrf_tag:disable-any-subscription")(d); d.Local = true }), refused: true},

		{policy: "VocabularyPolicy", name: "rejected", settings: func(c *config.Config) { c.MRFVocabulary.Reject = []string{"Like"} }, activity: activity("Like", nil), refused: true},
		{policy: "VocabularyPolicy", name: "within an Undo", settings: func(c *config.Config) { c.MRFVocabulary.Reject = []string{"Like"} }, activity: activity("Undo", func(d *Activity) { d.InnerType = "Like" }), refused: true},
		{policy: "VocabularyPolicy", name: "an Undo of an accepted type", settings: func(c *config.Config) { c.MRFVocabulary.Accept = []string{"Like"} }, activity: activity("Undo", func(d *Activity) { d.InnerType = "Like" })},
		{policy: "VocabularyPolicy", name: "not accepted", settings: func(c *config.Config) { c.MRFVocabulary.Accept = []string{"Like"} }, activity: activity("Follow", nil), refused: true},

		{policy: "UserAllowListPolicy", name: "not listed", settings: func(c *config.Config) {
			c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: "there.example"}}
		}, activity: activity("Like", nil), refused: true},

		{policy: "AntiFollowbotPolicy", name: "a person", activity: activity("Follow", nil)},
		{policy: "AntiFollowbotPolicy", name: "no actor", activity: activity("Follow", func(d *Activity) { d.Actor = nil })},
		{policy: "AntiFollowbotPolicy", name: "a bot", deps: Deps{Accounts: &fakeAccounts{}}, activity: activity("Follow", func(d *Activity) { d.Actor.ActorType, d.Target = "Service", account(aliceID, "Person") }), refused: true},
		{policy: "AntiFollowbotPolicy", name: "a bot by its name", deps: Deps{Accounts: &fakeAccounts{}}, activity: activity("Follow", func(d *Activity) { d.Actor.Nickname = "Follow_Bot_7" }), refused: true},
		{policy: "AntiFollowbotPolicy", name: "a bot by its display name", deps: Deps{Accounts: &fakeAccounts{}}, activity: activity("Follow", func(d *Activity) { d.Actor.DisplayName = "Federation Bot" }), refused: true},
		{policy: "AntiFollowbotPolicy", name: "a bot that is wanted", deps: Deps{Accounts: &fakeAccounts{follows: true}}, activity: activity("Follow", func(d *Activity) { d.Actor.ActorType, d.Target = "Service", account(aliceID, "Person") })},
		{policy: "AntiFollowbotPolicy", name: "a relay that follows back", deps: Deps{Accounts: &fakeAccounts{}}, activity: activity("Follow", func(d *Activity) {
			d.Actor.ActorType, d.Target = "Service", account("https://here.example/relay", "Application")
		})},
		{policy: "AntiFollowbotPolicy", name: "a bot that likes", activity: activity("Like", func(d *Activity) { d.Actor.ActorType = "Service" })},

		{policy: "EmojiPolicy", name: "a reaction", settings: func(c *config.Config) { c.MRFEmoji.RemoveShortcode = []string{"bad"} }, activity: activity("EmojiReact", func(d *Activity) { d.Emoji = &Emoji{"bad", "x"} }), refused: true},
		{policy: "EmojiPolicy", name: "an Undo", settings: func(c *config.Config) { c.MRFEmoji.RemoveShortcode = []string{"bad"} }, activity: activity("Undo", func(d *Activity) { d.Emoji = &Emoji{"bad", "x"} })},
		{policy: "EmojiPolicy", name: "another", settings: func(c *config.Config) { c.MRFEmoji.RemoveShortcode = []string{"bad"} }, activity: activity("EmojiReact", func(d *Activity) { d.Emoji = &Emoji{"good", "x"} })},
		{policy: "EmojiPolicy", name: "unicode", settings: func(c *config.Config) { c.MRFEmoji.RemoveShortcode = []string{"bad"} }, activity: activity("EmojiReact", nil)},

		{policy: "RemoteReportPolicy", name: "a report", activity: activity("Flag", nil)},
		{policy: "RemoteReportPolicy", name: "all", settings: func(c *config.Config) { c.MRFRemoteReport.RejectAll = true }, activity: activity("Flag", nil), refused: true},
		{policy: "RemoteReportPolicy", name: "other activities", settings: func(c *config.Config) { c.MRFRemoteReport.RejectAll = true }, activity: activity("Like", nil)},
		{policy: "RemoteReportPolicy", name: "of a server", activity: activity("Flag", func(d *Activity) { d.Actor.ActorType = "Application" }), refused: true},
		{policy: "RemoteReportPolicy", name: "of a server by its address", activity: activity("Flag", func(d *Activity) { d.Actor, d.ActorID = nil, "https://there.example/actor" }), refused: true},
		{policy: "RemoteReportPolicy", name: "of a server, allowed", settings: func(c *config.Config) { c.MRFRemoteReport.RejectAnonymous = false }, activity: activity("Flag", func(d *Activity) { d.Actor.ActorType = "Application" })},
		{policy: "RemoteReportPolicy", name: "about another account", settings: func(c *config.Config) { c.MRFRemoteReport.RejectThirdParty = true }, activity: activity("Flag", func(d *Activity) { d.ObjectIDs = []string{bobID} }), refused: true},
		{policy: "RemoteReportPolicy", name: "about another account too", settings: func(c *config.Config) { c.MRFRemoteReport.RejectThirdParty = true }, activity: activity("Flag", func(d *Activity) { d.ObjectIDs = []string{bobID, aliceID} })},
		{policy: "RemoteReportPolicy", name: "without a comment", activity: activity("Flag", func(d *Activity) { d.Content = "<p> </p>" }), refused: true},

		{policy: "DNSRBLPolicy", name: "listed", settings: zone, deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return true, nil }}, activity: activity("Like", nil), refused: true},
		{policy: "DNSRBLPolicy", name: "listed, a deletion", settings: zone, deps: Deps{DNSListed: func(context.Context, string) (bool, error) { return true, nil }}, activity: activity("Delete", nil)},

		{policy: "SubchainPolicy", name: "its actors", settings: func(c *config.Config) {
			c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "users/bob", Policies: []string{"TagPolicy"}}}
		}, activity: activity("Follow", tagged("friend"))},
	} {
		t.Run(tt.policy+" "+tt.name, func(t *testing.T) {
			tt.deps.Now = func() time.Time { return now }
			err := New(settings(t, tt.settings, tt.policy), tt.deps).Activity(t.Context(), tt.activity)
			if got := rejectedBy(t, err); (got == tt.policy) != tt.refused || !tt.refused && err != nil {
				t.Fatalf("got %v, refused should be %v", err, tt.refused)
			}
			if tt.activity.Visibility != tt.want {
				t.Errorf("it is %s, want %s", tt.activity.Visibility, tt.want)
			}
		})
	}
}

func TestSubchain(t *testing.T) {
	c := New(settings(t, func(c *config.Config) {
		c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "users/bob", Policies: []string{"NoOpPolicy", "DropPolicy"}}}
	}, "SubchainPolicy"), Deps{})
	for _, err := range []error{c.Post(t.Context(), remote()), c.Profile(t.Context(), &Profile{ActorID: bobID, Host: "there.example"}), c.Activity(t.Context(), &Activity{ActorID: bobID, Host: "there.example"})} {
		if got := rejectedBy(t, err); got != "DropPolicy" {
			t.Errorf("rejected by %q", got)
		}
	}
	if err := c.Host("there.example"); err != nil {
		t.Errorf("the whole host is refused for some of it: %v", err)
	}
}

func TestProfiles(t *testing.T) {
	c := New(settings(t, func(c *config.Config) {
		c.MRFSimple.Reject = hosts("bad.example")
		c.MRFSimple.AvatarRemoval, c.MRFSimple.BannerRemoval = hosts("plain.example"), hosts("*.example")
		c.MRFEmoji.RemoveShortcode = []string{"bad"}
	}, "SimplePolicy", "EmojiPolicy"), Deps{})
	for host, want := range map[string][2]string{"plain.example": {"", ""}, "other.example": {"a", ""}, "x.test": {"a", "b"}} {
		p := &Profile{Host: host, Avatar: "a", Banner: "b", Emoji: []Emoji{{"bad", ""}, {"good", ""}}}
		if err := c.Profile(t.Context(), p); err != nil || p.Avatar != want[0] || p.Banner != want[1] || len(p.Emoji) != 1 {
			t.Errorf("%s: %+v, %v", host, p, err)
		}
	}
	if got := rejectedBy(t, c.Profile(t.Context(), &Profile{Host: "bad.example"})); got != "SimplePolicy" {
		t.Errorf("rejected by %q", got)
	}
}

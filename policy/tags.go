package policy

import (
	"context"
	"slices"

	"svc/internal/config"
	"svc/internal/text"
	"svc/store"
)

// tags is TagPolicy: tags that moderators give to accounts (admin API 4.8).
type tags struct{}

// The tags that have an effect.
const (
	TagSensitive       = "mrf_tag:media-force-nsfw"
	tagNoMedia         = "mrf_tag:media-strip"
	TagUnlisted        = "mrf_tag:force-unlisted"
	tagSandbox         = "mrf_tag:sandbox"
	tagNoRemoteFollows = "mrf_tag:disable-remote-subscription"
	tagNoFollows       = "mrf_tag:disable-any-subscription"
)

// Limited returns true if staff have narrowed the audience of an account by its tags.
func Limited(a *store.Account) bool {
	return slices.Contains(a.Tags.V, TagUnlisted) || slices.Contains(a.Tags.V, tagSandbox)
}

func (tags) post(_ context.Context, p *Post) error {
	if p.Author == nil {
		return nil
	}
	for _, tag := range p.Author.Tags.V {
		switch tag {
		case TagSensitive:
			p.markSensitive()
		case tagNoMedia:
			p.Attachments = nil
		case TagUnlisted:
			p.delist()
		case tagSandbox:
			if p.Local && p.Visibility == store.Local { // a private post would be federated, which its author did not want
				return rejectf("the author may post for followers only")
			}
			p.restrictToFollowers()
		}
	}
	return nil
}

func (tags) activity(_ context.Context, a *Activity) error {
	if a.Type != "Follow" || a.Target == nil {
		return nil
	}
	of := a.Target.Tags.V
	if slices.Contains(of, tagNoFollows) || !a.Local && slices.Contains(of, tagNoRemoteFollows) {
		return rejectf("the account cannot be followed")
	}
	return nil
}

// hashtags is HashtagPolicy: hashtags that make a post sensitive, unlisted or rejected.
type hashtags struct {
	settings                        config.MRFHashtag
	sensitive, reject, unlistedTags map[string]bool
}

func newHashtags(c *config.Config, _ Deps) any {
	s := c.MRFHashtag
	return hashtags{s, tagSet(s.Sensitive), tagSet(s.Reject), tagSet(s.FederatedTimelineRemoval)}
}

func tagSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[text.TagKey(text.TagName(n))] = true
	}
	return set
}

func (h hashtags) post(_ context.Context, p *Post) error {
	for _, tag := range p.Tags {
		name := text.TagName(tag)
		key := text.TagKey(name)
		if h.reject[key] {
			return rejectf("it has the hashtag #%s", name)
		}
		p.Sensitive = p.Sensitive || h.sensitive[key]
		if h.unlistedTags[key] {
			p.delist()
		}
	}
	return nil
}

func (h hashtags) describe(public map[string]any) {
	public["mrf_hashtag"] = map[string]any{
		"sensitive": nonNil(h.settings.Sensitive), "reject": nonNil(h.settings.Reject),
		"federated_timeline_removal": nonNil(h.settings.FederatedTimelineRemoval),
	}
}

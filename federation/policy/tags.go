package policy

import (
	"context"
	"slices"

	"svc/internal/config"
	"svc/internal/text"
	"svc/store"
)

// tags is TagPolicy: moderators' tags on accounts (admin API 4.8).
type tags struct{}

func newTags(*config.Config, Deps) any { return tags{} }

// The tags that mean something.
const (
	tagSensitive       = "mrf_tag:media-force-nsfw"
	tagNoMedia         = "mrf_tag:media-strip"
	tagUnlisted        = "mrf_tag:force-unlisted"
	tagSandbox         = "mrf_tag:sandbox"
	tagNoRemoteFollows = "mrf_tag:disable-remote-subscription"
	tagNoFollows       = "mrf_tag:disable-any-subscription"
)

func (tags) post(_ context.Context, p *Post) error {
	if p.Author == nil {
		return nil
	}
	for _, tag := range p.Author.Tags.V {
		switch tag {
		case tagSensitive:
			p.markMediaSensitive()
		case tagNoMedia:
			_ = p.eachVersion(func(v *Version) error {
				v.Attachments = nil
				return nil
			})
		case tagUnlisted:
			p.delist()
		case tagSandbox:
			if p.Local && p.Visibility == store.Local { // for followers, it would leave the server, which its author did not want
				return rejectf("the author may write to followers only")
			}
			p.restrictToFollowers()
		}
	}
	return nil
}

// markMediaSensitive marks those versions as sensitive that have attachments.
func (p *Post) markMediaSensitive() {
	_ = p.eachVersion(func(v *Version) error {
		v.Sensitive = v.Sensitive || len(v.Attachments) > 0
		return nil
	})
}

func (tags) activity(_ context.Context, d *Activity) error {
	if d.Type != "Follow" || d.Target == nil {
		return nil
	}
	of := d.Target.Tags.V
	if slices.Contains(of, tagNoFollows) || !d.Local && slices.Contains(of, tagNoRemoteFollows) {
		return rejectf("the account cannot be followed")
	}
	return nil
}

// hashtags is HashtagPolicy, which always runs.
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
		set[text.TagName(n)] = true
	}
	return set
}

func (h hashtags) post(_ context.Context, p *Post) error {
	return p.eachVersion(func(v *Version) error {
		for _, tag := range v.Tags {
			name := text.TagName(tag)
			if h.reject[name] {
				return rejectf("it has the hashtag #%s", name)
			}
			v.Sensitive = v.Sensitive || h.sensitive[name]
			if h.unlistedTags[name] {
				p.delist()
			}
		}
		return nil
	})
}

func (h hashtags) describe(shown map[string]any) {
	shown["mrf_hashtag"] = map[string]any{
		"sensitive": nonNil(h.settings.Sensitive), "reject": nonNil(h.settings.Reject),
		"federated_timeline_removal": nonNil(h.settings.FederatedTimelineRemoval),
	}
}

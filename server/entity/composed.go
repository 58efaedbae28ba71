package entity

import (
	"context"

	"svc/social"
	"svc/store"
)

// PreviewStatus renders a status that has been composed but not published, for its author.
func (b *Builder) PreviewStatus(ctx context.Context, author *store.Account, c *social.Composed) (*Status, error) {
	st := *c.Status
	st.CreatedAt = store.At(b.db.Now())
	preview := *c
	preview.Status = &st
	return b.renderComposed(ctx, author, &preview)
}

// Generation is a moment in the life of a Builder.
type Generation struct{ statuses uint64 }

// Generation returns the present moment.
func (b *Builder) Generation() Generation { return Generation{b.statuses.Generation()} }

// PublishedStatus renders a status that has just been published, for its author, of what it was composed of instead of reading that
// anew. The rendering is kept for others unless the status has changed since the mark, which was taken before it was published.
func (b *Builder) PublishedStatus(ctx context.Context, author *store.Account, c *social.Composed, since Generation) (*Status, error) {
	s, err := b.renderComposed(ctx, author, c)
	if err == nil {
		b.statuses.Put(s.id, s.renderedStatus, since.statuses)
	}
	return s, err
}

func (b *Builder) renderComposed(ctx context.Context, author *store.Account, c *social.Composed) (*Status, error) {
	p := newStatusParts([]*store.Status{c.Status})
	for _, m := range c.Media {
		if err := b.addAttachment(m, c.ID, p); err != nil {
			return nil, err
		}
	}
	if c.Poll != nil {
		poll, err := b.renderPoll(c.Poll, c.Status)
		if err != nil {
			return nil, err
		}
		p.polls = map[store.StatusID]*renderedPoll{c.ID: poll}
	}
	if err := b.loadMentions(ctx, c.Recipients, p, c.MentionedAccounts...); err != nil {
		return nil, err
	}
	for _, name := range c.Tags {
		b.addTags([]store.StatusTag{{StatusID: c.ID, Name: name}}, p)
	}
	if c.Parent != nil {
		p.parents = map[store.StatusID]*store.Status{c.Parent.ID: c.Parent}
	}
	if c.Card != nil {
		if err := b.addCards([]*store.Card{c.Card}, p); err != nil {
			return nil, err
		}
	}
	var err error
	if c.AppID != nil {
		if p.apps, err = b.loadApps(ctx, []store.AppID{*c.AppID}); err != nil {
			return nil, err
		}
	}
	r, err := b.renderStatus(c.Status, p)
	if err != nil {
		return nil, err
	}
	s := &Status{renderedStatus: r, builder: b}
	one := List[*Status]{s}
	if err := b.addMembers(ctx, author, one, one); err != nil {
		return nil, err
	}
	return s, b.addQuotes(ctx, author, one)
}

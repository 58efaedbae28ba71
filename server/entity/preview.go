package entity

import (
	"context"

	"svc/social"
	"svc/store"
)

// Preview renders a status that has been composed but not published, for its author.
func (b *Builder) Preview(ctx context.Context, author *store.Account, c *social.Composed) (*Status, error) {
	st := *c.Status
	st.CreatedAt = store.At(b.db.Now())
	p := newStatusParts([]*store.Status{&st})
	for _, m := range c.Media {
		o, err := b.attachment(m)
		if err != nil {
			return nil, err
		}
		p.media[st.ID] = append(p.media[st.ID], o)
	}
	if err := b.loadPeople(ctx, c.Recipients, p); err != nil {
		return nil, err
	}
	for _, name := range c.Tags {
		b.addTags([]store.StatusTag{{StatusID: st.ID, Name: name}}, p)
	}
	if err := b.loadAround(ctx, p); err != nil {
		return nil, err
	}
	r, err := b.renderStatus(&st, p)
	if err != nil {
		return nil, err
	}
	s := &Status{renderedStatus: r, builder: b}
	return s, b.complete(ctx, author, List[*Status]{s}, List[*Status]{s})
}

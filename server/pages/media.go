package pages

import (
	"svc/server/web"
	"svc/store"
)

// measure adds to attachments the properties of their files, which the API does not have unless media.describe is on: pages reserve room for
// pictures before they have loaded.
func (p *page) measure(media []*web.Media) error {
	if len(media) == 0 || p.Settings.Load().Media.Describe {
		return nil
	}
	ids := make([]store.MediaID, len(media))
	for i, m := range media {
		if err := ids[i].UnmarshalText([]byte(m.ID)); err != nil {
			return err
		}
	}
	known, err := p.Entities.MediaProperties(p.Context(), ids)
	if err != nil {
		return err
	}
	for i, m := range media {
		properties, ok := known[ids[i]]
		if !ok {
			continue
		}
		if err := p.Pages.Decode(properties, m); err != nil {
			return err
		}
	}
	return nil
}

package federation

import (
	"context"

	"svc/store"
)

// buildScrobbleCreated sends a Listen to followers. Few servers know it.
func (b *Outbox) buildScrobbleCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	p, err := b.db.Scrobble(ctx, store.ScrobbleID(e.RowID))
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, p.Visibility, nil)
	track := jsonMap{
		"id": b.BaseURL + "/objects/" + p.ID.String(), "type": "Audio", "attributedTo": actor.URI, "actor": actor.URI,
		"title": p.Title, "artist": p.Artist, "album": p.Album, "to": stringValues(to), "cc": stringValues(cc), "published": p.CreatedAt.String(),
	}
	if p.Length > 0 {
		track["length"] = p.Length
	}
	if p.ExternalLink != "" {
		track["externalLink"] = p.ExternalLink
	}
	inboxes, err := b.db.FollowerInboxes(ctx, actor.ID)
	a := b.newActivity(e, "Listen", actor, track, to, cc)
	return []*outgoing{{activity: a, priority: store.UpdatePriority, inboxes: inboxes}}, err
}

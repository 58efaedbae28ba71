package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

func init() {
	tellers[store.Listened] = one((*Service).tellListened)
}

// tellListened tells followers what somebody listens to. Few servers understand it; that they refuse it says nothing about them.
func (s *Service) tellListened(ctx context.Context, actor *store.Account, d store.Deed) (*telling, error) {
	p, err := s.db.Scrobble(ctx, store.ScrobbleID(d.RowID))
	if err != nil {
		return nil, err
	}
	followers := actor.URI + "/followers"
	to, cc := []any{followers}, []any{}
	switch p.Visibility {
	case store.Public:
		to, cc = []any{activity.Public}, []any{followers}
	case store.Unlisted:
		cc = []any{activity.Public}
	}
	track := activity.Object{
		"id": s.BaseURL + "/objects/" + p.ID.String(), "type": "Audio", "attributedTo": actor.URI, "actor": actor.URI,
		"title": p.Title, "artist": p.Artist, "album": p.Album, "to": to, "cc": cc, "published": p.CreatedAt.String(),
	}
	if p.Length > 0 {
		track["length"] = p.Length
	}
	if p.ExternalLink != "" {
		track["externalLink"] = p.ExternalLink
	}
	inboxes, err := s.db.FollowerInboxes(ctx, actor.ID)
	if err != nil {
		return nil, err
	}
	return &telling{inboxes: inboxes, priority: store.ChangePriority, activity: activity.Object{
		"@context": activity.Context, "id": s.BaseURL + "/activities/" + d.ID.String(), "type": "Listen", "actor": actor.URI,
		"object": track, "to": to, "cc": cc, "published": p.CreatedAt.String(),
	}}, nil
}

package social

import (
	"context"
	"net/url"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxScrobbleText is the longest text of a scrobble in characters.
const maxScrobbleText = 500

// maxScrobbleBytes is how many bytes of JSON a text of a remote scrobble takes at most, because a character may have any number of marks.
const maxScrobbleBytes = 4_000

// ScrobbleDraft is what an account listens to.
type ScrobbleDraft struct {
	Title        string
	Artist       string
	Album        string
	Length       int // milliseconds; 0: unknown
	ExternalLink string
	Visibility   store.Visibility
}

// Scrobble stores what actor listens to. Scrobbles are in no timeline.
func (s *Service) Scrobble(ctx context.Context, actor *store.Account, l ScrobbleDraft) (*store.Scrobble, error) {
	l.Title = strings.TrimSpace(l.Title)
	for _, t := range []string{l.Title, l.Artist, l.Album, l.ExternalLink} {
		if text.Length(t, "") > maxScrobbleText {
			return nil, errs.BadRequest("Too long (maximum is %d characters)", maxScrobbleText)
		}
	}
	switch {
	case l.Title == "":
		return nil, errs.BadRequest("Missing field: title.")
	case l.Length < 0:
		return nil, errs.BadRequest("Invalid length")
	case l.Visibility > store.Direct:
		return nil, errs.BadRequest("Invalid visibility")
	case l.ExternalLink != "" && !isWebURL(l.ExternalLink):
		return nil, errs.BadRequest("Invalid externalLink")
	}
	p := l.row(actor)
	return p, s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.AddScrobble(ctx, p); err != nil {
			return err
		}
		if !s.Settings.Load().Federation.SendListens || p.Visibility == store.Local || p.Visibility == store.Direct {
			return nil
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ScrobbleCreated, ActorID: actor.ID, RowID: int64(p.ID)})
	})
}

// ReceiveScrobble stores what a remote actor listens to, by the activity with this id. Long texts are truncated. Receiving it twice is
// not an error.
func (s *Service) ReceiveScrobble(ctx context.Context, actor *store.Account, l ScrobbleDraft, uri string, at store.Time) error {
	for _, t := range []*string{&l.Title, &l.Artist, &l.Album} {
		*t = text.CutJSON(text.Truncate(strings.TrimSpace(text.CutJSON(*t, 4*maxScrobbleBytes)), maxScrobbleText), maxScrobbleBytes)
	}
	if l.Title == "" {
		return errs.BadRequest("title is missing")
	}
	if len(l.ExternalLink) > maxScrobbleText || !isWebURL(l.ExternalLink) {
		l.ExternalLink = ""
	}
	p := l.row(actor)
	p.URI, p.CreatedAt = &uri, at
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddScrobble(ctx, p) })
}

func (l *ScrobbleDraft) row(actor *store.Account) *store.Scrobble {
	return &store.Scrobble{
		AccountID: actor.ID, Visibility: l.Visibility, Title: l.Title, Artist: l.Artist, Album: l.Album,
		Length: max(l.Length, 0), ExternalLink: l.ExternalLink,
	}
}

func isWebURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

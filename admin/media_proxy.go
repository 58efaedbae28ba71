package admin

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Limits of one operation on addresses of media.
const (
	maxMediaURLs    = 100
	maxMediaURLSize = 2048
	maxLoggedURLs   = 5 // in the message of the moderation log
)

// MediaBan is a file that is not served, and whose content cannot be uploaded.
type MediaBan struct {
	URL      string    `json:"url"`
	SHA256   string    `json:"sha256"` // of the content; "": not known yet
	BannedAt time.Time `json:"banned_at"`
}

// MediaBans is a page of bans.
type MediaBans struct {
	Count int        `json:"count"` // of all pages
	Bans  []MediaBan `json:"bans"`
}

// MediaURLs are addresses of files: their own, or those of the media proxy.
type MediaURLs struct {
	URLs []string `json:"urls"`
}

// ChangedMedia are the own addresses of the files of an operation.
type ChangedMedia struct {
	URLs      []string `json:"urls"`      // for which something changed
	Unchanged []string `json:"unchanged"` // banned already, or not banned
}

func (c *ChangedMedia) add(address string, changed bool) {
	if changed {
		c.URLs = append(c.URLs, address)
	} else {
		c.Unchanged = append(c.Unchanged, address)
	}
}

// MediaBans returns a page of the bans whose address has a text, newest first.
func (s *Service) MediaBans(ctx context.Context, q store.MediaBanQuery) (*MediaBans, error) {
	q.Text = s.storage.Proxy.Original(strings.TrimSpace(q.Text))
	q.Limit, q.Offset = min(max(q.Limit, 1), store.MaxMediaBans), max(q.Offset, 0)
	rows, err := s.db.MediaBans(ctx, q)
	if err != nil {
		return nil, err
	}
	page := &MediaBans{Bans: make([]MediaBan, 0, len(rows))}
	for _, row := range rows {
		page.Bans = append(page.Bans, MediaBan{URL: row.Address, SHA256: row.SHA256, BannedAt: row.BannedAt.Time()})
	}
	page.Count, err = s.db.CountMediaBans(ctx, q.Text)
	return page, err
}

// BanMedia bans files, and removes their copies from the cache of the media proxy. Their content cannot be uploaded any more. If the server
// has no copy, a job fetches the file to know its content.
func (s *Service) BanMedia(ctx context.Context, m MediaURLs) (*ChangedMedia, error) {
	addresses, err := s.mediaAddresses(m.URLs, true)
	if err != nil {
		return nil, err
	}
	sums := make([]string, len(addresses))
	for i, address := range addresses {
		if sums[i], err = s.storage.Proxy.CopySum(ctx, address); err != nil {
			return nil, err
		}
	}
	var result *ChangedMedia
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		result = &ChangedMedia{URLs: []string{}, Unchanged: []string{}}
		for i, address := range addresses {
			isNew, err := tx.AddMediaBan(ctx, address, sums[i])
			if err != nil {
				return err
			}
			result.add(address, isNew)
			if isNew && sums[i] == "" {
				if err := tx.Enqueue(ctx, store.SumBannedMedia{Address: address}); err != nil {
					return err
				}
			}
		}
		n, err := tx.CountMediaBans(ctx, "")
		if err != nil {
			return err
		}
		if n > store.MaxMediaBans {
			return errs.Invalid("There can be at most %d bans", store.MaxMediaBans)
		}
		return s.recordMedia(ctx, tx, "media_ban", "banned media", result.URLs)
	})
	if err != nil {
		return nil, err
	}
	return result, s.storage.Proxy.Purge(addresses)
}

// UnbanMedia removes bans. An address that is not banned is not an error.
func (s *Service) UnbanMedia(ctx context.Context, m MediaURLs) (*ChangedMedia, error) {
	addresses, err := s.mediaAddresses(m.URLs, false)
	if err != nil {
		return nil, err
	}
	var result *ChangedMedia
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		result = &ChangedMedia{URLs: []string{}, Unchanged: []string{}}
		for _, address := range addresses {
			was, err := tx.RemoveMediaBan(ctx, address)
			if err != nil {
				return err
			}
			result.add(address, was)
		}
		return s.recordMedia(ctx, tx, "media_unban", "unbanned media", result.URLs)
	})
	return result, err
}

// PurgeMedia removes the copies of files from the cache of the media proxy, so that the next request fetches them again.
func (s *Service) PurgeMedia(ctx context.Context, m MediaURLs) (*ChangedMedia, error) {
	addresses, err := s.mediaAddresses(m.URLs, true)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error { return s.recordMedia(ctx, tx, "media_purge", "purged media", addresses) })
	if err != nil {
		return nil, err
	}
	return &ChangedMedia{URLs: addresses, Unchanged: []string{}}, s.storage.Proxy.Purge(addresses)
}

// recordMedia adds an entry to the moderation log, unless nothing changed.
func (s *Service) recordMedia(ctx context.Context, tx *store.Tx, action, done string, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	what := done + ": " + strings.Join(addresses[:min(len(addresses), maxLoggedURLs)], ", ")
	if n := len(addresses) - maxLoggedURLs; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return s.record(ctx, tx, action, what, map[string]any{"urls": addresses})
}

// mediaAddresses returns the own addresses of files, each once. With check, it refuses what cannot be one.
func (s *Service) mediaAddresses(urls []string, check bool) ([]string, error) {
	if len(urls) > maxMediaURLs {
		return nil, errs.BadRequest("At most %d URLs can be changed at once", maxMediaURLs)
	}
	list := make([]string, 0, len(urls))
	for _, given := range urls {
		address := s.storage.Proxy.Original(strings.TrimSpace(given))
		if check {
			if err := checkMediaAddress(address); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	return list, nil
}

func checkMediaAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxMediaURLSize:
		return errs.BadRequest("A URL can have at most %d bytes", maxMediaURLSize)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errs.BadRequest("%q is not a URL such as https://example.org/picture.png", address)
	}
	return nil
}

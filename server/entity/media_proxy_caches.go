package entity

import "svc/admin"

// MediaProxyCaches is a page of banned files (spec 4.5).
type MediaProxyCaches struct {
	PageSize int      `json:"page_size"`
	Count    int      `json:"count"` // of all pages
	URLs     []string `json:"urls"`
}

// NewMediaProxyCaches returns a page of bans.
func NewMediaProxyCaches(page *admin.MediaBans, size int) *MediaProxyCaches {
	c := &MediaProxyCaches{PageSize: size, Count: page.Count, URLs: make([]string, 0, len(page.Bans))}
	for _, b := range page.Bans {
		c.URLs = append(c.URLs, b.URL)
	}
	return c
}

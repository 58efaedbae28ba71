package entity

import (
	"strconv"

	"svc/store"
)

// Marker is the position up to which a user has read a timeline.
type Marker struct {
	LastReadID string     `json:"last_read_id"`
	Version    int        `json:"version"`
	UpdatedAt  store.Time `json:"updated_at"`
}

type markerExtension struct {
	UnreadCount int `json:"unread_count"`
}

// Markers renders markers by timeline. unread is the number of unread notifications.
func (r *renderer) Markers(markers []*store.Marker, unread int) (map[string]any, error) {
	m := make(map[string]any, len(markers))
	for _, row := range markers {
		last := strconv.FormatInt(row.LastReadID, 10)
		if row.Timeline == "home" {
			last = store.StatusID(row.LastReadID).String()
		}
		o, err := r.extended(Marker{last, row.Version, row.UpdatedAt}, markerExtension{unread})
		if err != nil {
			return nil, err
		}
		m[row.Timeline] = o
	}
	return m, nil
}

package pages

import (
	"time"

	"svc/store"
)

// waitingKey identifies what waits for a user at a state of the database. Announcements begin and mutes end without a change of it.
type waitingKey struct {
	account store.AccountID
	commits uint64
	minute  int64
}

// maxWaiting bounds the users whose counts are kept.
const maxWaiting = 1000

// unread is what a user has not seen yet.
type unread struct {
	store.Waiting
	notifications int
	home          store.StatusID // the newest post of the home timeline that was read, 0: none
}

// unread returns what waits for the viewer, for the marks in the navigation.
func (p *page) unread() (unread, error) {
	key := waitingKey{p.Viewer.ID, p.began.commits, p.began.time.Unix() / int64(time.Minute/time.Second)}
	return p.waiting.Load(key, func() (u unread, err error) {
		if u.Waiting, err = p.Waiting(p.Context(), p.Viewer.ID); err != nil {
			return u, err
		}
		var markers []*store.Marker
		markers, u.notifications, err = p.Markers(p.Context(), p.Viewer.ID)
		for _, m := range markers {
			if m.Timeline == "home" {
				u.home = store.StatusID(m.LastReadID)
			}
		}
		return u, err
	})
}

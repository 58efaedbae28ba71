package pages

import (
	"time"

	"svc/store"
)

// waitingKey identifies what waits for a user at a state of the database. Announcements begin and end without a change of it.
type waitingKey struct {
	account store.AccountID
	commits uint64
	minute  int64
}

// maxWaiting bounds the users whose counts are kept.
const maxWaiting = 1000

// waits returns what waits for the viewer, for the marks in the navigation.
func (p *page) waits() (store.Waiting, error) {
	key := waitingKey{p.Viewer.ID, p.began.commits, p.began.time.Unix() / int64(time.Minute/time.Second)}
	return p.waiting.Load(key, func() (store.Waiting, error) { return p.Waiting(p.Context(), p.Viewer.ID) })
}

package admin

import (
	"sync"
	"time"

	"svc/store"
)

// prunePosition is where the deletion of old remote posts stopped, so that the next run does not read the posts again that are kept.
type prunePosition struct {
	mu    sync.Mutex
	after store.StatusID
	ended time.Time
}

func (p *prunePosition) position() store.StatusID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.after
}

func (p *prunePosition) moveTo(id store.StatusID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = id
}

// endedAt records that a run came to the end.
func (p *prunePosition) endedAt(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = now
}

// wait returns how long the next run has to wait.
func (p *prunePosition) wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.IsZero() {
		return 0
	}
	return max(0, pruneRemoteAgain-now.Sub(p.ended))
}

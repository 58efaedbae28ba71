package social

import (
	"context"
	"sync"
	"time"

	"svc/store"
)

// How often those elsewhere can have people of here told who do not follow them that they are mentioned (federation 5.7).
const (
	crowdTime    = time.Hour
	crowdAccount = 30   // by one account, in that time
	crowdDomain  = 1000 // and by all of its server
	maxCrowd     = 10_000
)

// crowd counts mentions from elsewhere.
type crowd struct {
	mu sync.Mutex
	of map[crowdKey]*crowdCount
}

// crowdKey is an account, or a server.
type crowdKey struct {
	account store.AccountID
	domain  string
}

type crowdCount struct {
	since time.Time
	count int
}

func newCrowd() *crowd { return &crowd{of: make(map[crowdKey]*crowdCount)} }

// tooMany counts a mention by an account, and tells whether there have been too many.
func (c *crowd) tooMany(by *store.Account, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	account := c.count(crowdKey{account: by.ID}, now)
	if account > crowdAccount { // which do not count for the others of its server
		return true
	}
	return c.count(crowdKey{domain: by.Domain}, now) > crowdDomain
}

func (c *crowd) count(key crowdKey, now time.Time) int {
	n := c.of[key]
	if n == nil || now.Sub(n.since) >= crowdTime {
		for other := range c.of {
			if len(c.of) < maxCrowd {
				break
			}
			delete(c.of, other)
		}
		n = &crowdCount{since: now}
		c.of[key] = n
	}
	n.count++
	return n.count
}

// toTell tells whether somebody here is told that they are mentioned by author, who lives elsewhere: if it is one of many, only who
// follows the author is.
func (s *Service) toTell(ctx context.Context, tx *store.Tx, author *store.Account, to store.AccountID, many bool) (bool, error) {
	if !s.crowd.tooMany(author, s.db.Now()) && !many {
		return true, nil
	}
	return tx.Follows(ctx, to, author.ID)
}

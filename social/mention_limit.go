package social

import (
	"context"
	"sync"
	"time"

	"svc/store"
)

// How often those elsewhere can have people of here told who do not follow them that they are mentioned (federation 5.7).
const (
	mentionWindow         = time.Hour
	maxMentionsPerAccount = 30   // by one account, in that time
	maxMentionsPerDomain  = 1000 // and by all of its server
	maxMentionCounters    = 10_000
)

// mentionLimit counts mentions from elsewhere.
type mentionLimit struct {
	mu     sync.Mutex
	counts map[mentionKey]*mentionCount
}

// mentionKey is an account, or a server.
type mentionKey struct {
	account store.AccountID
	domain  string
}

type mentionCount struct {
	since time.Time
	count int
}

func newMentionLimit() *mentionLimit {
	return &mentionLimit{counts: make(map[mentionKey]*mentionCount)}
}

// exceeded counts a mention by an account, and tells whether there have been too many.
func (c *mentionLimit) exceeded(by *store.Account, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	account := c.count(mentionKey{account: by.ID}, now)
	if account > maxMentionsPerAccount { // which do not count for the others of its server
		return true
	}
	return c.count(mentionKey{domain: by.Domain}, now) > maxMentionsPerDomain
}

func (c *mentionLimit) count(key mentionKey, now time.Time) int {
	n := c.counts[key]
	if n == nil || now.Sub(n.since) >= mentionWindow {
		for other := range c.counts {
			if len(c.counts) < maxMentionCounters {
				break
			}
			delete(c.counts, other)
		}
		n = &mentionCount{since: now}
		c.counts[key] = n
	}
	n.count++
	return n.count
}

// mayNotifyMention tells whether somebody here is told that they are mentioned by author, who lives elsewhere: if it is one of many, only who
// follows the author is.
func (s *Service) mayNotifyMention(ctx context.Context, tx *store.Tx, author *store.Account, to store.AccountID, many bool) (bool, error) {
	if !s.mentionLimit.exceeded(author, s.db.Now()) && !many {
		return true, nil
	}
	return tx.Follows(ctx, to, author.ID)
}

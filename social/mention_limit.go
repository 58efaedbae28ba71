package social

import (
	"context"
	"time"

	"svc/internal/limit"
	"svc/store"
)

// Rate limit for notifications of mentions, quotes and places in collections by remote accounts that the recipient does not follow (federation 5.7).
var (
	mentionsPerAccount = limit.Rate{Count: 30, Window: time.Hour}
	mentionsPerDomain  = limit.Rate{Count: 1000, Window: time.Hour}
)

// maxMentionCounters is how many accounts and domains the limit counts at a time.
const maxMentionCounters = 10_000

// mentionKey is an account or a domain.
type mentionKey struct {
	account store.AccountID
	domain  string
}

// allowMention counts a mention by an account, and returns false if the account or its remote domain has reached the limit. Mentions beyond the limit
// of an account do not count for its domain.
func allowMention(counts *limit.Window[mentionKey], by *store.Account, now time.Time) bool {
	_, ok := counts.Allow(mentionKey{account: by.ID}, mentionsPerAccount, now)
	if ok && !by.Local() {
		_, ok = counts.Allow(mentionKey{domain: by.Domain}, mentionsPerDomain, now)
	}
	return ok
}

// notifiesMention returns whether a mention or quote by a remote author, or a place in an author's collection, notifies a local account. Beyond the rate limit, and
// if the status has too many mentions, it does only if the account follows the author.
func (s *Service) notifiesMention(ctx context.Context, tx *store.Tx, author *store.Account, to store.AccountID, tooMany bool) (bool, error) {
	if allowMention(s.mentions, author, s.db.Now()) && !tooMany {
		return true, nil
	}
	return tx.Follows(ctx, to, author.ID)
}

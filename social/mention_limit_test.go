package social

import (
	"testing"
	"time"

	"svc/internal/limit"
	"svc/store"
)

func TestMentionLimit(t *testing.T) {
	counts := limit.NewWindow[mentionKey](maxMentionCounters)
	now := time.Unix(1_700_000_000, 0)
	allowed := func(id int, domain string, at time.Time, times int) (n int) {
		for range times {
			if allowMention(counts, &store.Account{ID: store.AccountID(id), Domain: domain}, at) {
				n++
			}
		}
		return n
	}
	if n := allowed(1, "a.example", now, 100); n != mentionsPerAccount.Count {
		t.Errorf("an account causes %d notifications, want %d", n, mentionsPerAccount.Count)
	}
	if n := allowed(2, "b.example", now, 1); n != 1 {
		t.Error("the limit of an account applies to another domain")
	}
	if n := allowed(1, "a.example", now.Add(mentionsPerAccount.Window), 1); n != 1 {
		t.Error("the limit does not end with its window")
	}
	all := 0
	for i := range 100 {
		all += allowed(100+i, "c.example", now, 20)
	}
	if all != mentionsPerDomain.Count {
		t.Errorf("a domain causes %d notifications, want %d", all, mentionsPerDomain.Count)
	}
}

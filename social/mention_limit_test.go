package social

import (
	"fmt"
	"testing"
	"time"

	"svc/store"
)

// Of one account, and of all of its server, only so many mentions an hour count; others are not affected.
func TestCrowd(t *testing.T) {
	c := newMentionLimit()
	now := time.Unix(1_700_000_000, 0)
	told := func(id int, domain string, at time.Time, times int) (n int) {
		for range times {
			if !c.exceeded(&store.Account{ID: store.AccountID(id), Domain: domain}, at) {
				n++
			}
		}
		return n
	}
	if n := told(1, "a.example", now, 100); n != maxMentionsPerAccount {
		t.Errorf("one account: %d", n)
	}
	if n := told(2, "b.example", now, 1); n != 1 {
		t.Error("another account is affected")
	}
	if n := told(1, "a.example", now.Add(mentionWindow), 1); n != 1 {
		t.Error("it does not end")
	}
	all := 0
	for i := range 100 {
		all += told(100+i, "c.example", now, 20)
	}
	if all != maxMentionsPerDomain {
		t.Errorf("one server: %d", all)
	}
	for i := range 2 * maxMentionCounters {
		told(1000+i, fmt.Sprint(i, ".example"), now, 1)
	}
	if len(c.counts) > maxMentionCounters {
		t.Errorf("%d are counted", len(c.counts))
	}
}

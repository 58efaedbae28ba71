package inbox

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc/store"
)

// TestCollectResults checks how long results are collected, and how many.
func TestCollectResults(t *testing.T) {
	for name, test := range map[string]struct {
		pause  time.Duration // between two results
		number int
		want   int
		after  time.Duration
		queued int // the number of the result that belongs to a queued activity, 0: none
	}{
		"a single one":        {0, 1, 1, recordIdle, 0},
		"many at once":        {0, 3 * recordBatch, recordBatch, 0, 0},
		"some at once":        {0, 20, 20, recordIdle, 0},
		"each soon after":     {6 * time.Millisecond, 1000, 34, recordDelay, 0},
		"the second too late": {2 * recordIdle, 2, 1, recordIdle, 0},
		"in time":             {recordIdle / 2, 3, 3, 2 * recordIdle, 0},
		"a queued one first":  {6 * time.Millisecond, 1000, 2, recordIdle, 1},
		"a queued one third":  {6 * time.Millisecond, 1000, 4, 12*time.Millisecond + recordIdle, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &Inbox{results: make(chan *Activity)}
				ended := make(chan struct{})
				var sender sync.WaitGroup
				sender.Go(func() {
					for i := range test.number {
						a := &Activity{Row: &store.QueuedActivity{}}
						if i+1 == test.queued {
							a.Row.ID = 1
						}
						select {
						case b.results <- a:
						case <-ended:
							return
						}
						time.Sleep(test.pause)
					}
				})
				start := time.Now()
				list := b.collectResults(<-b.results)
				if n, took := len(list), time.Since(start); n != test.want || took != test.after {
					t.Errorf("%d results after %v, want %d after %v", n, took, test.want, test.after)
				}
				close(ended)
				sender.Wait()
			})
		})
	}
}

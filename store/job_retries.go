package store

import (
	"math/rand/v2"
	"time"
)

// What the three durable queues share: jobs, deliveries and queued activities. A failed row is queued again for its next attempt, and parked
// after its last one.
const (
	MaxAttempts         = len(retryDelays) + 1 // of a job or a delivery, within about two days
	maxActivityAttempts = 8                    // of a queued activity, within about four hours
	parkedTTL           = 30 * 24 * time.Hour  // of parked deliveries and activities, and of parked jobs that PruneExpired deletes
	maxErrorBytes       = 1000                 // of a stored error text
)

// retryDelays are the pauses after each failed attempt (federation 3.4).
var retryDelays = [...]time.Duration{
	30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// RetryDelay returns the pause after a number of failed attempts, 1 or more: up to a fifth shorter or longer than in the schedule, so that what
// failed together is not attempted together again. After the end of the schedule its last pause is repeated.
func RetryDelay(attempts int) time.Duration {
	d := retryDelays[min(attempts, len(retryDelays))-1]
	return d - d/5 + rand.N(2*d/5)
}

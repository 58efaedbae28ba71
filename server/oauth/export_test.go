package oauth

import (
	"testing"
	"time"
)

// SetSlowLoginDelay changes the delay of slowed attempts for a test.
func SetSlowLoginDelay(t *testing.T, d time.Duration) {
	before := slowLoginDelay
	slowLoginDelay = d
	t.Cleanup(func() { slowLoginDelay = before })
}

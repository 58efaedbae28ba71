package oauth

import (
	"context"
	"testing"
)

// AwaitSlowLogin replaces the delay of slowed attempts for a test.
func AwaitSlowLogin(t *testing.T, wait func(context.Context) error) {
	before := awaitSlowLogin
	awaitSlowLogin = wait
	t.Cleanup(func() { awaitSlowLogin = before })
}

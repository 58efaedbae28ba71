package oauth

import (
	"hash/maphash"
	"net/netip"
	"time"

	"svc/internal/config"
	"svc/internal/limit"
	"svc/internal/text"
	"svc/server/rest"
)

// maxLoginFailures bounds the names and networks whose failures are counted at the same time.
const maxLoginFailures = 50_000

// loginLimits count wrong passwords and second factors: for a name wherever they come from, and from a network whatever the name.
type loginLimits struct {
	byName, byNetwork limit.Rate // Count 0: no limit
	windows           *limit.Window[loginKey]
	seed              maphash.Seed
}

// loginKey is a hashed name or a network.
type loginKey struct {
	name    uint64
	network netip.Addr
}

func newLoginLimits(c config.RateLimit) *loginLimits {
	l := &loginLimits{windows: limit.NewWindow[loginKey](maxLoginFailures), seed: maphash.MakeSeed()}
	if c.Enabled {
		l.byName, l.byNetwork = limit.Rate(c.FailedLogins), limit.Rate(c.Authentication)
	}
	return l
}

// loginAttempt is what the failure of one attempt counts for.
type loginAttempt struct {
	limits *loginLimits
	keys   [2]loginKey
	rates  [2]limit.Rate
}

// attempt returns an attempt to sign in by a name from a network. The name counts as it was typed: one count for all names of a
// user would tell which they are.
func (l *loginLimits) attempt(name string, network netip.Addr) loginAttempt {
	return loginAttempt{l, [2]loginKey{{name: maphash.String(l.seed, text.FoldKey(name))}, {network: network}}, [2]limit.Rate{l.byName, l.byNetwork}}
}

// check fails after too many failures.
func (a loginAttempt) check(now time.Time) error {
	for i, rate := range a.rates {
		if rate.Count == 0 {
			continue
		}
		if q := a.limits.windows.Peek(a.keys[i], rate, now); q.Remaining == 0 {
			return rest.Throttled(q)
		}
	}
	return nil
}

// fail counts a failure.
func (a loginAttempt) fail(now time.Time) {
	for i, rate := range a.rates {
		if rate.Count > 0 {
			a.limits.windows.Allow(a.keys[i], rate, now)
		}
	}
}

// reserve counts a failure before the result is known, so that concurrent attempts cannot exceed the limit. It fails after too many
// failures. refund takes the failure back.
func (a loginAttempt) reserve(now time.Time) (refund func(now time.Time), err error) {
	taken := 0
	refund = func(now time.Time) {
		for i := range taken {
			if a.rates[i].Count > 0 {
				a.limits.windows.Refund(a.keys[i], now)
			}
		}
	}
	for i, rate := range a.rates {
		if rate.Count > 0 {
			if q, ok := a.limits.windows.Allow(a.keys[i], rate, now); !ok {
				refund(now)
				return nil, rest.Throttled(q)
			}
		}
		taken++
	}
	return refund, nil
}

package oauth

import (
	"context"
	"errors"
	"hash/maphash"
	"net/netip"
	"time"

	"svc/internal/config"
	"svc/internal/limit"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

const (
	maxLoginFailures = 50_000 // accounts and networks whose failures are counted at the same time
	maxSlowedLogins  = 256    // at the same time, one of a network
	maxSlowedWaiting = 2      // of an account, beside the one whose delay runs
)

// slowLoginDelay is the time between slowed attempts to sign in to one account.
const slowLoginDelay = 8 * time.Second

// awaitSlowLogin waits for slowLoginDelay, or until ctx is done. Tests replace it.
var awaitSlowLogin = func(ctx context.Context) error {
	timer := time.NewTimer(slowLoginDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loginLimits count wrong passwords and second factors: of an account, whatever name and network they come with, and of a network, whatever
// the account. An account over its limit stays open to its user: networks from which the user signed in before have a limit of their own,
// and passwords from other networks are checked slowly, one after another. Names that are nobody's are counted and slowed like accounts, so
// that the limit does not reveal which exist.
type loginLimits struct {
	social                 *social.Service
	perAccount, perNetwork limit.Rate // Count 0: no limit
	failures               *limit.Window[loginKey]
	slowedNetworks         *limit.Slots[netip.Addr]
	slowedAccounts         *limit.Slots[uint64]
	seed                   maphash.Seed
	now                    func() time.Time
}

// loginKey is an account, a network, or an account with one of its known networks. Its zero parts are absent.
type loginKey struct {
	account uint64 // hash of the account id, or of a name that is nobody's
	network netip.Addr
}

func newLoginLimits(c config.RateLimit, s *social.Service, now func() time.Time) *loginLimits {
	l := &loginLimits{
		social: s, seed: maphash.MakeSeed(), now: now,
		failures:       limit.NewWindow[loginKey](maxLoginFailures),
		slowedNetworks: limit.NewSlots[netip.Addr](maxSlowedLogins, 1, 0),
		slowedAccounts: limit.NewSlots[uint64](maxSlowedLogins, 1, maxSlowedWaiting),
	}
	if c.Enabled {
		l.perAccount, l.perNetwork = limit.Rate(c.FailedLogins), limit.Rate(c.Authentication)
	}
	return l
}

// loginAttempt is an attempt to sign in.
type loginAttempt struct {
	limits  *loginLimits
	user    store.AccountID // 0: nobody's name
	account uint64
	network netip.Addr
	refuse  bool // beyond the limit, instead of slowing
}

// password returns an attempt to sign in with a name. user is nil if it is nobody's.
func (l *loginLimits) password(user *store.User, name string, network netip.Addr) loginAttempt {
	if user == nil {
		return loginAttempt{l, 0, maphash.String(l.seed, "name "+l.social.LoginKey(name)), network, false}
	}
	return loginAttempt{l, user.AccountID, maphash.String(l.seed, "account "+user.AccountID.String()), network, false}
}

// confirmation returns an attempt of a signed-in user to confirm an action by the password.
func (l *loginLimits) confirmation(user *store.User, network netip.Addr) loginAttempt {
	a := l.password(user, "", network)
	a.refuse = true
	return a
}

// secondFactor returns an attempt to sign in with a second factor.
func (l *loginLimits) secondFactor(id store.AccountID, network netip.Addr) loginAttempt {
	return loginAttempt{l, id, maphash.String(l.seed, "second factor "+id.String()), network, true}
}

// networkKey fails if the network has too many failures.
func (a loginAttempt) networkKey() (loginKey, error) {
	key := loginKey{network: a.network}
	if a.limits.perNetwork.Count > 0 {
		if q := a.limits.failures.Peek(key, a.limits.perNetwork, a.limits.now()); q.Remaining == 0 {
			return key, rest.Throttled(q)
		}
	}
	return key, nil
}

// accountKey returns the key under which a failure for the account is counted, and its quota. A network from which the user
// signed in before has a key of its own.
func (a loginAttempt) accountKey(ctx context.Context) (key loginKey, q limit.Quota, err error) {
	l := a.limits
	key = loginKey{account: a.account}
	if l.perAccount.Count == 0 {
		return key, limit.Quota{Remaining: 1}, nil
	}
	if a.user != 0 {
		known, err := l.social.KnowsNetwork(ctx, a.user, a.network)
		if err != nil {
			return key, q, err
		}
		if known {
			key.network = a.network
		}
	}
	return key, l.failures.Peek(key, l.perAccount, l.now()), nil
}

// admission permits to check one password.
type admission struct {
	attempt loginAttempt
	account loginKey
	slowed  bool
	release func()
}

// admit waits until a password may be checked. It fails if the network has too many failures, or another slowed attempt, and if too many
// slowed attempts for the account wait. The admission must be released.
func (a loginAttempt) admit(ctx context.Context) (*admission, error) {
	if _, err := a.networkKey(); err != nil {
		return nil, err
	}
	key, q, err := a.accountKey(ctx)
	if err != nil {
		return nil, err
	}
	if q.Remaining > 0 {
		return &admission{attempt: a, account: key, release: func() {}}, nil
	}
	if a.refuse {
		return nil, rest.Throttled(q)
	}
	release, err := a.limits.slow(ctx, a)
	if errors.Is(err, limit.ErrBusy) {
		q.Reset = a.limits.now().Add(slowLoginDelay)
		return nil, rest.Throttled(q)
	}
	return &admission{attempt: a, account: key, slowed: true, release: release}, err
}

// valid returns false if other failures have used up the limit since the admission.
func (m *admission) valid() bool {
	l := m.attempt.limits
	if _, err := m.attempt.networkKey(); err != nil {
		return false
	}
	return m.slowed || l.perAccount.Count == 0 || l.failures.Peek(m.account, l.perAccount, l.now()).Remaining > 0
}

// fail counts a failure.
func (m *admission) fail() {
	m.attempt.count(loginKey{network: m.attempt.network}, m.attempt.limits.perNetwork)
	if !m.slowed {
		m.attempt.count(m.account, m.attempt.limits.perAccount)
	}
}

func (a loginAttempt) count(key loginKey, rate limit.Rate) bool {
	if rate.Count == 0 {
		return true
	}
	_, ok := a.limits.failures.Allow(key, rate, a.limits.now())
	return ok
}

// slow waits for the turn of an attempt. Each attempt takes slowLoginDelay, those for one account one after another. A network has one at
// a time, so that it cannot take all turns. The error is limit.ErrBusy if too many wait.
func (l *loginLimits) slow(ctx context.Context, a loginAttempt) (release func(), err error) {
	leave, err := l.slowedNetworks.Take(ctx, a.network)
	if err != nil {
		return nil, err
	}
	end, err := l.slowedAccounts.Take(ctx, a.account)
	if err != nil {
		leave()
		return nil, err
	}
	release = func() {
		end()
		leave()
	}
	if err := awaitSlowLogin(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// reserve counts a failure before the result is known, so that concurrent attempts cannot exceed the limit. It fails after too many
// failures. refund takes the failure back.
func (a loginAttempt) reserve(ctx context.Context) (refund func(), err error) {
	network, err := a.networkKey()
	if err != nil {
		return nil, err
	}
	account, q, err := a.accountKey(ctx)
	if err != nil {
		return nil, err
	}
	l := a.limits
	if !a.count(account, l.perAccount) {
		return nil, rest.Throttled(q)
	}
	a.count(network, l.perNetwork)
	return func() {
		if l.perAccount.Count > 0 {
			l.failures.Refund(account, l.now())
		}
		if l.perNetwork.Count > 0 {
			l.failures.Refund(network, l.now())
		}
	}, nil
}

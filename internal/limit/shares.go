package limit

import (
	"sync"
	"time"

	"svc/internal/cache"
)

const (
	demotedTime = 10 * time.Minute
	maxDemoted  = 10_000 // keys
)

// Shares bound how many operations that wait for other servers run at the same time: per key, and in all. A key with an operation that takes
// long is demoted for ten minutes: such keys share slots of their own, so that they do not keep others waiting.
type Shares[K comparable] struct {
	perKey  int
	size    [2]int // slots of the common and of the demoted class
	demoted *cache.Expiring[K, struct{}]

	mu   sync.Mutex
	busy [2]int // of size
	keys map[K]int
}

// Classes of Shares.
const (
	common = iota
	demoted
)

// Share is the slot of one operation.
type Share[K comparable] struct {
	shares *Shares[K]
	key    K
	class  int
	ended  bool
}

// NewShares returns slots for all operations together, of which perKey may be of one key, and other slots for demoted keys.
func NewShares[K comparable](all, perKey, forDemoted int) *Shares[K] {
	return &Shares[K]{
		perKey: perKey, size: [2]int{common: all, demoted: forDemoted}, keys: make(map[K]int),
		demoted: cache.NewExpiring[K, struct{}](maxDemoted),
	}
}

// Start takes a slot for an operation of a key. It returns nil if there is none.
func (s *Shares[K]) Start(key K, now time.Time) *Share[K] {
	class := s.classOf(key, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key] >= s.perKey || s.busy[class] >= s.size[class] {
		return nil
	}
	s.keys[key]++
	s.busy[class]++
	return &Share[K]{shares: s, key: key, class: class}
}

func (s *Shares[K]) classOf(key K, now time.Time) int {
	if s.IsDemoted(key, now) {
		return demoted
	}
	return common
}

// IsDemoted returns true if a key was demoted within the last ten minutes.
func (s *Shares[K]) IsDemoted(key K, now time.Time) bool {
	_, found := s.demoted.Get(key, now)
	return found
}

// Free returns how many slots are free for keys that are not demoted, and for those that are.
func (s *Shares[K]) Free() (forCommon, forDemoted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size[common] - s.busy[common], s.size[demoted] - s.busy[demoted]
}

// Full returns true if a key has all the slots that it may have.
func (s *Shares[K]) Full(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[key] >= s.perKey
}

// Demote demotes the key of an operation that takes long, and moves the operation to a slot for demoted keys. It returns false if none is
// free: the operation has to end, because it would keep others waiting. An operation that has ended keeps its key as it is.
func (sh *Share[K]) Demote(now time.Time) bool {
	s := sh.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh.ended {
		return true
	}
	s.demoted.Put(sh.key, struct{}{}, demotedTime, now)
	if sh.class == demoted {
		return true
	}
	if s.busy[demoted] >= s.size[demoted] {
		return false
	}
	s.busy[common]--
	s.busy[demoted]++
	sh.class = demoted
	return true
}

// End gives the slot back. A second call does nothing.
func (sh *Share[K]) End() {
	s := sh.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh.ended {
		return
	}
	sh.ended = true
	s.busy[sh.class]--
	if s.keys[sh.key]--; s.keys[sh.key] == 0 {
		delete(s.keys, sh.key)
	}
}

// Package password turns passwords into what may be stored of them, and compares them with that. Hashes are texts in the PHC
// string form, which names the algorithm and its cost: new ones are argon2id, and bcrypt is understood too, for accounts that
// come from elsewhere.
//
// Hashing is slow and takes memory on purpose. So it happens in turns: a few at a time in the whole process, a bounded number
// of others waiting.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"svc/internal/errs"
)

// MaxLength is the number of characters of the longest password.
const MaxLength = 256

// Errors of Check. Their texts read on after the name of what they are about.
var (
	ErrBlank   = errors.New("can't be blank")
	ErrTooLong = errors.New("should be at most 256 character(s)")
)

// Check tells what is wrong with a new password.
func Check(password string) error {
	switch {
	case strings.TrimSpace(password) == "":
		return ErrBlank
	case utf8.RuneCountInString(password) > MaxLength:
		return ErrTooLong
	}
	return nil
}

// Cost is how much work a new hash is.
type Cost struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// DefaultCost is the cost of hashes on a small computer: some tenths of a second there, and 19 MiB for each of those at work.
var DefaultCost = Cost{Memory: 19 * 1024, Passes: 2, Lanes: 1}

const (
	maxConcurrent = 2  // hashings at the same time
	maxWaiting    = 64 // and those that wait for their turn

	saltLength = 16
	keyLength  = 32
)

// ErrBusy is the answer while too many wait.
var ErrBusy = errs.New(http.StatusServiceUnavailable, "The server is busy, try again in a moment")

// Hasher hashes passwords, as many at a time as is good for the machine.
type Hasher struct {
	cost      Cost
	slots     chan struct{}
	waiting   atomic.Int32
	dummyHash string // the hash of a password that nobody has
}

// New returns a Hasher whose new hashes have this cost.
func New(cost Cost) *Hasher {
	h := &Hasher{cost: cost, slots: make(chan struct{}, maxConcurrent)}
	h.dummyHash = argon2id{Cost: cost, salt: make([]byte, saltLength), key: make([]byte, keyLength)}.String()
	return h
}

// Slot is leave to hash. It must be given back.
type Slot struct{ h *Hasher }

// Acquire waits for a turn. The error is ErrBusy if too many wait already.
func (h *Hasher) Acquire(ctx context.Context) (Slot, error) {
	if h.waiting.Add(1) > maxWaiting+maxConcurrent {
		h.waiting.Add(-1)
		return Slot{}, ErrBusy
	}
	select {
	case h.slots <- struct{}{}:
		return Slot{h}, nil
	case <-ctx.Done():
		h.waiting.Add(-1)
		return Slot{}, ctx.Err()
	}
}

// Release gives the turn back.
func (t Slot) Release() {
	<-t.h.slots
	t.h.waiting.Add(-1)
}

// Hash returns what may be stored of a password.
func (t Slot) Hash(password string) string {
	a := argon2id{Cost: t.h.cost, salt: make([]byte, saltLength)}
	rand.Read(a.salt)
	a.key = a.derive(password, keyLength)
	return a.String()
}

// Verify tells whether a hash was made of the password, and whether it is out of date: of another algorithm or less cost than
// new ones. An empty hash is that of somebody who is not there; it takes as long to look at.
func (t Slot) Verify(hash, password string) (ok, outdated bool) {
	if hash == "" {
		hash = t.h.dummyHash
		defer func() { ok = false }()
	}
	if isBcrypt(hash) {
		return verifyBcrypt(hash, password), true
	}
	a, err := parseArgon2id(hash)
	if err != nil || utf8.RuneCountInString(password) > MaxLength {
		return false, false
	}
	ok = subtle.ConstantTimeCompare(a.derive(password, uint32(len(a.key))), a.key) == 1
	return ok, a.Cost != t.h.cost
}

// Hash waits for a turn and returns what may be stored of a password.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	t, err := h.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer t.Release()
	return t.Hash(password), nil
}

func (a argon2id) derive(password string, length uint32) []byte {
	return argon2.IDKey([]byte(password), a.salt, a.Passes, a.Memory, a.Lanes, length)
}

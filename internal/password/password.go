// Package password hashes passwords and verifies them. Hashes are PHC strings, which contain algorithm and cost: argon2id for new ones,
// bcrypt and the PBKDF2 of Pleroma are verified too, for imported accounts.
//
// Hashing deliberately takes time and memory. Limits: 2 hashes at a time in the process, 64 callers waiting.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/text"
)

// MaxLength is the maximum length of a new password in characters.
const MaxLength = 256

// Problem is why a new password is refused. Its text follows the name of the field.
type Problem struct {
	Code string // in errors of the client API
	text string
}

func (p *Problem) Error() string { return p.text }

// Check returns a *Problem if a new password is not acceptable for an account with these names: its nickname, its handle and its e-mail
// address. An @ before them makes no difference.
func Check(password string, minLength int, names ...string) error {
	length := utf8.RuneCountInString(password)
	switch {
	case strings.TrimSpace(password) == "":
		return &Problem{"ERR_BLANK", "can't be blank"}
	case length < minLength:
		return &Problem{"ERR_TOO_SHORT", "should be at least " + text.Count(minLength, "character")}
	case length > MaxLength:
		return &Problem{"ERR_TOO_LONG", "should be at most " + text.Count(MaxLength, "character")}
	}
	for _, name := range names {
		if name != "" && strings.EqualFold(strings.TrimPrefix(strings.TrimSpace(password), "@"), name) {
			return &Problem{"ERR_INVALID", "can't be the nickname or the e-mail address"}
		}
	}
	return nil
}

// Cost is the cost of a hash.
type Cost struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// DefaultCost takes some tenths of a second on a small computer, and 19 MiB per running hash.
var DefaultCost = Cost{Memory: 19 * 1024, Passes: 2, Lanes: 1}

const (
	maxConcurrent = 2  // hashes at a time
	maxWaiting    = 64 // callers

	saltLength = 16
	keyLength  = 32
)

// ErrBusy is the error if too many callers wait.
var ErrBusy = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server is busy, try again in a moment", RetryAfter: 5 * time.Second}

// Hasher hashes passwords, a limited number at a time.
type Hasher struct {
	cost      Cost
	slots     *limit.Slots[struct{}]
	dummyHash string // verified for unknown users, so that they take as long
}

// New returns a Hasher with a cost for new hashes.
func New(cost Cost) *Hasher {
	h := &Hasher{cost: cost, slots: limit.NewSlots[struct{}](maxConcurrent, maxConcurrent, maxWaiting)}
	h.dummyHash = argon2id{Cost: cost, salt: make([]byte, saltLength), key: make([]byte, keyLength)}.String()
	return h
}

// Slot permits one caller to hash. It must be released.
type Slot struct {
	h       *Hasher
	release func()
}

// Acquire waits for a slot. The error is ErrBusy if too many callers wait.
func (h *Hasher) Acquire(ctx context.Context) (Slot, error) {
	release, err := h.slots.Take(ctx, struct{}{})
	if errors.Is(err, limit.ErrBusy) {
		return Slot{}, ErrBusy
	}
	return Slot{h, release}, err
}

// Release returns the slot.
func (s Slot) Release() { s.release() }

// Hash returns the hash of a password.
func (s Slot) Hash(password string) string {
	a := argon2id{Cost: s.h.cost, salt: make([]byte, saltLength)}
	rand.Read(a.salt)
	a.key = a.derive(password, keyLength)
	return a.String()
}

// Verify returns whether a hash belongs to a password, and whether it is outdated because of another algorithm or cost. An empty hash
// stands for an unknown user; it takes as long and never matches.
func (s Slot) Verify(hash, password string) (ok, outdated bool) {
	if hash == "" {
		hash = s.h.dummyHash
		defer func() { ok = false }()
	}
	if isBcrypt(hash) {
		return verifyBcrypt(hash, password), true
	}
	if isPBKDF2(hash) {
		return utf8.RuneCountInString(password) <= MaxLength && verifyPBKDF2(hash, password), true
	}
	a, err := parseArgon2id(hash)
	if err != nil || utf8.RuneCountInString(password) > MaxLength {
		return false, false
	}
	ok = subtle.ConstantTimeCompare(a.derive(password, uint32(len(a.key))), a.key) == 1
	return ok, a.Cost != s.h.cost
}

// Hash waits for a slot and returns the hash of a password.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	s, err := h.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer s.Release()
	return s.Hash(password), nil
}

func (a argon2id) derive(password string, length uint32) []byte {
	return argon2.IDKey([]byte(password), a.salt, a.Passes, a.Memory, a.Lanes, length)
}

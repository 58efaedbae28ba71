package password

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// argon2id is a parsed hash: $argon2id$v=19$m=19456,t=2,p=1$SALT$KEY.
type argon2id struct {
	Cost
	salt, key []byte
}

const argon2idPrefix = "$argon2id$v="

// Limits of stored hashes, so that verifying a row of the database cannot exhaust the machine.
const (
	maxMemory     = 256 * 1024 // KiB
	maxPasses     = 32
	maxLanes      = 16
	minSaltLength = 8
	minKeyLength  = 16
	maxPartLength = 128
	maxBcryptCost = 16
)

var errFormat = errors.New("not a password hash")

func (a argon2id) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("%s%d$m=%d,t=%d,p=%d$%s$%s", argon2idPrefix, argon2.Version, a.Memory, a.Passes, a.Lanes,
		b64.EncodeToString(a.salt), b64.EncodeToString(a.key))
}

func parseArgon2id(hash string) (argon2id, error) {
	rest, ok := strings.CutPrefix(hash, argon2idPrefix)
	parts := strings.Split(rest, "$")
	if !ok || len(parts) != 4 || parts[0] != strconv.Itoa(argon2.Version) {
		return argon2id{}, errFormat
	}
	var a argon2id
	for i, field := range strings.Split(parts[1], ",") {
		names := [...]string{"m", "t", "p"}
		name, text, _ := strings.Cut(field, "=")
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || i >= len(names) || name != names[i] {
			return argon2id{}, errFormat
		}
		switch name {
		case "m":
			a.Memory = uint32(n)
		case "t":
			a.Passes = uint32(n)
		case "p":
			a.Lanes = uint8(min(n, maxLanes+1))
		}
	}
	if a.Memory > maxMemory || a.Passes < 1 || a.Passes > maxPasses || a.Lanes < 1 || a.Lanes > maxLanes ||
		a.Memory < 8*uint32(a.Lanes) {
		return argon2id{}, errFormat
	}
	var err1, err2 error
	a.salt, err1 = base64.RawStdEncoding.Strict().DecodeString(parts[2])
	a.key, err2 = base64.RawStdEncoding.Strict().DecodeString(parts[3])
	if err1 != nil || err2 != nil || len(a.salt) < minSaltLength || len(a.key) < minKeyLength ||
		len(a.salt) > maxPartLength || len(a.key) > maxPartLength {
		return argon2id{}, errFormat
	}
	return a, nil
}

func isBcrypt(hash string) bool {
	return strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$") || strings.HasPrefix(hash, "$2y$")
}

func verifyBcrypt(hash, password string) bool {
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || cost > maxBcryptCost {
		return false
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

// Known returns true if Verify can verify passwords by a hash that other software has made.
func Known(hash string) bool {
	if isPBKDF2(hash) {
		_, err := parsePBKDF2(hash)
		return err == nil
	}
	_, err := parseArgon2id(hash)
	return err == nil || isBcrypt(hash)
}

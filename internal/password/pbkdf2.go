package password

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
)

// pbkdf2sha512 is a parsed hash of Pleroma and Akkoma: $pbkdf2-sha512$160000$SALT$KEY. Their base64 has "." instead of "+", and no padding.
type pbkdf2sha512 struct {
	rounds    int
	salt, key []byte
}

const pbkdf2Prefix = "$pbkdf2-sha512$"

// maxPBKDF2Rounds bounds the cost of a stored hash. It takes about half a second; the default of Pleroma is 160 000.
const maxPBKDF2Rounds = 1_000_000

func isPBKDF2(hash string) bool { return strings.HasPrefix(hash, pbkdf2Prefix) }

func parsePBKDF2(hash string) (pbkdf2sha512, error) {
	parts := strings.Split(strings.TrimPrefix(hash, pbkdf2Prefix), "$")
	if !isPBKDF2(hash) || len(parts) != 3 {
		return pbkdf2sha512{}, errFormat
	}
	rounds, err := strconv.ParseUint(parts[0], 10, 32)
	if err != nil || rounds < 1 || rounds > maxPBKDF2Rounds {
		return pbkdf2sha512{}, errFormat
	}
	p := pbkdf2sha512{rounds: int(rounds)}
	var err1, err2 error
	p.salt, err1 = decodeDotted(parts[1])
	p.key, err2 = decodeDotted(parts[2])
	if err1 != nil || err2 != nil || len(p.salt) < minSaltLength || len(p.key) < minKeyLength || len(p.salt) > maxPartLength || len(p.key) > maxPartLength {
		return pbkdf2sha512{}, errFormat
	}
	return p, nil
}

// decodeDotted decodes base64 with "." instead of "+".
func decodeDotted(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.ReplaceAll(s, ".", "+"))
}

func verifyPBKDF2(hash, password string) bool {
	p, err := parsePBKDF2(hash)
	if err != nil {
		return false
	}
	key, err := pbkdf2.Key(sha512.New, password, p.salt, p.rounds, len(p.key))
	return err == nil && subtle.ConstantTimeCompare(key, p.key) == 1
}

// Package base58 reads and writes base58btc, the form in which Multikeys and integrity proofs write their bytes (Controlled
// Identifiers 1.0, 2.4: after the multibase letter z). It is for keys and signatures: the effort grows with the square of the
// length, so what is long is refused.
package base58

import (
	"errors"
	"slices"
)

// MaxLength is the greatest number of characters that Decode reads: more than any key or signature here needs.
const MaxLength = 512

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// digitValues are the digits by their letters, -1 for what is none.
var digitValues = func() (v [256]int8) {
	for i := range v {
		v[i] = -1
	}
	for i := range len(alphabet) {
		v[alphabet[i]] = int8(i)
	}
	return v
}()

// Encode writes bytes as base58btc, without a multibase letter.
func Encode(data []byte) string {
	zeros := countLeading(data, 0)
	var digits []byte // the least first
	for _, b := range data[zeros:] {
		carry := int(b)
		for i, d := range digits {
			carry += int(d) << 8
			digits[i] = byte(carry % 58)
			carry /= 58
		}
		for ; carry > 0; carry /= 58 {
			digits = append(digits, byte(carry%58))
		}
	}
	for range zeros {
		digits = append(digits, 0)
	}
	slices.Reverse(digits)
	for i, d := range digits {
		digits[i] = alphabet[d]
	}
	return string(digits)
}

// Decode reads base58btc, without a multibase letter.
func Decode(text string) ([]byte, error) {
	if len(text) > MaxLength {
		return nil, errors.New("base58: too long")
	}
	zeros := countLeading([]byte(text), alphabet[0])
	var data []byte // the least first
	for i := zeros; i < len(text); i++ {
		carry := int(digitValues[text[i]])
		if carry < 0 {
			return nil, errors.New("base58: not a digit")
		}
		for j, b := range data {
			carry += int(b) * 58
			data[j] = byte(carry)
			carry >>= 8
		}
		if carry > 0 {
			data = append(data, byte(carry))
		}
	}
	for range zeros {
		data = append(data, 0)
	}
	slices.Reverse(data)
	return data, nil
}

// countLeading counts how often b stands at the start.
func countLeading(data []byte, b byte) int {
	n := 0
	for n < len(data) && data[n] == b {
		n++
	}
	return n
}

// Package jcs writes JSON in the one form that everybody arrives at (RFC 8785, JSON Canonicalization Scheme), so that it can be
// hashed and signed. It works on parsed values: members in the order of the UTF-16 code units of their names, numbers as
// ECMAScript prints them, strings with the fewest escapes, no space. What has no such form is refused: numbers beyond a double,
// strings that are no Unicode, values no JSON parser makes. That names are unique is for the parser to see to.
package jcs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep values may be nested. Documents are bounded more tightly where they are parsed.
const maxDepth = 200

// Marshal returns the canonical form of a value: map[string]any, []any, string, json.Number, float64, bool or nil.
func Marshal(value any) ([]byte, error) {
	return appendValue(nil, value, 0)
}

func appendValue(dst []byte, value any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errors.New("jcs: nested too deep")
	}
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendString(dst, v)
	case float64:
		return appendNumber(dst, v)
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil { // out of range, or not a number at all
			return nil, fmt.Errorf("jcs: %w", err)
		}
		return appendNumber(dst, f)
	case []any:
		return appendArray(dst, v, depth)
	case map[string]any:
		return appendObject(dst, v, depth)
	}
	return nil, fmt.Errorf("jcs: %T is nothing that a JSON parser makes", value)
}

func appendArray(dst []byte, list []any, depth int) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, v, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, members map[string]any, depth int) ([]byte, error) {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, compareUTF16)
	dst = append(dst, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendString(dst, name); err != nil {
			return nil, err
		}
		dst = append(dst, ':')
		if dst, err = appendValue(dst, members[name], depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// compareUTF16 orders names by their UTF-16 code units (RFC 8785, 3.2.3). That is the order of their bytes in UTF-8, but for one
// thing: what UTF-16 writes as a surrogate pair comes before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		// A code point beyond U+FFFF starts with F0 to F4, U+E000 to U+FFFF with EE or EF. All that came before is equal, so if
		// one of the two differing bytes starts a code point the other one does as well.
		if aPair, bPair := a[i] >= 0xf0, b[i] >= 0xf0; aPair != bPair {
			if aPair && b[i] >= 0xee {
				return -1
			}
			if bPair && a[i] >= 0xee {
				return 1
			}
		}
		if a[i] < b[i] {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

const hexDigits = "0123456789abcdef"

// appendString writes a string as RFC 8785, 3.2.2.2 has it: only what must be escaped is.
func appendString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errors.New("jcs: a string is not Unicode")
	}
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if short := strings.IndexByte("\b\t\n\f\r\"\\", c); short >= 0 {
			dst = append(dst, '\\', `btnfr"\`[short])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"'), nil
}

// appendNumber writes a number as ECMAScript does (RFC 8785, 3.2.2.3; ECMA-262, Number::toString).
func appendNumber(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("jcs: a number is not finite")
	}
	if f == 0 { // so is -0
		return append(dst, '0'), nil
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') { // 1e-07 is 1e-7
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

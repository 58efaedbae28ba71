package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes: decimal and binary (IEC 80000-13).
var sizeUnits = map[string]int64{
	"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// size is a number of bytes. Besides a whole number it accepts text such as "10GiB".
func size(at *int64, first, lowest, highest int64, rules ...rule[int64]) field {
	f := number(at, first, lowest, highest, rules...).(*binding[int64])
	f.inBytes = true
	f.parse = func(value any) (int64, error) {
		if s, ok := value.(string); ok {
			return parseSize(s)
		}
		n, ok := wholeNumber(value)
		if !ok {
			return 0, wrongKind(`a number of bytes, or a size such as "10GiB"`, value)
		}
		return n, nil
	}
	return f
}

// parseSize parses "10GiB", "1.5 GB", "200MiB". A number without a unit is in bytes.
func parseSize(s string) (int64, error) {
	text := strings.TrimSpace(s)
	end := strings.LastIndexAny(text, "0123456789") + 1
	unit, known := sizeUnits[strings.ToLower(strings.TrimSpace(text[end:]))]
	if text[end:] == "" {
		unit, known = 1, true
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil || !known || strings.ContainsAny(text[:end], "eExX+-_") {
		return 0, fmt.Errorf(`%q is not a size such as "10GiB", "500MB" or a number of bytes`, s)
	}
	bytes := n * float64(unit)
	if bytes != math.Trunc(bytes) || bytes > 1<<53 {
		return 0, fmt.Errorf("%q is not a whole number of bytes below 8 PiB", s)
	}
	return int64(bytes), nil
}

// lowestMemoryLimit is what the program needs besides its caches.
const lowestMemoryLimit = 64 << 20

// memoryLimit accepts 0, for the limit of the machine, and sizes with which the program can run.
func memoryLimit(n int64) error {
	if n != 0 && n < lowestMemoryLimit {
		return errors.New("must be 0 (by the machine), or at least 64MiB")
	}
	return nil
}

// zeroOrMore accepts 0, which is no limit, and sizes from lowest on.
func zeroOrMore(lowest int64) rule[int64] {
	return func(n int64) error {
		if n != 0 && n < lowest {
			return errors.New("must be 0 (no limit), or at least " + formatNumber(lowest) + " bytes")
		}
		return nil
	}
}

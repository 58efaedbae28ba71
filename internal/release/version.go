package release

import (
	"cmp"
	"strconv"
	"strings"
)

// Compare compares two valid versions by the precedence of Semantic Versioning 2.0.0 section 11.
func Compare(a, b string) int {
	coreA, preA, _ := strings.Cut(a, "-")
	coreB, preB, _ := strings.Cut(b, "-")
	if c := compareParts(coreA, coreB); c != 0 {
		return c
	}
	switch {
	case preA == "" || preB == "": // a release is newer than its pre-releases
		return cmp.Compare(len(preB), len(preA))
	default:
		return compareParts(preA, preB)
	}
}

// compareParts compares texts with dots part by part. Numbers are older than words.
func compareParts(a, b string) int {
	partsA, partsB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(partsA), len(partsB)) {
		numberA, errA := strconv.ParseUint(partsA[i], 10, 64)
		numberB, errB := strconv.ParseUint(partsB[i], 10, 64)
		c := 0
		switch {
		case errA == nil && errB == nil:
			c = cmp.Compare(numberA, numberB)
		case errA == nil:
			c = -1
		case errB == nil:
			c = 1
		default:
			c = strings.Compare(partsA[i], partsB[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(partsA), len(partsB))
}

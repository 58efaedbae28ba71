package captcha

import (
	"math/rand/v2"
	"strings"
)

var numberWords = [...]string{
	"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
	"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
}

// describe asks in words for the digits of a picture. Screen readers read it, and programs that only look for numbers find none.
func describe(digits string) string {
	parts := make([]string, len(digits))
	for i, d := range digits {
		parts[i] = describeDigit(int(d - '0'))
	}
	return "Type " + numberWords[len(digits)] + " digits without spaces: " + strings.Join(parts, "; ") + "."
}

// describeDigit returns a small calculation whose result is the digit.
func describeDigit(d int) string {
	switch n := rand.IntN(5); {
	case n == 0 && d > 0:
		return "the number after " + numberWords[d-1]
	case n == 1:
		return "the number before " + numberWords[d+1]
	case n == 2 && d > 0:
		return "half of " + numberWords[2*d]
	case n == 3:
		other := 1 + rand.IntN(9)
		return numberWords[d+other] + " minus " + numberWords[other]
	default:
		other := rand.IntN(d + 1)
		return numberWords[other] + " plus " + numberWords[d-other]
	}
}

// Package toolchain knows the Go with which this program should be built, so that a binary can tell that an older one has built it.
// go.mod names the same version for the go command, which a test compares. A program that an older Go built works, but has the holes of that
// Go's library.
package toolchain

import (
	"fmt"
	"go/version"
	"strings"
)

// Wanted is the version in the toolchain line of go.mod.
const Wanted = "go1.26.10"

// Advice says how to build with Wanted, or with a newer Go.
const Advice = "Build it again with " + Wanted + " or newer: GOTOOLCHAIN=auto go build downloads what go.mod names."

// Warning returns a sentence if a Go older than Wanted has the version built (runtime.Version), else "". It returns "" as well for a
// development version that does not say what it will become.
func Warning(built string) string {
	if v := release(built); v == "" || version.Compare(v, Wanted) >= 0 {
		return ""
	}
	return fmt.Sprintf("built with %s, which has known vulnerabilities that %s has not", built, Wanted)
}

// release returns the version of Go in the text of runtime.Version, such as "go1.26.8", "go1.26.8 X:jsonv2" and
// "devel go1.27-3f4d2a1 Tue Oct 6 …"; "" if there is none.
func release(built string) string {
	for word := range strings.FieldsSeq(built) {
		if version.IsValid(word) {
			return word
		}
	}
	return ""
}

// Package build knows from which commit, when and with which Go this program was built.
//
// A release (.ci/release) has commit and date from the linker, so that both are the same on each machine. A program that `go build` made in
// a checkout has those of the version control, if the go command stamped them.
package build

import (
	"runtime"
	"runtime/debug"
)

// commit and date are set by the linker: -X svc/internal/build.commit=…
var commit, date string

// Info describes the build of this program. Its members are those of `svc version --json`.
type Info struct {
	Commit   string `json:"commit"`   // its full hash; "": unknown
	Date     string `json:"date"`     // of the commit, RFC 3339; "": unknown
	Modified bool   `json:"modified"` // the checkout had changes that were not committed
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// Read returns the description of this program.
func Read() Info {
	i := Info{Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if i.Commit != "" {
		return i
	}
	stamped, ok := debug.ReadBuildInfo()
	if !ok {
		return i
	}
	for _, s := range stamped.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

package activity_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"svc/internal/activity"
	"svc/internal/text"
)

// TestHostileSizes reads members of a megabyte. Each is refused by its length, so that none is parsed; a few copies are possible.
func TestHostileSizes(t *testing.T) {
	const size, times = 1_000_000, 200
	const memory, limit = 3 * size, time.Minute // bytes of one; of all: 1 MB of parameters of a media type takes 0.3 s to parse
	texts := map[string]string{
		"parameters": "text/html" + strings.Repeat(";a=1", size/4),
		"path":       "https://x.example/" + strings.Repeat("%20", size/3),
		"labels":     "https://" + strings.Repeat("xn--a.", size/6),
		"characters": "https://" + strings.Repeat("日.", size/4),
		"digits":     "2024-01-01T00:00:00." + strings.Repeat("1", size) + "Z",
		"colons":     "https://[" + strings.Repeat(":", size) + "]/",
	}
	for member, read := range map[string]func(string){
		"a media type": func(s string) { text.ParseMediaType(s) },
		"an id":        func(s string) { activity.Host(s, true) },
		"a URL":        func(s string) { activity.ParseURL(s) },
		"a time":       func(s string) { activity.Object{"a": s}.Time("a") },
		"a language":   func(s string) { text.Language(s) },
		"a domain":     func(s string) { text.NormalizeDomain(s) },
		"a handle":     func(s string) { text.SplitHandle("a@" + s) },
		"an emoji":     func(s string) { text.ValidShortcode(s) },
	} {
		for of, s := range texts {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			for range times {
				read(s)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if n := (after.TotalAlloc - before.TotalAlloc) / times; n > memory || took > limit {
				t.Errorf("%s of %s: %d bytes each, %v for %d times", member, of, n, took, times)
			}
		}
	}
}

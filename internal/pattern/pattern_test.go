package pattern

import (
	"strings"
	"testing"
	"time"
)

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"casino", "the CASINO royale", true},
		{"casino", "casi no", false},
		{"a.b", "axb", false},
		{"a.b", "A.B", true},
		{"ÄRGER", "viel ärger", true},
		{"~r", "what ~r is", true},
		{"~r/buy\\s+now/", "buy  now", true},
		{"~r/buy\\s+now/", "BUY now", false},
		{"~r/buy\\s+now/i", "BUY now", true},
		{"~r/buy\\s+now/iu", "BUY now", true},
		{"~r{^a/b$}m", "x\na/b\ny", true},
		{"~r(a(b|c))", "xac", true},
		{"~r<a.b>s", "a\nb", true},
		{"~r/a/b/", "a/b", true},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.Matches(tt.text); got != tt.want {
			t.Errorf("%s in %q: %v", tt.pattern, tt.text, got)
		}
		if p.String() != tt.pattern {
			t.Errorf("%s is shown as %s", tt.pattern, p)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, s := range []string{
		"", "  ", "~r/(/", "~r/a", "~r/a/x", "~r/a/f", "~r/a*/", "~r/(?=a)b/", `~r/(a)\1/`, "~r//", "~r/|a/", "\xff",
		strings.Repeat("a", MaxLength+1), "~r/(a{1000}){1000}/",
	} {
		if p, err := Parse(s); err == nil {
			t.Errorf("%q was taken as %v", s, p)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, tt := range []struct{ pattern, by, text, want string }{
		{"tube.example", "front.example", "see TUBE.example/1 and tube.example/2", "see front.example/1 and front.example/2"},
		{"~r/(a+)b/", "$1\\1", "aaab", `$1\1`},
		{"x", "", "axb", "ab"},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Replace(tt.text, tt.by); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestList(t *testing.T) {
	var l List
	for _, s := range []string{"one", "two"} {
		p, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, p)
	}
	if p := l.FirstMatch("", "has two", "has one"); p == nil || p.String() != "one" {
		t.Errorf("got %v, want the first pattern", p)
	}
	if p := l.FirstMatch("three"); p != nil {
		t.Errorf("got %v", p)
	}
}

// TestTime matches the classic expression with which backtracking takes exponential time.
func TestTime(t *testing.T) {
	p, err := Parse(`~r/(a+)+$/`)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.Matches(strings.Repeat("a", 100_000) + "b")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

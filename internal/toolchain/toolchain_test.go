package toolchain_test

import (
	"os"
	"strings"
	"testing"

	"svc/internal/toolchain"
)

// TestGoMod compares Wanted with go.mod. The go line stays, so that each Go 1.26 builds this program with GOTOOLCHAIN=local: a module that
// asks for more would raise it.
func TestGoMod(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, want := range []struct{ directive, line string }{{"go ", "go 1.26.0"}, {"toolchain ", "toolchain " + toolchain.Wanted}} {
		var got []string
		for _, line := range lines {
			if strings.HasPrefix(line, want.directive) {
				got = append(got, line)
			}
		}
		if len(got) != 1 || got[0] != want.line {
			t.Errorf("go.mod has %q, want %q", got, want.line)
		}
	}
}

func TestWarning(t *testing.T) {
	for _, tt := range []struct {
		built string
		warns bool
	}{
		{toolchain.Wanted, false},
		{"go1.26.0", true},
		{"go1.26.9", true},
		{"go1.26.8 X:nodwarf5", true},
		{"go1.26.8-vendor", true},
		{"go1.26rc1", true},
		{"go1.9", true},
		{"go1.26.11", false},
		{"go1.26.10 X:nodwarf5", false},
		{"go1.26.10-vendor", false},
		{"go1.27.0", false},
		{"go1.27rc2", false},
		{"devel go1.26-3f4d2a1b Tue Oct 6 10:00:00 2026 +0000", true},
		{"devel go1.28-3f4d2a1b Tue Oct 6 10:00:00 2026 +0000", false},
		{"devel +3f4d2a1b", false},
		{"", false},
	} {
		got := toolchain.Warning(tt.built)
		if (got != "") != tt.warns {
			t.Errorf("built with %q: got %q", tt.built, got)
		}
		if tt.warns && !strings.Contains(got, tt.built) {
			t.Errorf("%q does not name %q", got, tt.built)
		}
	}
}

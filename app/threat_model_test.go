package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
)

// TestThreatModel checks that each test and each setting that docs/threat-model.md names exists.
func TestThreatModel(t *testing.T) {
	text, err := os.ReadFile("../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[string]bool)
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declaration.FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := make(map[string]bool)
	for _, s := range config.Settings() {
		settings[s.Name()] = true
	}
	for n, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 || slices.Contains(cells, " test ") {
			continue
		}
		named := regexp.MustCompile("`([^`]+)`")
		if !named.MatchString(cells[2]) {
			t.Errorf("line %d names no test", n+1)
		}
		for _, m := range named.FindAllStringSubmatch(cells[2], -1) {
			if !tests[m[1]] {
				t.Errorf("line %d: there is no test %s", n+1, m[1])
			}
		}
		for _, m := range named.FindAllStringSubmatch(cells[3], -1) {
			if !settings[m[1]] {
				t.Errorf("line %d: there is no setting %s", n+1, m[1])
			}
		}
	}
}

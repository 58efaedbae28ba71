package licenses_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/internal/licenses"
)

// TestList compares the list with what the program links on this machine, and with the libraries of the pages.
func TestList(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	readme, err := os.ReadFile("../../server/web/library/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| \S+ \| (\S+ \S+) \| \S+ \| [0-9a-f]{64} \|$`).FindAllStringSubmatch(string(readme), -1) {
		want = append(want, row[1])
	}
	slices.Sort(want)
	want = slices.Compact(want)
	list := licenses.All()
	var got []string
	for _, c := range list.Components {
		if slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, c.Name+" ") }) {
			got = append(got, c.Name+" "+c.Version)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the list is not that of the program: go generate ./internal/licenses\ngot  %q\nwant %q", got, want)
	}
}

// TestTexts checks that each component has a text, and each text is that of a component.
func TestTexts(t *testing.T) {
	list := licenses.All()
	used := make(map[int]bool)
	for i, c := range list.Components {
		if i == 0 && c.Name != "svc" {
			t.Errorf("the first component is %s", c.Name)
		}
		if c.License == "" || len(c.Texts) == 0 {
			t.Errorf("%s has the licence %q and %d texts", c.Name, c.License, len(c.Texts))
		}
		for _, n := range c.Texts {
			if used[n] = true; n >= len(list.Texts) || len(list.Texts[n]) < 20 {
				t.Errorf("%s: there is no text %d, or it is short", c.Name, n)
			}
		}
	}
	if len(used) != len(list.Texts) {
		t.Errorf("%d of %d texts belong to a component", len(used), len(list.Texts))
	}
}

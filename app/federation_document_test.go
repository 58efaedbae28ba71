package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notSources are folders without sources or documentation of this program.
var notSources = []string{"testdata", "node_modules", ".git"}

// TestFederationDocument checks that each FEP that FEDERATION.md names is named in the code or the documentation, that it has each one that the code
// names, and that its links to files lead somewhere.
func TestFederationDocument(t *testing.T) {
	text, err := os.ReadFile("../FEDERATION.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`FEP-[0-9a-f]{4}`)
	inCode, inDocs := make(map[string]bool), make(map[string]bool)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notSources, d.Name()):
			return filepath.SkipDir
		case d.IsDir(), strings.HasSuffix(path, "_test.go"), d.Name() == "FEDERATION.md":
			return nil
		}
		found := map[string]map[string]bool{".go": inCode, ".md": inDocs}[filepath.Ext(path)]
		if found == nil {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, fep := range named.FindAllString(string(source), -1) {
			found[fep] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, fep := range named.FindAllString(string(text), -1) {
		if listed[fep] = true; fep != "FEP-67ff" && !inCode[fep] && !inDocs[fep] {
			t.Errorf("FEDERATION.md names %s, but neither the code nor the documentation does", fep)
		}
	}
	for fep := range inCode {
		if !listed[fep] {
			t.Errorf("the code names %s, but FEDERATION.md does not", fep)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Error(err)
		}
	}
}

package web

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"testing"
)

// TestLibraries compares the libraries with the sums that were written when they were fetched.
func TestLibraries(t *testing.T) {
	readme, err := os.ReadFile("library/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]string)
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \| \S+ [\d.]+ \| \S+ \| ([0-9a-f]{64}) \|$`).FindAllSubmatch(readme, -1) {
		sums[string(row[1])] = string(row[2])
	}
	if files, err := assetFiles.ReadDir("library"); err != nil || len(files) != len(sums) {
		t.Fatalf("%d files, %d sums, %v", len(files), len(sums), err)
	}
	for name, want := range sums {
		body := Assets()["library/"+name].Body
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s differs from its sum: run server/web/library/fetch", name)
		}
	}
}

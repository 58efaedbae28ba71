// Package packedtest writes and compares the files that package packed reads.
package packedtest

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"svc/internal/disk"
	"svc/internal/packed"
)

// Write writes a text to path, and compressed to path.gz, both as they are in the repository.
func Write(t testing.TB, path string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text) // a Buffer accepts everything
	w.Close()
	for name, content := range map[string][]byte{path: text, path + ".gz": b.Bytes()} {
		f, err := disk.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Compare fails the test if path.gz has not the text of path.
func Compare(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := os.ReadFile(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed.Text(compressed), text) {
		t.Errorf("%s.gz is not %s: gzip -9n <%s >%s.gz", path, path, path, path)
	}
}

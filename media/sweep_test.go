package media

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRemoveOlder(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir, Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sound := append([]byte("\xff\xfb\x90\x64"), make([]byte, 60)...)
	file, err := f.Ingest(t.Context(), 1, bytes.NewReader(sound), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	stored := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, file.Name), stored, stored); err != nil {
		t.Fatal(err)
	}
	if removed, err := f.RemoveOlder(t.Context(), file.Name, time.Now()); removed || err != nil {
		t.Errorf("a claimed file was removed: %v, %v", removed, err)
	}
	file.Release()
	for _, tt := range []struct {
		name string
		than time.Time
		want bool
	}{
		{file.Name, stored.Add(-time.Minute), false},
		{"../" + filepath.Base(dir), time.Now(), false},
		{"tmp", time.Now(), false},
		{file.Name, stored.Add(time.Minute), true},
		{file.Name, stored.Add(time.Minute), false},
	} {
		removed, err := f.RemoveOlder(t.Context(), tt.name, tt.than)
		if err != nil || removed != tt.want {
			t.Errorf("%s older than %v: %v, %v, want %v", tt.name, tt.than, removed, err, tt.want)
		}
	}
	if found, err := f.Stat(t.Context(), file.Name); found != nil || err != nil {
		t.Errorf("it is still there: %v, %v", found, err)
	}
}

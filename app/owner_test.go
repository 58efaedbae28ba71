package app_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"svc/app"
)

// TestFilesOfRootAreGivenToOwner checks who owns what root creates in the data directory of another user.
func TestFilesOfRootAreGivenToOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const service, other = 12345, 12346
	for _, tt := range []struct {
		name         string
		parent, data int // owners
		want         int // of what root created
		stays        bool
	}{
		{"the data directory of the service", 0, service, service, false},
		{"a folder of the service", service, 0, service, false},
		{"all of root", 0, 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := t.TempDir()
			data, settings := filepath.Join(parent, "data"), filepath.Join(parent, "config.toml")
			for _, dir := range []string{data, filepath.Join(data, "keys")} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{settings, filepath.Join(data, "svc.db"), filepath.Join(data, "keys", "secret"), filepath.Join(data, "kept")} {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			outside := filepath.Join(t.TempDir(), "outside")
			if err := os.WriteFile(outside, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(data, "link")); err != nil {
				t.Fatal(err)
			}
			linked := filepath.Join(t.TempDir(), "linked")
			if err := os.WriteFile(linked, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(linked, filepath.Join(data, "second name")); err != nil {
				t.Skip(err)
			}
			for path, uid := range map[string]int{parent: tt.parent, data: tt.data, filepath.Join(data, "kept"): other} {
				if err := os.Lchown(path, uid, uid); err != nil {
					t.Fatal(err)
				}
			}
			if _, stays, err := app.GiveToOwner(data, settings); err != nil || stays != tt.stays {
				t.Fatalf("stays: %v, %v, want %v", stays, err, tt.stays)
			}
			for path, want := range map[string]int{
				settings: tt.want, data: tt.want, filepath.Join(data, "svc.db"): tt.want, filepath.Join(data, "keys", "secret"): tt.want,
				filepath.Join(data, "link"): tt.want, filepath.Join(data, "kept"): other, outside: 0, linked: 0,
			} {
				info, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				if got := int(info.Sys().(*syscall.Stat_t).Uid); got != want {
					t.Errorf("%s belongs to %d, want %d", path, got, want)
				}
			}
		})
	}
}

package unixsocket_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"svc/internal/unixsocket"
)

// TestListen checks the mode under umasks that would add or remove permissions.
func TestListen(t *testing.T) {
	dir, err := os.MkdirTemp("", "svc") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		for _, mode := range []fs.FileMode{0o600, 0o660} {
			path := filepath.Join(dir, "socket")
			before := syscall.Umask(umask)
			ln, err := unixsocket.Listen(path, mode)
			syscall.Umask(before)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode(); got != fs.ModeSocket|mode {
				t.Errorf("umask %03o: got %v, want %v", umask, got, mode)
			}
			ln.Close()
			if _, err := os.Lstat(path); err == nil {
				t.Error("the socket is still there")
			}
		}
	}
}

// TestNoMomentOfWiderPermission looks at the socket as often as possible while it is created again and again.
func TestNoMomentOfWiderPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	defer syscall.Umask(syscall.Umask(0)) // the worst case
	path := filepath.Join(dir, "socket")
	done, widest := make(chan struct{}), make(chan fs.FileMode)
	go func() {
		var seen fs.FileMode
		for {
			select {
			case <-done:
				widest <- seen
				return
			default:
			}
			if info, err := os.Lstat(path); err == nil {
				seen |= info.Mode().Perm()
			}
		}
	}()
	for range 500 {
		ln, err := unixsocket.Listen(path, 0o660)
		if err != nil {
			t.Fatal(err)
		}
		ln.Close()
	}
	close(done)
	if got := <-widest; got&^0o660 != 0 {
		t.Errorf("the socket had the mode %03o for a moment", got)
	}
}

package admin

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyFolder checks that the error of a folder of backups that systemd keeps read-only says which line the unit lacks.
func TestReadOnlyFolder(t *testing.T) {
	failed := func(errno syscall.Errno) error { return &fs.PathError{Op: "open", Path: "/mnt/backup/x", Err: errno} }
	for _, tt := range []struct {
		err  error
		want string // in the message; "": the error stays
	}{
		{failed(syscall.EROFS), "add ReadWritePaths=/mnt/backup to its unit"},
		{failed(syscall.ENOSPC), ""},
		{nil, ""},
	} {
		got := explainReadOnly(tt.err, "/mnt/backup")
		if tt.want == "" && got != tt.err || tt.want != "" && (!errors.Is(got, syscall.EROFS) || !strings.Contains(got.Error(), tt.want)) {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}

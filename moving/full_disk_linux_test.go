package moving_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/moving"
)

// TestFullDisk takes a server over on a disk that is too small, and makes it larger bit by bit: each time the takeover says that the disk is full, and goes
// on, until everything is there.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	size := 1 << 20
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skip("a small disk needs the rights of root:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d := filledDump(t)
	for i := range 3000 {
		d.status(fmt.Sprint(5000+i), "1", strings.Repeat("tea and coffee ", 40), map[string]string{"created_at": "2021-03-04 05:06:07"})
	}
	files := t.TempDir()
	writePicture(t, files, "media_attachments/files/109/612/104/811/129/202/original/a.png")
	source := moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes())), Media: files}
	c := settings(t, oldHost)
	c.Data.Dir, c.Storage.MinFree = filepath.Join(dir, "data"), 0
	refused := 0
	var report *moving.Report
	for err := error(nil); ; {
		if report, err = app.Takeover(t.Context(), c, options(t), source, false, nil); err == nil {
			break
		}
		if !strings.Contains(err.Error(), "is full: make room and repeat the command") || size > 256<<20 {
			t.Fatal(err)
		}
		refused++
		size += 6 << 20
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("refused %d times, complete with %d MiB", refused, size>>20)
	if refused < 3 {
		t.Errorf("the disk was full %d times only", refused)
	}
	_, want := takeOver(t, settings(t, oldHost), source)
	if fmt.Sprint(report.Counts) != fmt.Sprint(want.Counts) {
		t.Errorf("the report is %v, want %v", report.Counts, want.Counts)
	}
	verified, err := app.VerifyData(t.Context(), c, admin.VerifyOptions{DataDir: c.Data.Dir})
	if err != nil || verified.Left != 0 {
		t.Errorf("the verification has %+v, %v", verified, err)
	}
}

package server_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// folderSize returns the bytes of all files below a folder.
func folderSize(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) { // removed meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestUploadsLimit fills the storage for uploads: files are refused with 507, and everything else goes on.
func TestUploadsLimit(t *testing.T) {
	const limit = 1_000_000
	srv := apptest.Start(t, func(c *config.Config) { c.Storage.Uploads = limit })
	alice := srv.SignUp("alice")
	media := filepath.Join(srv.Settings.Data.Dir, "media")
	stored, refused := 0, 0
	for i := range 12 {
		a := alice.SendForm("POST", "/api/v1/media", apptest.FilePart(apptest.JPEG(500+i, 500)))
		switch a.Status {
		case 200:
			stored++
		case 507:
			refused++
			a.WantError(507, "The server has no space left for uploads: their storage limit is reached")
		default:
			t.Fatalf("upload %d: %d %s", i, a.Status, a.Body)
		}
		if size := folderSize(t, media); size > limit {
			t.Fatalf("the uploads take %d bytes, more than %d", size, limit)
		}
	}
	if stored == 0 || refused == 0 {
		t.Errorf("%d uploads were stored, %d refused", stored, refused)
	}
	alice.SendForm("PATCH", "/api/v1/accounts/update_credentials",
		apptest.FormPart{Name: "avatar", Filename: "a.jpg", IsFile: true, Content: string(apptest.JPEG(600, 600))}).Want(507)
	alice.Publish("text needs no space")
}

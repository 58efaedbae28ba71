package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/media"
	"svc/social"
	"svc/store"
)

// TestMediaNames checks that nobody finds out by a name whether a file was uploaded: not by its SHA-256, and not by uploading it, too.
func TestMediaNames(t *testing.T) {
	srv := apptest.Start(t)
	alice, mallory := srv.SignUp("alice"), srv.SignUp("mallory")
	content := apptest.PNG(700, 700) // with a thumbnail
	upload := alice.Upload(content)
	alice.Publish("@mallory psst", "visibility", "direct", "media_ids[]", upload.ID())
	alice.SendForm("PATCH", "/api/v1/accounts/update_credentials",
		apptest.FormPart{Name: "avatar", Filename: "a.png", IsFile: true, Content: string(content)}).Want(200)
	alice.SendForm("PUT", "/api/v1/svc/mascot", apptest.FilePart(content)).Want(200)
	names := make(map[string]bool)
	err := srv.Media.Walk(t.Context(), func(e media.Entry) error {
		names[e.Name] = true
		file, err := os.ReadFile(filepath.Join(srv.Dir, "media", e.Name))
		if err != nil {
			return err
		}
		srv.As(nil).Get("/media/" + e.Name).Want(200)
		for _, sum := range []string{sumOf(file), sumOf(content)} {
			name := sum[:2] + "/" + sum + filepath.Ext(e.Name)
			srv.As(nil).Get("/media/" + name).Want(404)
			srv.As(nil).Do("HEAD", "/media/"+name, "", nil).Want(404)
			if strings.Contains(e.Name, sum) {
				t.Errorf("the name of %s is its SHA-256", e.Name)
			}
		}
		return nil
	})
	if err != nil || len(names) < 3 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, key := range []string{"url", "preview_url"} {
		srv.As(nil).Get(upload.Str(key)).Want(200)
	}
	// Equal content of one account is stored once; that of another has another name, which shows nothing about the first one.
	if again := alice.Upload(content).Str("url"); again != upload.Str("url") {
		t.Errorf("equal content has the URLs %s and %s", upload.Str("url"), again)
	}
	other := mallory.Upload(content)
	if other.Str("url") == upload.Str("url") {
		t.Error("another account learns the name of the file")
	}
	mallory.Do("DELETE", "/api/v1/media/"+other.ID(), "", nil).Want(200)
	ageFiles(t, srv)
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind IN ('remove_files', 'sweep_media')`)
	srv.RunJobs()
	srv.As(nil).Get(other.Str("url")).Want(404) // whoever else has the same file
	srv.As(nil).Get(upload.Str("url")).Want(200)
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TestOldMediaNames checks a file that has its SHA-256 as its name from before: it is served, verified and banned by its row, as are files with
// names of other keys.
func TestOldMediaNames(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	for name, rename := range map[string]func(sum string) string{
		"before names were keyed":         func(sum string) string { return sum },
		"with other keys":                 func(sum string) string { return sum[24:] },
		"before the SHA-256 was recorded": func(sum string) string { return sum },
	} {
		t.Run(name, func(t *testing.T) {
			content := apptest.PNG(20+len(name), 9)
			upload := alice.Upload(content)
			alice.Publish("x", "media_ids[]", upload.ID())
			now := strings.TrimPrefix(upload.Str("url"), srv.URL+"/media/")
			old := rename(sumOf(content))
			old = old[:2] + "/" + old + ".png"
			path := func(name string) string { return filepath.Join(srv.Dir, "media", name) }
			os.MkdirAll(filepath.Dir(path(old)), 0o700)
			if err := os.Rename(path(now), path(old)); err != nil {
				t.Fatal(err)
			}
			srv.Exec(`UPDATE media SET file = ? WHERE file = ?`, old, now)
			if strings.HasSuffix(name, "recorded") {
				srv.Exec(`UPDATE stored_files SET name = ?, sha256 = '' WHERE name = ?`, old, now)
			} else {
				srv.Exec(`UPDATE stored_files SET name = ? WHERE name = ?`, old, now)
			}
			if got := srv.As(nil).Get("/media/" + old).Want(200); !bytes.Equal(got.Body, content) {
				t.Error("the content differs")
			}
			if again := alice.Upload(content).Str("url"); !strings.HasSuffix(again, now) {
				t.Errorf("the same content has the new URL %s", again)
			}
			problems := func() (list []string) {
				for from := ""; ; {
					c, err := srv.Social.CheckMedia(t.Context(), social.MediaCheck{From: from})
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range c.Problems {
						list = append(list, p.Kind+" "+p.File)
					}
					if from = c.Next; from == "" {
						return list
					}
				}
			}
			if list := problems(); len(list) > 0 {
				t.Errorf("a check finds %v", list)
			}
			if err := os.WriteFile(path(old), bytes.Repeat([]byte("x"), len(content)), 0o600); err != nil {
				t.Fatal(err)
			}
			if list := problems(); len(list) != 1 || list[0] != "damaged_file "+old {
				t.Errorf("of a damaged file, a check finds %v", list)
			}
			if err := os.WriteFile(path(old), content, 0o600); err != nil {
				t.Fatal(err)
			}
			root.SendJSON("POST", "/api/v1/svc/admin/media_proxy_caches/purge", apptest.Doc{"urls": []string{srv.URL + "/media/" + old}, "ban": true}).Want(200)
			srv.As(nil).Get("/media/" + old).Want(404)
			srv.As(nil).Get("/media/" + now).Want(404) // the same content under its new name
			alice.SendForm("POST", "/api/v2/media", apptest.FilePart(content)).Want(422)
			if bans, err := srv.DB.MediaBans(t.Context(), store.MediaBanQuery{Text: old, Limit: 1}); err != nil || len(bans) != 1 || bans[0].SHA256 != sumOf(content) {
				t.Errorf("bans: %v, %v", bans, err)
			}
		})
	}
}

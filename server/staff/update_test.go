package staff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/release"
)

// TestUpdateState looks for new versions once a day. Admins see a newer one, in the API and on their first page.
func TestUpdateState(t *testing.T) {
	const running = "1.2.3" // of apptest
	folder := t.TempDir()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(version string) {
		t.Helper()
		m := &release.Manifest{
			Name: release.Name, Version: version, Commit: strings.Repeat("ab", 20), Date: time.Unix(1, 0), Schema: 1,
			Files: []release.File{{Name: "svc", Target: "linux/amd64", Kind: release.Binary, Size: 1, SHA256: strings.Repeat("00", 32)}},
		}
		text, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		signature, err := release.Sign(private, version, release.ManifestName, text)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{release.ManifestName: text, release.ManifestName + release.SignatureSuffix: signature} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(srv *apptest.Server) {
		t.Helper()
		if err := srv.Admin.CheckForUpdate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	publish("9.1.0")
	off := apptest.Start(t, func(c *config.Config) { c.Updates.URL, c.Updates.PublicKey = folder, public.String() })
	check(off)
	wantFields(t, "without updates.check", off.SignUpAdmin().Get(updatePath).Want(200).Object(), apptest.Doc{"version": running, "check": false, "available": nil, "checked_at": nil, "error": nil})

	srv := apptest.Start(t, func(c *config.Config) {
		c.Updates = config.Updates{URL: folder, PublicKey: public.String(), Check: true}
	})
	root := srv.SignUpAdmin()
	browser := root.SignedIn()
	wantFields(t, "before the check", root.Get(updatePath).Want(200).Object(), apptest.Doc{"check": true, "available": nil, "checked_at": nil})
	if page := browser.Get("/web/admin").Want(200).Text; strings.Contains(page, "svc update") {
		t.Errorf("the page names an update: %s", page)
	}
	check(srv)
	if state := root.Get(updatePath).Want(200).Object(); state.Str("available") != "9.1.0" || state.Find("checked_at") == nil || state.Find("error") != nil {
		t.Errorf("after the check: %v", state.Fields)
	}
	browser.Get("/web/admin").Want(200, "Version 9.1.0 of svc is available.", "svc update")

	publish(running)
	check(srv)
	wantFields(t, "on the same day", root.Get(updatePath).Want(200).Object(), apptest.Doc{"available": "9.1.0"})
	srv.Advance(25 * time.Hour)
	check(srv)
	wantFields(t, "on the next day", root.Get(updatePath).Want(200).Object(), apptest.Doc{"available": nil, "error": nil})

	if err := os.Remove(filepath.Join(folder, release.ManifestName)); err != nil {
		t.Fatal(err)
	}
	srv.Advance(25 * time.Hour)
	check(srv)
	if state := root.Get(updatePath).Want(200).Object(); !strings.Contains(state.Str("error"), "no such file") {
		t.Errorf("without a release: %v", state.Fields)
	}
}

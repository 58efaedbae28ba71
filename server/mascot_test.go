package server_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

func TestMascot(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Media.UploadLimit = 20_000 })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	put := func(parts ...apptest.FormPart) *apptest.Response {
		return alice.SendForm("PUT", "/api/v1/svc/mascot", parts...)
	}
	standard := alice.Get("/api/svc/mascot").Want(200).Object()
	apptest.WantFields(t, "the default", standard, apptest.Doc{
		"id": "default-mascot", "type": "image", "url": srv.URL + "/images/mascot.png", "preview_url": srv.URL + "/images/mascot.png",
		"svc.mime_type": "image/png",
	})
	srv.As(nil).Get(standard.Str("url")).Want(200)

	first := put(fileOf("file", "a.png", pngOf(t, 10, 20, 20))).Want(200).Object()
	WantShape(t, first, true, map[string]string{
		"id": "string", "type": "string", "url": "string", "preview_url": "string", "remote_url": "null", "text_url": "string", "description": "null", "svc": "object",
	})
	second := put(fileOf("file", "b.png", pngOf(t, 90, 20, 20))).Want(200).Object()
	for _, tt := range []struct {
		name   string
		a      *apptest.Response
		status int
		error  string
	}{
		{"a text", put(fileOf("file", "a.png", []byte("no picture"))), 415, "mascots can only be images"},
		{"a drawing with scripts", put(fileOf("file", "a.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"))), 415, "mascots can only be images"},
		{"a sound", put(fileOf("file", "a.mp3", append([]byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00"), make([]byte, 500)...))), 415, "mascots can only be images"},
		{"a picture that is cut off", put(fileOf("file", "a.png", pngOf(t, 10, 20, 20)[:60])), 422, "The file is damaged or incomplete"},
		{"too large", put(fileOf("file", "a.png", append(pngOf(t, 10, 20, 20), make([]byte, 30_000)...))), 413, "File is too large"},
		{"no file", put(), 400, "Missing field: file."},
		{"no file chosen", put(fileOf("file", "", nil)), 400, "Missing field: file."},
		{"a text instead of a file", alice.SendJSON("PUT", "/api/v1/svc/mascot", apptest.Doc{"file": "x"}), 400, "Missing field: file."},
		{"anonymous", srv.As(nil).SendForm("PUT", "/api/v1/svc/mascot"), 403, "Invalid credentials."},
		{"anonymous reading", srv.As(nil).Get("/api/v1/svc/mascot"), 403, "Invalid credentials."},
		{"without the scope", srv.NewToken(alice, "read").SendForm("PUT", "/api/v1/svc/mascot"), 403, "Insufficient permissions: write:accounts."},
		{"reading without the scope", srv.NewToken(alice, "write").Get("/api/v1/svc/mascot"), 403, "Insufficient permissions: read:accounts."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.a.Status != tt.status || !strings.Contains(string(tt.a.Body), tt.error) {
				t.Errorf("got %d %s", tt.a.Status, tt.a.Body)
			}
		})
	}
	if got := alice.Get("/api/v1/svc/mascot").Want(200).Object(); got.ID() != second.ID() || got.ID() == first.ID() {
		t.Errorf("the mascot is %v", got.Fields)
	}
	if got := bob.Get("/api/v1/svc/mascot").Want(200).Object().ID(); got != "default-mascot" {
		t.Errorf("bob's mascot is %s", got)
	}
	alice.Post("/api/v1/statuses", "media_ids[]", second.ID()).Want(422) // it cannot be attached, too
}

// TestMascotStays checks that the sweep of unattached uploads keeps the mascot.
func TestMascotStays(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	mascot := alice.SendForm("PUT", "/api/v1/svc/mascot", fileOf("file", "a.png", pngOf(t, 10, 20, 20))).Want(200).Object()
	upload := alice.Upload(pngOf(t, 90, 20, 20))
	long := time.Now().Add(-72 * time.Hour)
	srv.Exec(`UPDATE media SET created_at = ?1, detached_at = CASE WHEN detached_at IS NULL THEN NULL ELSE ?1 END`, long.UnixMilli())
	ageFiles(t, srv)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.SweepMedia{}) })
	if err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	srv.As(nil).Get(upload.Str("url")).Want(404)
	srv.As(nil).Get(mascot.Str("url")).Want(200)
	if got := alice.Get("/api/v1/svc/mascot").Want(200).Object().ID(); got != mascot.ID() {
		t.Errorf("the mascot is %s", got)
	}
}

func TestMascotsAreThrottled(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.MediaUpload = config.Rate{Count: 1, Window: time.Minute}
	})
	alice := srv.SignUp("alice")
	alice.SendForm("PUT", "/api/v1/svc/mascot", fileOf("file", "a.png", pngOf(t, 10, 20, 20))).Want(200)
	alice.SendForm("PUT", "/api/v1/svc/mascot", fileOf("file", "a.png", pngOf(t, 10, 20, 20))).WantError(429, "Throttled")
}

package staff_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/app/apptest"
)

// TestSettingsActAtOnce changes settings while the server runs, and sees each in what the server does next.
func TestSettingsActAtOnce(t *testing.T) {
	level := new(slog.LevelVar)
	srv := apptest.StartWith(t, app.Options{LogLevel: level}, configurable)
	root := srv.SignUpAdmin()
	set := func(name string, value any) {
		t.Helper()
		group, key, _ := strings.Cut(name, ".")
		restart, err := srv.Admin.SetSetting(t.Context(), admin.NamedSetting{Group: group, Key: key, Value: value})
		if err != nil || restart {
			t.Errorf("%s: %v, needs a restart: %v", name, err, restart)
		}
	}
	captcha := func() string { return srv.As(nil).Get("/api/v1/svc/captcha").Want(200).Object().Str("type") }
	upload := func(want int) {
		t.Helper()
		root.SendForm("POST", "/api/v1/media", apptest.FormPart{Name: "file", Content: string(apptest.PNG(4, 4)), Filename: "a.png", Type: "image/png", IsFile: true}).Want(want)
	}
	emoji := func() string { return string(srv.As(nil).Get("/api/v1/custom_emojis").Want(200).Body) }
	mails := func() int {
		srv.As(nil).Post("/auth/password", "email", "root@example.org").Want(204)
		return len(srv.Mails())
	}
	document := func(want int) {
		t.Helper()
		srv.GetDocument("/users/" + root.ID).Want(want)
	}
	apptest.WriteDataFile(srv, "emoji/loose/cat.webp", string(apptest.PNG(4, 4)))
	for _, tt := range []struct {
		setting       string
		value         any
		before, after func() string
		want          string // before and after
	}{
		{"log.level", "error", func() string { return level.Level().String() }, nil, "INFO ERROR"},
		{"captcha.enabled", true, captcha, nil, "none native"},
		{"translation.url", "http://127.0.0.1:1", func() string {
			return fmt.Sprint(srv.As(nil).Get("/api/v1/instance/translation_languages").Status)
		}, nil, "200 503"},
		{"emoji.pack_extensions", []string{".webp"}, func() string { return fmt.Sprint(strings.Contains(emoji(), `"cat"`)) }, nil, "false true"},
		{"mail.adapter", "file", func() string { return fmt.Sprint(mails()) }, nil, "0 0"},
		{"mail.enabled", true, func() string { return fmt.Sprint(mails()) }, nil, "0 1"},
		{"storage.uploads", "1MB", func() string { return "" }, nil, " "},
		{"federation.authorized_fetch", true, func() string { document(200); return "" }, func() string { document(401); return "" }, " "},
	} {
		before := tt.before()
		set(tt.setting, tt.value)
		after := tt.before
		if tt.after != nil {
			after = tt.after
		}
		if got := before + " " + after(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.setting, got, tt.want)
		}
	}
	upload(200)
	set("storage.min_free", int64(1_000_000_000_000_000))
	upload(507)
}

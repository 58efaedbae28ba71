package admin_test

import (
	"fmt"
	"reflect"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/dbconfig"
)

// sampleTexts are values of which at least one is valid for each setting whose value is a text.
var sampleTexts = []string{
	"Another text", "other", "https://other.example/page", "other@other.example", "other.example", "other-fe/main", "Other 1.2", "10GiB", "~r/other/",
	"/tmp/other", "https://other.example/{url}", "7/13s", "off", "49h", "3m", "48h", "47d", "17s",
}

// sampleRows are the same for lists of tables.
var sampleRows = []any{
	[]any{"other.example"}, []any{map[string]any{"name": "Other", "patterns": []any{"/emoji/other/*.png"}}},
	[]any{map[string]any{"name": "other_fe", "configuration": `{"theme":"other"}`}},
}

// samples returns values to try for a setting that has a value now, the simplest ones first.
func samples(s config.Setting, now any) []any {
	var list []any
	switch s.Kind {
	case config.Boolean:
		list = []any{now != true}
	case config.Rows:
		list = sampleRows
	case config.Number:
		n, _ := now.(int64)
		list = []any{n + 1, n - 1, n*2 + 1<<20, int64(1 << 30), int64(1 << 40)}
	case config.Fraction:
		list = []any{0.25}
	case config.List:
		for _, text := range sampleTexts {
			list = append(list, []string{text})
		}
		for _, v := range s.Suggestions {
			list = append(list, []string{fmt.Sprint(v)})
		}
		if now, _ := now.([]string); len(now) > 0 {
			list = append(list, now[1:])
		}
	default:
		for _, text := range sampleTexts {
			list = append(list, text)
		}
	}
	return append(list, s.Suggestions...)
}

// otherValue returns a value that a setting of c does not have and that is valid together with the others, nil if it knows none.
func otherValue(t *testing.T, c *config.Config, s config.Setting) any {
	t.Helper()
	before := value(t, c, s)
	for _, v := range samples(s, before) {
		next := *c
		if next.Set(s.Group, s.Key, v) == nil && next.Validate() == nil && !reflect.DeepEqual(value(t, &next, s), before) {
			return value(t, &next, s)
		}
	}
	return nil
}

func value(t *testing.T, c *config.Config, s config.Setting) any {
	t.Helper()
	v, err := c.Get(s.Group, s.Key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func fromDatabase(c *config.Config) { c.Instance.ConfigurableFromDatabase = true }

// startAgain starts another server on the data of srv.
func startAgain(t *testing.T, srv *apptest.Server) *apptest.Server {
	t.Helper()
	srv.Exec(`UPDATE meta SET server_url = ''`)
	if err := srv.DB.Close(); err != nil {
		t.Fatal(err)
	}
	return apptest.Start(t, fromDatabase, func(c *config.Config) { c.Data.Dir = srv.Dir })
}

// checkStored checks that the settings of a server have the values that were set before it was started.
func checkStored(t *testing.T, srv *apptest.Server, want map[string]any) {
	t.Helper()
	for _, s := range config.Settings() {
		if v, ok := want[s.Name()]; ok && !reflect.DeepEqual(value(t, srv.Live.Load(), s), v) {
			t.Errorf("%s is %v after a restart, want %v", s.Name(), value(t, srv.Live.Load(), s), v)
		}
	}
}

// TestEverySetting changes every setting of the registry in the database. It acts at once, or the change reports that it needs a restart; it
// survives a restart; a setting of the file is refused. TestNoCopiesOfSettings checks that the parts of the server follow config.Live.
func TestEverySetting(t *testing.T) {
	apptest.SkipIfShort(t)
	live := apptest.Start(t, fromDatabase)
	changed := make(map[string]any)
	change := func(s config.Setting) (done bool) {
		name := admin.NamedSetting{Group: s.Group, Key: s.Key, Value: otherValue(t, live.Live.Load(), s)}
		if name.Value == nil {
			return false
		}
		changed[s.Name()] = name.Value
		if restart, err := live.Admin.SetSetting(t.Context(), name); err != nil || restart {
			t.Errorf("%s: reports a restart: %v, %v", s.Name(), restart, err)
		}
		if now := value(t, live.Live.Load(), s); !reflect.DeepEqual(now, name.Value) {
			t.Errorf("%s is %v, want %v", s.Name(), now, name.Value)
		}
		return true
	}
	var later []config.Setting // whose other values need values of other settings
	for _, s := range config.Settings() {
		switch {
		case dbconfig.FileOnly(s.Group, s.Key):
			name := admin.NamedSetting{Group: s.Group, Key: s.Key, Value: otherValue(t, live.Live.Load(), s)}
			if _, err := live.Admin.SetSetting(t.Context(), name); err == nil {
				t.Errorf("%s of the file can be changed in the database", s.Name())
			}
			if !s.Restart {
				t.Errorf("%s of the file is not marked Restart", s.Name())
			}
		case s.Restart:
			checkRestart(t, s)
		case !change(s):
			later = append(later, s)
		}
	}
	for _, s := range later {
		if !change(s) {
			t.Errorf("%s: no other value is known: add one to sampleTexts", s.Name())
		}
	}
	if len(changed) < 120 {
		t.Errorf("only %d settings act at once", len(changed))
	}
	checkStored(t, startAgain(t, live), changed)
}

// checkRestart changes a setting that needs a restart.
func checkRestart(t *testing.T, s config.Setting) {
	t.Helper()
	srv := apptest.Start(t, fromDatabase)
	before := value(t, srv.Live.Load(), s)
	name := admin.NamedSetting{Group: s.Group, Key: s.Key, Value: otherValue(t, srv.Live.Load(), s)}
	restart, err := srv.Admin.SetSetting(t.Context(), name)
	if err != nil || !restart || !srv.Admin.NeedsRestart() {
		t.Errorf("%s: reports a restart: %v, %v, %v", s.Name(), restart, srv.Admin.NeedsRestart(), err)
	}
	if now := value(t, srv.Live.Load(), s); !reflect.DeepEqual(now, before) {
		t.Errorf("%s is marked Restart and became %v at once", s.Name(), now)
	}
	again := startAgain(t, srv)
	checkStored(t, again, map[string]any{s.Name(): name.Value})
	if again.Admin.NeedsRestart() {
		t.Errorf("%s: still reports a restart after it", s.Name())
	}
}

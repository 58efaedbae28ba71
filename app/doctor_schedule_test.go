package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestScheduledDoctor lets the server check itself on several days. Staff and a webhook learn of what is new, once.
func TestScheduledDoctor(t *testing.T) {
	type news struct {
		Text  string
		Worse []struct{ Name, Status, Seen string }
		Well  []string
	}
	var posted []news
	status := http.StatusOK
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n news
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil || r.Method != "POST" {
			t.Errorf("%s %v", r.Method, err)
		}
		posted = append(posted, n)
		w.WriteHeader(status)
	}))
	defer hook.Close()
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) { c.Doctor.Webhook = hook.URL + "/secret-token" })
	srv.SignUpAdmin()
	srv.WantMails()
	day := 0
	run := func(posts int) {
		t.Helper()
		posted = nil
		if err := srv.RunDueDoctor(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(posted) != posts {
			t.Fatalf("day %d: %d posts, want %d: %+v", day, len(posted), posts, posted)
		}
	}
	tomorrow := func() { // without setting the clock, which is checked
		t.Helper()
		day++
		path := filepath.Join(srv.Dir, "doctor.json")
		var state map[string]any
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &state)
		}
		state["at"] = time.Now().Add(-25 * time.Hour)
		if err == nil {
			text, err = json.Marshal(state)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	run(1)
	if n := posted[0]; len(n.Well) > 0 || strings.Contains(n.Text, "not checked") || !strings.Contains(n.Text, "backups: warning: there is no backup") {
		t.Errorf("got %+v", n)
	}
	mail := srv.WantMails("root@example.org Checks of svc")
	if !strings.Contains(mail[0].Text, "there is no backup") || strings.Contains(mail[0].Text, "secret-token") {
		t.Errorf("the mail is %s", mail[0].Text)
	}
	run(0) // not due
	tomorrow()
	run(0) // nothing new

	apptest.WriteDataFile(srv, "backups/svc-1.tar", "a backup")
	tomorrow()
	status = http.StatusInternalServerError
	for range 2 { // until the webhook takes it
		if err := srv.RunDueDoctor(t.Context()); err == nil || strings.Contains(err.Error(), "secret-token") || !strings.Contains(err.Error(), "500") {
			t.Errorf("the webhook fails: got %v", err)
		}
	}
	status = http.StatusNoContent
	run(1)
	if n := posted[0]; len(n.Worse) > 0 || len(n.Well) != 1 || n.Well[0] != "backups" || !strings.Contains(n.Text, "well again: backups") {
		t.Errorf("got %+v", n)
	}
	srv.WantMails("root@example.org Checks of svc")
	run(0)
}

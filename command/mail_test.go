package command_test

import (
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
)

func TestMailTest(t *testing.T) {
	smtp := apptest.StartSMTP(t)
	port := strconv.Itoa(smtp.Port)
	refusing := apptest.StartSMTP(t, func(s *apptest.SMTPServer) { s.Refuse["RCPT"] = "550 5.1.1 no such user" })
	for _, tt := range []struct {
		name, settings, address string
		code                    int
		want                    string // part of the output or of the error
	}{
		{"off", "", "you@example.org", 1, "mail.enabled is off"},
		{"file", "enabled = true\nadapter = \"file\"", "you@example.org", 0, ".eml"},
		{"no server", "enabled = true", "you@example.org", 1, "mail.host: must not be empty"},
		{"smtp", "enabled = true\nhost = \"127.0.0.1\"\ntls = \"none\"\nport = " + port, "you@example.org", 0, "2.0.0 queued as 1"},
		{"self-signed", "enabled = true\nhost = \"127.0.0.1\"\nport = " + port, "you@example.org", 1, "certificate"},
		{"self-signed, accepted", "enabled = true\nhost = \"127.0.0.1\"\nverify_certificate = false\nport = " + port, "you@example.org", 0, "queued as 2"},
		{"refused", "enabled = true\nhost = \"127.0.0.1\"\ntls = \"none\"\nport = " + strconv.Itoa(refusing.Port), "you@example.org", 1, "no such user"},
		{"not an address", "enabled = true\nadapter = \"file\"", "you", 1, "not a valid mail address"},
		{"no address", "", "", 2, "ADDRESS is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"mail", "test", tt.address}
			if tt.address == "" {
				args = args[:2]
			}
			r := newWorkspace(t, "[mail]\n"+tt.settings).run(args...)
			if tt.code != 0 {
				r.fails(tt.code, tt.want)
			} else if out := r.ok(); !strings.HasPrefix(out, "Sent to you@example.org: ") || !strings.Contains(out, tt.want) {
				t.Errorf("got %q, want %q", out, tt.want)
			}
		})
	}
	if got := smtp.Mails(); len(got) != 2 || got[0].To != "you@example.org" || !strings.Contains(got[0].Data, "Subject: Test mail from svc") {
		t.Errorf("got %v", got)
	}
}

package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/errs"
)

// wantStatus checks status and message of an error for clients.
func wantStatus(t *testing.T, err error, status int, part string) {
	t.Helper()
	e, ok := err.(*errs.Error)
	if !ok || e.Status != status || !strings.Contains(e.Message, part) {
		t.Errorf("got %v, want %d %q", err, status, part)
	}
}

func TestCreateInvite(t *testing.T) {
	h := newHarness(t)
	today := h.now().UTC().Format(time.DateOnly)
	for _, tt := range []struct {
		invite admin.NewInvite
		want   string // in the error; "": none
	}{
		{admin.NewInvite{}, ""},
		{admin.NewInvite{MaxUse: 10_000}, ""},
		{admin.NewInvite{ExpiresAt: today}, ""},
		{admin.NewInvite{MaxUse: -1}, "1 to 10000 times"},
		{admin.NewInvite{MaxUse: 10_001}, "1 to 10000 times"},
		{admin.NewInvite{ExpiresAt: "2001-01-01"}, "in the past"},
		{admin.NewInvite{ExpiresAt: "2030-02-30"}, "is not a date"},
		{admin.NewInvite{ExpiresAt: "tomorrow"}, "is not a date"},
		{admin.NewInvite{ExpiresAt: "2030-01-01T00:00:00Z"}, "is not a date"},
	} {
		t.Run(fmt.Sprint(tt.invite), func(t *testing.T) {
			i, err := h.admin.CreateInvite(t.Context(), tt.invite)
			if tt.want != "" {
				wantStatus(t, err, http.StatusBadRequest, tt.want)
				return
			}
			if err != nil || len(i.Token) != 43 || !i.Usable || i.Used || !strings.HasSuffix(i.Link, "/registration/"+i.Token) {
				t.Errorf("got %+v, %v", i, err)
			}
		})
	}
	list, err := h.admin.Invites(t.Context(), struct{}{})
	if err != nil || len(list) != 3 || list[0].ID >= list[1].ID {
		t.Errorf("the list has %d invites, %v", len(list), err)
	}
}

func TestRevokeInvite(t *testing.T) {
	h := newHarness(t)
	one := must(h.admin.CreateInvite(t.Context(), admin.NewInvite{}))(t)
	two := must(h.admin.CreateInvite(t.Context(), admin.NewInvite{}))(t)
	for range 2 {
		revoked := must(h.admin.RevokeInvite(t.Context(), one.Token))(t)
		if revoked.ID != one.ID || !revoked.Used || revoked.Usable {
			t.Errorf("got %+v", revoked)
		}
	}
	if revoked := must(h.admin.RevokeInvite(t.Context(), fmt.Sprint(two.ID)))(t); revoked.Token != two.Token {
		t.Errorf("got %+v", revoked)
	}
	for _, name := range []string{"", "nonsense", "99", "-1", one.Token + "x"} {
		_, err := h.admin.RevokeInvite(t.Context(), name)
		wantStatus(t, err, http.StatusNotFound, "There is no invite")
	}
}

// TestManyInvites fills the table: invites that cannot be used make room, others do not.
func TestManyInvites(t *testing.T) {
	h := newHarness(t)
	first := must(h.admin.CreateInvite(t.Context(), admin.NewInvite{}))(t)
	for range 999 {
		must(h.admin.CreateInvite(t.Context(), admin.NewInvite{}))(t)
	}
	_, err := h.admin.CreateInvite(t.Context(), admin.NewInvite{})
	wantStatus(t, err, http.StatusBadRequest, "too many invites")
	must(h.admin.RevokeInvite(t.Context(), first.Token))(t)
	must(h.admin.CreateInvite(t.Context(), admin.NewInvite{}))(t)
	list := must(h.admin.Invites(t.Context(), struct{}{}))(t)
	if len(list) != 1000 || list[0].ID == first.ID {
		t.Errorf("the list has %d invites and begins with %d", len(list), list[0].ID)
	}
}

func TestMailInvite(t *testing.T) {
	byInvitation := func(c *config.Config) {
		c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled = false, true
		c.Mail.Enabled, c.Mail.Adapter = true, config.MailFile
	}
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		email  string
		want   string
	}{
		{"registration is open", func(c *config.Config) { c.Instance.RegistrationsOpen = true }, "a@example.org", "`registrations_open` option to false"},
		{"no invites", func(c *config.Config) { c.Instance.InvitesEnabled = false }, "a@example.org", "`invites_enabled` option to true"},
		{"no mail", func(c *config.Config) { c.Mail.Enabled = false }, "a@example.org", "deliveries_disabled"},
		{"no address", func(*config.Config) {}, "", "email has invalid format"},
		{"a line break", func(*config.Config) {}, "a@example.org\nBcc: b@example.org", "email has invalid format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t, byInvitation, tt.change)
			_, err := srv.Admin.MailInvite(t.Context(), admin.InviteMail{Email: tt.email})
			wantStatus(t, err, http.StatusBadRequest, tt.want)
			if n := srv.Count(`SELECT count(*) FROM invites`); n != 0 {
				t.Errorf("%d invites were created", n)
			}
		})
	}

	smtp := apptest.StartSMTP(t)
	srv := apptest.Start(t, byInvitation, func(c *config.Config) {
		c.Mail.Adapter, c.Mail.Host, c.Mail.Port, c.Mail.VerifyCertificate = config.MailSMTP, "127.0.0.1", smtp.Port, false
	})
	i, err := srv.Admin.MailInvite(t.Context(), admin.InviteMail{Email: "carol@example.net"})
	if err != nil || i.Type != "one_time" {
		t.Fatalf("got %+v, %v", i, err)
	}
	srv.RunJobs()
	mails := smtp.Mails()
	if len(mails) != 1 || !strings.Contains(mails[0].To, "carol@example.net") || !strings.Contains(strings.ReplaceAll(mails[0].Data, "=\r\n", ""), i.Link) {
		t.Errorf("got %+v", mails)
	}
	srv.Browser().Get("/registration/"+i.Token).Want(200, "Create an account")
}

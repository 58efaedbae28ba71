package mail_test

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/mail"
)

var hello = &mail.Message{To: "alice@example.org", Subject: "Hello", Text: "Good morning\n.\nżółw\n", HTML: "<p>Good morning</p>"}

// smtp returns a Sender for a test server.
func smtp(s *apptest.SMTPServer, change ...func(*mail.SMTPConfig)) *mail.SMTP {
	c := mail.SMTPConfig{Host: "127.0.0.1", Port: s.Port, From: "Test <noreply@example.org>", Hello: "example.org", Timeout: 5 * time.Second}
	for _, f := range change {
		f(&c)
	}
	return mail.NewSMTP(c)
}

func plain(c *mail.SMTPConfig) { c.Encryption = mail.Plain }

func insecure(c *mail.SMTPConfig) { c.Insecure = true }

func TestSMTP(t *testing.T) {
	authenticated := func(c *mail.SMTPConfig) { c.User, c.Password = "svc", "secret" }
	wrongPassword := func(c *mail.SMTPConfig) { c.User, c.Password = "svc", "wrong" }
	withUser := func(s *apptest.SMTPServer) { s.User, s.Password = "svc", "secret" }
	implicit := func(c *mail.SMTPConfig) { c.Encryption = mail.TLS }
	refuse := func(command, answer string) func(*apptest.SMTPServer) {
		return func(s *apptest.SMTPServer) { s.Refuse[command] = answer }
	}
	for _, tt := range []struct {
		name     string
		server   func(*apptest.SMTPServer)
		client   []func(*mail.SMTPConfig)
		fault    string // part of the error; "": accepted
		rejected bool
	}{
		{"plain", nil, []func(*mail.SMTPConfig){plain}, "", false},
		{"STARTTLS", nil, []func(*mail.SMTPConfig){insecure}, "", false},
		{"TLS", func(s *apptest.SMTPServer) { s.ImplicitTLS = true }, []func(*mail.SMTPConfig){implicit, insecure}, "", false},
		{"with a password", withUser, []func(*mail.SMTPConfig){insecure, authenticated}, "", false},
		{"TLS with a password", func(s *apptest.SMTPServer) { withUser(s); s.ImplicitTLS = true },
			[]func(*mail.SMTPConfig){implicit, insecure, authenticated}, "", false},
		{"a password to this machine", withUser, []func(*mail.SMTPConfig){plain, authenticated}, "", false},
		{"self-signed certificate, STARTTLS", nil, nil, "certificate", false},
		{"self-signed certificate, TLS", func(s *apptest.SMTPServer) { s.ImplicitTLS = true }, []func(*mail.SMTPConfig){implicit}, "certificate", false},
		{"no STARTTLS", func(s *apptest.SMTPServer) { s.NoStartTLS = true }, []func(*mail.SMTPConfig){insecure}, "STARTTLS", false},
		{"wrong password", withUser, []func(*mail.SMTPConfig){insecure, wrongPassword}, "535", false},
		{"missing password", withUser, []func(*mail.SMTPConfig){insecure}, "530", false},
		{"sender refused", refuse("MAIL", "550 5.7.1 no relaying"), []func(*mail.SMTPConfig){plain}, `550 "5.7.1 no relaying"`, true},
		{"unknown recipient", refuse("RCPT", "550 5.1.1 unknown"), []func(*mail.SMTPConfig){plain}, `550 "5.1.1 unknown"`, true},
		{"full mailbox", refuse("RCPT", "452 4.2.2 full"), []func(*mail.SMTPConfig){plain}, `452 "4.2.2 full"`, false},
		{"spam", refuse("DATA.", "554 5.7.1 spam"), []func(*mail.SMTPConfig){plain}, `554 "5.7.1 spam"`, true},
		{"later", refuse("DATA.", "451 4.7.1 greylisted"), []func(*mail.SMTPConfig){plain}, `451 "4.7.1 greylisted"`, false},
		{"error after the delivery", refuse("QUIT", "500 what"), []func(*mail.SMTPConfig){plain}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var change []func(*apptest.SMTPServer)
			if tt.server != nil {
				change = append(change, tt.server)
			}
			server := apptest.StartSMTP(t, change...)
			receipt, err := smtp(server, tt.client...).Send(t.Context(), hello)
			if tt.fault != "" {
				var rejected *mail.RejectedError
				if err == nil || !strings.Contains(err.Error(), tt.fault) || errors.As(err, &rejected) != tt.rejected {
					t.Errorf("got %v (%v), want %q, rejected %v", err, errors.As(err, &rejected), tt.fault, tt.rejected)
				}
				if strings.Contains(fmt.Sprint(err), hello.To) {
					t.Errorf("the error contains the recipient: %v", err)
				}
				if len(server.Mails()) > 0 {
					t.Error("mail was accepted")
				}
				return
			}
			if err != nil || !strings.Contains(receipt, "queued as 1") {
				t.Fatalf("got %q, %v", receipt, err)
			}
			got := server.Mails()
			if len(got) != 1 || got[0].From != "noreply@example.org" || got[0].To != "alice@example.org" {
				t.Fatalf("got %v", got)
			}
			checkHello(t, got[0].Data)
		})
	}
}

func TestSMTPTimeout(t *testing.T) {
	server := apptest.StartSMTP(t, func(s *apptest.SMTPServer) { s.Silent = true })
	began := time.Now()
	_, err := smtp(server, func(c *mail.SMTPConfig) { c.Timeout = 100 * time.Millisecond }).Send(t.Context(), hello)
	if err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct{ to, subject, wantSubject string }{
		{"alice@example.org", "A\r\nBcc: eve@example.org\r\n\r\nbody", "A Bcc: eve@example.org body"},
		{"alice@example.org", "żółw\u2028\x00x", "żółw x"},
		{"alice@example.org", strings.Repeat("word ", 100), strings.TrimSpace(strings.Repeat("word ", 100))},
		{"alice@bücher.example", "IDN", "IDN"},
		{"alice@example.org\r\nBcc: eve@example.org", "x", ""},
		{"alice@example.org, eve@example.org", "x", ""},
		{"<alice@example.org>", "x", ""},
		{`"a b"@example.org`, "x", ""},
		{"a%eve.example@example.org", "x", ""},
		{"", "x", ""},
	} {
		dir := t.TempDir()
		path, err := mail.NewFiles(dir, "noreply@example.org", nil).Send(t.Context(), &mail.Message{To: tt.to, Subject: tt.subject, Text: "x"})
		if tt.wantSubject == "" {
			var rejected *mail.RejectedError
			if !errors.Is(err, mail.ErrAddress) || !errors.As(err, &rejected) {
				t.Errorf("%q: got %v", tt.to, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m := readFile(t, path)
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil || subject != tt.wantSubject || m.Header.Get("Bcc") != "" {
			t.Errorf("%q: got %q, %v, %v", tt.subject, subject, err, m.Header)
		}
		if to := m.Header.Get("To"); strings.ContainsFunc(to, func(r rune) bool { return r > 126 }) {
			t.Errorf("%s: got %q", tt.to, to)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	now := time.Unix(1_700_000_000, 0)
	f := mail.NewFiles(dir, "Test <noreply@example.org>", func() time.Time { now = now.Add(time.Second); return now })
	first, err := f.Send(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(first)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	data, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	checkHello(t, string(data))
	for i := range 1001 { // as many as are kept, with one more
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20990101-%04d.eml", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Send(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1000 {
		t.Errorf("got %d files, %v", len(entries), err)
	}
	if _, err := os.Stat(first); !errors.Is(err, os.ErrNotExist) {
		t.Error("the oldest file was not removed")
	}
}

func readFile(t *testing.T, path string) *netmail.Message {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m, err := netmail.ReadMessage(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkHello fails unless the data is the mail hello, with all headers.
func checkHello(t *testing.T, data string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"From": `"Test" <noreply@example.org>`, "To": "<alice@example.org>", "Subject": "Hello", "Auto-Submitted": "auto-generated",
		"Mime-Version": "1.0", "User-Agent": "", "X-Mailer": "",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if id := m.Header.Get("Message-Id"); !strings.HasSuffix(id, "@example.org>") || len(id) < 40 {
		t.Errorf("got Message-ID %q", id)
	}
	if at, err := m.Header.Date(); err != nil || at.IsZero() {
		t.Errorf("got Date %v, %v", at, err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("got %s, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []struct{ kind, body string }{{"text/plain; charset=UTF-8", hello.Text}, {"text/html; charset=UTF-8", hello.HTML}} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if got := strings.TrimRight(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n"); err != nil ||
			part.Header.Get("Content-Type") != want.kind || got != strings.TrimRight(want.body, "\n") {
			t.Errorf("got %v, %q, %v, want %q", part.Header, got, err, want)
		}
	}
}

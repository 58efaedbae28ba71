package apptest

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"svc/internal/config"
)

// WithMail makes a server write mail into files. See Server.Mails.
func WithMail(c *config.Config) {
	c.Mail.Enabled, c.Mail.Adapter = true, config.MailFile
}

// Mail is a mail that the server sent.
type Mail struct {
	server   *Server
	To       string
	Subject  string
	Text     string
	HTML     string
	Header   netmail.Header
	FileName string
}

// Mails runs the jobs that are due, and returns the mails since the last call, in the order of sending.
func (a *Server) Mails() []*Mail {
	a.T.Helper()
	a.RunJobs()
	dir := filepath.Join(a.Dir, "mail")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.T.Fatal(err)
	}
	var list []*Mail
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			a.T.Fatal(err)
		}
		m := a.parseMail(string(data))
		m.FileName = e.Name()
		list = append(list, m)
	}
	return list
}

// WantMails fails unless the mails since the last call have these recipients, and a subject that contains the text, in any order. It
// returns them in the order of wants. A want is the recipient, a space, and the text.
func (a *Server) WantMails(wants ...string) []*Mail {
	a.T.Helper()
	got := a.Mails()
	var found []*Mail
	for _, want := range wants {
		to, subject, _ := strings.Cut(want, " ")
		for i, m := range got {
			if m != nil && m.To == to && strings.Contains(m.Subject, subject) {
				found = append(found, m)
				got[i] = nil
				break
			}
		}
	}
	var extra []string
	for _, m := range got {
		if m != nil {
			extra = append(extra, m.To+" "+m.Subject)
		}
	}
	if len(found) != len(wants) || len(extra) > 0 {
		a.T.Fatalf("got %d of the mails %q, and also %q", len(found), wants, extra)
	}
	return found
}

func (a *Server) parseMail(data string) *Mail {
	a.T.Helper()
	parsed, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		a.T.Fatal(err)
	}
	m := &Mail{server: a, Header: parsed.Header}
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		a.T.Fatal(err)
	}
	to, err := parsed.Header.AddressList("To")
	if err != nil || len(to) != 1 {
		a.T.Fatalf("got recipients %v, %v", to, err)
	}
	m.To = to[0].Address
	_, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil {
		a.T.Fatal(err)
	}
	if params["boundary"] == "" { // a template without HTML
		m.Text = a.readPart(quotedprintable.NewReader(parsed.Body))
		return m
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for _, text := range []*string{&m.Text, &m.HTML} {
		part, err := parts.NextPart() // decodes quoted-printable
		if err != nil {
			a.T.Fatal(err)
		}
		*text = a.readPart(part)
	}
	return m
}

func (a *Server) readPart(r io.Reader) string {
	b, err := io.ReadAll(r)
	if err != nil {
		a.T.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

var mailLink = regexp.MustCompile(`(?m)^https?://\S+$`)

// Link returns the path of the first link that stands alone on a line of the text. The HTML part must have the same link.
func (m *Mail) Link() string {
	m.server.T.Helper()
	link := mailLink.FindString(m.Text)
	path, ok := strings.CutPrefix(link, m.server.URL+"/")
	if !ok {
		m.server.T.Fatalf("there is no link to %s in %q", m.server.URL, m.Text)
	}
	if !strings.Contains(m.HTML, `href="`+link+`"`) {
		m.server.T.Errorf("the link %s is not in %q", link, m.HTML)
	}
	return "/" + path
}

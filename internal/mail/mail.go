// Package mail sends mail: through a mail server (SMTP, RFC 5321), or into files for tests and for servers that are being set up.
//
// A Message has one recipient, a text and an HTML part. All headers are made here. Line breaks and other control characters in addresses
// are refused, and those in a subject become spaces, so that no text can add a header. A mail server must accept a mail within
// sendTimeout. A refused mail is a RejectedError; every other error may be temporary.
//
// Limits: 1000 files, of which the oldest are removed.
package mail

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"svc/internal/text"
)

// Message is a mail for one recipient.
type Message struct {
	To      string // the bare address
	Subject string
	Text    string // the plain text part
	HTML    string // the HTML part; "": none
}

// Sender sends messages.
type Sender interface {
	// Send returns what the mail server answered, or the name of the file.
	Send(context.Context, *Message) (receipt string, err error)
}

// RejectedError is a mail that cannot be delivered, however often it is sent.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string { return e.Err.Error() }

func (e *RejectedError) Unwrap() error { return e.Err }

// ErrAddress is the cause of a RejectedError for an address that is not valid.
var ErrAddress = errors.New("not a valid mail address")

// compose makes the mail with all its headers. from is an address with or without a display name.
func compose(from string, m *Message, now time.Time) (*gomail.Msg, error) {
	if !text.ValidEmail(m.To) {
		return nil, &RejectedError{fmt.Errorf("%w: %q", ErrAddress, m.To)}
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("sender %q: %w", from, err)
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(sender)
	msg.ToMailAddress(&netmail.Address{Address: asciiAddress(m.To)})
	msg.Subject(text.OneLine(m.Subject))
	msg.SetDateWithValue(now)
	_, domain, _ := strings.Cut(sender.Address, "@")
	msg.SetMessageIDWithValue(rand.Text() + "@" + domain) // the default has the name of this machine
	msg.SetGenHeader("Auto-Submitted", "auto-generated")  // RFC 3834: no automatic answers
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return msg, nil
}

// asciiAddress returns a valid address with the domain as it is in the DNS (RFC 5891), because not every mail server supports SMTPUTF8.
func asciiAddress(address string) string {
	at := strings.LastIndexByte(address, '@')
	return address[:at+1] + text.NormalizeDomain(address[at+1:])
}

// render returns a composed mail as it is sent.
func render(msg *gomail.Msg) ([]byte, error) {
	var b bytes.Buffer
	_, err := msg.WriteTo(&b)
	return b.Bytes(), err
}

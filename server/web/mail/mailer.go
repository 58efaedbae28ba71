// Package mail makes and sends the mail of the server: it runs the job store.SendMail.
//
// A mail has the template of its kind, in the language of its user, else of the server, or in English: a text part, whose first line is the subject, and an HTML
// part. Files of the operator in DATA/static/mail/LANGUAGE/ replace those of the program; docs/mail.md describes them. Addresses in mail are made
// from the setting server.url, never from a request. One-time tokens are made when the mail is sent, so that the job queue has none. Nothing
// in a mail tells the server that it was read.
//
// Limits: 5 mails with links and 20 others of a kind an hour for an address; 5 mails with links of a kind an hour for an account; 2 mails at
// once.
package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/mail"
	"svc/social"
	"svc/store"
)

const (
	maxCounters  = 20_000 // addresses and accounts whose mails are counted
	addressesKey = "address:"
	accountsKey  = "account:"
)

// Rates of mail for one address and for one account.
var (
	linkRate   = limit.Rate{Count: 5, Window: time.Hour} // of kinds that visitors can cause
	noticeRate = limit.Rate{Count: 20, Window: time.Hour}
)

// Config is what a Mailer needs.
type Config struct {
	Settings *config.Live
	DB       *store.DB
	Social   *social.Service
	Log      *slog.Logger
	Now      func() time.Time // nil: time.Now

	// Language returns the language in which a user reads the pages, "" for that of the server.
	Language func(context.Context, *store.User) (string, error)
}

// Mailer sends the mail of the server.
type Mailer struct {
	settings  *config.Live
	language  func(context.Context, *store.User) (string, error)
	db        *store.DB
	social    *social.Service
	sender    *config.View[mail.Sender] // of nil: mail is disabled
	templates *templates
	sent      *limit.Window[string]
	log       *slog.Logger
	now       func() time.Time
}

// New returns a Mailer that sends mail as the settings say.
func New(c Config) *Mailer {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Mailer{
		settings: c.Settings, language: c.Language, db: c.DB, social: c.Social, log: c.Log, now: c.Now,
		sender:    config.NewView(c.Settings, func(settings *config.Config) mail.Sender { return newSender(settings, c.Now) }),
		templates: newTemplates(os.DirFS(filepath.Join(c.Settings.Load().Data.Dir, "static", "mail")), c.Log),
		sent:      limit.NewWindow[string](maxCounters),
	}
}

// newSender returns the sender of the settings, nil if mail is disabled.
func newSender(c *config.Config, now func() time.Time) mail.Sender {
	switch {
	case !c.Mail.Enabled:
		return nil
	case c.Mail.Adapter == config.MailFile:
		return mail.NewFiles(filepath.Join(c.Data.Dir, "mail"), sender(c), now)
	}
	encryption := map[string]mail.Encryption{config.MailStartTLS: mail.StartTLS, config.MailTLS: mail.TLS, config.MailPlain: mail.Plain}
	return mail.NewSMTP(mail.SMTPConfig{
		Host: c.Mail.Host, Port: c.Mail.Port, Encryption: encryption[c.Mail.TLS], Insecure: !c.Mail.VerifyCertificate,
		User: c.Mail.User, Password: c.Mail.Password, From: sender(c), Hello: c.URL().Hostname(), Now: now,
	})
}

// Register registers the job that sends a mail.
func (m *Mailer) Register(w *store.Worker) {
	store.Handle(w, m.send)
}

// send is the job that sends a mail. It does nothing if the mail has no reason any more, or if its recipient got too many.
func (m *Mailer) send(ctx context.Context, job store.SendMail) error {
	sender := *m.sender.Load()
	if sender == nil {
		m.log.Info("mail dropped: mail.enabled is off", "kind", job.Mail)
		return nil
	}
	to, content, err := m.prepare(ctx, job)
	if content == nil || err != nil {
		return err
	}
	refund, ok := m.reserve(job, to)
	if !ok {
		m.log.Info("mail dropped: too many for one recipient", "kind", job.Mail, "account", job.AccountID)
		return nil
	}
	if err := m.addLink(ctx, job, content); err != nil || content.skip {
		refund()
		return err
	}
	message, err := m.templates.render(string(job.Mail), content.language, content)
	if err == nil {
		message.To = to
		_, err = sender.Send(ctx, message)
	}
	if err == nil {
		return nil
	}
	refund()
	err = fmt.Errorf("mail %s: %w", job.Mail, err)
	var rejected *mail.RejectedError
	if errors.As(err, &rejected) {
		return &store.PermanentError{Err: err}
	}
	return err
}

// reserve counts a mail. It returns false if its address or its account got too many, and what takes the count back. Notices count by kind, so
// that nobody can prevent one about a sign-in by causing others.
func (m *Mailer) reserve(job store.SendMail, to string) (refund func(), ok bool) {
	rate, keys := noticeRate, []string{addressesKey + string(job.Mail) + ":" + strings.ToLower(to)}
	if hasLink(job.Mail) {
		rate, keys[0] = linkRate, addressesKey+strings.ToLower(to)
		if job.AccountID != 0 {
			keys = append(keys, accountsKey+string(job.Mail)+job.AccountID.String())
		}
	}
	now := m.now()
	for i, key := range keys {
		if _, ok := m.sent.Allow(key, rate, now); !ok {
			for _, counted := range keys[:i] {
				m.sent.Refund(counted, now)
			}
			return nil, false
		}
	}
	return func() {
		for _, key := range keys {
			m.sent.Refund(key, m.now())
		}
	}, true
}

// ErrDisabled is the error of a test mail if mail is disabled.
var ErrDisabled = errors.New("mail.enabled is off: set it to true, and the mail server or the adapter, in [mail]")

// SendTest sends a test mail at once, without a database. It returns what the mail server answered, or the name of the file.
func SendTest(ctx context.Context, c *config.Config, log *slog.Logger, address string) (receipt string, err error) {
	m := New(Config{Settings: config.NewLive(c), Log: log})
	sender := *m.sender.Load()
	if sender == nil {
		return "", ErrDisabled
	}
	content := m.content()
	message, err := m.templates.render("test", content.language, content)
	if err != nil {
		return "", err
	}
	message.To = address
	return sender.Send(ctx, message)
}

// user returns the account and the user of a local account, nil if there is none.
func (m *Mailer) user(ctx context.Context, id store.AccountID) (*store.Account, *store.User, error) {
	user, err := m.db.User(ctx, id)
	if err != nil {
		return nil, nil, errs.IgnoreNotFound(err)
	}
	account, err := m.db.Account(ctx, id)
	if err != nil {
		return nil, nil, errs.IgnoreNotFound(err)
	}
	return account, user, nil
}

// CheckServer connects to the mail server of the settings and authenticates, without sending anything.
func CheckServer(ctx context.Context, c *config.Config) error {
	if server, ok := newSender(c, time.Now).(*mail.SMTP); ok {
		return server.Check(ctx)
	}
	return nil
}

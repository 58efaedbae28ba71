package mail

import (
	"cmp"
	"context"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Content is what templates can use.
type Content struct {
	Site     Site
	Nickname string            // of the recipient; "": the recipient has no account
	Link     string            // what the recipient is asked to open; "": none
	Expires  time.Time         // until when Link is valid, in UTC
	About    string            // the handle of the account that the mail is about; "": none
	Text     string            // written by others, such as the reason of a registration or the comment of a report
	Values   map[string]string // see the kinds in store/mail.go
	Time     time.Time         // of the event, in UTC
	Language string            // of the template

	language string // that the recipient prefers
	skip     bool   // the mail has no reason any more
}

// Site is the server that sends the mail.
type Site struct{ Name, Host, URL string }

// content returns the content that all mails have. It is in the main language of the server.
func (m *Mailer) content() *Content {
	instance := &m.settings.Load().Instance
	c := &Content{
		Site: Site{instance.Name, m.settings.Host, m.settings.BaseURL}, Time: m.now().UTC(),
		Values: make(map[string]string),
	}
	if len(instance.Languages) > 0 {
		c.language = instance.Languages[0]
	}
	return c
}

// hasLink returns true for mail that visitors can cause, and that goes to addresses that nobody has confirmed.
func hasLink(kind store.MailKind) bool {
	switch kind {
	case store.MailConfirmation, store.MailPasswordReset, store.MailAddressChange, store.MailInvite:
		return true
	}
	return false
}

// prepare returns the recipient and the content of a mail, without what addLink adds. The content is nil if the mail has no reason any
// more.
func (m *Mailer) prepare(ctx context.Context, job store.SendMail) (to string, c *Content, err error) {
	var account *store.Account
	var user *store.User
	if job.AccountID != 0 {
		if account, user, err = m.user(ctx, job.AccountID); user == nil || err != nil {
			return "", nil, err
		}
		if !isDue(job.Mail, user) || job.Mail == store.MailNewReport && !m.managesReports(user) {
			return "", nil, nil
		}
	}
	c = m.content()
	c.language = cmp.Or(job.Values["language"], c.language)
	to = job.To
	if user != nil {
		if c.language, err = m.language(ctx, user); err != nil {
			return "", nil, err
		}
		c.Nickname = account.Nickname
		if to == "" {
			to = user.Email
		}
		if job.Mail == store.MailAddressChange {
			to = user.PendingEmail
			c.Values["address"] = to
		}
	}
	if to == "" {
		return "", nil, nil
	}
	for name, value := range job.Values {
		c.Values[name] = text.OneLine(value)
	}
	if job.Mail == store.MailAccountAction {
		c.Text, c.Values["contact"] = job.Values["text"], m.settings.Load().Instance.Email
	}
	if at, err := time.Parse(time.RFC3339, job.Values["time"]); err == nil {
		c.Time = at
	}
	if path := c.Values["path"]; strings.HasPrefix(path, "/") {
		c.Link = c.Site.URL + path
	}
	if link := c.Values["link"]; strings.HasPrefix(link, c.Site.URL+"/") {
		c.Link = link
	}
	if job.Mail.ToStaff() && job.AboutID != 0 {
		if ok, err := m.addSubject(ctx, job, c); !ok || err != nil {
			return "", nil, err
		}
	}
	return to, c, nil
}

// isDue returns true if a mail still has a reason, given the state of its user.
func isDue(kind store.MailKind, user *store.User) bool {
	if kind == store.MailAccountAction {
		return true // the action may be the deactivation
	}
	if user.DeactivatedAt != nil {
		return false
	}
	switch kind {
	case store.MailConfirmation:
		return user.ConfirmedAt == nil
	case store.MailAwaitsApproval:
		return user.ApprovedAt == nil
	case store.MailAddressChange:
		return user.PendingEmail != ""
	case store.MailNewRegistration, store.MailNewReport, store.MailStorageFull, store.MailBackupFailed, store.MailDoctor:
		return user.CanSignIn() && user.Staff()
	}
	return user.CanSignIn()
}

func (m *Mailer) managesReports(user *store.User) bool {
	return m.settings.Load().Instance.HasPrivilege(user.IsAdmin, user.IsModerator, config.ReportsManage)
}

// addSubject adds what a mail to staff is about. It returns false if that is gone or done.
func (m *Mailer) addSubject(ctx context.Context, job store.SendMail, c *Content) (ok bool, err error) {
	about, err := m.db.Account(ctx, job.AboutID)
	if err != nil {
		return false, errs.IgnoreNotFound(err)
	}
	c.About = "@" + about.Nickname
	if !about.Local() {
		c.About += "@" + about.Domain
	}
	if job.Mail == store.MailNewRegistration {
		user, err := m.db.User(ctx, about.ID)
		if err != nil || user.ApprovedAt != nil {
			return false, errs.IgnoreNotFound(err)
		}
		c.Text = user.RegistrationReason
		return true, nil
	}
	var id store.ReportID
	if err := id.UnmarshalText([]byte(job.Values["report_id"])); err != nil {
		return false, fmt.Errorf("report id: %w", err)
	}
	reports, err := m.db.Reports(ctx, []store.ReportID{id})
	if err != nil || len(reports) == 0 {
		return false, err
	}
	c.Text = reports[0].Comment
	return reports[0].State == store.ReportOpen, nil
}

// addLink adds a link with a new one-time token.
func (m *Mailer) addLink(ctx context.Context, job store.SendMail, c *Content) (err error) {
	var token, path string
	lifetime := social.ConfirmationLifetime
	switch job.Mail {
	default:
		return nil
	case store.MailPasswordReset:
		path, lifetime = "/api/v1/"+m.settings.Load().API.Name+"/password_reset/", m.settings.Load().Accounts.PasswordResetLifetime
		token, err = m.social.StartPasswordReset(ctx, job.AccountID)
	case store.MailConfirmation:
		path = "/api/account/confirm_email/" + job.AccountID.String() + "/"
		token, err = m.social.StartConfirmation(ctx, job.AccountID)
	case store.MailAddressChange:
		path = "/api/account/confirm_email/" + job.AccountID.String() + "/"
		token, err = m.social.StartAddressChange(ctx, job.AccountID)
	}
	if err = errs.IgnoreNotFound(err); err != nil {
		return err
	}
	c.skip = token == ""
	c.Link, c.Expires = c.Site.URL+path+token, m.now().UTC().Add(lifetime)
	return nil
}

// sender returns the sender of all mail: the address of the settings, with the name of the server if they have none.
func sender(c *config.Config) string {
	from := c.MailFrom()
	a, err := netmail.ParseAddress(from)
	if err != nil || a.Name != "" {
		return from
	}
	a.Name = text.OneLine(c.Instance.Name)
	return a.String()
}

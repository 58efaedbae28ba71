package social

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// login is a name to sign in with, in its one canonical spelling. Both parts are empty for a name that cannot be anybody's.
type login struct {
	nickname string // if the name is a nickname or a handle of this server
	email    string // if it can be an e-mail address
}

// parseLogin returns the canonical spelling of a name. Names with characters beyond ASCII are nobody's: the mappings of international
// domains would give each name many spellings.
func (s *Service) parseLogin(name string) (l login) {
	name = strings.TrimSpace(name)
	if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= unicode.MaxASCII }) {
		return l
	}
	if nick, domain, ok := text.SplitHandle(name); ok && (domain == "" || s.Settings.IsOwnHost(domain)) {
		l.nickname = strings.ToLower(nick)
	}
	if at := strings.LastIndexByte(name, '@'); at > 0 && text.NormalizeDomain(name[at+1:]) != "" {
		l.email = text.NormalizeEmail(name)
	}
	return l
}

// LoginKey returns the key under which attempts to sign in with a name are counted if no user has it. All spellings of a name that
// UserByLogin accepts have the same key.
func (s *Service) LoginKey(name string) string {
	l := s.parseLogin(name)
	return cmp.Or(l.nickname, l.email)
}

// UserByLogin returns the user of a nickname or an e-mail address, nil if there is none. A handle of this server stands for its nickname,
// unless it is also an e-mail address.
func (s *Service) UserByLogin(ctx context.Context, name string) (*store.User, error) {
	l := s.parseLogin(name)
	if l.email != "" {
		user, err := s.db.UserByEmail(ctx, l.email)
		if err == nil || !errs.IsNotFound(err) {
			return user, err
		}
	}
	if l.nickname == "" {
		return nil, nil
	}
	account, err := s.db.AccountByName(ctx, l.nickname, "")
	if err == nil {
		var user *store.User
		if user, err = s.db.User(ctx, account.ID); err == nil {
			return user, nil
		}
	}
	return nil, errs.IgnoreNotFound(err)
}

// RequestMail sends a mail to the user with a nickname or an e-mail address, if that user is one who gets mail of this kind:
// MailPasswordReset or MailConfirmation. A job looks the user up, so that the call takes as long for a name that does not exist.
func (s *Service) RequestMail(ctx context.Context, kind store.MailKind, login string) error {
	login = strings.TrimSpace(login)
	key := s.LoginKey(login)
	if key == "" || !s.Settings.Load().Mail.Enabled {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, s.db.Now(), "request mail:"+string(kind)+":"+key, store.RequestMail{Mail: kind, Login: login})
	})
}

// requestMail is the job of RequestMail.
func (s *Service) requestMail(ctx context.Context, m store.RequestMail) error {
	user, err := s.UserByLogin(ctx, m.Login)
	if user == nil || err != nil {
		return err
	}
	if m.Mail == store.MailConfirmation {
		return s.ResendConfirmation(ctx, user.AccountID)
	}
	return s.RequestPasswordReset(ctx, user.AccountID)
}

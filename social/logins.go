package social

import (
	"context"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// UserByLogin returns the user of a nickname or an e-mail address, nil if there is none. A handle of this server stands for its nickname,
// unless it is also an e-mail address.
func (s *Service) UserByLogin(ctx context.Context, name string) (*store.User, error) {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		user, err := s.db.UserByEmail(ctx, name)
		if err == nil || !errs.IsNotFound(err) {
			return user, err
		}
	}
	nick, domain, ok := text.SplitHandle(name)
	if !ok || domain != "" && domain != s.Domain {
		return nil, nil
	}
	account, err := s.db.AccountByName(ctx, nick, "")
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
	if _, _, ok := text.SplitHandle(login); !s.Settings().MailEnabled || !ok && !text.ValidEmail(login) {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, s.db.Now(), "request mail:"+string(kind)+":"+text.FoldKey(login), store.RequestMail{Mail: kind, Login: login})
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

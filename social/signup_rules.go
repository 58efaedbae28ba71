package social

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"svc/internal/captcha"
	"svc/internal/errs"
	"svc/internal/password"
	"svc/internal/text"
	"svc/store"
)

// signupReader is what validation reads.
type signupReader interface {
	HasAdmin(context.Context) (bool, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	IsDeadNickname(ctx context.Context, nickname string) (bool, error)
	UserByEmail(ctx context.Context, email string) (*store.User, error)
	InviteByToken(ctx context.Context, token string) (*store.Invite, error)
	CaptchaUsed(ctx context.Context, hash []byte) (bool, error)
	emailBlockReader
}

// entryPass is what a registration uses up.
type entryPass struct {
	invite  *store.Invite   // nil: none needed
	captcha *captcha.Solved // nil: none needed
}

// spend uses up the invite and the captcha.
func (p entryPass) spend(ctx context.Context, tx *store.Tx) error {
	if p.invite != nil {
		p.invite.Spend()
		if err := tx.SaveInvite(ctx, p.invite); err != nil {
			return err
		}
	}
	if p.captcha != nil {
		return tx.UseCaptcha(ctx, p.captcha.Hash, p.captcha.Expiry)
	}
	return nil
}

// checkRegistration returns all validation errors (extension API 6.2), or what the registration uses up.
func (s *Service) checkRegistration(ctx context.Context, r signupReader, g *Registration) (pass entryPass, err error) {
	if g.FirstAdmin {
		if has, err := r.HasAdmin(ctx); err != nil || has {
			return pass, cmp.Or(err, error(ErrHasAdmin))
		}
	}
	var fieldErrors FieldErrors
	if g.Visitor != nil {
		if pass, err = s.checkVisitor(ctx, r, g.Visitor, &fieldErrors); err != nil {
			return pass, err
		}
	}
	if err := s.checkFieldsOf(ctx, r, g, &fieldErrors); err != nil {
		return pass, err
	}
	if len(fieldErrors) > 0 {
		return pass, fieldErrors
	}
	return pass, nil
}

// Captcha returns what makes and checks captchas, nil if registrations need none.
func (s *Service) Captcha() *captcha.Service {
	if !s.Settings.Load().Captcha.Enabled {
		return nil
	}
	return s.Captchas
}

// checkVisitor checks invite, captcha and agreement. A missing invite is an error of its own.
func (s *Service) checkVisitor(ctx context.Context, r signupReader, v *Visitor, fieldErrors *FieldErrors) (pass entryPass, err error) {
	if !s.Settings.Load().Instance.RegistrationsOpen {
		if pass.invite, err = s.usableInvite(ctx, r, v.Invite); err != nil {
			return pass, err
		}
	}
	if captchas := s.Captcha(); captchas != nil && !v.Trusted {
		pass.captcha, err = captchas.Check(v.Captcha, func(hash []byte) (bool, error) { return r.CaptchaUsed(ctx, hash) })
		var refused captcha.Error
		switch {
		case errors.As(err, &refused):
			fieldErrors.Add("captcha", "ERR_INVALID", "%s", refused)
		case err != nil:
			return pass, err
		}
	}
	if !v.Agreement {
		fieldErrors.Add("agreement", "ERR_ACCEPTED", "must be accepted")
	}
	return pass, nil
}

func (s *Service) checkFieldsOf(ctx context.Context, r signupReader, g *Registration, fieldErrors *FieldErrors) error {
	if err := s.checkNickname(ctx, r, g.Nickname, fieldErrors); err != nil {
		return err
	}
	if err := s.checkEmail(ctx, r, g, fieldErrors); err != nil {
		return err
	}
	var problem *password.Problem
	if errors.As(s.CheckPassword(g.Password, g.Nickname, g.Email), &problem) {
		fieldErrors.Add("password", problem.Code, "%v", problem)
	}
	if g.Visitor != nil && g.Visitor.PasswordAgain != nil && *g.Visitor.PasswordAgain != g.Password {
		fieldErrors.Add("password_confirmation", "ERR_INVALID", "is not the same as the first")
	}
	limits := s.Settings.Load().Accounts
	for _, f := range []struct {
		name, text string
		most       int
	}{
		{"name", g.Name, limits.NameLength},
		{"bio", g.Bio, limits.BioLength},
		{"registration_reason", g.Reason, limits.RegistrationReasonLength},
	} {
		if text.Length(f.text, "") > f.most {
			fieldErrors.Add(f.name, "ERR_TOO_LONG", "should be at most %s", text.Count(f.most, "character"))
		}
	}
	s.checkBirthday(g, fieldErrors)
	return nil
}

func (s *Service) checkNickname(ctx context.Context, r signupReader, nick string, fieldErrors *FieldErrors) error {
	asID := store.ParseID[store.AccountID](nick) // nicknames and ids share parameters, so a nickname must not look like an id
	switch c := s.Settings.Load(); {
	case nick == "":
		fieldErrors.Add("nickname", "ERR_BLANK", "can't be blank")
	case len(nick) > text.MaxNickname:
		fieldErrors.Add("nickname", "ERR_TOO_LONG", "should be at most %s", text.Count(text.MaxNickname, "character"))
	case text.IsReserved(nick, slices.Concat(text.ReservedNicknames(), c.Accounts.RestrictedNicknames, []string{c.API.Name})) || asID != 0:
		fieldErrors.Add("nickname", "ERR_RESERVED", "Invalid nickname")
	case !text.ValidNickname(nick, c.Accounts.ExtendedNicknameFormat):
		fieldErrors.Add("nickname", "ERR_INVALID", "has invalid format")
	default:
		_, err := r.AccountByName(ctx, nick, "") // deleted accounts keep their nicknames
		if err == nil {
			fieldErrors.Add("nickname", "ERR_TAKEN", "has already been taken")
		}
		if !errs.IsNotFound(err) {
			return err
		}
		dead, err := r.IsDeadNickname(ctx, nick)
		if dead {
			fieldErrors.Add("nickname", "ERR_TAKEN", "has already been taken")
		}
		return err
	}
	return nil
}

func (s *Service) checkEmail(ctx context.Context, r signupReader, g *Registration, fieldErrors *FieldErrors) error {
	switch {
	case g.Email == "":
		if !g.Confirmed {
			fieldErrors.Add("email", "ERR_BLANK", "can't be blank")
		}
	case !text.ValidEmail(g.Email):
		fieldErrors.Add("email", "ERR_INVALID", "has invalid format")
	default:
		if g.Visitor != nil {
			blocked, needsApproval, err := s.emailBlocked(ctx, r, g.Email)
			if err != nil {
				return err
			}
			if blocked {
				fieldErrors.Add("email", "ERR_BLOCKED", "Invalid email")
				return nil
			}
			g.Approved = g.Approved && !needsApproval
		}
		_, err := r.UserByEmail(ctx, g.Email)
		if err == nil {
			fieldErrors.Add("email", "ERR_TAKEN", "has already been taken")
		}
		return errs.IgnoreNotFound(err)
	}
	return nil
}

// blacklisted returns true if the domain of an e-mail address, or a domain above it, must not be used.
func (s *Service) blacklisted(email string) bool {
	domain := text.NormalizeDomain(email[strings.LastIndexByte(email, '@')+1:])
	return slices.ContainsFunc(s.Settings.Load().Accounts.EmailBlacklist, func(blocked string) bool {
		blocked = text.NormalizeDomain(blocked)
		return domain == blocked || strings.HasSuffix(domain, "."+blocked)
	})
}

// checkBirthday checks the birthday, which only visitors must give.
func (s *Service) checkBirthday(g *Registration, fieldErrors *FieldErrors) {
	switch {
	case g.Birthday == "":
		if s.Settings.Load().Accounts.BirthdayRequired && g.Visitor != nil {
			fieldErrors.Add("birthday", "ERR_BLANK", "can't be blank")
		}
	case !s.isBirthday(g.Birthday):
		fieldErrors.Add("birthday", "ERR_INVALID", "has invalid format")
	case !s.oldEnough(g.Birthday):
		fieldErrors.Add("birthday", "ERR_BELOW_LIMIT", "must be at least %d years ago", s.Settings.Load().Accounts.BirthdayMinAge)
	}
}

// oldEnough returns true if a user with this birthday has the minimum age. A day begins in the easternmost time zone.
func (s *Service) oldEnough(birthday string) bool {
	day, err := time.Parse(time.DateOnly, birthday)
	return err == nil && !day.AddDate(s.Settings.Load().Accounts.BirthdayMinAge, 0, 0).After(s.db.Now().UTC().Add(14*time.Hour))
}

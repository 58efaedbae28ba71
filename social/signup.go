package social

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"svc/internal/errs"
	"svc/internal/password"
	"svc/internal/text"
	"svc/store"
)

// Registration is the data of a new local account.
type Registration struct {
	Nickname   string
	Email      string // may be empty if Confirmed
	Password   string
	Name       string // shown; empty: the nickname
	Bio        string // plain text
	Reason     string // for the staff who approve it
	Locale     string // language of the user
	Admin      bool
	Moderator  bool
	Confirmed  bool // the e-mail address needs no confirmation
	Approved   bool // the account needs no approval
	FirstAdmin bool // only if nobody administers the server yet
}

// ErrHasAdmin is returned for a FirstAdmin registration if the server has an admin.
var ErrHasAdmin = errs.Forbidden("This server has an administrator already")

// FieldError is one validation error of a registration.
type FieldError struct {
	Field   string // nickname, email, password, name, bio, registration_reason
	Code    string // of the client API, such as ERR_TAKEN
	Message string // follows the name of the field
}

// FieldErrors are all validation errors of a registration.
type FieldErrors []FieldError

// Error returns all messages.
func (e FieldErrors) Error() string {
	var texts []string
	for _, f := range e {
		texts = append(texts, f.Field+" "+f.Message)
	}
	return strings.Join(texts, "; ")
}

// Add adds an error.
func (e *FieldErrors) Add(field, code, format string, args ...any) {
	*e = append(*e, FieldError{field, code, fmt.Sprintf(format, args...)})
}

// SignUp creates a local account with its user, and sends the mail about what the account waits for. Validation errors are returned as FieldErrors.
func (s *Service) SignUp(ctx context.Context, g Registration) (*store.Account, *store.User, error) {
	g.Nickname, g.Email, g.Name = strings.TrimSpace(g.Nickname), strings.TrimSpace(g.Email), oneLine(g.Name)
	if err := s.checkRegistration(ctx, s.db, &g); err != nil { // before hashing, which is expensive
		return nil, nil, err
	}
	hash, err := s.Passwords.Hash(ctx, g.Password)
	if err != nil {
		return nil, nil, err
	}
	var account *store.Account
	var user *store.User
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if err := s.checkRegistration(ctx, tx, &g); err != nil {
			return err
		}
		if account, err = s.newAccount(ctx, tx, &g); err != nil {
			return err
		}
		if err := tx.AddAccount(ctx, account); err != nil {
			return err
		}
		user = s.newUser(account, &g, hash)
		if err := tx.AddUser(ctx, user); err != nil {
			return err
		}
		return s.sendStateMail(ctx, tx, user)
	})
	if err != nil {
		return nil, nil, err
	}
	return account, user, nil
}

// signupReader is what validation reads.
type signupReader interface {
	HasAdmin(context.Context) (bool, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	UserByEmail(ctx context.Context, email string) (*store.User, error)
}

// passwordCodes are the codes of the client API for the errors of password.Check.
var passwordCodes = map[error]string{
	password.ErrBlank: "ERR_BLANK", password.ErrTooShort: "ERR_TOO_SHORT", password.ErrTooLong: "ERR_TOO_LONG",
}

// checkRegistration returns all validation errors (extension API 6.2).
func (s *Service) checkRegistration(ctx context.Context, r signupReader, g *Registration) error {
	if g.FirstAdmin {
		if has, err := r.HasAdmin(ctx); err != nil || has {
			return cmp.Or(err, error(ErrHasAdmin))
		}
	}
	var fieldErrors FieldErrors
	if err := s.checkNickname(ctx, r, g.Nickname, &fieldErrors); err != nil {
		return err
	}
	if err := checkEmail(ctx, r, g, &fieldErrors); err != nil {
		return err
	}
	if err := password.Check(g.Password); err != nil {
		fieldErrors.Add("password", passwordCodes[err], "%v", err)
	}
	for _, f := range []struct {
		name, text string
		most       int
	}{
		{"name", g.Name, s.MaxName},
		{"bio", g.Bio, s.MaxBio},
		{"registration_reason", g.Reason, s.MaxRegistrationReason},
	} {
		if text.Length(f.text, "") > f.most {
			fieldErrors.Add(f.name, "ERR_TOO_LONG", "should be at most %d character(s)", f.most)
		}
	}
	if len(fieldErrors) > 0 {
		return fieldErrors
	}
	return nil
}

func (s *Service) checkNickname(ctx context.Context, r signupReader, nick string, fieldErrors *FieldErrors) error {
	asID := store.ParseID[store.AccountID](nick) // nicknames and ids share parameters, so a nickname must not look like an id
	switch {
	case nick == "":
		fieldErrors.Add("nickname", "ERR_BLANK", "can't be blank")
	case len(nick) > text.MaxNickname:
		fieldErrors.Add("nickname", "ERR_TOO_LONG", "should be at most %d character(s)", text.MaxNickname)
	case text.IsReserved(nick, s.ReservedNicknames) || asID != 0:
		fieldErrors.Add("nickname", "ERR_RESERVED", "Invalid nickname")
	case !text.ValidNickname(nick, s.ExtendedNicknames):
		fieldErrors.Add("nickname", "ERR_INVALID", "has invalid format")
	default:
		_, err := r.AccountByName(ctx, nick, "") // deleted accounts keep their nicknames
		if err == nil {
			fieldErrors.Add("nickname", "ERR_TAKEN", "has already been taken")
		}
		return errs.IgnoreNotFound(err)
	}
	return nil
}

func checkEmail(ctx context.Context, r signupReader, g *Registration, fieldErrors *FieldErrors) error {
	switch {
	case g.Email == "":
		if !g.Confirmed {
			fieldErrors.Add("email", "ERR_BLANK", "can't be blank")
		}
	case !text.ValidEmail(g.Email):
		fieldErrors.Add("email", "ERR_INVALID", "has invalid format")
	default:
		_, err := r.UserByEmail(ctx, g.Email)
		if err == nil {
			fieldErrors.Add("email", "ERR_TAKEN", "has already been taken")
		}
		return errs.IgnoreNotFound(err)
	}
	return nil
}

// newAccount makes the row of a new account. Its URI does not contain the nickname.
func (s *Service) newAccount(ctx context.Context, tx *store.Tx, g *Registration) (*store.Account, error) {
	bio := text.ParseBio(g.Bio)
	mentioned, _, err := s.resolveHandles(ctx, tx, bio)
	if err != nil {
		return nil, err
	}
	id, chats := tx.NewAccountID(), true
	return &store.Account{
		ID:                  id,
		Nickname:            g.Nickname,
		URI:                 s.BaseURL + "/users/" + id.String(),
		URL:                 s.BaseURL + "/@" + g.Nickname,
		ActorType:           "Person",
		DisplayName:         cmp.Or(g.Name, g.Nickname),
		Note:                bio.Render(s.BaseURL, mentioned).HTML,
		HideFavorites:       true,
		AcceptsChatMessages: &chats,
		Unavailable:         !g.Confirmed || !g.Approved,
	}, nil
}

// newUser makes the row of a new user.
func (s *Service) newUser(a *store.Account, g *Registration, hash string) *store.User {
	now := store.At(s.db.Now())
	u := &store.User{
		AccountID:          a.ID,
		Email:              g.Email,
		PasswordHash:       hash,
		IsAdmin:            g.Admin,
		IsModerator:        g.Moderator,
		RegistrationReason: strings.TrimSpace(g.Reason),
		Locale:             text.Language(g.Locale),
		Note:               strings.TrimSpace(g.Bio),
		ShowRole:           true,
		AllowFollowingMove: true,
	}
	if g.Confirmed {
		u.ConfirmedAt = &now
	}
	if g.Approved {
		u.ApprovedAt = &now
	}
	return u
}

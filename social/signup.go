package social

import (
	"context"
	"fmt"
	"strings"

	"svc/internal/errs"
	"svc/internal/password"
	"svc/internal/text"
	"svc/store"
)

// Registration is an account that somebody wants to have here.
type Registration struct {
	Nickname   string
	Email      string // may be empty, unless it has to be confirmed
	Password   string
	Name       string // shown; empty: the nickname
	Bio        string // plain text
	Reason     string // for those who approve it
	Locale     string // language of the person
	Admin      bool
	Moderator  bool
	Confirmed  bool // the address needs no confirmation
	Approved   bool // the account needs no approval
	FirstAdmin bool // only if nobody administers the server yet
}

// ErrHasAdmin is what a First registration gets once somebody administers the server.
var ErrHasAdmin = errs.Forbidden("This server has an administrator already")

// FieldError is one thing that is wrong with a registration.
type FieldError struct {
	Field   string // nickname, email, password, name, bio, registration_reason
	Code    string // in the words of the client API: ERR_TAKEN
	Message string // reads on after the name of the field
}

// FieldErrors are all the things that are wrong with a registration.
type FieldErrors []FieldError

// Error returns a sentence on each.
func (e FieldErrors) Error() string {
	var texts []string
	for _, f := range e {
		texts = append(texts, f.Field+" "+f.Message)
	}
	return strings.Join(texts, "; ")
}

// Add notes a fault.
func (e *FieldErrors) Add(field, code, format string, args ...any) {
	*e = append(*e, FieldError{field, code, fmt.Sprintf(format, args...)})
}

// SignUp makes an account with all that a local one needs. What is wrong with the registration is returned as FieldErrors.
func (s *Service) SignUp(ctx context.Context, g Registration) (*store.Account, *store.User, error) {
	g.Nickname, g.Email, g.Name = strings.TrimSpace(g.Nickname), strings.TrimSpace(g.Email), oneLine(g.Name)
	if err := s.checkRegistration(ctx, s.db, &g); err != nil { // before the work of hashing the password
		return nil, nil, err
	}
	hash, err := s.Passwords.Hash(ctx, g.Password)
	if err != nil {
		return nil, nil, err
	}
	var account *store.Account
	var user *store.User
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := s.checkRegistration(ctx, tx, &g); err != nil {
			return err
		}
		var err error
		if account, err = s.newAccount(ctx, tx, &g); err != nil {
			return err
		}
		if err := tx.AddAccount(ctx, account); err != nil {
			return err
		}
		user = s.newUser(account, &g, hash)
		return tx.AddUser(ctx, user)
	})
	if err != nil {
		return nil, nil, err
	}
	return account, user, nil
}

// signupReader is where it is looked up whether a name is taken.
type signupReader interface {
	HasAdmin(context.Context) (bool, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	UserByEmail(ctx context.Context, email string) (*store.User, error)
}

// checkRegistration finds all that is wrong (extension API 6.2).
func (s *Service) checkRegistration(ctx context.Context, r signupReader, g *Registration) error {
	if g.FirstAdmin {
		if has, err := r.HasAdmin(ctx); err != nil || has {
			if err == nil {
				err = ErrHasAdmin
			}
			return err
		}
	}
	var faults FieldErrors
	if err := s.checkNickname(ctx, r, g.Nickname, &faults); err != nil {
		return err
	}
	if err := checkEmail(ctx, r, g, &faults); err != nil {
		return err
	}
	switch password.Check(g.Password) {
	case password.ErrBlank:
		faults.Add("password", "ERR_BLANK", "%v", password.ErrBlank)
	case password.ErrTooLong:
		faults.Add("password", "ERR_TOO_LONG", "%v", password.ErrTooLong)
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
			faults.Add(f.name, "ERR_TOO_LONG", "should be at most %d character(s)", f.most)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

func (s *Service) checkNickname(ctx context.Context, r signupReader, nick string, faults *FieldErrors) error {
	var shadowed store.AccountID
	shadowed.UnmarshalText([]byte(nick)) // a nickname may stand in place of an id, so it must not look like one
	switch {
	case nick == "":
		faults.Add("nickname", "ERR_BLANK", "can't be blank")
	case len(nick) > text.MaxNickname:
		faults.Add("nickname", "ERR_TOO_LONG", "should be at most %d character(s)", text.MaxNickname)
	case text.IsReserved(nick, s.ReservedNicknames) || shadowed != 0:
		faults.Add("nickname", "ERR_RESERVED", "Invalid nickname")
	case !text.ValidNickname(nick, s.ExtendedNicknames):
		faults.Add("nickname", "ERR_INVALID", "has invalid format")
	default:
		_, err := r.AccountByName(ctx, nick, "") // deleted accounts keep theirs
		if err == nil {
			faults.Add("nickname", "ERR_TAKEN", "has already been taken")
		}
		return ignoreNotFound(err)
	}
	return nil
}

func checkEmail(ctx context.Context, r signupReader, g *Registration, faults *FieldErrors) error {
	switch {
	case g.Email == "":
		if !g.Confirmed {
			faults.Add("email", "ERR_BLANK", "can't be blank")
		}
	case !text.ValidEmail(g.Email):
		faults.Add("email", "ERR_INVALID", "has invalid format")
	default:
		_, err := r.UserByEmail(ctx, g.Email)
		if err == nil {
			faults.Add("email", "ERR_TAKEN", "has already been taken")
		}
		return ignoreNotFound(err)
	}
	return nil
}

// newAccount makes the public side of a new account. Its URI does not contain the nickname.
func (s *Service) newAccount(ctx context.Context, tx *store.Tx, g *Registration) (*store.Account, error) {
	bio := text.ParseBio(g.Bio)
	mentioned, _, err := s.resolveHandles(ctx, tx, bio)
	if err != nil {
		return nil, err
	}
	id, chats := tx.NewAccountID(), true
	a := &store.Account{
		ID:                  id,
		Nickname:            g.Nickname,
		URI:                 s.BaseURL + "/users/" + id.String(),
		URL:                 s.BaseURL + "/@" + g.Nickname,
		ActorType:           "Person",
		DisplayName:         g.Name,
		Note:                bio.Render(s.BaseURL, mentioned).HTML,
		HideFavorites:       true,
		AcceptsChatMessages: &chats,
		Unavailable:         !g.Confirmed || !g.Approved,
	}
	if a.DisplayName == "" {
		a.DisplayName = g.Nickname
	}
	return a, nil
}

// newUser makes the private side of a new account.
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

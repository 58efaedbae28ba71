package social

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"

	"svc/internal/captcha"
	"svc/internal/errs"
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
	Birthday   string // 2000-12-31; "": none
	Admin      bool
	Moderator  bool
	Confirmed  bool // the e-mail address needs no confirmation
	Approved   bool // the account needs no approval
	FirstAdmin bool // only if nobody administers the server yet

	// Visitor is set if a visitor registers. Then the settings say whether confirmation and approval are needed. Staff create accounts
	// without it.
	Visitor *Visitor
}

// Visitor is what only a visitor has to give.
type Visitor struct {
	Agreement bool             // to the rules of the server
	Invite    string           // the token of an invite, while registration is closed
	Captcha   captcha.Solution // if captchas are required
	Trusted   bool             // the app is trusted, so no captcha is needed
	Address   netip.Addr       // of the client; not valid: unknown, or shared by many clients

	PasswordAgain *string // nil: it was not asked for
}

// ErrHasAdmin is returned for a FirstAdmin registration if the server has an admin.
var ErrHasAdmin = errs.Forbidden("This server has an administrator already")

// FieldError is one validation error of a registration.
type FieldError struct {
	Field   string // nickname, email, password, name, bio, registration_reason, birthday, captcha, agreement
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

// SignUp creates a local account with its user, and sends the mail about what the account waits for. Validation errors are returned as
// FieldErrors. A refused registration uses up neither its invite nor its captcha.
func (s *Service) SignUp(ctx context.Context, g Registration) (*store.Account, *store.User, error) {
	hash, err := s.PrepareSignUp(ctx, &g)
	if err != nil {
		return nil, nil, err
	}
	var account *store.Account
	var user *store.User
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		account, user, err = s.SignUpIn(ctx, tx, &g, hash)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return account, user, nil
}

// CheckSignUp normalizes and validates a registration.
func (s *Service) CheckSignUp(ctx context.Context, g *Registration) error {
	g.Nickname, g.Email, g.Name = strings.TrimSpace(g.Nickname), strings.TrimSpace(g.Email), text.OneLine(g.Name)
	g.Birthday = strings.TrimSpace(g.Birthday)
	if g.Visitor != nil {
		needsApproval, err := s.checkNetwork(ctx, g.Visitor.Address)
		if err != nil {
			return err
		}
		c := s.Settings.Load().Instance
		g.Confirmed, g.Approved = !c.AccountActivationRequired, !c.AccountApprovalRequired && !needsApproval
	}
	_, err := s.checkRegistration(ctx, s.db, g)
	return err
}

// PrepareSignUp is CheckSignUp. It returns the hash of the password for SignUpIn.
func (s *Service) PrepareSignUp(ctx context.Context, g *Registration) (hash string, err error) {
	if err := s.CheckSignUp(ctx, g); err != nil { // before hashing, which is expensive
		return "", err
	}
	return s.Passwords.Hash(ctx, g.Password)
}

// SignUpIn is SignUp in a transaction, after PrepareSignUp.
func (s *Service) SignUpIn(ctx context.Context, tx *store.Tx, g *Registration, hash string) (*store.Account, *store.User, error) {
	pass, err := s.checkRegistration(ctx, tx, g)
	if err != nil {
		return nil, nil, err
	}
	if err := pass.spend(ctx, tx); err != nil {
		return nil, nil, err
	}
	account, err := s.newAccount(ctx, tx, g)
	if err != nil {
		return nil, nil, err
	}
	if err := tx.AddAccount(ctx, account); err != nil {
		return nil, nil, err
	}
	user := s.newUser(account, g, hash)
	if err := s.checkProfileSize(account, user); err != nil {
		return nil, nil, err
	}
	if err := tx.AddUser(ctx, user); err != nil {
		return nil, nil, err
	}
	if err := s.sendStateMail(ctx, tx, user); err != nil {
		return nil, nil, err
	}
	return account, user, s.enqueueWelcome(ctx, tx, user)
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
		URI:                 store.NewActorURI(s.Settings.BaseURL, id),
		URL:                 s.Settings.BaseURL + "/@" + g.Nickname,
		ActorType:           "Person",
		DisplayName:         cmp.Or(g.Name, g.Nickname),
		Note:                bio.Render(s.Settings.BaseURL, mentioned).HTML,
		Birthday:            g.Birthday,
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

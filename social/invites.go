package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// Errors of registrations while registration is closed (extension API 6.2).
var (
	ErrInviteExpired = errs.BadRequest("Expired token") // missing, used up, revoked or overdue
	ErrInviteUnknown = errs.BadRequest("Invalid token")
)

// usableInvite returns the invite with a token if it permits a registration.
func (s *Service) usableInvite(ctx context.Context, r interface {
	InviteByToken(ctx context.Context, token string) (*store.Invite, error)
}, token string) (*store.Invite, error) {
	switch {
	case token == "":
		return nil, ErrInviteExpired
	case !s.Settings.Load().Instance.InvitesEnabled:
		return nil, ErrInviteUnknown
	}
	invite, err := r.InviteByToken(ctx, token)
	switch {
	case errs.IsNotFound(err):
		return nil, ErrInviteUnknown
	case err == nil && !invite.Usable(s.db.Now()):
		return nil, ErrInviteExpired
	}
	return invite, err
}

// CheckRegistrationOpen returns an error if a visitor with this invite token cannot register: ErrInviteExpired or ErrInviteUnknown.
func (s *Service) CheckRegistrationOpen(ctx context.Context, token string) error {
	if s.Settings.Load().Instance.RegistrationsOpen {
		return nil
	}
	_, err := s.usableInvite(ctx, s.db, token)
	return err
}

package oauth

import (
	"context"
	"errors"
	"net/http"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// closureRoutes delete and disable the account of a user.
func (s *Service) closureRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/delete_account":  {rest.User("write:accounts").Deletes().Answers("Done|Error"), s.deleteAccount},
		"POST /api/v1/svc/disable_account": {rest.User("write:accounts").Deletes().Answers("Done|Error"), s.disableAccount},
	}
}

// deleteAccount deletes the viewer's account permanently.
func (s *Service) deleteAccount(r *rest.Request) (any, error) {
	return s.closeAccount(r, s.Social.DeleteAccount)
}

// disableAccount deactivates the viewer's account until staff activate it.
func (s *Service) disableAccount(r *rest.Request) (any, error) {
	return s.closeAccount(r, func(ctx context.Context, id store.AccountID) error {
		_, err := s.Social.Deactivate(ctx, id)
		return err
	})
}

// closeAccount checks the viewer's password and closes the account. Failures have status 200 (extension API 7).
func (s *Service) closeAccount(r *rest.Request, operation func(context.Context, store.AccountID) error) (any, error) {
	var p struct {
		Password string `param:"password"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ok, err := s.CheckPassword(r, p.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return entity.Failure("Invalid password."), nil
	}
	err = operation(r.Context(), r.Viewer.ID)
	var refusal *errs.Error
	if errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError {
		return entity.Failure(refusal.Message), nil
	}
	if err != nil {
		return nil, err
	}
	if r.SessionCookie() != "" {
		clearSessionCookie(r)
	}
	return entity.Success, nil
}

package oauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"svc/internal/captcha"
	"svc/internal/errs"
	"svc/server/rest"
)

// captchaRoutes make captchas for registrations.
func (s *Service) captchaRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/captcha": {rest.Anonymous.Answers("object"), s.showCaptcha},
	}
}

// noCaptcha is the answer if registrations need no captcha.
var noCaptcha = struct {
	Type string `json:"type"`
}{"none"}

// showCaptcha returns a new captcha.
func (s *Service) showCaptcha(r *rest.Request) (any, error) {
	r.ResponseHeader().Set("Cache-Control", "no-store")
	c, err := s.newCaptcha(r.Context())
	if c == nil && err == nil {
		return noCaptcha, nil
	}
	return c, err
}

// newCaptcha returns a new captcha, nil if registrations need none.
func (s *Service) newCaptcha(ctx context.Context) (*captcha.Captcha, error) {
	captchas := s.Social.Captcha()
	if captchas == nil {
		return nil, nil
	}
	c, err := captchas.Make(ctx)
	if errors.Is(err, captcha.ErrUnavailable) {
		err = &errs.Error{Status: http.StatusServiceUnavailable, Message: string(captcha.ErrUnavailable), RetryAfter: time.Minute, Err: err}
	}
	return c, err
}

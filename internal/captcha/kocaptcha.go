package captcha

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/fetch"
)

var (
	md5Pattern   = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	tokenPattern = regexp.MustCompile(`^[!-~]{1,200}$`)
)

const defaultTimeout = 5 * time.Second

// fetchKocaptcha returns a captcha of the kocaptcha service at endpoint.
func (s *Service) fetchKocaptcha(ctx context.Context, endpoint string) (*Captcha, error) {
	response, err := s.Fetch.Get(ctx, strings.TrimSuffix(endpoint, "/")+"/new", fetch.Limits{
		MaxBody: 10_000, Timeout: cmp.Or(s.Timeout, defaultTimeout), MaxRedirects: 1, Accept: "application/json",
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var made struct {
		URL   string `json:"url"`
		Token string `json:"token"`
		MD5   string `json:"md5"`
	}
	if err := json.Unmarshal(response.Body, &made); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	picture, ok := resolve(endpoint, made.URL)
	if !ok || !md5Pattern.MatchString(made.MD5) || !tokenPattern.MatchString(made.Token) {
		return nil, fmt.Errorf("%w: %s answers without url, token or md5", ErrUnavailable, endpoint)
	}
	c := &Captcha{Type: config.CaptchaKocaptcha, Token: made.Token, URL: picture}
	return c, s.seal(c, answer{MD5: strings.ToLower(made.MD5)})
}

// resolve returns the URL of a picture, which may be relative to the endpoint. A picture of another host is refused, because the
// Content-Security-Policy of the sign-up page names the host of the endpoint only.
func resolve(endpoint, path string) (string, bool) {
	base, err := url.Parse(strings.TrimSuffix(endpoint, "/") + "/")
	if err != nil || path == "" {
		return "", false
	}
	u, err := url.Parse(path)
	if err != nil {
		return "", false
	}
	if !u.IsAbs() && u.Host == "" {
		query := u.RawQuery
		u = base.JoinPath(u.Path)
		u.RawQuery = query
	}
	return u.String(), u.Scheme == base.Scheme && u.Host == base.Host
}

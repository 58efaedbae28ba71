// Package oauth signs users and apps in: registration of apps and of accounts, captchas, the authorize and token endpoints, second
// factors, passwords, and the sessions of browsers on the server's own pages. It is the authenticator of server/rest.
//
// Two rules. A token is stored as a hash, and is issued in the transaction that checks that password and second factor are still
// those that were verified. A cached identity is invalidated before the change of its account, or the revocation of its token, is
// answered.
//
// Limits: 5000 tokens, 16 MiB of accounts and 1000 verified passwords are cached; login failures of 50 000 accounts and networks
// counted, and 256 attempts slowed.
package oauth

import (
	"time"

	"svc/internal/config"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// Config is what a Service needs.
type Config struct {
	Settings *config.Live
	DB       *store.DB
	Social   *social.Service
	Keys     *keys.Keys
	Pages    *web.Pages
	Now      func() time.Time
}

// Service signs users and apps in, and authenticates requests.
type Service struct {
	Config
	passwords     *password.Hasher
	identities    *identityCache
	passwordCache *passwordCache
	loginLimits   *loginLimits
}

// New returns a Service. It subscribes to the events of the database that invalidate identities.
func New(c Config) *Service {
	return &Service{
		Config:        c,
		passwords:     c.Social.Passwords,
		identities:    newIdentityCache(c.DB),
		passwordCache: newPasswordCache(),
		loginLimits:   newLoginLimits(c.Settings.Load().RateLimit, c.Social, c.Now),
	}
}

// Routes returns the route tables of this package.
func (s *Service) Routes() []rest.Routes {
	return []rest.Routes{
		s.appRoutes(), s.oauthRoutes(), s.challengeRoutes(), s.registrationRoutes(), s.captchaRoutes(), s.signUpRoutes(),
		s.passwordRoutes(), s.addressRoutes(), s.closureRoutes(), s.mfaRoutes(),
	}
}

package pages

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"net/http"

	"github.com/pquerna/otp"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) securityRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/settings/two_factor":          {rest.SignedIn, h.page((*page).twoFactor)},
		"POST /web/settings/two_factor/setup":   {rest.SignedIn, h.page((*page).setUpTwoFactor)},
		"POST /web/settings/two_factor/confirm": {rest.SignedIn, h.page((*page).confirmTwoFactor)},
		"POST /web/settings/two_factor/disable": {rest.SignedIn, h.page((*page).disableTwoFactor)},
		"POST /web/settings/two_factor/codes":   {rest.SignedIn, h.page((*page).newBackupCodes)},
		"GET /web/settings/sessions":            {rest.SignedIn, h.page((*page).sessions)},
	}
}

const (
	twoFactorPath = "/web/settings/two_factor"
	mfaPath       = "/api/v1/svc/accounts/mfa"
)

// twoFactor shows whether signing in needs a code of an authenticator app.
func (p *page) twoFactor() (any, error) { return p.twoFactorPage(http.StatusOK, web.TwoFactor{}) }

func (p *page) twoFactorPage(status int, content web.TwoFactor) (any, error) {
	var state struct {
		Enabled bool `json:"enabled"`
	}
	if err := p.get(mfaPath, nil, &state); err != nil {
		return nil, err
	}
	content.Enabled = state.Enabled || content.Codes != nil // the user of the request is the one from before
	return p.show(status, content)
}

// setUpTwoFactor shows a new secret as text and as a QR code.
func (p *page) setUpTwoFactor() (any, error) {
	var secret struct {
		URI string `json:"provisioning_uri"`
	}
	if err := p.get(mfaPath+"/setup/totp", nil, &secret); err != nil {
		return nil, err
	}
	return p.secretPage(http.StatusOK, secret.URI, "")
}

// secretPage shows the secret of an otpauth: URI.
func (p *page) secretPage(status int, uri, message string) (any, error) {
	key, err := otp.NewKeyFromURL(uri)
	if err != nil || key.Secret() == "" {
		return nil, errs.BadRequest("The form has no secret. Start again.")
	}
	picture, err := key.Image(qrSize, qrSize)
	if err != nil {
		return nil, errs.BadRequest("The form has no valid secret. Start again.")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return nil, fmt.Errorf("page: QR code: %w", err)
	}
	return p.twoFactorPage(status, web.TwoFactor{
		Error: message, URI: uri, Secret: key.Secret(), QR: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())),
	})
}

// qrSize is the width and height of a QR code in pixels.
const qrSize = 240

// confirmTwoFactor enables the second factor, and shows the backup codes.
func (p *page) confirmTwoFactor() (any, error) {
	_, err := p.Forward("POST", mfaPath+"/confirm/totp", append([]string{"uri"}, ownParams...)...)
	if e := forUser(err); e != nil {
		return p.secretPage(e.Status, p.Query("uri"), e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.newBackupCodes()
}

func (p *page) disableTwoFactor() (any, error) {
	_, err := p.Forward("DELETE", mfaPath+"/totp", ownParams...)
	if e := forUser(err); e != nil {
		return p.twoFactorPage(e.Status, web.TwoFactor{Error: e.Message})
	}
	if err != nil {
		return nil, err
	}
	return p.leave(twoFactorPath, "saved", ""), nil
}

// newBackupCodes shows new backup codes, once.
func (p *page) newBackupCodes() (any, error) {
	var made struct {
		Codes []string `json:"codes"`
	}
	if err := p.get(mfaPath+"/backup_codes", nil, &made); err != nil {
		return nil, err
	}
	return p.twoFactorPage(http.StatusOK, web.TwoFactor{Codes: made.Codes})
}

// sessions lists the apps and browsers that are signed in.
func (p *page) sessions() (any, error) {
	var content web.Sessions
	if err := p.get("/api/oauth_tokens", nil, &content.Tokens); err != nil {
		return nil, err
	}
	for i := range content.Tokens {
		content.Tokens[i].Own = p.Token != nil && string(content.Tokens[i].ID) == fmt.Sprint(p.Token.ID)
	}
	return p.show(http.StatusOK, content)
}

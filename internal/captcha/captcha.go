// Package captcha makes captchas and checks their solutions. A captcha is stateless: its answer is in answer_data, encrypted with a key
// that belongs to its token. The caller stores which tokens were used.
//
// Providers: the native one draws a picture of digits, and describes the same digits in words as an alternative;
// a kocaptcha service makes pictures only.
//
// Limits: a picture takes about a millisecond and 4 KB; a kocaptcha service has 5 seconds and 10 kB for its answer.
package captcha

import (
	"context"
	"crypto/md5"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"time"

	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
)

// Captcha is a captcha for a visitor (spec 2.3).
type Captcha struct {
	Type         string `json:"type"`
	Token        string `json:"token"`
	URL          string `json:"url"`            // of the picture
	Text         string `json:"text,omitempty"` // asks for the same answer in words; "": there is only the picture
	AnswerData   string `json:"answer_data"`
	SecondsValid int    `json:"seconds_valid"`
}

// Solution is what a registration sends. A nil field is absent.
type Solution struct {
	Text       *string
	Token      *string
	AnswerData *string
}

// Error is why a solution is not accepted. Its text is that of the extension API (6.1).
type Error string

func (e Error) Error() string { return string(e) }

// Errors of Check.
const (
	errMissingSolution   Error = "Invalid CAPTCHA (Missing parameter: captcha_solution)"
	errMissingToken      Error = "Invalid CAPTCHA (Missing parameter: captcha_token)"
	errMissingAnswerData Error = "Invalid CAPTCHA (Missing parameter: captcha_answer_data)"
	errAnswerData        Error = "Invalid answer data"
	errExpired           Error = "CAPTCHA expired"
	errWrong             Error = "Invalid CAPTCHA"

	// ErrUsed is for the caller, who knows the used captchas.
	ErrUsed Error = "CAPTCHA already used"
)

// ErrUnavailable is the error if a kocaptcha service does not answer.
const ErrUnavailable Error = "Kocaptcha service unavailable"

// Config is what a Service needs.
type Config struct {
	Settings *config.Live
	Keys     *keys.Keys
	Fetch    *fetch.Client
	Now      func() time.Time
	Timeout  time.Duration // of a request to a kocaptcha service; default 5 s
}

// Service makes and checks captchas.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// answer is the encrypted content of answer_data.
type answer struct {
	Created int64  `json:"t"`           // Unix seconds
	Digits  string `json:"d,omitempty"` // of the native provider
	MD5     string `json:"m,omitempty"` // of the solution, from a kocaptcha service
}

const (
	maxToken      = 200
	maxAnswerData = 1000
)

// Make returns a new captcha. It returns ErrUnavailable if the service that makes it does not answer.
func (s *Service) Make(ctx context.Context) (*Captcha, error) {
	if settings := s.Settings.Load().Captcha; settings.Provider == config.CaptchaKocaptcha {
		return s.fetchKocaptcha(ctx, settings.Endpoint)
	}
	digits := newDigits()
	c := &Captcha{Type: config.CaptchaNative, Token: keys.NewToken(), URL: pictureURL(digits), Text: describe(digits)}
	return c, s.seal(c, answer{Digits: digits})
}

// seal sets the members that all providers share.
func (s *Service) seal(c *Captcha, a answer) error {
	a.Created = s.Now().Unix()
	text, err := json.Marshal(a)
	c.AnswerData = base64.RawURLEncoding.EncodeToString(s.Keys.Seal(purpose(c.Token), text))
	c.SecondsValid = s.Settings.Load().Captcha.SecondsValid
	return err
}

func purpose(token string) string { return "captcha " + token }

// Solved is a captcha with the right solution.
type Solved struct {
	Hash   []byte    // of its token
	Expiry time.Time // until then it must not be used again
}

// Check checks a solution. used returns whether the captcha with the hash of a token was used. An error of the type Error is for the
// visitor.
func (s *Service) Check(x Solution, used func(hash []byte) (bool, error)) (*Solved, error) {
	switch {
	case x.Text == nil || *x.Text == "":
		return nil, errMissingSolution
	case x.Token == nil || *x.Token == "":
		return nil, errMissingToken
	case x.AnswerData == nil || *x.AnswerData == "":
		return nil, errMissingAnswerData
	}
	a, ok := s.unseal(*x.Token, *x.AnswerData)
	if !ok {
		return nil, errAnswerData
	}
	solved := &Solved{Hash: keys.HashToken(*x.Token), Expiry: time.Unix(a.Created, 0).Add(time.Duration(s.Settings.Load().Captcha.SecondsValid) * time.Second)}
	if !s.Now().Before(solved.Expiry) {
		return nil, errExpired
	}
	if is, err := used(solved.Hash); err != nil || is {
		if err == nil {
			err = ErrUsed
		}
		return nil, err
	}
	if !a.is(*x.Text) {
		return nil, errWrong
	}
	return solved, nil
}

// unseal decrypts answer_data.
func (s *Service) unseal(token, data string) (a answer, ok bool) {
	if len(token) > maxToken || len(data) > maxAnswerData {
		return a, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(data)
	if err != nil {
		return a, false
	}
	text, err := s.Keys.Unseal(purpose(token), sealed)
	return a, err == nil && json.Unmarshal(text, &a) == nil
}

// is compares a solution with the answer.
func (a answer) is(solution string) bool {
	want := a.Digits
	if a.MD5 != "" {
		sum := md5.Sum([]byte(solution))
		solution, want = hex.EncodeToString(sum[:]), a.MD5
	}
	return subtle.ConstantTimeCompare([]byte(solution), []byte(want)) == 1
}

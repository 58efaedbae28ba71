package stream

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/enum"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/limit"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// PushConfig is what Push needs.
type PushConfig struct {
	Settings *config.Live
	DB       *store.DB
	Social   *social.Service
	Entities *entity.Builder
	Keys     *keys.Keys
	Outbound Outbound
	Log      *slog.Logger
	Now      func() time.Time
}

// Push keeps subscriptions to push messages, and delivers the messages.
type Push struct {
	PushConfig
	hosts    *limit.Backoff[string] // of push services
	accounts *limit.Backoff[string] // with slow push services
	slow     time.Duration
}

// Outbound sends requests to push services. It connects to public addresses only, and follows no redirects.
type Outbound interface {
	Do(*http.Request) (*http.Response, error)
}

// NewPush returns a Push. Register registers its job.
func NewPush(c PushConfig) *Push {
	return &Push{
		PushConfig: c,
		hosts:      limit.NewBackoff[string](maxBackoffs, firstBackoff, maxHostBackoff),
		accounts:   limit.NewBackoff[string](maxBackoffs, firstBackoff, maxAccountBackoff),
		slow:       slowPush,
	}
}

// Routes manage the push subscription of the viewer's token.
func (s *Push) Routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/push/subscription":    {rest.User("push").Secret().Answers("PushSubscription"), s.showPush},
		"POST /api/v1/push/subscription":   {rest.User("push").Secret().Answers("PushSubscription"), s.subscribeToPush},
		"PUT /api/v1/push/subscription":    {rest.User("push").Secret().Answers("PushSubscription"), s.changePush},
		"DELETE /api/v1/push/subscription": {rest.User("push").Answers("empty"), s.unsubscribeFromPush},
	}
}

// maxEndpointBytes bounds the URL of a push service.
const maxEndpointBytes = 2048

// errTokenRequired refuses passwords, and cookies with the token of an app, because messages contain that token.
var errTokenRequired = errs.Forbidden("Push subscriptions belong to an access token")

// showPush returns the subscription of the viewer's token.
func (s *Push) showPush(r *rest.Request) (any, error) {
	if r.Token == nil {
		return nil, errs.ErrRecordNotFound
	}
	p, err := s.DB.PushSubscriptionOf(r.Context(), r.Token.ID)
	if err != nil {
		return nil, err
	}
	return s.Entities.PushSubscription(p), nil
}

// pushSettings are the parameters that choose notifications.
type pushSettings struct {
	Data struct {
		Alerts map[string]any    `param:"alerts"`
		Policy *store.PushPolicy `param:"policy"`
	} `param:"data"`
	Policy *store.PushPolicy `param:"policy"` // some clients send it here
}

// pushSettingsSetter returns a function that sets the sent parameters in a subscription and keeps the rest.
func (s *Push) pushSettingsSetter(p *pushSettings) (func(*store.PushSubscription), error) {
	policy := p.Data.Policy
	if policy == nil {
		policy = p.Policy
	}
	alerts, err := s.alerts(p.Data.Alerts)
	if err != nil {
		return nil, err
	}
	return func(sub *store.PushSubscription) {
		if alerts != nil {
			sub.Alerts.V = alerts
		}
		if policy != nil {
			sub.Policy = *policy
		}
	}, nil
}

// alerts returns the types of notifications that are enabled in an object, nil if there is none. It ignores unknown types.
// follow_request defaults to the value of follow (extension API 25).
func (s *Push) alerts(sent map[string]any) ([]store.NotificationType, error) {
	if sent == nil {
		return nil, nil
	}
	enabled := []store.NotificationType{}
	for _, t := range entity.PushAlerts {
		name := s.Entities.AlertName(t)
		value, ok := sent[name]
		if !ok && t == store.NotifyFollowRequest {
			value = sent[string(store.NotifyFollow)]
		}
		is, err := boolValue(value)
		if err != nil {
			return nil, errs.Invalid("data[alerts][%s] - Invalid value %s", name, err.Reason())
		}
		if is {
			enabled = append(enabled, t)
		}
	}
	return enabled, nil
}

// boolValue returns a boolean that is a JSON value or the text of a form; no value is false.
func boolValue(value any) (bool, *enum.Error) {
	switch v := value.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	}
	return rest.ReadBool(fmt.Sprint(value))
}

// subscribeToPush subscribes the viewer's token to push messages.
func (s *Push) subscribeToPush(r *rest.Request) (any, error) {
	var p struct {
		Subscription struct {
			Endpoint string `param:"endpoint"`
			Keys     struct {
				P256dh string `param:"p256dh"`
				Auth   string `param:"auth"`
			} `param:"keys"`
			Standard bool `param:"standard"`
		} `param:"subscription"`
	}
	var wanted pushSettings
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := r.Bind(&wanted); err != nil {
		return nil, err
	}
	token, err := messageToken(r)
	if err != nil {
		return nil, err
	}
	sub := &store.PushSubscription{
		TokenID:   r.Token.ID,
		AccountID: r.Viewer.ID,
		Endpoint:  p.Subscription.Endpoint,
		P256dh:    decodeKey(p.Subscription.Keys.P256dh),
		Auth:      decodeKey(p.Subscription.Keys.Auth),
		Token:     s.Keys.Seal(keys.PushTokens, []byte(token)),
		Policy:    store.PushAll,
		Standard:  p.Subscription.Standard,
	}
	sub.Alerts.V = []store.NotificationType{}
	set, err := s.pushSettingsSetter(&wanted)
	if err != nil {
		return nil, err
	}
	set(sub)
	if err := s.checkPush(sub); err != nil {
		return nil, err
	}
	if err := s.Social.SetPushSubscription(r.Context(), sub); err != nil {
		return nil, err
	}
	return s.Entities.PushSubscription(sub), nil
}

// messageToken returns the token that messages contain, with which an app requests more. The session of a browser stays out of them.
func messageToken(r *rest.Request) (string, error) {
	credential := r.Credential()
	switch {
	case r.Token != nil && credential.Kind == rest.Bearer:
		return credential.Token, nil
	case r.Token != nil && r.Token.AppID == nil && credential.Kind == rest.Cookie:
		return "", nil
	}
	return "", errTokenRequired
}

// decodeKey decodes base64 in either alphabet, with or without padding; nil if it is invalid.
func decodeKey(text string) []byte {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// checkPush validates a subscription. The address behind its URL is checked at each connection.
func (s *Push) checkPush(p *store.PushSubscription) error {
	switch {
	case p.Endpoint == "":
		return errs.Invalid("Validation failed: Endpoint can't be blank")
	case len(p.Endpoint) > maxEndpointBytes || !s.isEndpoint(p.Endpoint):
		return errs.Invalid("Validation failed: Endpoint is not a valid URL")
	}
	if _, err := ecdh.P256().NewPublicKey(p.P256dh); err != nil {
		return errs.Invalid("Validation failed: Key p256dh is not a public key of P-256")
	}
	if len(p.Auth) != 16 { // RFC 8291, 3.2
		return errs.Invalid("Validation failed: Key auth is not 16 bytes long")
	}
	return nil
}

// isEndpoint returns true if a push service may have a URL: https, or http on this machine if federation.allow_loopback is set.
func (s *Push) isEndpoint(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && s.Settings.AllowLoopback && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// changePush changes which notifications are sent.
func (s *Push) changePush(r *rest.Request) (any, error) {
	if r.Token == nil {
		return nil, errs.ErrRecordNotFound
	}
	var wanted pushSettings
	if err := r.Bind(&wanted); err != nil {
		return nil, err
	}
	set, err := s.pushSettingsSetter(&wanted)
	if err != nil {
		return nil, err
	}
	p, err := s.Social.UpdatePushSubscription(r.Context(), r.Token.ID, set)
	if err != nil {
		return nil, err
	}
	return s.Entities.PushSubscription(p), nil
}

// unsubscribeFromPush deletes the subscription of the viewer's token, if there is one.
func (s *Push) unsubscribeFromPush(r *rest.Request) (any, error) {
	if r.Token == nil {
		return nil, nil
	}
	return nil, s.Social.RemovePushSubscription(r.Context(), r.Token.ID)
}

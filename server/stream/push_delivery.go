package stream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/store"
)

// Register registers the job that delivers push messages.
func (s *Push) Register(w *store.Worker) {
	store.Handle(w, s.deliver)
}

const (
	pushTimeout         = 10 * time.Second // of one attempt
	slowPush            = 5 * time.Second  // counts as slow, even if it succeeds
	maxPushAge          = 4 * time.Hour    // then a message is dropped, after about eight attempts
	pushTTL             = 48 * time.Hour   // for devices that are offline
	maxPushMessageBytes = 3993             // bytes: a record of 4096 less its header, tag and delimiter (RFC 8291, 4)
	firstBackoff        = 15 * time.Second
	maxHostBackoff      = 30 * time.Minute
	maxAccountBackoff   = 2 * time.Minute // shorter, because the account may have another device
	maxBackoffs         = 1000            // hosts, and accounts
	maxRetryAfter       = time.Hour
)

// deliver is the job that sends a notification to one subscription. It does nothing if the subscription or its token is gone, the
// notification was read or deleted, its account is muted, or the recipient is unavailable.
func (s *Push) deliver(ctx context.Context, w store.PushNotification) error {
	p, err := s.DB.PushSubscription(ctx, w.SubscriptionID)
	if p == nil || err != nil {
		return err
	}
	endpoint, err := url.Parse(p.Endpoint)
	if err != nil {
		return s.Social.DropPushSubscription(ctx, p.ID)
	}
	token, err := s.Keys.Unseal(keys.PushTokens, p.Token)
	if err != nil {
		s.Log.Warn("push subscription removed", "host", endpoint.Host, "subscription", p.ID, "err", err)
		return s.Social.DropPushSubscription(ctx, p.ID)
	}
	if s.Now().Sub(w.NotificationID.Time()) > maxPushAge {
		s.Log.Info("push message dropped", "host", endpoint.Host, "subscription", p.ID)
		return nil
	}
	message, err := s.pushMessage(ctx, p.AccountID, w.NotificationID, string(token))
	if errs.IsNotFound(err) {
		return nil
	}
	if message == nil || err != nil {
		return err
	}
	person := p.AccountID.String()
	if until := s.accounts.Reserve(person, pushTimeout, s.Now()); !until.IsZero() {
		return &store.RetryAfterError{At: until, Err: errors.New("push: the account's push service is slow")}
	}
	if until := s.hosts.Reserve(endpoint.Host, pushTimeout, s.Now()); !until.IsZero() {
		return &store.RetryAfterError{At: until, Err: fmt.Errorf("push to %s: the host is in backoff", endpoint.Host)}
	}
	began := time.Now()
	err = s.sendPush(ctx, p, message)
	if time.Since(began) > s.slow {
		s.accounts.Failed(person, s.Now())
	} else {
		s.accounts.Succeeded(person)
	}
	var refusal *pushRejection
	switch {
	case err == nil:
		s.hosts.Succeeded(endpoint.Host)
		return nil
	case errors.As(err, &refusal) && refusal.permanent():
		s.hosts.Succeeded(endpoint.Host)
		s.Log.Info("push subscription removed", "host", endpoint.Host, "subscription", p.ID, "status", refusal.status)
		return s.Social.DropPushSubscription(ctx, p.ID)
	case refusal == nil || refusal.status >= http.StatusInternalServerError:
		s.hosts.Failed(endpoint.Host, s.Now())
	}
	err = fmt.Errorf("push to %s: %w", endpoint.Host, err)
	if refusal != nil && !refusal.retryAt.IsZero() {
		return &store.RetryAfterError{At: refusal.retryAt, Err: err}
	}
	return err
}

// pushMessage returns the message for a notification, nil if none is to be sent.
func (s *Push) pushMessage(ctx context.Context, to store.AccountID, id store.NotificationID, token string) ([]byte, error) {
	n, err := s.DB.Notification(ctx, to, id)
	if err != nil {
		return nil, err
	}
	var in store.ConversationID
	if n.StatusID != nil {
		st, err := s.DB.Status(ctx, *n.StatusID)
		if err != nil {
			return nil, err
		}
		in = st.ConversationID
	}
	stance, err := s.DB.NotificationRelation(ctx, to, n.FromID, in)
	if err != nil || n.Read || n.Muted || stance.MutesNotifications || stance.MutesThread {
		return nil, err
	}
	viewer, err := s.DB.Account(ctx, to)
	if err != nil {
		return nil, err
	}
	user, err := s.DB.User(ctx, to)
	if err != nil || !user.CanSignIn() {
		return nil, err
	}
	return s.Entities.PushMessage(ctx, viewer, user, n, token, maxPushMessageBytes)
}

// pushRejection is an answer of a push service that did not accept a message.
type pushRejection struct {
	status  int
	retryAt time.Time // zero: not given
}

func (e *pushRejection) Error() string { return "answered " + strconv.Itoa(e.status) }

// permanent returns true if the push service will not accept messages of this subscription again (RFC 8030 7.3, and statuses with
// which services refuse keys of another subscription).
func (e *pushRejection) permanent() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.status >= 400 && e.status < 500
}

// sendPush sends a message to the push service (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292). The error names the host
// only, because everyone who knows the URL can send to it.
func (s *Push) sendPush(ctx context.Context, p *store.PushSubscription, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	b64 := base64.RawURLEncoding
	to := &webpush.Subscription{Endpoint: p.Endpoint, Keys: webpush.Keys{P256dh: b64.EncodeToString(p.P256dh), Auth: b64.EncodeToString(p.Auth)}}
	client := s.Outbound
	if !p.Standard {
		client = draftPushClient{s.Outbound, p, message}
	}
	resp, err := webpush.SendNotificationWithContext(ctx, message, to, &webpush.Options{
		HTTPClient:      client,
		Subscriber:      s.pushContact(),
		TTL:             int(pushTTL.Seconds()),
		Urgency:         webpush.UrgencyNormal,
		VAPIDPublicKey:  s.Keys.VAPIDPublic(),
		VAPIDPrivateKey: s.Keys.VAPIDPrivate(),
	})
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // without the URL
			err = cause
		}
		return err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, 4096) // so that the connection can be reused
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	return &pushRejection{resp.StatusCode, retryAfter(resp.Header.Get("Retry-After"), s.Now())}
}

// pushContact returns the contact for push services (RFC 8292 2.1).
func (s *Push) pushContact() string {
	switch {
	case s.Settings.Load().Instance.Email != "":
		return s.Settings.Load().Instance.Email
	case strings.HasPrefix(s.Settings.BaseURL, "https:"):
		return s.Settings.BaseURL
	}
	return "admin@" + s.Settings.Load().URL().Hostname()
}

// retryAfter parses Retry-After (RFC 9110 10.2.3). It returns the zero time if the header is absent or invalid.
func retryAfter(header string, now time.Time) time.Time {
	at, err := http.ParseTime(header)
	if seconds, convErr := strconv.Atoi(header); convErr == nil {
		at, err = now.Add(time.Duration(min(seconds, int(maxRetryAfter.Seconds())))*time.Second), nil
	}
	if err != nil || at.Before(now) {
		return time.Time{}
	}
	if latest := now.Add(maxRetryAfter); at.After(latest) {
		return latest
	}
	return at
}

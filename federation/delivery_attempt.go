package federation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/store"
)

// One try of a delivery, and what its answer means.

const (
	deliveryTimeout         = 15 * time.Second
	maxResponseBytes        = 64 << 10 // bytes of an answer that are read so that the connection can be used again
	circuitBreakerFailures  = 10       // failures in a row of a host that answers, after which it rests
	maxUnauthorizedAttempts = 3        // of a delivery that is answered with 401 again: perhaps our key has not got about
	goneStatus              = http.StatusGone
)

// retryDelays are how long a delivery waits after each failure (federation 3.4). After the last it is given up.
var retryDelays = []time.Duration{
	30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// retryDelay is how long a delivery waits that has failed so often before.
func retryDelay(failures int) time.Duration {
	return withJitter(retryDelays[min(failures, len(retryDelays)-1)])
}

// hostBackoff is how long a host is left alone that could not be reached so often before. It is tried once a day at least.
func hostBackoff(failures int) time.Duration { return min(retryDelay(failures), 24*time.Hour) }

func withJitter(d time.Duration) time.Duration { return d - d/5 + rand.N(2*d/5) }

// postSigned sends an activity, signed in one way after the other if it is not known which the host takes (federation 2.5).
func (s *Service) postSigned(ctx context.Context, host *store.Host, inbox string, body []byte, signer *httpsig.Signer) (status int, header http.Header, err error) {
	ways := signatureOptions(host, false, s.now())
	for i, o := range ways {
		o.Now = s.now()
		status, header, err = s.postFollowingRedirect(ctx, inbox, body, signer, o)
		if err != nil || !isSignatureRejected(status) {
			if err == nil && status < 300 && i > 0 {
				s.saveSignatureScheme(ctx, host.Domain, o)
			}
			return status, header, err
		}
	}
	if len(ways) > 1 && status == http.StatusUnauthorized {
		s.saveNoScheme(ctx, host.Domain)
	}
	return status, header, err
}

// postFollowingRedirect posts an activity once, or once more to another address of the same host, if that says that it wants it there.
func (s *Service) postFollowingRedirect(ctx context.Context, inbox string, body []byte, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	status, header, err := s.postOnce(ctx, inbox, body, signer, o)
	place := header.Get("Location")
	if err != nil || place == "" || status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {
		return status, header, err
	}
	to, err := url.Parse(inbox)
	if err == nil {
		to, err = to.Parse(place)
	}
	if err != nil || !activity.SameHost(to.String(), inbox, s.AllowLoopback) {
		return status, header, nil
	}
	return s.postOnce(ctx, to.String(), body, signer, o)
}

func (s *Service) postOnce(ctx context.Context, inbox string, body []byte, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, inbox, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %v", fetch.ErrRefused, err)
	}
	req.Header.Set("Content-Type", activity.ContentType)
	req.Header["Idempotency-Key"] = []string{} // is not sent: it has a request sent again whose old connection turns out to be closed
	if err := signer.Sign(req, body, o); err != nil {
		return 0, nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, maxResponseBytes)
	return resp.StatusCode, resp.Header, nil
}

// classifyResult says what the answer to a delivery means (federation 3.3).
func (s *Service) classifyResult(o *deliveryResult, status int, header http.Header, err error) {
	now := s.now()
	o.retryAt, o.answered = now.Add(retryDelay(o.Attempts)), err == nil
	switch {
	case errors.Is(err, fetch.ErrRefused):
		o.err, o.permanent = err, true
	case errors.Is(err, fetch.ErrBusy):
		o.err = err
	case err != nil:
		o.err, o.unreachable = err, true
	case status < 300:
	default:
		o.err = &fetch.StatusError{Status: status}
		switch {
		case status == http.StatusUnauthorized:
			o.permanent = o.Attempts+1 >= maxUnauthorizedAttempts && o.LastError == o.err.Error()
		case status == http.StatusTooManyRequests:
			o.retryAt = laterOf(o.retryAt, retryAfter(header, now))
			o.hostError, o.backoffUntil = true, o.retryAt
		case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
			o.retryAt = laterOf(o.retryAt, retryAfter(header, now))
		case status == http.StatusNotImplemented, status >= 400 && status < 500 && status != http.StatusPaymentRequired:
			o.permanent = true
		case status >= 500:
			o.hostError, o.backoffUntil = true, retryAfter(header, now)
			o.retryAt = laterOf(o.retryAt, o.backoffUntil)
		}
	}
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// retryAfter returns when a host wants to be asked again, between a minute and a day from now; the zero time if it does not say.
func retryAfter(header http.Header, now time.Time) time.Time {
	text := header.Get("Retry-After")
	if text == "" {
		return time.Time{}
	}
	var wait time.Duration
	if n, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(n, 86_400)) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	} else {
		return time.Time{}
	}
	return now.Add(min(max(wait, time.Minute), 24*time.Hour))
}

// payload is an activity that goes to many.
type payload struct {
	*store.Activity
	body []byte
}

// loadPayload returns an activity, nil if it hands over a post that is gone, or whose author is out of service.
func (c *deliveryQueue) loadPayload(ctx context.Context, id store.ActivityID) (*payload, error) {
	c.mu.Lock()
	p := c.payloads[id]
	c.mu.Unlock()
	if p == nil {
		rows, err := c.s.db.Activities(ctx, []store.ActivityID{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		p = &payload{rows[0], []byte(rows[0].Body)}
		c.mu.Lock()
		for other := range c.payloads {
			if len(c.payloads) < maxCachedPayloads {
				break
			}
			delete(c.payloads, other)
		}
		c.payloads[id] = p
		c.mu.Unlock()
	}
	if p.StatusID != nil {
		there, err := c.s.db.StatusAvailable(ctx, *p.StatusID)
		if err != nil || !there {
			return nil, err
		}
	}
	return p, nil
}

// attempt tries a delivery once.
func (c *deliveryQueue) attempt(ctx context.Context, t *deliveryAttempt) (o *deliveryResult) {
	o = &deliveryResult{deliveryAttempt: t}
	defer func() {
		if p := recover(); p != nil {
			c.s.log.Error("panic in a delivery", "inbox", t.Inbox, "panic", p)
			o.err, o.retryAt = fmt.Errorf("panic: %v", p), c.s.now().Add(retryDelay(t.Attempts))
		}
	}()
	parcel, err := c.loadPayload(ctx, t.ActivityID)
	if err != nil {
		o.err, o.retryAt = err, c.s.now().Add(retryDelay(t.Attempts))
		return o
	}
	if parcel == nil {
		return o // what it hands over is gone: so is the reason to
	}
	if _, err := c.s.FetchableHost(t.Inbox); err != nil {
		o.err, o.permanent = err, true
		return o
	}
	signer, err := c.s.Signer(ctx, parcel.AccountID)
	if err != nil {
		o.err, o.permanent, o.retryAt = err, errs.IsNotFound(err), c.s.now().Add(retryDelay(t.Attempts))
		return o
	}
	status, header, err := c.s.postSigned(ctx, t.host, t.Inbox, parcel.body, signer)
	c.s.classifyResult(o, status, header, err)
	if IsNotFoundOrGone(o.err) {
		c.s.checkGoneInbox(ctx, o)
	}
	return o
}

// checkGoneInbox finds out what it means that an inbox is gone: that its owner is, or the whole server (federation 3.3).
func (s *Service) checkGoneInbox(ctx context.Context, o *deliveryResult) {
	owner, err := s.db.InboxOwner(ctx, o.Inbox)
	if err != nil {
		s.log.Error("looking for the owner of an inbox", "err", err)
		return
	}
	if owner == 0 {
		o.hostError = HTTPStatus(o.err) == goneStatus
		return
	}
	account, err := s.db.Account(ctx, owner)
	if err != nil || account.DeletedAt != nil {
		return
	}
	switch _, err = s.FetchActor(ctx, account.URI); HTTPStatus(err) {
	case goneStatus:
		err = s.ActorGone(ctx, account)
	case http.StatusNotFound:
		err = s.ActorNotFound(ctx, account)
	}
	if err != nil {
		s.log.Debug("looking for an actor whose inbox is gone", "actor", account.URI, "err", err)
	}
}

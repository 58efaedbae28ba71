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
	deliveryTime      = 15 * time.Second
	maxAnswer         = 64 << 10 // bytes of an answer that are read so that the connection can be used again
	circuitAfter      = 10       // failures in a row of a host that answers, after which it rests
	unauthorizedTries = 3        // of a delivery that is answered with 401 again: perhaps our key has not got about
	goneStatus        = http.StatusGone
)

// pauses are how long a delivery waits after each failure (federation 3.4). After the last it is given up.
var pauses = []time.Duration{
	30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// pause is how long a delivery waits that has failed so often before.
func pause(failures int) time.Duration { return jittered(pauses[min(failures, len(pauses)-1)]) }

// hostPause is how long a host is left alone that could not be reached so often before. It is tried once a day at least.
func hostPause(failures int) time.Duration { return min(pause(failures), 24*time.Hour) }

func jittered(d time.Duration) time.Duration { return d - d/5 + rand.N(2*d/5) }

// post sends an activity, signed in one way after the other if it is not known which the host takes (federation 2.5).
func (s *Service) post(ctx context.Context, host *store.Host, inbox string, body []byte, signer *httpsig.Signer) (status int, header http.Header, err error) {
	ways := waysToSign(host, false, s.now())
	for i, o := range ways {
		o.Now = s.now()
		status, header, err = s.send(ctx, inbox, body, signer, o)
		if err != nil || !unauthorized(status) {
			if err == nil && status < 300 && i > 0 {
				s.noteSignature(ctx, host.Domain, o)
			}
			return status, header, err
		}
	}
	if len(ways) > 1 && status == http.StatusUnauthorized {
		s.noteNeither(ctx, host.Domain)
	}
	return status, header, err
}

// send posts an activity once, or once more to another address of the same host, if that says that it wants it there.
func (s *Service) send(ctx context.Context, inbox string, body []byte, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	status, header, err := s.sendOnce(ctx, inbox, body, signer, o)
	place := header.Get("Location")
	if err != nil || place == "" || status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {
		return status, header, err
	}
	to, err := url.Parse(inbox)
	if err == nil {
		to, err = to.Parse(place)
	}
	if err != nil || !activity.SameHost(to.String(), inbox, s.Trial) {
		return status, header, nil
	}
	return s.sendOnce(ctx, to.String(), body, signer, o)
}

func (s *Service) sendOnce(ctx context.Context, inbox string, body []byte, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
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
	io.CopyN(io.Discard, resp.Body, maxAnswer)
	return resp.StatusCode, resp.Header, nil
}

// judge says what the answer to a delivery means (federation 3.3).
func (s *Service) judge(o *outcome, status int, header http.Header, err error) {
	now := s.now()
	o.retry, o.answered = now.Add(pause(o.Attempts)), err == nil
	switch {
	case errors.Is(err, fetch.ErrRefused):
		o.err, o.lost = err, true
	case errors.Is(err, fetch.ErrBusy):
		o.err = err
	case err != nil:
		o.err, o.far = err, true
	case status < 300:
	default:
		o.err = &fetch.StatusError{Status: status}
		switch {
		case status == http.StatusUnauthorized:
			o.lost = o.Attempts+1 >= unauthorizedTries && o.LastError == o.err.Error()
		case status == http.StatusTooManyRequests:
			o.retry = later(o.retry, retryAfter(header, now))
			o.ill, o.rest = true, o.retry
		case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
			o.retry = later(o.retry, retryAfter(header, now))
		case status == http.StatusNotImplemented, status >= 400 && status < 500 && status != http.StatusPaymentRequired:
			o.lost = true
		case status >= 500:
			o.ill, o.rest = true, retryAfter(header, now)
			o.retry = later(o.retry, o.rest)
		}
	}
}

func later(a, b time.Time) time.Time {
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

// parcel is an activity that goes to many.
type parcel struct {
	*store.Activity
	body []byte
}

// parcel returns an activity, nil if it hands over a post that is gone, or whose author is out of service.
func (c *courier) parcel(ctx context.Context, id store.ActivityID) (*parcel, error) {
	c.mu.Lock()
	p := c.bodies[id]
	c.mu.Unlock()
	if p == nil {
		rows, err := c.s.db.Activities(ctx, []store.ActivityID{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		p = &parcel{rows[0], []byte(rows[0].Body)}
		c.mu.Lock()
		for other := range c.bodies {
			if len(c.bodies) < maxBodies {
				break
			}
			delete(c.bodies, other)
		}
		c.bodies[id] = p
		c.mu.Unlock()
	}
	if p.StatusID != nil {
		there, err := c.s.db.HandsOver(ctx, *p.StatusID)
		if err != nil || !there {
			return nil, err
		}
	}
	return p, nil
}

// deliver tries a delivery once.
func (c *courier) deliver(ctx context.Context, t *trip) (o *outcome) {
	o = &outcome{trip: t}
	defer func() {
		if p := recover(); p != nil {
			c.s.log.Error("panic in a delivery", "inbox", t.Inbox, "panic", p)
			o.err, o.retry = fmt.Errorf("panic: %v", p), c.s.now().Add(pause(t.Attempts))
		}
	}()
	parcel, err := c.parcel(ctx, t.ActivityID)
	if err != nil {
		o.err, o.retry = err, c.s.now().Add(pause(t.Attempts))
		return o
	}
	if parcel == nil {
		return o // what it hands over is gone: so is the reason to
	}
	if _, err := c.s.hostToAsk(t.Inbox); err != nil {
		o.err, o.lost = err, true
		return o
	}
	signer, err := c.s.signer(ctx, parcel.AccountID)
	if err != nil {
		o.err, o.lost, o.retry = err, errs.IsNotFound(err), c.s.now().Add(pause(t.Attempts))
		return o
	}
	status, header, err := c.s.post(ctx, t.host, t.Inbox, parcel.body, signer)
	c.s.judge(o, status, header, err)
	if isGone(o.err) {
		c.s.lookAfter(ctx, o)
	}
	return o
}

// lookAfter finds out what it means that an inbox is gone: that its owner is, or the whole server (federation 3.3).
func (s *Service) lookAfter(ctx context.Context, o *outcome) {
	owner, err := s.db.InboxOwner(ctx, o.Inbox)
	if err != nil {
		s.log.Error("looking for the owner of an inbox", "err", err)
		return
	}
	if owner == 0 {
		o.ill = statusOf(o.err) == goneStatus
		return
	}
	account, err := s.db.Account(ctx, owner)
	if err != nil || account.DeletedAt != nil {
		return
	}
	switch _, err = s.fetchActor(ctx, account.URI); statusOf(err) {
	case goneStatus:
		err = s.actorGone(ctx, account)
	case http.StatusNotFound:
		err = s.actorAbsent(ctx, account)
	}
	if err != nil {
		s.log.Debug("looking for an actor whose inbox is gone", "actor", account.URI, "err", err)
	}
}

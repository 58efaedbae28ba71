package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/store"
)

const (
	circuitBreakerFailures  = 10 // in a row of a host that answers, before it gets a backoff
	maxUnauthorizedAttempts = 3  // of a delivery that is answered with 401: our key may not have been fetched yet
)

// hostBackoff returns the backoff of a host after a number of failures in a row: one day at most.
func hostBackoff(failures int) time.Duration { return min(store.RetryDelay(failures), 24*time.Hour) }

// attempt is a delivery in flight.
type attempt struct {
	*store.Delivery
	host  *store.Host
	class slotClass
	slow  bool
	timer *time.Timer
}

// result is how an attempt went.
type result struct {
	*attempt
	err          error // nil: delivered, or nothing to deliver
	retryAt      time.Time
	dropped      bool            // the error is final
	statusID     *store.StatusID // that the activity is about; nil: none
	answered     bool            // by the host
	status       int             // of its answer, if that is an error
	unreachable  bool            // the host
	hostError    bool            // the answer says that the host has a problem
	backoffUntil time.Time       // what the host asked for; zero: nothing
}

// payload is an activity as it is sent.
type payload struct {
	*store.Activity
	body []byte
}

// Message is what a delivery brings to an inbox.
type Message struct {
	Body         []byte
	Sender       store.AccountID
	StatusID     *store.StatusID // of the status that it is about; nil: none
	ForFollowers bool            // only followers may see that
}

// message returns the message of a delivery. It returns nil if the activity is gone, or the status in it is, or its author is unavailable.
func (q *Queue) message(ctx context.Context, id store.ActivityID) (*Message, error) {
	p, err := q.payloads.Load(id, func() (*payload, error) {
		rows, err := q.DB.Activities(ctx, []store.ActivityID{id})
		if err == nil && len(rows) == 0 {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return nil, err
		}
		return &payload{rows[0], []byte(rows[0].Body)}, nil
	})
	if errs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &Message{Body: p.body, Sender: p.AccountID, StatusID: p.StatusID}
	if p.StatusID != nil {
		visibility, err := q.DB.AvailableVisibility(ctx, *p.StatusID)
		if err != nil || visibility == nil {
			return nil, err
		}
		m.ForFollowers = *visibility == store.Private
	}
	return m, nil
}

// attempt sends a delivery once.
func (q *Queue) attempt(ctx context.Context, a *attempt) (r *result) {
	r = &result{attempt: a, retryAt: q.DB.Now().Add(store.RetryDelay(a.Attempts + 1))}
	defer func() {
		if p := recover(); p != nil {
			q.Log.Error("panic in a delivery", "inbox", a.Inbox, "panic", p)
			r.err = fmt.Errorf("panic: %v", p)
		}
	}()
	m, err := q.message(ctx, a.ActivityID)
	if err != nil || m == nil {
		r.err = err
		return r
	}
	r.statusID = m.StatusID
	status, header, err := q.Send(ctx, a.host, a.Inbox, m)
	now := q.DB.Now()
	r.retryAt = now.Add(store.RetryDelay(a.Attempts + 1))
	if err == nil {
		r.classifyStatus(status, header, now)
		if status == http.StatusNotFound || status == http.StatusGone {
			r.hostError = q.InboxGone(ctx, a.Inbox, status)
		}
		return r
	}
	r.err = err
	switch {
	case errors.Is(err, ErrUndeliverable), errors.Is(err, fetch.ErrRefused):
		r.dropped = true
	case errors.Is(err, ErrNotSent), errors.Is(err, fetch.ErrBusy):
	default:
		r.unreachable = true
	}
	return r
}

// classifyStatus sets what the status of an answer means (federation 3.3).
func (r *result) classifyStatus(status int, header http.Header, now time.Time) {
	r.answered = true
	if status < 300 {
		return
	}
	r.err, r.status = &fetch.StatusError{Status: status}, status
	switch {
	case status == http.StatusUnauthorized:
		r.dropped = r.Attempts+1 >= maxUnauthorizedAttempts && r.LastError == r.err.Error()
	case status == http.StatusTooManyRequests:
		r.retryAt = laterOf(r.retryAt, retryAfter(header, now))
		r.hostError, r.backoffUntil = true, r.retryAt
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		r.retryAt = laterOf(r.retryAt, retryAfter(header, now))
	case status == http.StatusNotImplemented, status >= 400 && status < 500 && status != http.StatusPaymentRequired:
		r.dropped = true
	case status >= 500:
		r.hostError, r.backoffUntil = true, retryAfter(header, now)
		r.retryAt = laterOf(r.retryAt, r.backoffUntil)
	}
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// retryAfter reads Retry-After, between a minute and a day from now. It returns the zero time if there is none.
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

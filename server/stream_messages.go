package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"svc/internal/errs"
)

// message is what a client says on a socket (client API 4.10).
type message struct {
	Type     looseText `json:"type"`
	Stream   looseText `json:"stream"`
	List     looseText `json:"list"`
	Tag      looseText `json:"tag"`
	Instance looseText `json:"instance"`
	Token    looseText `json:"token"`
}

// looseText is a string, or a number that stands for one. Anything else is nothing.
type looseText string

// UnmarshalJSON reads the text.
func (t *looseText) UnmarshalJSON(b []byte) error {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(b, &text) == nil:
		*t = looseText(text)
	case json.Unmarshal(b, &number) == nil:
		*t = looseText(number)
	}
	return nil
}

// response is the payload of svc:respond.
type response struct {
	Type   string `json:"type"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
}

// Errors in responses are words.
var (
	errAuthenticated = errors.New("already_authenticated")
	errUnauthorized  = errors.New("unauthorized")
)

// answer does what a client asks for on a socket. What it does not know it ignores.
func (h *hub) answer(ctx context.Context, l *listener, text []byte) {
	defer func() {
		if v := recover(); v != nil {
			h.fail(ctx, l, panicked(v))
		}
	}()
	if !h.allow(l) {
		h.end(l, endPolicy)
		return
	}
	var m message
	if json.Unmarshal(text, &m) != nil {
		return
	}
	var done bool
	var err error
	switch m.Type {
	case "subscribe", "unsubscribe":
		done, err = h.change(ctx, l, m)
	case looseText(h.server.settings.API.Name + ":authenticate"):
		done, err = true, h.authenticate(ctx, l, string(m.Token))
	default:
		return
	}
	r := response{Type: string(m.Type), Result: "ignored"}
	var refusal *errs.Error
	switch {
	case errors.Is(err, errAuthenticated), errors.Is(err, errUnauthorized):
		r.Result, r.Error = "error", err.Error()
	case errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized:
		r.Result, r.Error = "error", errUnauthorized.Error()
	case errors.As(err, &refusal):
		r.Result, r.Error = "error", "bad_topic"
	case err != nil:
		h.fail(ctx, l, err)
		return
	case done:
		r.Result = "success"
	}
	b := newJSONBuffer()
	b.encode(r) // a struct of strings
	n := &news{event: h.server.settings.API.Name + ":respond", payload: b.bytes}
	l.send(n.frame("[]", true)) // clients fall over frames without a stream
}

// fail ends the stream of a listener with whom something went wrong that is not their fault.
func (h *hub) fail(ctx context.Context, l *listener, err error) {
	h.server.log.LogAttrs(ctx, slog.LevelError, "stream failed", slog.Any("error", err))
	h.end(l, endFailed)
}

// allow counts a message like a request of the API.
func (h *hub) allow(l *listener) bool {
	b := h.server.buckets[apiBucket]
	k, rate := counterKey{bucket: b, network: l.network}, b.anonymous
	h.mu.Lock()
	if l.account != 0 {
		k, rate = counterKey{bucket: b, account: l.account}, b.signedIn
	}
	h.mu.Unlock()
	if rate.Count == 0 {
		return true
	}
	_, ok := h.server.counters.take(k, rate, h.server.now())
	return ok
}

// change subscribes to a stream or ends that. done is false if there was nothing to do.
func (h *hub) change(ctx context.Context, l *listener, m message) (done bool, err error) {
	who, ok, err := h.identity(ctx, l)
	if !ok || err != nil {
		return false, err
	}
	name := streamName{stream: string(m.Stream), list: string(m.List), tag: string(m.Tag), instance: string(m.Instance)}
	sub, err := h.server.subscription(ctx, who, name)
	if err != nil {
		return false, err
	}
	if m.Type == "unsubscribe" {
		return h.unsubscribe(l, sub), nil
	}
	return h.subscribe(l, sub)
}

// authenticate gives an anonymous listener an identity, which their subscriptions have from then on.
func (h *hub) authenticate(ctx context.Context, l *listener, token string) error {
	h.mu.Lock()
	known := l.token != nil
	h.mu.Unlock()
	if known {
		return errAuthenticated
	}
	who, err := h.server.identityOfToken(ctx, token)
	var refusal *errs.Error
	if errors.As(err, &refusal) {
		return errUnauthorized
	}
	if err != nil {
		return err
	}
	if who == nil || who.Account == nil {
		return errUnauthorized
	}
	if h.identify(l, who) != nil { // there are too many
		return errUnauthorized
	}
	_, _, err = h.identity(ctx, l) // it may have been revoked meanwhile
	return err
}

// offeredProtocols are the names in Sec-WebSocket-Protocol. Browsers, which can send no header of their choice, put the token there.
func offeredProtocols(r *http.Request) []string {
	var names []string
	for _, value := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

package stream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
)

// command is a message of a client on a socket (client API 4.10).
type command struct {
	Type     flexString `json:"type"`
	Stream   flexString `json:"stream"`
	List     flexString `json:"list"`
	Tag      flexString `json:"tag"`
	Instance flexString `json:"instance"`
	Token    flexString `json:"token"`
}

// flexString is a string or a number. Other JSON is read as an empty string.
type flexString string

// UnmarshalJSON reads a string or a number.
func (t *flexString) UnmarshalJSON(b []byte) error {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(b, &text) == nil:
		*t = flexString(text)
	case json.Unmarshal(b, &number) == nil:
		*t = flexString(number)
	}
	return nil
}

// commandResult is the payload of svc:respond.
type commandResult struct {
	Type   string `json:"type"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
}

// refusal are members of the frame that refuses a subscription, for clients of the reference API: they know no svc:respond.
type refusal struct {
	Error  string `json:"error"`
	Status int    `json:"status"`
}

// Errors in responses are single words.
var (
	errAuthenticated = errors.New("already_authenticated")
	errUnauthorized  = errors.New("unauthorized")
)

// handleCommand executes a command of a client. It ignores unknown ones.
func (h *Hub) handleCommand(ctx context.Context, c *client, text []byte) {
	defer func() {
		if v := recover(); v != nil {
			h.abort(ctx, c, rest.PanicError(v))
		}
	}()
	if !h.allow(c) {
		h.closeClient(c, closePolicy)
		return
	}
	var m command
	if json.Unmarshal(text, &m) != nil {
		return
	}
	var changed bool
	var err error
	switch m.Type {
	case "subscribe", "unsubscribe":
		changed, err = h.changeSubscription(ctx, c, m)
	case flexString(h.Settings.Load().API.Name + ":authenticate"):
		changed, err = true, h.authenticate(ctx, c, string(m.Token))
	default:
		return
	}
	r := commandResult{Type: string(m.Type), Result: "ignored"}
	var refused *errs.Error
	switch {
	case errors.Is(err, errAuthenticated), errors.Is(err, errUnauthorized):
		r.Result, r.Error = "error", err.Error()
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		r.Result, r.Error = "error", errUnauthorized.Error()
	case errors.As(err, &refused):
		r.Result, r.Error = "error", "bad_topic"
	case err != nil:
		h.abort(ctx, c, err)
		return
	case changed:
		r.Result = "success"
	}
	h.respond(c, r, refused)
}

// respond answers a command. refused is the reason for which a subscription was refused, nil if it was not.
func (h *Hub) respond(c *client, r commandResult, refused *errs.Error) {
	payload, _ := rest.AppendJSON(nil, r) // a struct of strings
	n := &message{name: h.Settings.Load().API.Name + ":respond", payload: payload}
	f := n.socketFrame("[]", true) // clients fail on frames without a stream
	if refused != nil {
		members, _ := rest.AppendJSON(nil, refusal{refused.Message, refused.Status})
		f = &frame{bytes: append(append(f.bytes[:len(f.bytes)-1], ','), members[1:]...)}
	}
	c.send(f)
}

// abort ends the stream of a client after an internal error.
func (h *Hub) abort(ctx context.Context, c *client, err error) {
	h.Log.LogAttrs(ctx, slog.LevelError, "stream failed", slog.Any("error", err))
	h.closeClient(c, closeFailed)
}

// allow counts a command as a request of the API.
func (h *Hub) allow(c *client) bool {
	h.mu.Lock()
	account := c.account
	h.mu.Unlock()
	return h.Limits.AllowRequest(account, c.network, h.Now())
}

// changeSubscription subscribes to a stream or unsubscribes from it. changed is false if nothing changed.
func (h *Hub) changeSubscription(ctx context.Context, c *client, m command) (changed bool, err error) {
	identity, ok, err := h.identity(ctx, c)
	if !ok || err != nil {
		return false, err
	}
	name := name{stream: string(m.Stream), list: string(m.List), tag: string(m.Tag), instance: string(m.Instance)}
	sub, err := h.subscription(ctx, identity, name)
	if err != nil {
		return false, err
	}
	if m.Type == "unsubscribe" {
		return h.unsubscribe(c, sub), nil
	}
	return h.subscribe(c, sub)
}

// authenticate gives an identity to an anonymous client. It applies to subscriptions from then on.
func (h *Hub) authenticate(ctx context.Context, c *client, token string) error {
	h.mu.Lock()
	known := c.token != nil
	h.mu.Unlock()
	if known {
		return errAuthenticated
	}
	identity, err := h.Identities.IdentityByToken(ctx, token)
	var refusal *errs.Error
	if errors.As(err, &refusal) {
		return errUnauthorized
	}
	if err != nil {
		return err
	}
	if identity.Token == nil || identity.Account == nil {
		return errUnauthorized
	}
	if h.setIdentity(c, identity) != nil { // too many streams
		return errUnauthorized
	}
	_, _, err = h.identity(ctx, c) // the token may have been revoked meanwhile
	return err
}

// offeredProtocols returns the names in Sec-WebSocket-Protocol. Browsers cannot set other headers, so clients send the token there.
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

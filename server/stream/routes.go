package stream

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
)

// Routes are the streams: a WebSocket on which clients subscribe to any number of them, or one stream each as server-sent events.
// They accept tokens only, no cookies or passwords, because pages of other sites may use them.
func (h *Hub) Routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/streaming":                   {rest.Anonymous.Answers("events"), h.openStream},
		"GET /api/v1/streaming/health":            {rest.Anonymous.Answers("any"), rest.Always(streamHealth)},
		"GET /api/v1/streaming/user":              {rest.User("read:statuses").TokenOnly().Answers("events"), h.serveEvents("user")},
		"GET /api/v1/streaming/user/notification": {rest.User("read:notifications").TokenOnly().Answers("events"), h.serveEvents("user:notification")},
		"GET /api/v1/streaming/direct":            {rest.User("read:statuses").TokenOnly().Answers("events"), h.serveEvents("direct")},
		"GET /api/v1/streaming/list":              {rest.User("read:lists").TokenOnly().Answers("events"), h.serveEvents("list")},
		"GET /api/v1/streaming/public":            {rest.Content("read:statuses").TokenOnly().Answers("events"), h.serveEvents("public")},
		"GET /api/v1/streaming/public/local":      {rest.Content("read:statuses").TokenOnly().Answers("events"), h.serveEvents("public:local")},
		"GET /api/v1/streaming/public/remote":     {rest.Content("read:statuses").TokenOnly().Answers("events"), h.serveEvents("public:remote")},
		"GET /api/v1/streaming/hashtag":           {rest.Content("read:statuses").TokenOnly().Answers("events"), h.serveEvents("hashtag")},
		"GET /api/v1/streaming/hashtag/local":     {rest.Content("read:statuses").TokenOnly().Answers("events"), h.serveEvents("hashtag:local")},
	}
}

// streamHealth tells monitors that streams are available.
var streamHealth http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("OK"))
})

// openStream opens a socket, or server-sent events if the client accepts those. The token may be a parameter, in a header, or in the
// place of a protocol. Without a token or a stream, the client may send both later.
func (h *Hub) openStream(r *rest.Request) (any, error) {
	identity, err := h.streamIdentity(r)
	if err != nil {
		return nil, err
	}
	name := queriedStream(r, r.Query("stream"))
	if name.stream == "" {
		return h.openSocket(r, identity)
	}
	sub, err := h.subscription(r.Context(), identity, name)
	if err != nil {
		return nil, err
	}
	if !upgrades(r.Request) && strings.Contains(r.Header.Get("Accept"), eventStream) {
		return h.openEvents(r, identity, sub)
	}
	return h.openSocket(r, identity, sub)
}

// queriedStream returns the name of a stream with the parameters of a request.
func queriedStream(r *rest.Request, stream string) name {
	return name{stream: stream, list: r.Query("list"), tag: r.Query("tag"), instance: r.Query("instance")}
}

// streamIdentity returns the identity of the request's token, zero if there is none. An invalid token is an error.
func (h *Hub) streamIdentity(r *rest.Request) (rest.Identity, error) {
	token := rest.RequestToken(r.Request)
	if token == "" {
		if offered := offeredProtocols(r.Request); len(offered) > 0 {
			token = offered[0]
		}
	}
	if token == "" {
		return rest.Identity{}, nil
	}
	identity, err := h.Identities.IdentityByToken(r.Context(), token)
	var refusal *errs.Error
	if identity.Token == nil && err == nil || errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError {
		return rest.Identity{}, rest.ErrInvalidToken
	}
	return identity, err
}

// openSocket returns the handler that upgrades the request to a socket, if the handshake is valid.
func (h *Hub) openSocket(r *rest.Request, identity rest.Identity, subs ...subscription) (any, error) {
	if err := h.checkHandshake(r); err != nil {
		return nil, err
	}
	k := new(socket)
	k.transport = k
	return k, h.listen(r, &k.client, identity, subs...)
}

// listen registers a client with its subscriptions before the client gets an answer, so that it misses nothing from then on.
func (h *Hub) listen(r *rest.Request, c *client, identity rest.Identity, subs ...subscription) error {
	c.hub = h
	c.network = r.Network()
	c.counted = c.network.IsValid() && !r.FromProxy()
	if err := h.register(c, identity); err != nil {
		return err
	}
	_, ok, err := h.identity(r.Context(), c) // the token may have been revoked meanwhile
	if err == nil && !ok {
		err = rest.ErrInvalidToken
	}
	for _, sub := range subs {
		if err == nil {
			_, err = h.subscribe(c, sub)
		}
	}
	if err != nil {
		h.release(c)
	}
	return err
}

// checkHandshake validates a handshake (RFC 6455 4.2.1).
func (h *Hub) checkHandshake(r *rest.Request) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key")))
	switch {
	case !upgrades(r.Request):
		r.ResponseHeader().Set("Upgrade", "websocket")
		r.ResponseHeader().Set("Connection", "Upgrade")
		return errs.New(http.StatusUpgradeRequired, "A WebSocket handshake is required")
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		r.ResponseHeader().Set("Sec-WebSocket-Version", "13")
		return errs.BadRequest("Only version 13 of the WebSocket protocol is supported")
	case err != nil || len(key) != 16 || len(r.Header.Values("Sec-WebSocket-Key")) != 1:
		return errs.BadRequest("Sec-WebSocket-Key is missing or malformed")
	}
	return nil
}

// upgrades returns true if a request asks for a WebSocket. HTTP/2 has another handshake, which is not offered to clients.
func upgrades(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) && hasToken(r.Header["Connection"], "upgrade") && hasToken(r.Header["Upgrade"], "websocket")
}

// hasToken returns true if a comma-separated header contains a word.
func hasToken(values []string, word string) bool {
	for _, value := range values {
		for token := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(token), word) {
				return true
			}
		}
	}
	return false
}

package stream

import (
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

const (
	eventStream       = "text/event-stream"
	keepAliveInterval = 15 * time.Second // proxies close silent connections
	eventWriteTimeout = 30 * time.Second // longer than keepAliveInterval, because HTTP/2 counts pauses, too
)

// keepAlive is a comment line. Some clients take an empty line after it for the end of an event.
const keepAlive = ":)\n"

// sseClient is a client by server-sent events.
type sseClient struct {
	client
	wakeups chan struct{} // has an element if frames are queued
	done    chan struct{} // closed at the end

	expiresAt *store.Time // of the token; nil: never
}

// serveEvents returns the handler that sends a stream as server-sent events. only_media restricts public streams to posts with attachments.
func (h *Hub) serveEvents(stream string) rest.Handler {
	return func(r *rest.Request) (any, error) {
		var p struct {
			OnlyMedia bool `param:"only_media"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		name := queriedStream(r, stream)
		switch stream {
		case "list":
			if name.list == "" {
				return nil, errs.BadRequest("The parameter list is missing")
			}
		case "hashtag", "hashtag:local":
			if name.tag == "" {
				return nil, errs.BadRequest("The parameter tag is missing")
			}
		case "public", "public:local", "public:remote":
			if p.OnlyMedia {
				name.stream += ":media"
			}
		}
		var identity rest.Identity
		if r.Token != nil {
			identity = rest.Identity{Account: r.Viewer, User: r.User, Token: r.Token}
		}
		sub, err := h.subscription(r.Context(), identity, name)
		if err != nil {
			return nil, err
		}
		return h.openEvents(r, identity, sub)
	}
}

// openEvents returns the handler that answers a request with events.
func (h *Hub) openEvents(r *rest.Request, identity rest.Identity, sub subscription) (any, error) {
	if r.Method == http.MethodHead {
		return http.HandlerFunc(startEvents), nil
	}
	e := &sseClient{wakeups: make(chan struct{}, 1), done: make(chan struct{})}
	e.transport = e
	if identity.Token != nil {
		e.expiresAt = identity.Token.ExpiresAt
	}
	return e, h.listen(r, &e.client, identity, sub)
}

// startEvents sends the headers.
func startEvents(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // for nginx
	w.WriteHeader(http.StatusOK)
}

// ServeHTTP sends events until the client disconnects or the stream ends.
func (e *sseClient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer e.hub.release(&e.client)
	rest.SetWriteTimeout(w, eventWriteTimeout)
	control := http.NewResponseController(w)
	startEvents(w, r)
	ticker := time.NewTicker(keepAliveInterval)
	defer ticker.Stop()
	var expiry <-chan time.Time
	if e.expiresAt != nil {
		expiry = time.After(time.Until(e.expiresAt.Time()) + time.Millisecond)
	}
	text := []byte(keepAlive)
	for {
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil {
				return
			}
			if control.Flush() != nil {
				return
			}
		}
		text = nil
		select {
		case <-r.Context().Done():
			return
		case <-e.done:
			return
		case <-e.wakeups:
			if !e.sendQueued(w, control) {
				return
			}
		case <-expiry:
			return
		case <-ticker.C:
			text = []byte(keepAlive)
		}
	}
}

// sendQueued writes the queued frames. It returns false if the stream is to end.
func (e *sseClient) sendQueued(w http.ResponseWriter, control *http.ResponseController) bool {
	frames := e.take()
	defer func() { e.written(frames...) }()
	for _, f := range frames {
		if e.isEnded() {
			return false
		}
		if _, err := w.Write(f.bytes); err != nil {
			return false
		}
	}
	return control.Flush() == nil && !e.isEnded()
}

func (e *sseClient) encode(n *message, _ string, mayEncode bool) *frame { return n.sseFrame(mayEncode) }

// wake signals that frames are queued.
func (e *sseClient) wake() {
	select {
	case e.wakeups <- struct{}{}:
	default:
	}
}

// close ends the answer.
func (e *sseClient) close(closeReason) { close(e.done) }

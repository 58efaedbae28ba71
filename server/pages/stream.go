package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"svc/server/rest"
)

// streams are the streams of the API, and the timelines that they continue, by the name in the path.
var streams = map[string]struct{ path, timeline string }{
	"user":   {"user", "home"},
	"public": {"public", "public"},
	"local":  {"public/local", "public?local=true"},
	"list":   {"list", "list/"},
}

// stream serves a stream of the API to the script of the pages. The API itself takes no sessions for streams, because pages of other sites
// may connect to it. It begins with an event "state", because a page connects some time after it was made.
func (h *Handlers) stream(r *rest.Request) (any, error) {
	s, ok := streams[r.Param("name")]
	if !ok {
		return nil, errNoPage
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return nil, rest.ErrCrossSite
	}
	if r.Viewer == nil {
		return http.HandlerFunc(endStream), nil
	}
	a, err := r.Call("GET", "/api/v1/streaming/"+s.path, url.Values{"list": r.URL.Query()["list"]})
	if err != nil {
		return nil, err
	}
	events := a.Value.(http.Handler)
	state, err := h.state(r, s.timeline)
	if err != nil {
		state = nil // the stream is open, and worth more than its beginning
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events.ServeHTTP(&beginning{ResponseWriter: w, text: state}, r)
	}), nil
}

// endStream tells the script that nobody is signed in any more. Browsers log every other answer as an error, and ask again after some.
func endStream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, "event: signed_out\ndata:\n\n") // without a connection there is nobody to tell
}

// streamState is what a page shows once its stream is open.
type streamState struct {
	Newest        string `json:"newest"` // post of the timeline
	Notifications int    `json:"notifications"`
	Notified      string `json:"notified"` // the newest notification if there are unread ones: it may come as an event as well
	Chats         int    `json:"chats"`
	Waiting       bool   `json:"waiting"` // anything in the menu
}

// state returns the first event of a stream.
func (h *Handlers) state(r *rest.Request, timeline string) ([]byte, error) {
	p, err := h.newPage(r)
	if err != nil {
		return nil, err
	}
	u := p.unseen
	s := streamState{Notifications: u.notifications, Chats: u.Chats, Waiting: u.FollowRequests+u.Announcements+u.Chats+u.Conversations > 0}
	if timeline == "list/" {
		timeline += url.PathEscape(r.URL.Query().Get("list"))
	}
	address, err := url.Parse("/api/v1/timelines/" + timeline)
	if err != nil {
		return nil, err
	}
	query := address.Query()
	query.Set("limit", "1")
	if s.Newest, err = newest(p, address.EscapedPath(), query); err != nil {
		return nil, err
	}
	if u.notifications > 0 {
		if s.Notified, err = newest(p, "/api/v1/notifications", url.Values{"limit": {"1"}}); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(s)
	return fmt.Appendf(nil, "event: state\ndata: %s\n\n", text), err
}

// newest returns the id of the newest entry of a list, "" for an empty one.
func newest(p *page, path string, query url.Values) (string, error) {
	a, err := p.Call("GET", path, query)
	if err != nil {
		return "", err
	}
	return a.Prev().Get("min_id"), nil
}

// beginning is the connection of a stream that sends text before everything else.
type beginning struct {
	http.ResponseWriter
	text []byte
}

// WriteHeader sends the headers and the text. The caller flushes.
func (b *beginning) WriteHeader(status int) {
	b.ResponseWriter.WriteHeader(status)
	b.ResponseWriter.Write(b.text) // a connection that is gone fails with the next event
}

// Unwrap is for http.ResponseController.
func (b *beginning) Unwrap() http.ResponseWriter { return b.ResponseWriter }

package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"svc/server/entity"
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
	Newer         []string `json:"newer"`   // posts of the timeline after the one that the parameter after names, up to 20
	Noticed       []string `json:"noticed"` // likewise notifications, after that of the parameter noticed
	Notifications int      `json:"notifications"`
	Notified      string   `json:"notified"` // the newest notification if there are unread ones: it may come as an event as well
	Chats         int      `json:"chats"`
	Waiting       bool     `json:"waiting"` // anything in the menu
}

// state returns the first event of a stream. It asks the API, because pages mark posts and notifications as read.
func (h *Handlers) state(r *rest.Request, timeline string) ([]byte, error) {
	p, err := h.newPage(r)
	if err != nil {
		return nil, err
	}
	u := p.unseen
	s := streamState{
		Notifications: u.notifications, Chats: u.Chats, Waiting: u.FollowRequests+u.Announcements+u.Chats+u.Conversations > 0,
	}
	if timeline == "list/" {
		timeline += url.PathEscape(r.URL.Query().Get("list"))
	}
	if s.Newer, err = p.newer("/api/v1/timelines/"+timeline, "after"); err != nil {
		return nil, err
	}
	if s.Noticed, err = p.newer("/api/v1/notifications", "noticed"); err != nil {
		return nil, err
	}
	if u.notifications > 0 {
		a, err := p.Call("GET", "/api/v1/notifications", url.Values{"limit": {"1"}})
		if err != nil {
			return nil, err
		}
		s.Notified = a.Prev().Get("min_id")
	}
	text, err := json.Marshal(s)
	return fmt.Appendf(nil, "event: state\ndata: %s\n\n", text), err
}

// newer returns the ids of the entries of a list that are newer than the one that a parameter names, up to a page of them. If it names none, it
// returns the newest ones; without the parameter, an empty list.
func (p *page) newer(path, parameter string) ([]string, error) {
	if !p.URL.Query().Has(parameter) {
		return []string{}, nil
	}
	address, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	query := address.Query()
	query.Set("limit", postsPerPage)
	if after := p.URL.Query().Get(parameter); after != "" {
		query.Set("since_id", after)
	}
	a, err := p.Call("GET", address.EscapedPath(), query)
	if err != nil {
		return nil, err
	}
	list := a.Value.(entity.Appender).AppendJSON(nil)
	var entries []struct{ ID string }
	if err := json.Unmarshal(list, &entries); err != nil {
		return nil, err
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids, nil
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

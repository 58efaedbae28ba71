package stream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server/stream"
	"svc/store"
)

// TestStreamHandshake opens sockets for each stream, with tokens in each place, and checks the errors.
func TestStreamHandshake(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	list, foreign := srv.AddList(alice), bob.AddList("bob's", nil)
	app := srv.NewToken(nil, "read write")
	cookie := "_svc_key=" + alice.Token
	bearer := func(c *apptest.Client) []string { return []string{"Authorization", "Bearer " + c.Token} }
	protocol := func(c *apptest.Client) []string { return []string{"Sec-WebSocket-Protocol", c.Token} }
	narrow, posts, notifications := srv.NewToken(alice, "read:accounts"), srv.NewToken(alice, "read:statuses"), srv.NewToken(alice, "read:notifications")
	for _, tt := range []struct {
		name    string
		query   string
		headers []string
		want    int
	}{
		{"no parameters", "", nil, 101},
		{"a token in a header", "stream=user", bearer(alice.Client), 101},
		{"a token in the query", "stream=user&access_token=" + alice.Token, nil, 101},
		{"a token as a protocol", "stream=user", protocol(alice.Client), 101},
		{"a token among protocols", "stream=user", []string{"Sec-WebSocket-Protocol", alice.Token + ", other"}, 101},
		{"the query before the header", "stream=user&access_token=" + alice.Token, bearer(&apptest.Client{Token: "wrong"}), 101},
		{"a token and no stream", "", bearer(alice.Client), 101},
		{"a cookie", "stream=user", []string{"Cookie", cookie}, 401},
		{"a cookie for a public stream", "stream=public", []string{"Cookie", cookie}, 101},
		{"a password", "stream=user", []string{"Authorization", "Basic YWxpY2U6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ=="}, 401},
		{"a wrong token", "stream=public&access_token=wrong", nil, 401},
		{"a wrong protocol", "stream=user", protocol(&apptest.Client{Token: "wrong"}), 401},
		{"a wrong token and no stream", "access_token=wrong", nil, 401},
		{"a wrong token for an unknown stream", "stream=nothing&access_token=wrong", nil, 401},
		{"an app's token", "stream=user", bearer(app), 401},
		{"an app's token for a public stream", "stream=public", bearer(app), 101},
		{"a token of other scopes", "stream=user", bearer(narrow), 401},
		{"a token of other scopes for a public stream", "stream=public", bearer(narrow), 101},
		{"a token for notifications only", "stream=user:notification", bearer(notifications), 101},
		{"a token for notifications only, for home", "stream=user", bearer(notifications), 401},
		{"a token for chats", "stream=user:svc_chat", bearer(srv.NewToken(alice, "read:chats")), 101},
		{"chats without the scope", "stream=user:svc_chat", bearer(posts), 401},
		{"a token for lists", "stream=list&list=" + list, bearer(srv.NewToken(alice, "read:lists")), 101},
		{"a list without the scope", "stream=list&list=" + list, bearer(posts), 401},
		{"anonymous", "stream=user", nil, 401},
		{"anonymous, notifications", "stream=user:notification", nil, 401},
		{"anonymous, direct", "stream=direct", nil, 401},
		{"anonymous, a list", "stream=list&list=" + list, nil, 401},
		{"public", "stream=public", nil, 101},
		{"local media", "stream=public:local:media", nil, 101},
		{"remote", "stream=public:remote", nil, 101},
		{"remote of one instance", "stream=public:remote&instance=far.example", nil, 101},
		{"remote of a blank instance", "stream=public:remote&instance=%20", nil, 404},
		{"a hashtag", "stream=hashtag&tag=cats", nil, 101},
		{"an invalid hashtag", "stream=hashtag&tag=1", nil, 404},
		{"no hashtag", "stream=hashtag:local", nil, 404},
		{"media of a hashtag", "stream=hashtag:media&tag=cats", nil, 404},
		{"media of home", "stream=user:media", bearer(alice.Client), 404},
		{"an own list", "stream=list&list=" + list, bearer(alice.Client), 101},
		{"another account's list", "stream=list&list=" + foreign, bearer(alice.Client), 404},
		{"no list", "stream=list", bearer(alice.Client), 404},
		{"direct", "stream=direct", bearer(alice.Client), 101},
		{"the plural", "stream=user:notifications", bearer(alice.Client), 101},
		{"an unknown stream", "stream=nothing", nil, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			query, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			conn, _, resp := srv.StreamHandshake(query, tt.headers...)
			defer conn.Close()
			if resp.StatusCode != tt.want {
				t.Fatalf("got %d, want %d", resp.StatusCode, tt.want)
			}
			if i := slices.Index(tt.headers, "Sec-WebSocket-Protocol"); i >= 0 && tt.want == 101 {
				want, _, _ := strings.Cut(tt.headers[i+1], ",")
				if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != want {
					t.Errorf("the protocol is %q, want %q", got, want)
				}
			}
			if tt.want == 101 {
				if got := resp.Header.Get("Sec-WebSocket-Accept"); got != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" { // RFC 6455 1.3
					t.Errorf("Sec-WebSocket-Accept is %q", got)
				}
				return
			}
			var body struct{ Error string }
			if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Error == "" {
				t.Errorf("the response is not a JSON error: %v", err)
			}
		})
	}
	// Requests that are not handshakes.
	srv.As(nil).Get("/api/v1/streaming").Want(http.StatusUpgradeRequired)
	srv.As(nil).Get("/api/v1/streaming/", "stream", "nothing").Want(404)
	srv.As(nil).Get("/api/v1/streaming", "stream", "public", "access_token", "wrong").Want(401)
	conn, _, resp := srv.StreamHandshake(url.Values{}, "Sec-WebSocket-Key", "another")
	conn.Close()
	if resp.StatusCode != 400 {
		t.Errorf("two keys: got %d", resp.StatusCode)
	}
}

// TestCommands sends valid and invalid commands over a socket.
func TestCommands(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.AccountAction(alice.ID, "follow")
	list, foreign := srv.AddList(bob, alice), srv.AddList(alice)
	l := srv.OpenStream(nil)
	for _, tt := range []struct {
		ask  []string
		want string
	}{
		{[]string{"type", "subscribe", "stream", "public"}, "success"},
		{[]string{"type", "subscribe", "stream", "public"}, "ignored"},
		{[]string{"type", "subscribe", "stream", "user"}, "error unauthorized"},
		{[]string{"type", "subscribe", "stream", "list", "list", list}, "error unauthorized"},
		{[]string{"type", "subscribe", "stream", "nothing"}, "error bad_topic"},
		{[]string{"type", "subscribe"}, "error bad_topic"},
		{[]string{"type", "subscribe", "stream", "hashtag"}, "error bad_topic"},
		{[]string{"type", "unsubscribe", "stream", "public:local"}, "ignored"},
		{[]string{"type", "svc:authenticate", "token", "wrong"}, "error unauthorized"},
		{[]string{"type", "svc:authenticate"}, "error unauthorized"},
		{[]string{"type", "svc:authenticate", "token", srv.NewToken(nil, "read").Token}, "error unauthorized"},
		{[]string{"type", "svc:authenticate", "token", bob.Token}, "success"},
		{[]string{"type", "svc:authenticate", "token", bob.Token}, "error already_authenticated"},
		{[]string{"type", "subscribe", "stream", "user"}, "success"},
		{[]string{"type", "subscribe", "stream", "list", "list", list}, "success"},
		{[]string{"type", "subscribe", "stream", "list", "list", foreign}, "error bad_topic"},
		{[]string{"type", "subscribe", "stream", "user:notification"}, "success"},
		{[]string{"type", "unsubscribe", "stream", "user:notification"}, "success"},
		{[]string{"type", "unsubscribe", "stream", "user:notification"}, "ignored"},
	} {
		if got := l.Ask(tt.ask...); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.ask, got, tt.want)
		}
	}
	l.WantEvents("before the first post")
	id := alice.Publish("hello", "visibility", "local").ID()
	l.WantEvents("a post", "user: update "+id, "list "+list+": update "+id)
	l.Ask("type", "unsubscribe", "stream", "user")
	l.Ask("type", "subscribe", "stream", "public:local")
	id = alice.Publish("hello").ID()
	l.WantEvents("another post", "list "+list+": update "+id, "public: update "+id, "public:local: update "+id)
	srv.AddBlock(bob, alice) // applies to streams from before the authentication, too
	alice.Publish("hello")
	l.WantEvents("a post of a blocked account")

	for _, invalid := range []any{
		"", "{", "null", "[]", "7", `"subscribe"`, "{}", `{"type":7}`, `{"type":"dance"}`, `{"type":{"a":1},"stream":"public"}`,
		strings.Repeat(" ", stream.MaxCommandBytes),
	} {
		l.Send(invalid)
	}
	l.WantEvents("invalid messages")
	l.Send(`{"type":"subscribe","stream":"hashtag","tag":2024,"list":1,"unknown":true}`)
	if s := l.WaitFor(func(s apptest.StreamEvent) bool { return s.Event == "svc:respond" }); *s.Payload != `{"type":"subscribe","result":"error","error":"bad_topic"}` {
		t.Errorf("a number for a hashtag: %s", *s.Payload)
	}
	l.Send(strings.Repeat(" ", stream.MaxCommandBytes+1))
	if got := l.WaitEnd(); got != 1009 {
		t.Errorf("after a too long message the stream ended with %d", got)
	}

	many := srv.OpenStream(nil)
	for i := range stream.MaxSubscriptions {
		many.Subscribe("hashtag", "tag", fmt.Sprint("tag", i))
	}
	if got := many.Ask("type", "subscribe", "stream", "public"); got != "error bad_topic" {
		t.Errorf("one subscription too many: %s", got)
	}
	many.Ask("type", "unsubscribe", "stream", "hashtag", "tag", "TAG7")
	many.Subscribe("public")
}

// TestStreamRefusals checks that a refused subscription also has the error of the reference API, and nothing else has.
func TestStreamRefusals(t *testing.T) {
	srv := apptest.Start(t)
	for _, tt := range []struct {
		command string
		status  int
		error   string
	}{
		{`{"type":"subscribe","stream":"nothing"}`, 404, "Unknown stream"},
		{`{"type":"subscribe","stream":"user"}`, 401, "This stream requires an authenticated user"},
		{`{"type":"unsubscribe","stream":"nothing"}`, 404, "Unknown stream"},
		{`{"type":"subscribe","stream":"public"}`, 0, ""},
		{`{"type":"unsubscribe","stream":"public:local"}`, 0, ""},
		{`{"type":"svc:authenticate","token":"wrong"}`, 0, ""},
	} {
		l := srv.OpenStream(nil)
		l.Send(tt.command)
		response := l.WaitFor(func(s apptest.StreamEvent) bool { return s.Event == "svc:respond" })
		if response.Status != tt.status || response.Error != tt.error {
			t.Errorf("%s: %d %q, want %d %q", tt.command, response.Status, response.Error, tt.status, tt.error)
		}
	}
}

// TestStreamViolations violates the protocol, and reads why the stream ends. The client fails if there is a second Close frame.
func TestStreamViolations(t *testing.T) {
	srv := apptest.Start(t)
	for _, tt := range []struct {
		name  string
		frame func(*apptest.StreamClient)
		want  int
	}{
		{"text that is not UTF-8", func(l *apptest.StreamClient) { l.Send("\xff\xfe") }, 1007},
		{"a command that is not UTF-8", func(l *apptest.StreamClient) { l.Send("{\"type\":\"subscribe\",\"stream\":\"\xc3\"}") }, 1007},
		{"too long a command, with more behind it", func(l *apptest.StreamClient) {
			for range 20 {
				l.Send(strings.Repeat(" ", 10*stream.MaxCommandBytes))
			}
		}, 1009},
		{"the header of a long frame alone", func(l *apptest.StreamClient) { l.Conn.Write([]byte{0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4}) }, 1009},
		{"a length of 64 bits", func(l *apptest.StreamClient) {
			l.Conn.Write([]byte{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})
		}, 1009},
		{"half a header, then the rest", func(l *apptest.StreamClient) {
			l.Conn.Write([]byte{0x81, 0xfe})
			l.Conn.Write([]byte{0xff, 0xff, 1, 2, 3, 4, 'x'})
		}, 1009},
		{"fragments that are too long together", func(l *apptest.StreamClient) {
			l.Conn.Write(append([]byte{0x01, 0xfe, 0x0f, 0xff, 0, 0, 0, 0}, strings.Repeat(" ", 0xfff)...))
			l.Conn.Write(append([]byte{0x80, 0xfe, 0x0f, 0xff, 0, 0, 0, 0}, strings.Repeat(" ", 0xfff)...))
		}, 1009},
		{"a reason that is not UTF-8", func(l *apptest.StreamClient) { l.WriteFrame(apptest.OpClose, []byte{3, 0xe8, 'x', 0xff}) }, 1007},
		{"half a character in the reason", func(l *apptest.StreamClient) { l.WriteFrame(apptest.OpClose, []byte{3, 0xe8, 0xc3}) }, 1007},
		{"a reason", func(l *apptest.StreamClient) { l.WriteFrame(apptest.OpClose, []byte{3, 0xe8, 0xc3, 0xbc}) }, 1000},
		{"an unknown opcode", func(l *apptest.StreamClient) { l.WriteFrame(5, []byte("x")) }, 1002},
		{"a frame without a mask", func(l *apptest.StreamClient) { l.Conn.Write([]byte{0x81, 2, '{', '}'}) }, 1002},
		{"a Close frame with half a code", func(l *apptest.StreamClient) { l.WriteFrame(apptest.OpClose, []byte{3}) }, 1002},
		{"a Close frame", func(l *apptest.StreamClient) { l.WriteFrame(apptest.OpClose, []byte{3, 0xe8}) }, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := srv.OpenStream(nil)
			l.T = t
			tt.frame(l)
			if got := l.WaitEnd(); got != tt.want {
				t.Errorf("the stream ended with %d, want %d", got, tt.want)
			}
		})
	}
}

// TestNumericIDs subscribes to a list with a number for the id, as some clients do.
func TestNumericIDs(t *testing.T) {
	srv := apptest.Start(t)
	l := srv.OpenStream(srv.SignUp("alice").Client)
	l.Send(`{"type":"subscribe","stream":"list","list":12}`)
	l.WaitFor(func(s apptest.StreamEvent) bool {
		return s.Event == "svc:respond" && *s.Payload == `{"type":"subscribe","result":"error","error":"bad_topic"}`
	})
}

// TestStreamsEnd revokes access in each way: the streams of the token or account end at once, others do not.
func TestStreamsEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*apptest.Server, *apptest.User)
	}{
		{"revoking the token", func(a *apptest.Server, m *apptest.User) {
			a.RevokeToken(m.Token).Want(200)
		}},
		{"ending the session", func(a *apptest.Server, m *apptest.User) {
			for _, s := range m.Get("/api/oauth_tokens").Want(200).List() {
				m.Do("DELETE", fmt.Sprint("/api/oauth_tokens/", s.Int("id")), "", nil)
			}
		}},
		{"changing the password", func(a *apptest.Server, m *apptest.User) {
			m.Post("/api/svc/change_password", "password", apptest.Password, "new_password", apptest.Password+"!", "new_password_confirmation", apptest.Password+"!").Want(200)
		}},
		{"deactivating the account", func(a *apptest.Server, m *apptest.User) {
			if _, err := a.Social.Deactivate(context.Background(), m.AccountID()); err != nil {
				a.T.Fatal(err)
			}
		}},
		{"deleting the account", func(a *apptest.Server, m *apptest.User) {
			if err := a.Social.DeleteAccount(context.Background(), m.AccountID()); err != nil {
				a.T.Fatal(err)
			}
		}},
		{"withdrawing the confirmation", func(a *apptest.Server, m *apptest.User) {
			a.ChangeUser(m.Nickname, func(u *store.User) { u.ConfirmedAt = nil })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t)
			alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
			second := srv.NewToken(alice, "read")
			streams := []*apptest.StreamClient{srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(alice.Client, "stream", "public")}
			late := srv.OpenStream(nil)
			late.Ask("type", "svc:authenticate", "token", alice.Token)
			streams = append(streams, late)
			other, mine := srv.OpenStream(bob.Client, "stream", "user"), srv.OpenStream(second, "stream", "user")
			tt.do(srv, alice)
			for _, l := range streams {
				if got := l.WaitEnd(); got != 1008 {
					t.Errorf("the stream ended with %d", got)
				}
			}
			other.WantEvents("the stream of another account")
			if strings.Contains(tt.name, "token") {
				mine.WantEvents("the stream of another token")
			} else if !strings.Contains(tt.name, "session") {
				mine.WaitEnd()
			}
		})
	}
}

// TestStreamsExpire lets a token expire under open streams.
func TestStreamsExpire(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := alice.AccountID()
	hash := sha256.Sum256([]byte("short"))
	expiry := store.At(time.Now().Add(700 * time.Millisecond))
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.AddToken(context.Background(), &store.Token{Hash: hash[:], AccountID: &id, Scopes: store.Scopes{"read"}, ExpiresAt: &expiry})
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &apptest.Client{Server: srv, Token: "short"}
	socket, events := srv.OpenStream(c, "stream", "user"), openSSE(srv, c, "/api/v1/streaming/user")
	late := srv.OpenStream(nil)
	if got := late.Ask("type", "svc:authenticate", "token", "short"); got != "success" {
		t.Fatal(got)
	}
	for _, l := range []*apptest.StreamClient{socket, late} {
		if got := l.WaitEnd(); got != 1008 {
			t.Errorf("the stream ended with %d", got)
		}
	}
	events.WaitEnd()
	if time.Now().Before(expiry.Time()) {
		t.Error("the streams ended before the token")
	}
}

// TestPrivateStreams checks that a server that is not public has no streams for anonymous clients.
func TestPrivateStreams(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	narrow, l := srv.NewToken(alice, "read:accounts"), srv.OpenStream(nil)
	for _, stream := range []string{"public", "public:local", "public:remote", "hashtag"} {
		if got := l.Ask("type", "subscribe", "stream", stream, "tag", "cats"); got != "error unauthorized" {
			t.Errorf("%s: %s", stream, got)
		}
		conn, _, resp := srv.StreamHandshake(url.Values{"stream": {stream}, "tag": {"cats"}})
		if conn.Close(); resp.StatusCode != 401 {
			t.Errorf("%s: got %d", stream, resp.StatusCode)
		}
		path := strings.ReplaceAll(stream, ":", "/")
		srv.As(nil).Get("/api/v1/streaming/"+path, "tag", "cats").Want(401)
		narrow.Get("/api/v1/streaming/"+path, "tag", "cats").Want(401)
	}
	if got := l.Ask("type", "svc:authenticate", "token", alice.Token); got != "success" {
		t.Error(got)
	}
	l.Subscribe("public")
	id := alice.Publish("hello").ID()
	l.WantEvents("a post", "public: update "+id)
}

// TestStreamAPIName checks that the names of streams, commands and events follow api.name.
func TestStreamAPIName(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "other" })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	l := srv.OpenStream(nil)
	l.Send(map[string]string{"type": "svc:authenticate", "token": alice.Token})
	if got := l.Ask("type", "other:authenticate", "token", alice.Token); got != "success" {
		t.Error(got)
	}
	if got := l.Ask("type", "subscribe", "stream", "user:svc_chat"); got != "error bad_topic" {
		t.Error(got)
	}
	l.Subscribe("user:other_chat").Subscribe("user")
	alice.AccountAction(bob.ID, "follow")
	l.WantEvents("a follow", "user: other:follow_relationships_update "+"follow_accept")
}

// TestFramesBehindTheRequest sends frames with the request, so that they arrive before the connection is a stream: they are read like all others.
func TestFramesBehindTheRequest(t *testing.T) {
	srv := apptest.Start(t)
	command := `{"type":"subscribe","stream":"nothing"}`
	short := append([]byte{0x81, 0x80 | byte(len(command)), 0, 0, 0, 0}, command...)
	long := []byte{0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4}
	for _, tt := range []struct {
		name   string
		frames []byte
		split  int // of the bytes, this many are sent with the request
		want   string
	}{
		{"a command", short, len(short), "Unknown stream"},
		{"a part of its header", short, 1, "Unknown stream"},
		{"a part of its content", short, 10, "Unknown stream"},
		{"the header of a long frame", long, len(long), "\x88\x02\x03\xf1"}, // a Close frame with the code 1009
		{"a part of that", long, 5, "\x88\x02\x03\xf1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := strings.TrimPrefix(srv.URL, "http://")
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			request := "GET /api/v1/streaming HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
			if _, err := conn.Write(append([]byte(request), tt.frames[:tt.split]...)); err != nil {
				t.Fatal(err)
			}
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			var got []byte
			buffer := make([]byte, 4096)
			for sent := false; !bytes.Contains(got, []byte(tt.want)); {
				n, err := conn.Read(buffer)
				got = append(got, buffer[:n]...)
				if err != nil {
					t.Fatalf("%q is not in %q: %v", tt.want, got, err)
				}
				if !sent && bytes.Contains(got, []byte("\r\n\r\n")) {
					sent = true
					if _, err := conn.Write(tt.frames[tt.split:]); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

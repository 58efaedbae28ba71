package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/server/rest"
)

// budgetSite serves a route of each class of bodies, with a small budget for them.
func budgetSite(t *testing.T, budget int64) (*site, *rest.Server) {
	read := func(r *rest.Request) (any, error) {
		var p struct {
			Text string `param:"text"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		return len(p.Text), nil
	}
	s := rest.New(rest.Config{
		Settings:     settings(func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} }),
		Authenticate: authenticate,
		TempDir:      t.TempDir(),
		Bodies:       budget,
	}, rest.Routes{
		"POST /api/v1/it":    {rest.Anyone, read},
		"POST /api/v1/media": {rest.User().Uploads(), read},
		"POST /inbox": {rest.Anonymous.Inbox(), func(r *rest.Request) (any, error) {
			text, err := r.ReadJSON(rest.MaxText)
			return len(text), err
		}},
	})
	return serve(t, s), s
}

// bodyOf is how requests of a class are made.
var bodyOf = map[string]struct{ path, headers string }{
	"members":   {"/api/v1/it", "Authorization: Bearer alice\r\n"},
	"inboxes":   {"/inbox", ""},
	"anonymous": {"/api/v1/it", ""},
}

// post begins a request of a class. client is the address that the proxy names, "" if it names none.
func (st *site) post(class, client string, length int, body string) net.Conn {
	c := st.dial()
	if client != "" {
		client = "X-Forwarded-For: " + client + "\r\n"
	}
	of := bodyOf[class]
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s%s\r\n%s", of.path, length, of.headers, client, body)
	return c
}

func status(c net.Conn) string {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	io.Copy(io.Discard, resp.Body)
	return fmt.Sprint(resp.StatusCode)
}

// TestBodyShares fills each share with bodies that do not end. The others are answered, and new clients of the same class, too. No share grows beyond
// its size, no network beyond an eighth.
func TestBodyShares(t *testing.T) {
	const budget = 4 << 20
	classes := map[string]func(*rest.Server) (used, peak, size int64){
		"members":   func(s *rest.Server) (int64, int64, int64) { return s.BodyUse(rest.MemberBodies) },
		"inboxes":   func(s *rest.Server) (int64, int64, int64) { return s.BodyUse(rest.InboxBodies) },
		"anonymous": func(s *rest.Server) (int64, int64, int64) { return s.BodyUse(rest.AnonymousBodies) },
	}
	const whole = `{"text":"it"}`
	bodies := 200
	if testing.Short() {
		bodies = 100 // 3 MB, more than each share
	}
	for class, use := range classes {
		for from, address := range map[string]func(i int) string{
			"one network":          func(int) string { return "192.0.2.1" },
			"one IPv6 network":     func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) },
			"many networks":        func(i int) string { return fmt.Sprintf("192.0.2.%d", i%100+1) },
			"a proxy without name": func(int) string { return "" },
		} {
			t.Run(class+" from "+from, func(t *testing.T) {
				st, s := budgetSite(t, budget)
				s.SetBodyWait(time.Minute)
				partial := `{"text":"` + strings.Repeat("a", 30_000)
				for i := range bodies {
					st.post(class, address(i), 60_000, partial)
				}
				deadline := time.Now().Add(5 * time.Second)
				for most := int64(0); most == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
					_, most, _ = use(s)
				}
				for other := range classes {
					if got := status(st.post(other, "198.51.100.1", len(whole), whole)); got != "200" {
						t.Errorf("a body of %s: got %s", other, got)
					}
				}
				used, peak, size := use(s)
				if peak > size || used > peak {
					t.Errorf("uses %d, at most %d, want %d at most", used, peak, size)
				}
				most := max(s.NetworkUse(rest.MemberBodies), s.NetworkUse(rest.InboxBodies), s.NetworkUse(rest.AnonymousBodies))
				if strings.HasSuffix(from, "network") && most > size/8 {
					t.Errorf("a network uses %d, want %d at most", most, size/8)
				}
			})
		}
	}
}

// TestBodiesAreReleased checks that nothing is taken when all requests are answered, however they ended.
func TestBodiesAreReleased(t *testing.T) {
	st, s := budgetSite(t, 1<<20)
	var wg sync.WaitGroup
	for i := range 60 {
		for class := range bodyOf {
			wg.Go(func() {
				body := `{"text":"` + strings.Repeat("a", i*1000) + `"}`
				length := len(body) + i%3*10 // some are cut off
				c := st.post(class, fmt.Sprintf("192.0.2.%d", i%3), length, body)
				if i%3 > 0 {
					c.Close()
					return
				}
				status(c)
			})
		}
	}
	wg.Wait()
	for _, class := range []func() (int64, int64, int64){
		func() (int64, int64, int64) { return s.BodyUse(rest.MemberBodies) },
		func() (int64, int64, int64) { return s.BodyUse(rest.InboxBodies) },
		func() (int64, int64, int64) { return s.BodyUse(rest.AnonymousBodies) },
	} {
		used, _, _ := class()
		for deadline := time.Now().Add(10 * time.Second); used != 0 && time.Now().Before(deadline); used, _, _ = class() {
			time.Sleep(10 * time.Millisecond)
		}
		if used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	}
}

// TestBusyInbox checks that many activities of one host at the same time wait for each other, and that none is lost.
func TestBusyInbox(t *testing.T) {
	st, s := budgetSite(t, 32<<20)
	body := `{"text":"` + strings.Repeat("a", 20_000) + `"}`
	answers := make(chan string)
	for range 200 {
		go func() { answers <- status(st.post("inboxes", "192.0.2.1", len(body), body)) }()
	}
	for range 200 {
		if got := <-answers; got != "200" {
			t.Errorf("got %s", got)
		}
	}
	if _, peak, size := s.BodyUse(rest.InboxBodies); peak > size/8 {
		t.Errorf("one host used %d, want %d at most", peak, size/8)
	}
}

// TestNoRoomForBody checks the answer to a client whose body does not fit into the budget.
func TestNoRoomForBody(t *testing.T) {
	release := make(chan struct{})
	s := rest.New(rest.Config{Settings: settings(), Bodies: 64 << 10}, rest.Routes{"POST /api/v1/it": {rest.Anonymous, func(r *rest.Request) (any, error) {
		if err := r.Bind(&struct{}{}); err != nil {
			return nil, err
		}
		<-release
		return nil, nil
	}}})
	st := serve(t, s)
	body := `{"text":"` + strings.Repeat("a", 5000) + `"}`
	first := st.post("anonymous", "", len(body), body)
	for used := int64(0); used == 0; used, _, _ = s.BodyUse(rest.AnonymousBodies) {
		time.Sleep(time.Millisecond)
	}
	c := st.post("anonymous", "", len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if close(release); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %v, want 503 with Retry-After", resp.StatusCode, resp.Header)
	}
	if got := status(first); got != "200" {
		t.Errorf("the first one: got %s", got)
	}
}

// TestLongHeaders checks that connections with long headers do not take memory without bound.
func TestLongHeaders(t *testing.T) {
	st, s := budgetSite(t, 8<<20)
	var lines strings.Builder
	for i := 0; lines.Len() < 30_000; i++ {
		fmt.Fprintf(&lines, "a%d:\r\n", i)
	}
	for range 100 {
		io.WriteString(st.dial(), "GET /api/v1/it HTTP/1.1\r\nHost: localhost\r\n"+lines.String())
	}
	c := st.post("anonymous", "198.51.100.1", 2, "{}")
	if got := status(c); got != "200" {
		t.Errorf("another client: got %s", got)
	}
	if _, peak, size := s.BodyUse(rest.AnonymousBodies); peak > size || peak < size/4 {
		t.Errorf("they take %d of %d", peak, size)
	}
	for n, want := range map[int]string{rest.MaxHeaderFields - 4: "200", rest.MaxHeaderFields + 1: "431"} {
		var fields strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "A%d: x\r\n", i)
		}
		c := st.dial()
		fmt.Fprintf(c, "POST /api/v1/it HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n%s\r\n{}", fields.String())
		if got := status(c); got != want {
			t.Errorf("%d fields: got %s, want %s", n, got, want)
		}
	}
}

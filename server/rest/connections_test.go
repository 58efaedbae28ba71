package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"svc/internal/config"
	"svc/server/rest"
)

// TestConnectionsOfOneClient fills the server with the connections of one client behind a trusted proxy. Another client is answered long before
// they end by themselves, after 30 seconds.
func TestConnectionsOfOneClient(t *testing.T) {
	const head = " /api/v1/it HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: "
	for name, text := range map[string]string{
		"slow bodies":  "POST" + head + "192.0.2.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"slow headers": "GET" + head + "192.0.2.1\r\nX-",
		"idle":         "",
	} {
		t.Run(name, func(t *testing.T) {
			st := serve(t, newServer(t, rest.Routes{
				"GET /api/v1/it": {rest.Anyone, rest.Always(nil)},
				"POST /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
					var p struct {
						Text string `param:"text"`
					}
					return nil, r.Bind(&p)
				}},
			}, func(c *config.Config) {
				c.Server.TrustedProxies = []string{"127.0.0.1"}
				c.Server.ReadHeaderTimeout = 30 * time.Second
			}))
			for range rest.MaxConnections + 100 {
				c, err := net.Dial("tcp", st.address)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				io.WriteString(c, text) // the server may have closed it
			}
			for i := range 20 {
				began := time.Now()
				c := st.dial()
				c.SetDeadline(began.Add(20 * time.Second))
				fmt.Fprintf(c, "GET%s198.51.100.%d\r\nConnection: close\r\n\r\n", head, i)
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("request %d of another client after %v: %v", i, time.Since(began), err)
				}
			}
		})
	}
}

// TestBodiesOfOneClient checks that a slow body of a client ends when it sends too many, and that no other client's does.
func TestBodiesOfOneClient(t *testing.T) {
	st := serve(t, newServer(t, rest.Routes{"POST /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
		var p struct {
			Text string `param:"text"`
		}
		return nil, r.Bind(&p)
	}}}, func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} }))
	begin := func(address string) net.Conn {
		c := st.dial()
		fmt.Fprintf(c, "POST /api/v1/it HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{", address)
		return c
	}
	other := begin("198.51.100.1")
	ended := make(chan struct{}, 10*rest.MaxBodiesPerClient)
	slow := func() {
		c := begin("192.0.2.1")
		go func() {
			if b, err := io.ReadAll(c); err == nil && len(b) == 0 {
				ended <- struct{}{}
			}
		}()
	}
	for range rest.MaxBodiesPerClient {
		slow()
	}
	for waiting, deadline := true, time.Now().Add(8*time.Second); waiting; {
		slow()
		select {
		case <-ended:
			waiting = false
		case <-time.After(rest.SlowBody / 4):
			if waiting = time.Now().Before(deadline); !waiting {
				t.Error("no slow body has ended")
			}
		}
	}
	io.WriteString(other, `"text":"it"}`)
	resp, err := http.ReadResponse(bufio.NewReader(other), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("the body of another client: %v", err)
	}
}

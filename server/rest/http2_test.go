package rest_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"svc/server/rest"
)

// serveTLS serves with TLS, as app does with certificates of its own. It returns the settings of a client, with the address as the name.
func serveTLS(t *testing.T, s *rest.Server) *tls.Config {
	certificates := httptest.NewUnstartedServer(nil)
	certificates.StartTLS()
	defer certificates.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- s.Serve(ctx, tls.NewListener(rest.CountHeaders(ln), &tls.Config{Certificates: certificates.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}))
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, ServerName: ln.Addr().String()}
}

// TestHTTP2Limits checks what an HTTP/2 connection may make the server keep: the largest frame, the window of bodies that are not read, the headers, and
// the streams at the same time.
func TestHTTP2Limits(t *testing.T) {
	config := serveTLS(t, newServer(t, rest.Routes{"POST /api/v1/it": {rest.Anyone, whoAmI}}))
	c, err := tls.Dial("tcp", config.ServerName, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, http2.ClientPreface)
	f := http2.NewFramer(c, c)
	f.WriteSettings()
	limits := make(map[http2.SettingID]uint32)
	for len(limits) == 0 {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if settings, ok := frame.(*http2.SettingsFrame); ok {
			settings.ForeachSetting(func(s http2.Setting) error {
				limits[s.ID] = s.Val
				return nil
			})
		}
	}
	for id, most := range map[http2.SettingID]uint32{
		http2.SettingMaxFrameSize: 16 << 10, http2.SettingInitialWindowSize: 64 << 10, http2.SettingMaxConcurrentStreams: 32, http2.SettingMaxHeaderListSize: 34 << 10,
	} {
		if got, ok := limits[id]; !ok || got > most {
			t.Errorf("%v is %d, want %d at most", id, got, most)
		}
	}
	var block strings.Builder
	e := hpack.NewEncoder(&block)
	for name, value := range map[string]string{":method": "POST", ":scheme": "https", ":authority": "localhost", ":path": "/api/v1/it"} {
		e.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	for i := range rest.MaxHeaderFields + 1 {
		e.WriteField(hpack.HeaderField{Name: fmt.Sprint("a", i)})
	}
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndHeaders: true, EndStream: true})
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if h, ok := frame.(*http2.MetaHeadersFrame); ok {
			if got := h.PseudoValue("status"); got != "431" {
				t.Errorf("a request with many fields: got %s, want 431", got)
			}
			return
		}
	}
}

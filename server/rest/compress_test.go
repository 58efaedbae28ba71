package rest_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"svc/server/rest"
)

// texts returns a route that answers with a text as a handler of pages does.
func texts(text string) rest.Handler {
	return func(*rest.Request) (any, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			rest.WriteText(w, 200, []byte(text))
		}), nil
	}
}

// fetched is an answer as it was sent.
type fetched struct {
	*http.Response
	body []byte
}

// fetch sends a request with an Accept-Encoding header, "-" for none, and returns the answer as it was sent.
func fetch(t *testing.T, method, address, encodings string, headers ...string) fetched {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if encodings != "-" {
		req.Header.Set("Accept-Encoding", encodings)
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{resp, body}
}

// text returns the body without its encoding.
func (f fetched) text(t *testing.T) string {
	t.Helper()
	if f.Header.Get("Content-Encoding") == "" {
		return string(f.body)
	}
	r, err := gzip.NewReader(bytes.NewReader(f.body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func noise(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)[:n]
}

// TestAcceptedEncodings compares the answer to each Accept-Encoding with the text as it is.
func TestAcceptedEncodings(t *testing.T) {
	long := strings.Repeat("herons in the orchard; ", 2000)
	srv := httptest.NewServer(newServer(t, rest.Routes{
		"GET /api/v1/long": {rest.Anyone, rest.Always(appender(long))},
		"GET /page":        {rest.Anonymous.HTML(), texts(long)},
	}))
	t.Cleanup(srv.Close)
	for encodings, zipped := range map[string]bool{
		"gzip": true, "gzip, deflate, br, zstd": true, "br;q=1.0, GZIP;q=0.5": true, "x-gzip": true, "*": true, "gzip;q=0.001": true,
		"deflate, *;q=0.5": true, "identity;q=0.5, gzip": true, "gzip;q=1.0, *;q=0": true, "gzip ; Q=0.8": true,
		"-": false, "": false, "br": false, "gzip;q=0": false, "gzip; q=0.0, *": false, "*;q=0": false, "identity": false,
		"identity, gzip;q=0.9": false, "gzip;q=2": false, "gzip;q=NaN": false, "gzip;q=x": false, "gzip;level=9": false, "gzipped": false,
		strings.Repeat("a,", 10_000): false,
	} {
		for path, want := range map[string]string{"/api/v1/long": `"` + long + `"`, "/page": long} {
			got := fetch(t, "GET", srv.URL+path, encodings)
			if got.StatusCode != 200 || (got.Header.Get("Content-Encoding") == "gzip") != zipped || got.text(t) != want {
				t.Errorf("%s for %.50q: %d, encoding %q, %d bytes", path, encodings, got.StatusCode, got.Header.Get("Content-Encoding"), len(got.body))
			}
			if got.Header.Get("Vary") != "Accept-Encoding" || got.Header.Get("Content-Length") != strconv.Itoa(len(got.body)) {
				t.Errorf("%s for %.50q: %v", path, encodings, got.Header)
			}
			head := fetch(t, "HEAD", srv.URL+path, encodings)
			for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "Vary"} {
				if head.Header.Get(name) != got.Header.Get(name) {
					t.Errorf("HEAD %s for %.50q: %s is %q, want %q", path, encodings, name, head.Header.Get(name), got.Header.Get(name))
				}
			}
		}
	}
}

// TestWhatIsCompressed requests answers that differ in size, kind and access, with gzip accepted.
func TestWhatIsCompressed(t *testing.T) {
	long, hostile := strings.Repeat("herons ", 1000), noise(100_000)
	stream := func(*rest.Request) (any, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, long)
			http.NewResponseController(w).Flush()
		}), nil
	}
	calls := func(path string) rest.Handler {
		return func(r *rest.Request) (any, error) {
			if _, err := r.Call("GET", path, nil); err != nil {
				return nil, err
			}
			return appender(long), nil
		}
	}
	srv := httptest.NewServer(newServer(t, rest.Routes{
		"GET /api/v1/short":   {rest.Anyone, rest.Always(appender(long[:1000]))},
		"GET /api/v1/raw":     {rest.Anyone, rest.Always(json.RawMessage(`"` + long + `"`))},
		"GET /api/v1/rawest":  {rest.Anyone, rest.Always(json.RawMessage(`"` + strings.Repeat(long, 20) + `"`))},
		"GET /api/v1/noise":   {rest.Anyone, rest.Always(appender(hostile))},
		"GET /api/v1/huge":    {rest.Anyone, rest.Always(appender(strings.Repeat(long, 200)))},
		"GET /api/v1/mine":    {rest.User(), rest.Always(appender(long))},
		"GET /api/v1/secret":  {rest.Anyone.Secret(), rest.Always(appender(long))},
		"GET /api/v1/caller":  {rest.Anyone, calls("/api/v1/deeper")},
		"GET /api/v1/deeper":  {rest.Anyone, calls("/api/v1/secret")},
		"GET /api/v1/harm":    {rest.Anyone, calls("/api/v1/short")},
		"GET /api/v1/events":  {rest.Anyone, stream},
		"GET /short":          {rest.Anonymous.HTML(), texts(long[:1000])},
		"GET /secret":         {rest.Anonymous.HTML().Secret(), texts(long)},
		"POST /api/v1/secret": {rest.Anyone.Secret(), rest.Always(appender(long))},
	}))
	t.Cleanup(srv.Close)
	cookie, bearer := []string{"Cookie", "_svc_key=alice"}, []string{"Authorization", "Bearer alice read"}
	from := func(site string, headers ...string) []string {
		return append([]string{"Sec-Fetch-Site", site}, headers...)
	}
	for _, tt := range []struct {
		name, path string
		headers    []string
		zipped     bool
		vary       bool
	}{
		{"a short one", "/api/v1/short", nil, false, false},
		{"a short page", "/short", nil, false, false},
		{"ready-made JSON", "/api/v1/raw", nil, true, true},
		{"long ready-made JSON", "/api/v1/rawest", nil, false, false},
		{"noise", "/api/v1/noise", nil, false, true},
		{"more than a MiB", "/api/v1/huge", nil, false, true},
		{"a stream", "/api/v1/events", nil, false, false},
		{"a secret", "/api/v1/secret", nil, false, false},
		{"a page with a secret", "/secret", nil, false, false},
		{"a secret in what it calls", "/api/v1/caller", nil, false, false},
		{"none in what it calls", "/api/v1/harm", nil, true, true},
		{"a cookie", "/api/v1/mine", cookie, true, true},
		{"a cookie, by the user", "/api/v1/mine", from("none", cookie...), true, true},
		{"a cookie, by an own page", "/api/v1/mine", from("same-origin", cookie...), true, true},
		{"a cookie, by another site", "/api/v1/mine", from("cross-site", cookie...), false, false},
		{"a cookie, by another host of the site", "/api/v1/mine", from("same-site", cookie...), false, false},
		{"a cookie, with a foreign Origin", "/api/v1/mine", append([]string{"Origin", "https://evil.example"}, cookie...), false, false},
		{"a token, by an app on another site", "/api/v1/mine", from("cross-site", bearer...), true, true},
		{"a visitor from another site", "/api/v1/raw", from("cross-site"), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := fetch(t, "GET", srv.URL+tt.path, "-", tt.headers...)
			got := fetch(t, "GET", srv.URL+tt.path, "gzip", tt.headers...)
			if got.StatusCode != 200 || (got.Header.Get("Content-Encoding") == "gzip") != tt.zipped || got.text(t) != string(plain.body) {
				t.Errorf("%d, encoding %q, %d of %d bytes", got.StatusCode, got.Header.Get("Content-Encoding"), len(got.body), len(plain.body))
			}
			for _, a := range []fetched{got, plain} {
				if (a.Header.Get("Vary") == "Accept-Encoding") != tt.vary {
					t.Errorf("Vary is %q", a.Header.Get("Vary"))
				}
			}
		})
	}
}

// TestManyCompressedAtOnce checks that answers which are compressed at the same moment are not mixed up, and that few writers compress them.
func TestManyCompressedAtOnce(t *testing.T) {
	table := make(rest.Routes)
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("%d herons, ", i), 500+i) }
	const routes = 20
	for i := range routes {
		table[fmt.Sprintf("GET /api/v1/it%d", i)] = rest.Route{Access: rest.Anyone, Handle: rest.Always(appender(text(i)))}
	}
	s := newServer(t, table)
	var done sync.WaitGroup
	for n := range 400 {
		done.Go(func() {
			i := n % routes
			w := call(s, "GET", fmt.Sprintf("/api/v1/it%d", i), "", "Accept-Encoding", "gzip")
			got := fetched{&http.Response{Header: w.Header()}, w.Body.Bytes()}
			if w.Header().Get("Content-Encoding") != "gzip" || got.text(t) != `"`+text(i)+`"` {
				t.Errorf("answer %d: encoding %q, %d bytes", i, w.Header().Get("Content-Encoding"), w.Body.Len())
			}
		})
	}
	done.Wait()
	if n := rest.GzipWriters(); n > 16 {
		t.Errorf("there are %d writers", n)
	}
}

// TestGzipStaysSmall gives Gzip what does not become smaller, or only to a length that is too large.
func TestGzipStaysSmall(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		zipped     bool
	}{
		{"a text", strings.Repeat("herons ", 1000), true},
		{"nothing", "", false},
		{"noise", noise(10_000), false},
		{"much noise among blanks", noise(400_000) + strings.Repeat(" ", 600_000), false},
		{"a MiB", strings.Repeat(" ", 1<<20), true},
		{"more", strings.Repeat(" ", 1<<20+1), false},
		{"a text again, after failures", strings.Repeat("herons ", 1000), true},
	} {
		text := []byte(tt.text)
		got := rest.Gzip(text[:0], text)
		if (got != nil) != tt.zipped {
			t.Errorf("%s: %d of %d bytes", tt.name, len(got), len(tt.text))
			continue
		}
		if !tt.zipped {
			if string(text) != tt.text {
				t.Errorf("%s: the text was overwritten", tt.name)
			}
			continue
		}
		if plain := (fetched{&http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}}, got}).text(t); plain != tt.text {
			t.Errorf("%s: another text of %d bytes", tt.name, len(plain))
		}
	}
}

package rest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/config"
	"svc/server/rest"
)

const multipartType = "multipart/form-data; boundary=frontier"

// multipartBody returns a multipart form of values.
func multipartBody(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(part(`name="`+pairs[i]+`"`, "", pairs[i+1]))
	}
	return b.String() + "--frontier--\r\n"
}

func part(disposition, contentType, content string) string {
	if contentType != "" {
		contentType = "\r\nContent-Type: " + contentType
	}
	return "--frontier\r\nContent-Disposition: form-data; " + disposition + contentType + "\r\n\r\n" + content + "\r\n"
}

// uploadTable has a route that returns a description of its parameters.
func uploadTable(t testing.TB) rest.Routes {
	return rest.Routes{"PATCH /api/v1/profile": {rest.Anyone.Uploads(), func(r *rest.Request) (any, error) {
		var p struct {
			Avatar *rest.Upload   `param:"avatar"`
			Header *rest.Upload   `param:"header"`
			Files  []*rest.Upload `param:"files"`
			Name   *string        `param:"name"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		describe := func(u *rest.Upload) string {
			switch {
			case u == nil:
				return "unchanged"
			case u.Empty:
				return "reset"
			}
			for range 2 { // Open can be called again
				content, err := io.ReadAll(u.Open())
				if err != nil || int64(len(content)) != u.Size {
					t.Errorf("read %d bytes of %d: %v", len(content), u.Size, err)
				}
			}
			content, _ := io.ReadAll(io.LimitReader(u.Open(), 20))
			return fmt.Sprintf("%s %s %d %s", u.Filename, u.ContentType, u.Size, content)
		}
		response := map[string]any{"avatar": describe(p.Avatar), "header": describe(p.Header), "name": p.Name}
		for i, f := range p.Files {
			response[fmt.Sprint("file", i)] = describe(f)
		}
		return response, nil
	}}}
}

func TestUploads(t *testing.T) {
	const end = "--frontier--\r\n"
	for _, tt := range []struct {
		name        string
		contentType string
		body        string
		want        map[string]string
	}{
		{"no body", "", "", map[string]string{"avatar": "unchanged"}},
		{"a file", multipartType, part(`name="avatar"; filename="a.png"`, "image/png", "PNG!") + part(`name="name"`, "", "Alice") + end,
			map[string]string{"avatar": "a.png image/png 4 PNG!", "header": "unchanged", "name": "Alice"}},
		{"a path for a name", multipartType, part(`name="avatar"; filename="../../etc/passwd"`, "image/png", "x") + end,
			map[string]string{"avatar": "passwd image/png 1 x"}},
		{"a file without a type", multipartType, part(`name="avatar"; filename="a"`, "", "x") + end, map[string]string{"avatar": "a  1 x"}},
		{"a file without a name", multipartType, part(`name="avatar"`, "image/png", "x") + end, map[string]string{"avatar": " image/png 1 x"}},
		{"no file chosen", multipartType, part(`name="avatar"; filename=""`, "application/octet-stream", "") + part(`name="header"`, "application/octet-stream", "") + end,
			map[string]string{"avatar": "unchanged", "header": "unchanged"}},
		{"no file chosen, with only an empty name", multipartType, part(`name="avatar"; filename=""`, "", "") + end, map[string]string{"avatar": "unchanged"}},
		{"reset by an empty field", multipartType, part(`name="avatar"`, "", "") + end, map[string]string{"avatar": "reset", "header": "unchanged"}},
		{"reset in a form", FormType, "avatar=", map[string]string{"avatar": "reset"}},
		{"reset in JSON", JSONType, `{"avatar":"","header":null}`, map[string]string{"avatar": "reset", "header": "unchanged"}},
		{"a text for a file", JSONType, `{"avatar":"http://example.com/a.png"}`, map[string]string{"avatar": "unchanged"}},
		{"a value that has a type", multipartType, part(`name="name"`, "text/plain; charset=utf-8", "Alice") + end, map[string]string{"name": "Alice"}},
		{"an empty value that has a type", multipartType, part(`name="name"`, "text/plain", "") + end, map[string]string{"name": ""}},
		{"a file for a value", multipartType, part(`name="name"; filename="a"`, "", "Alice") + end, map[string]string{"name": ""}},
		{"several", multipartType, part(`name="files[]"; filename="a"`, "", "x") + part(`name="files[]"; filename="b"`, "", "yy") + end,
			map[string]string{"file0": "a  1 x", "file1": "b  2 yy"}},
		{"with indexes", multipartType, part(`name="files[1]"; filename="b"`, "", "yy") + part(`name="files[0]"; filename="a"`, "", "x") + end,
			map[string]string{"file0": "a  1 x", "file1": "b  2 yy"}},
		{"a part without a name", multipartType, part(`filename="b"`, "", "yy") + part(`name="name"`, "", "x") + end, map[string]string{"name": "x"}},
		{"text before and after the parts", multipartType, "preamble\r\n" + part(`name="name"`, "", "x") + end + "epilogue", map[string]string{"name": "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := call(newServer(t, uploadTable(t)), "PATCH", "/api/v1/profile", tt.body, "Content-Type", tt.contentType)
			if w.Code != 200 {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			for name, want := range tt.want {
				if got := field(t, w, name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestUploadLimits(t *testing.T) {
	const limit = 400_000
	file := func(size int) string {
		return part(`name="avatar"; filename="a"`, "", strings.Repeat("x", size))
	}
	many := func(n int) string {
		return strings.Repeat(part(`name="files[]"; filename="a"`, "", "x"), n)
	}
	for _, tt := range []struct {
		name   string
		body   string
		status int
		want   string
	}{
		{"at the limit", file(limit), 200, ""},
		{"above the limit", file(limit + 1), 413, "File is too large"},
		{"two", file(limit) + file(limit), 200, ""},
		{"all together", strings.Repeat(file(limit), 5), 413, "The request body is too large"},
		{"many", many(rest.MaxFiles), 200, ""},
		{"too many", many(rest.MaxFiles + 1), 400, "Too many files"},
		{"a value", part(`name="name"`, "", strings.Repeat("x", rest.MaxText+1)), 413, "The request body is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := rest.New(rest.Config{
				Settings:     settings(func(c *config.Config) { c.Media.UploadLimit = limit }),
				Authenticate: authenticate,
				TempDir:      dir,
			}, uploadTable(t))
			w := call(s, "PATCH", "/api/v1/profile", tt.body+"--frontier--\r\n", "Content-Type", multipartType, "Authorization", "Bearer alice")
			if w.Code != tt.status || tt.status != 200 && field(t, w, "error") != tt.want {
				t.Errorf("got %d %s, want %d %s", w.Code, w.Body, tt.status, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("temporary files remain: %v", left)
			}
		})
	}
}

// TestUploadIsClosed checks that uploads are closed after the request.
func TestUploadIsClosed(t *testing.T) {
	var kept *rest.Upload
	s := newServer(t, rest.Routes{"POST /api/v1/media": {rest.Anyone.Uploads(), func(r *rest.Request) (any, error) {
		var p struct {
			File *rest.Upload `param:"file"`
		}
		err := r.Bind(&p)
		kept = p.File
		return nil, err
	}}})
	call(s, "POST", "/api/v1/media", part(`name="file"; filename="a"`, "", "x")+"--frontier--\r\n", "Content-Type", multipartType)
	if kept == nil {
		t.Fatal("no file")
	}
	if _, err := io.ReadAll(kept.Open()); err == nil {
		t.Error("the file can still be read")
	}
}

// TestTooLargeGetsResponse checks that a client that sends too much before it reads gets the response instead of a broken
// connection.
func TestTooLargeGetsResponse(t *testing.T) {
	srv := httptest.NewServer(newServer(t, rest.Routes{
		"POST /api/v1/it": {rest.User(), whoAmI},
		"PUT /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
			return nil, r.Bind(&struct{}{})
		}},
	}))
	defer srv.Close()
	body := []byte("text=" + strings.Repeat("a", rest.MaxText+500_000))
	for _, tt := range []struct {
		method string
		status int
	}{
		{"PUT", 413},
		{"POST", 401}, // the body is not read
	} {
		for i := range 3 {
			req, err := http.NewRequest(tt.method, srv.URL+"/api/v1/it", io.NopCloser(bytes.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = int64(len(body))
			req.Header.Set("Content-Type", FormType)
			req.Header.Set("Authorization", "Bearer nobody")
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatalf("%s %d: %v", tt.method, i, err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("%s: got %d, want %d", tt.method, resp.StatusCode, tt.status)
			}
		}
	}
}

// TestExpectContinue checks that a client that expects 100-continue gets the refusal before it sends the body.
func TestExpectContinue(t *testing.T) {
	st := serve(t, newServer(t, rest.Routes{
		"POST /api/v1/it": {rest.User(), whoAmI},
		"PUT /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
			return nil, r.Bind(&struct{}{})
		}},
	}))
	for _, tt := range []struct {
		method string
		length int
		want   string
	}{
		{"POST", 100, "HTTP/1.1 401"},
		{"PUT", 100, "HTTP/1.1 100"},
		{"PUT", 10 * rest.MaxText, "HTTP/1.1 413"},
	} {
		c := st.dial()
		fmt.Fprintf(c, "%s /api/v1/it HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nAuthorization: Bearer x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
			tt.method, FormType, tt.length)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, tt.want) {
			t.Errorf("%s of %d bytes: got %q, %v, want %s", tt.method, tt.length, line, err, tt.want)
		}
	}
}

// TestSlowBody checks that a request whose body stops in the middle times out.
func TestSlowBody(t *testing.T) {
	table := uploadTable(t)
	table["POST /api/v1/read"] = rest.Route{Access: rest.Anyone, Handle: func(r *rest.Request) (any, error) {
		return nil, r.Bind(&struct{}{})
	}}
	table["POST /api/v1/ignore"] = rest.Route{Access: rest.Anonymous, Handle: rest.Always(nil)}
	srv := httptest.NewServer(newServer(t, table, func(c *config.Config) { c.Server.ReadTimeout = 300 * time.Millisecond }))
	defer srv.Close()
	for _, tt := range []struct {
		request string
		status  string
	}{
		{"POST /api/v1/read HTTP/1.1\r\nContent-Type: application/json\r\n", "408"},
		{"PATCH /api/v1/profile HTTP/1.1\r\nContent-Type: " + multipartType + "\r\n", "408"},
		{"POST /api/v1/ignore HTTP/1.1\r\n", "200"},
		{"POST /api/v1/unknown HTTP/1.1\r\n", "404"},
	} {
		t.Run(tt.request[:strings.Index(tt.request, " HTTP")], func(t *testing.T) {
			c, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(10 * time.Second))
			fmt.Fprintf(c, "%sHost: localhost\r\nContent-Length: 1000\r\n\r\n{", tt.request)
			line, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+tt.status) {
				t.Errorf("got %q, %v, want %s", line, err, tt.status)
			}
		})
	}
}

// TestBodyDeadlineEnds checks that the deadline for the body does not limit the handler.
func TestBodyDeadlineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := servePipes(t, newServer(t, rest.Routes{"POST /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
			if err := r.Bind(&struct{}{}); err != nil {
				return nil, err
			}
			select {
			case <-r.Context().Done():
				return nil, r.Context().Err()
			case <-time.After(time.Hour): // longer than any deadline for a body
				return nil, nil
			}
		}}}, func(c *config.Config) { c.Server.ReadTimeout = 200 * time.Millisecond }))
		for _, body := range []struct{ contentType, text string }{
			{JSONType, "{}"},
			{multipartType, multipartBody("a", "b")},
		} {
			resp, err := st.Post("http://"+st.address+"/api/v1/it", body.contentType, strings.NewReader(body.text))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("%s: got %d", body.contentType, resp.StatusCode)
			}
		}
	})
}

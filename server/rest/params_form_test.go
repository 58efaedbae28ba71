package rest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"svc/server/rest"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileParameters sends bodies that need much more memory than their length. Each is refused, or costs little.
func TestHostileParameters(t *testing.T) {
	parts := func(n int, disposition string) string {
		return strings.Repeat(part(disposition, "", "x"), n) + "--frontier--\r\n"
	}
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name        string
		contentType string
		body        string
		status      int
		bytes       uint64 // that may be allocated
	}{
		{"a part header with many parameters", multipartType, parts(1, `name="text"`+list(120_000, ";x%d=1")), 400, 1 << 20},
		{"a part header with many parameters within the limit", multipartType, parts(1, `name="text"`+list(900, ";x%d=1")), 200, 1 << 20},
		{"a part header with many lines", multipartType, parts(1, `name="text"`+list(2000, "\r\na%d:")), 400, 1 << 20},
		{"a long part header", multipartType, parts(1, `name="text"; x="`+strings.Repeat("a", rest.MaxPartHeader)+`"`), 400, 1 << 20},
		{"a part header without end", multipartType, "--frontier\r\nContent-Disposition: form-data; name=\"text\"\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 900)+"\r\n", 1000), 400, 1 << 20},
		{"long text before the first part", multipartType, strings.Repeat("a", 100_000) + "\r\n" + parts(1, `name="text"`), 400, 1 << 20},
		{"many lines before the first part", multipartType, strings.Repeat("\n", 20_000) + parts(1, `name="text"`), 400, 1 << 20},
		{"many parts", multipartType, parts(rest.MaxParts+1, `x="y"`), 400, 16 << 20},
		{"long text after the last part", multipartType, parts(1, `name="text"`) + strings.Repeat("a", 100_000), 400, 1 << 20},
		{"a Content-Type with many parameters", "multipart/form-data; boundary=frontier" + list(3000, ";x%d=1"), parts(1, `name="text"`), 415, 1 << 20},
		{"deep keys", FormType, list(1000, "k%d"+strings.Repeat("[a]", 15)+"=1&"), 400, 8 << 20},
		{"a key of many brackets", FormType, "k" + strings.Repeat("[", 100_000) + "]=1", 400, 1 << 20},
		{"a long key", FormType, strings.Repeat("k", 1_000_000) + "=1", 200, 8 << 20},
		{"a long key of JSON", JSONType, `{"` + strings.Repeat("k", 1_000_000) + `":1}`, 200, 8 << 20},
		{"many values", JSONType, `{"raw":[` + strings.TrimSuffix(strings.Repeat("[],", 300_000), ",") + `]}`, 400, 8 << 20},
		{"many objects", JSONType, `{"object":{"a":[` + strings.TrimSuffix(strings.Repeat("{},", 300_000), ",") + `]}}`, 400, 8 << 20},
		{"many keys", JSONType, "{" + strings.TrimSuffix(list(70_000, `"k%d":1,`), ",") + "}", 400, 8 << 20},
		{"deep JSON", JSONType, strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), 400, 8 << 20},
		{"a long number", JSONType, `{"int":1` + strings.Repeat("0", 1_000_000) + `}`, 400, 8 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *everything
			s := bound(t, &got)
			call(s, "POST", "/api/v1/bind", "{}", "Content-Type", JSONType)
			n := allocated(func() {
				w := call(s, "POST", "/api/v1/bind", tt.body, "Content-Type", tt.contentType, "Authorization", "Bearer alice")
				if w.Code != tt.status {
					t.Errorf("got %d %.200s, want %d", w.Code, w.Body, tt.status)
				}
			})
			if n > tt.bytes {
				t.Errorf("%d bytes were allocated, want %d at most", n, tt.bytes)
			}
		})
	}
}

// TestAnonymousBodies checks how long the body of an unknown client may be.
func TestAnonymousBodies(t *testing.T) {
	text := func(n int) string {
		return "access_token=alice&text=" + strings.Repeat("a", n-len("access_token=alice&text="))
	}
	s := newServer(t, rest.Routes{
		"POST /api/v1/anyone": {rest.Anyone, whoAmI},
		"POST /api/v1/me":     {rest.User(), whoAmI},
	})
	for _, tt := range []struct {
		path, token string
		length      int
		status      int
		viewer      string
	}{
		{"me", "", rest.MaxAnonymousBody, 200, "alice"},
		{"me", "", rest.MaxAnonymousBody + 1, 413, ""},
		{"me", "Bearer alice", rest.MaxAnonymousBody + 1, 200, "alice"},
		{"me", "Bearer wrong", rest.MaxAnonymousBody + 1, 401, ""},
		{"anyone", "", rest.MaxAnonymousBody, 200, "alice"},
		{"anyone", "", rest.MaxAnonymousBody + 1, 413, ""},
	} {
		headers := []string{"Content-Type", FormType}
		if tt.token != "" {
			headers = append(headers, "Authorization", tt.token)
		}
		w := call(s, "POST", "/api/v1/"+tt.path, text(tt.length), headers...)
		if w.Code != tt.status || tt.status == 200 && field(t, w, "viewer") != tt.viewer {
			t.Errorf("%s, token %q, %d bytes: got %d %s, want %d %s", tt.path, tt.token, tt.length, w.Code, w.Body, tt.status, tt.viewer)
		}
	}
}

package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
)

// fileURLs starts a server and returns it with a URL of each kind of file and page that it serves in ranges.
func fileURLs(t *testing.T, change ...func(*config.Config)) (*apptest.Server, map[string]string) {
	t.Helper()
	site := startPictures(t, apptest.PNG(9, 9))
	srv := apptest.StartWithLoopback(t, append(change, func(c *config.Config) {
		c.Frontends.Primary, c.Frontends.Admin, c.Web.AccentColour = "fe/1", "fe/1", "#0f766e"
	})...)
	root := srv.SignUpAdmin()
	imported(t, srv, "fe.zip", apptest.Zip(t, frontendFiles("built")))
	root.Post(frontendsPath+"/install", "name", "fe", "ref", "1", "file", "fe.zip").Want(200)
	srv.AddEmoji("cats", map[string]string{"cat": "cat.png"})
	root.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats", "metadata": apptest.Doc{"share-files": true}}).Want(200)
	apptest.WriteDataFile(srv, "static/logo.png", "the logo")
	upload := root.Upload(apptest.PNG(9, 9)).Str("url")
	proxied := srv.Proxy.URL(site.URL + "/a.png")
	srv.As(nil).Get(proxied).Want(200)
	root.Post("/api/v1/svc/backups").Want(200)
	apptest.Settle(srv)
	urls := map[string]string{
		"upload": upload, "copy": proxied, "download": srv.Proxy.URL(site.URL + "/b.png"), "emoji": "/emoji/cats/cat.png",
		"backup": root.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url"), "archive of a pack": packsPath + "/archive?name=cats",
		"operator's file": "/static/logo.png", "embedded file": "/images/avi.png", "instance document": "/instance/panel.html",
		"front end": "/static/js/app.js", "file without a route": "/sw.js", "index of a front end": "/any/page", "admin front end": "/svc/admin/sw.js",
		"style": "/web/assets/1/style.css", "style of the accent": "/web/accent.css?v=0f766e", "page of a profile": "/web/@root",
	}
	for name, address := range urls {
		urls[name] = strings.TrimPrefix(address, srv.URL)
	}
	return srv, urls
}

// withRange requests a file with Range headers.
func withRange(srv *apptest.Server, path string, ranges ...string) *apptest.Response {
	srv.T.Helper()
	req, err := http.NewRequestWithContext(srv.T.Context(), "GET", srv.URL+path, nil)
	if err != nil {
		srv.T.Fatal(err)
	}
	req.Header["Range"] = ranges
	return srv.As(nil).DoRequest(req)
}

// TestRangesOfFiles sends hostile Range headers to everything that is served in ranges.
func TestRangesOfFiles(t *testing.T) {
	srv, urls := fileURLs(t)
	for name, path := range urls {
		t.Run(name, func(t *testing.T) {
			if name == "download" { // of which the size is not known, or which has not arrived
				path += "?x"
			}
			whole := srv.As(nil).Get(path).Want(200)
			if whole.Header.Get("Accept-Ranges") != "bytes" {
				t.Fatal("ranges are not accepted: the test needs another URL")
			}
			if part := withRange(srv, path, "bytes=0-2").Want(206); !bytes.Equal(part.Body, whole.Body[:3]) {
				t.Errorf("a range is %q", part.Body)
			}
			if parts := withRange(srv, path, "bytes=0-0,1-1,2-2,-1"); parts.Status != 206 && len(whole.Body) > 4 {
				t.Errorf("four ranges: %d", parts.Status)
			}
			withRange(srv, path, "bytes=9999999-").Want(416)
			for _, tt := range []struct {
				name   string
				ranges []string
			}{
				{"7000 ranges", []string{"bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 7000), ",")}},
				{"7000 empty ranges", []string{"bytes=" + strings.Repeat(",", 7000) + "0-0"}},
				{"7000 ranges from the end", []string{"bytes=" + strings.TrimSuffix(strings.Repeat("-1,", 7000), ",")}},
				{"five ranges", []string{"bytes=0-0,1-1,2-2,3-3,4-4"}},
				{"four overlapping ranges", []string{"bytes=0-,0-,0-,0-"}},
				{"a long number", []string{"bytes=" + strings.Repeat("0", 20_000) + "-1"}},
				{"two headers", []string{"bytes=0-0", "bytes=1-1"}},
			} {
				if a := withRange(srv, path, tt.ranges...); a.Status != 200 || !bytes.Equal(a.Body, whole.Body) {
					t.Errorf("%s: %d with %d bytes of %d", tt.name, a.Status, len(a.Body), len(whole.Body))
				}
			}
		})
	}
}

// TestFileRateLimit checks that whatever is served in ranges is counted, and that a page with many pictures is not refused.
func TestFileRateLimit(t *testing.T) {
	srv, urls := fileURLs(t, func(c *config.Config) {
		c.RateLimit = config.RateLimit{Enabled: true, Files: config.Rate{Count: 20, Window: time.Hour}}
	})
	delete(urls, "archive of a pack") // in the limit of the API
	delete(urls, "page of a profile")
	delete(urls, "index of a front end")
	used := 0
	for ; srv.As(nil).Get("/images/avi.png").Status == 200; used++ {
		if used > 20 {
			t.Fatal("requests for files are not counted")
		}
	}
	for name, path := range urls {
		a := srv.As(nil).Get(path)
		if a.Status != 429 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d beyond the limit", name, a.Status)
		}
	}
	for _, route := range server.Routes() {
		path := pathParameter.ReplaceAllString(route.Path, "1")
		if route.Method != "GET" || strings.HasPrefix(path, "/api/") || path == "/web/assets/1" {
			continue
		}
		if a := srv.As(nil).Get(path); a.Header.Get("Accept-Ranges") != "" && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s serves files beyond the limit of files", route.Path)
		}
	}
	if got := config.Default().RateLimit.Files; got.Count < 20_000 || got.Window > 5*time.Minute {
		t.Errorf("the default %s is noticed by 20 people behind one address who open a picker of a thousand emoji", fmt.Sprint(got))
	}
}

// TestFilesHaveNoQuota checks that files, which shared caches keep, have no headers of the client's rate limit.
func TestFilesHaveNoQuota(t *testing.T) {
	srv, urls := fileURLs(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	delete(urls, "archive of a pack")
	delete(urls, "page of a profile")
	for name, path := range urls {
		if a := srv.As(nil).Get(path).Want(200); a.Header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%s has X-RateLimit-Limit", name)
		}
	}
}

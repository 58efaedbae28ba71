package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// pictureSite is a remote server that returns the same picture for any path.
type pictureSite struct {
	*httptest.Server
	requests atomic.Int32
}

func startPictures(t *testing.T, content []byte) *pictureSite {
	t.Helper()
	p := new(pictureSite)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.requests.Add(1)
		w.Header().Set("Content-Type", "image/png")
		w.Write(content)
	}))
	t.Cleanup(p.Close)
	return p
}

// addPictures adds pictures to the author of a remote post, and attachments to the post, as federation does.
func addPictures(a *apptest.Server, t *testing.T, id, site string) (author string) {
	t.Helper()
	var status store.StatusID
	status.UnmarshalText([]byte(id))
	err := a.DB.Update(t.Context(), func(tx *store.Tx) error {
		st, err := tx.Status(t.Context(), status)
		if err != nil {
			return err
		}
		row, err := tx.Account(t.Context(), st.AccountID)
		if err != nil {
			return err
		}
		author = row.ID.String()
		row.Avatar, row.AvatarStatic, row.Header, row.Background = site+"/avatar.gif", site+"/avatar.png", site+"/header.png", site+"/back.png"
		if err := tx.SaveAccount(t.Context(), row); err != nil {
			return err
		}
		st.HasMedia = true
		if err := tx.SaveStatus(t.Context(), st); err != nil {
			return err
		}
		for i, kind := range []string{"image", "video", "audio"} {
			m := &store.Media{AccountID: row.ID, StatusID: &status, Position: i, Type: kind, Mime: kind + "/x", RemoteURL: site + "/" + kind + ".png"}
			if err := tx.AddMedia(t.Context(), m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return author
}

// TestProxiedEntities checks that all remote pictures and attachments in entities have proxy URLs, and fetches them.
func TestProxiedEntities(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), startPictures(t, apptest.PNG(4, 4))
	alice := srv.SignUp("alice")
	st := addRemotePost(srv, t, "look", "https://remote.example/1")
	author := addPictures(srv, t, st, site.URL)

	proxied := map[string]string{} // by original URL
	wantProxied := func(what, address, original string) {
		t.Helper()
		if !strings.HasPrefix(address, srv.URL+"/proxy/") || srv.Proxy.Original(address) != original {
			t.Errorf("%s is %s, want the proxy URL of %s", what, address, original)
		}
		proxied[original] = address
	}
	status := alice.Get("/api/v1/statuses/" + st).Want(200).Object()
	for _, where := range []struct {
		prefix string
		object *apptest.Object
	}{{"account.", status}, {"", alice.Get("/api/v1/accounts/" + author).Want(200).Object()}} {
		wantProxied("avatar", where.object.Str(where.prefix+"avatar"), site.URL+"/avatar.gif")
		wantProxied("avatar_static", where.object.Str(where.prefix+"avatar_static"), site.URL+"/avatar.png")
		wantProxied("header", where.object.Str(where.prefix+"header"), site.URL+"/header.png")
		wantProxied("header_static", where.object.Str(where.prefix+"header_static"), site.URL+"/header.png")
		wantProxied("background_image", where.object.Str(where.prefix+"svc.background_image"), site.URL+"/back.png")
	}
	for i, kind := range []string{"image", "video", "audio"} {
		m := &apptest.Object{T: t, Fields: status.At("media_attachments").([]any)[i].(map[string]any)}
		original := site.URL + "/" + kind + ".png"
		wantProxied("url", m.Str("url"), original)
		wantProxied("text_url", m.Str("text_url"), original)
		if m.Str("remote_url") != original {
			t.Errorf("remote_url is %s", m.Str("remote_url"))
		}
		if kind == "image" {
			wantProxied("preview_url", m.Str("preview_url"), original)
		} else if m.At("preview_url") != nil {
			t.Errorf("the preview of %s is a picture", kind)
		}
	}
	if site.requests.Load() != 0 {
		t.Error("a picture was fetched before it was requested")
	}
	for original, address := range proxied {
		for range 2 {
			a := srv.As(nil).Get(address).Want(200)
			if string(a.Body) != string(apptest.PNG(4, 4)) || a.Header.Get("Content-Type") != "image/png" || a.Header.Get("Access-Control-Allow-Origin") != "*" ||
				a.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d bytes, %v", original, len(a.Body), a.Header)
			}
		}
	}
	if got := int(site.requests.Load()); got != len(proxied) {
		t.Errorf("%d requests for %d files", got, len(proxied))
	}
	// Local files are not proxied.
	own := alice.Publish("mine", "media_ids[]", alice.Upload(apptest.PNG(9, 9)).ID())
	m := &apptest.Object{T: t, Fields: own.At("media_attachments").([]any)[0].(map[string]any)}
	if !strings.HasPrefix(m.Str("url"), srv.URL+"/media/") || m.At("remote_url") != nil || !strings.HasPrefix(own.Str("account.avatar"), srv.URL+"/images/") {
		t.Errorf("a local file: %v", m.Fields)
	}
	for path, status := range map[string]int{"/proxy": 404, "/proxy/": 404, "/proxy/a/b/c": 403, "/proxy/preview/a/b": 403} {
		if got := srv.As(nil).Get(path); got.Status != status {
			t.Errorf("%s: got %d, want %d", path, got.Status, status)
		}
	}
	// Other methods are refused.
	srv.As(nil).Do("POST", proxied[site.URL+"/header.png"], "", nil).Want(405)
}

func TestProxyOffOrDirect(t *testing.T) {
	for name, tt := range map[string]struct {
		change          func(*config.Config)
		proxied, policy string
	}{
		"off":        {func(c *config.Config) { c.MediaProxy.Enabled = false }, "", "img-src 'self' https: data:; media-src 'self' https:;"},
		"direct":     {func(c *config.Config) { c.MediaProxy.DirectHosts = []string{"files.example"} }, "", "img-src 'self' https://files.example:* https://*.files.example:* data:;"},
		"in between": {func(c *config.Config) {}, "/proxy/", "img-src 'self' data:; media-src 'self';"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := apptest.Start(t, tt.change)
			alice := srv.SignUp("alice")
			st := addRemotePost(srv, t, "look", "https://remote.example/1")
			addPictures(srv, t, st, "https://files.example")
			avatar := alice.Get("/api/v1/statuses/" + st).Want(200).Object().Str("account.avatar")
			if direct := avatar == "https://files.example/avatar.gif"; direct != (tt.proxied == "") {
				t.Errorf("avatar at %s", avatar)
			}
			page := srv.As(nil).Do("GET", "/@alice", "", nil).Want(200)
			if got := page.Header.Get("Content-Security-Policy"); !strings.Contains(got, tt.policy) {
				t.Errorf("the policy %q does not contain %q", got, tt.policy)
			}
			features := fmt.Sprint(srv.As(nil).Get("/api/v1/instance").Want(200).Object().At("svc.metadata.features"))
			if got := strings.Contains(features, "media_proxy"); got != (name != "off") {
				t.Errorf("features %s", features)
			}
		})
	}
}

// TestProxiedPage checks that remote pictures on the page of a thread have proxy URLs.
func TestProxiedPage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	remote := addRemotePost(srv, t, "look", "https://remote.example/1")
	addPictures(srv, t, remote, "https://files.example")
	reply := alice.Publish("nice", "in_reply_to_id", remote)
	page := string(srv.As(nil).Do("GET", reply.Str("url"), "", nil).Want(200).Body)
	for _, file := range []string{"avatar.png", "image.png", "video.png", "audio.png"} {
		if proxied := srv.Proxy.URL("https://files.example/" + file); !strings.Contains(page, `src="`+proxied+`"`) {
			t.Errorf("%s is missing on the page", proxied)
		}
	}
	if strings.Contains(page, `"https://files.example`) {
		t.Error("the page loads a remote file")
	}
}

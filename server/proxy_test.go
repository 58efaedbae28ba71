package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// pictureSite is a server elsewhere that has one picture under any path.
type pictureSite struct {
	*httptest.Server
	asked atomic.Int32
}

func startPictures(t *testing.T, content []byte) *pictureSite {
	t.Helper()
	p := new(pictureSite)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.asked.Add(1)
		w.Header().Set("Content-Type", "image/png")
		w.Write(content)
	}))
	t.Cleanup(p.Close)
	return p
}

// illustrate gives the author of a post elsewhere pictures, and the post attachments, as federation would.
func (a *api) illustrate(t *testing.T, id, site string) (author string) {
	t.Helper()
	var status store.StatusID
	status.UnmarshalText([]byte(id))
	err := a.db.Update(t.Context(), func(tx *store.Tx) error {
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

// TestProxiedEntities looks at what apps are given to load: everything is on this server, and says what it is.
func TestProxiedEntities(t *testing.T) {
	srv, site := startAPI(t, onThisMachine), startPictures(t, pngFile(4, 4))
	alice := srv.signUp("alice")
	st := srv.remotePost(t, "look", "https://remote.example/1")
	author := srv.illustrate(t, st, site.URL)

	shown := map[string]string{} // by what it was
	ours := func(what, address, original string) {
		t.Helper()
		if !strings.HasPrefix(address, srv.url+"/proxy/") || srv.proxy.Original(address) != original {
			t.Errorf("%s is at %s, want %s through the proxy", what, address, original)
		}
		shown[original] = address
	}
	status := alice.get("/api/v1/statuses/" + st).want(200).object()
	for _, where := range []struct {
		prefix string
		object *object
	}{{"account.", status}, {"", alice.get("/api/v1/accounts/" + author).want(200).object()}} {
		ours("avatar", where.object.str(where.prefix+"avatar"), site.URL+"/avatar.gif")
		ours("avatar_static", where.object.str(where.prefix+"avatar_static"), site.URL+"/avatar.png")
		ours("header", where.object.str(where.prefix+"header"), site.URL+"/header.png")
		ours("header_static", where.object.str(where.prefix+"header_static"), site.URL+"/header.png")
		ours("background_image", where.object.str(where.prefix+"svc.background_image"), site.URL+"/back.png")
	}
	for i, kind := range []string{"image", "video", "audio"} {
		m := &object{t, status.at("media_attachments").([]any)[i].(map[string]any)}
		original := site.URL + "/" + kind + ".png"
		ours("url", m.str("url"), original)
		ours("text_url", m.str("text_url"), original)
		if m.str("remote_url") != original {
			t.Errorf("remote_url is %s", m.str("remote_url"))
		}
		if kind == "image" {
			ours("preview_url", m.str("preview_url"), original)
		} else if m.at("preview_url") != nil {
			t.Errorf("a picture stands for %s that is none", kind)
		}
	}
	if site.asked.Load() != 0 {
		t.Error("what nobody looked at was fetched")
	}
	for original, address := range shown {
		for range 2 {
			a := srv.as(nil).get(address).want(200)
			if string(a.body) != string(pngFile(4, 4)) || a.header.Get("Content-Type") != "image/png" || a.header.Get("Access-Control-Allow-Origin") != "*" ||
				a.header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d bytes, %v", original, len(a.body), a.header)
			}
		}
	}
	if got := int(site.asked.Load()); got != len(shown) {
		t.Errorf("%d requests for %d files", got, len(shown))
	}
	// Our own files are where they were.
	own := alice.publish("mine", "media_ids[]", alice.upload(pngFile(9, 9)).id())
	m := &object{t, own.at("media_attachments").([]any)[0].(map[string]any)}
	if !strings.HasPrefix(m.str("url"), srv.url+"/media/") || m.at("remote_url") != nil || !strings.HasPrefix(own.str("account.avatar"), srv.url+"/images/") {
		t.Errorf("our own: %v", m.m)
	}
	for path, status := range map[string]int{"/proxy": 404, "/proxy/": 404, "/proxy/a/b/c": 403, "/proxy/preview/a/b": 403} {
		if got := srv.as(nil).get(path); got.status != status {
			t.Errorf("%s: got %d, want %d", path, got.status, status)
		}
	}
	// A body of any size is let through no further than the method.
	srv.as(nil).do("POST", shown[site.URL+"/header.png"], "", nil).want(404)
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
			srv := startAPI(t, tt.change)
			alice := srv.signUp("alice")
			st := srv.remotePost(t, "look", "https://remote.example/1")
			srv.illustrate(t, st, "https://files.example")
			avatar := alice.get("/api/v1/statuses/" + st).want(200).object().str("account.avatar")
			if direct := avatar == "https://files.example/avatar.gif"; direct != (tt.proxied == "") {
				t.Errorf("avatar at %s", avatar)
			}
			page := srv.as(nil).do("GET", "/@alice", "", nil).want(200)
			if got := page.header.Get("Content-Security-Policy"); !strings.Contains(got, tt.policy) {
				t.Errorf("policy %q, want %q in it", got, tt.policy)
			}
			features := fmt.Sprint(srv.as(nil).get("/api/v1/instance").want(200).object().at("svc.metadata.features"))
			if got := strings.Contains(features, "media_proxy"); got != (name != "off") {
				t.Errorf("features %s", features)
			}
		})
	}
}

// The page of a post shows pictures of others in the thread through this server.
func TestProxiedPage(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	remote := srv.remotePost(t, "look", "https://remote.example/1")
	srv.illustrate(t, remote, "https://files.example")
	answer := alice.publish("nice", "in_reply_to_id", remote)
	page := string(srv.as(nil).do("GET", answer.str("url"), "", nil).want(200).body)
	for _, file := range []string{"avatar.png", "image.png", "video.png", "audio.png"} {
		if shown := srv.proxy.URL("https://files.example/" + file); !strings.Contains(page, `src="`+shown+`"`) {
			t.Errorf("%s is not on the page", shown)
		}
	}
	if strings.Contains(page, `"https://files.example`) {
		t.Error("the page loads something from elsewhere")
	}
}

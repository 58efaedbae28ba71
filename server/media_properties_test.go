package server_test

import (
	"bytes"
	"fmt"
	"image"

	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func describe(c *config.Config) { c.Media.Describe = true }

func thumbnailPart(content []byte) apptest.FormPart {
	return apptest.FormPart{Name: "thumbnail", Content: string(content), Filename: "t.png", IsFile: true}
}

// TestDescribedAttachments checks meta and blurhash while media.describe is on. Otherwise they are not produced (TestUploadTypes).
func TestDescribedAttachments(t *testing.T) {
	srv := apptest.Start(t, describe)
	alice := srv.SignUp("alice")
	for _, tt := range []struct {
		name  string
		file  []byte
		parts []apptest.FormPart
		want  map[string]any
	}{
		{"a picture with a preview", apptest.JPEG(1280, 960), nil, map[string]any{
			"meta.original.width": 1280.0, "meta.original.height": 960.0, "meta.original.size": "1280x960", "meta.original.aspect": 4.0 / 3,
			"meta.small.width": 640.0, "meta.small.height": 480.0, "meta.focus": nil, "meta.length": nil,
		}},
		{"a small picture", apptest.PNG(40, 20), []apptest.FormPart{apptest.ValuePart("focus", " -0.5 , 1 ")}, map[string]any{
			"meta.original.width": 40.0, "meta.small.size": "40x20", "meta.small.aspect": 2.0, "meta.focus.x": -0.5, "meta.focus.y": 1.0,
		}},
		{"a video", mp4File("vide"), nil, map[string]any{
			"meta.length": "0:00:05.00", "meta.duration": 5.0, "meta.original.duration": 5.0, "meta.small": nil, "blurhash": nil,
			"meta.fps": 0.2, "meta.original.frame_rate": "200/1000",
		}},
		{"a video with a thumbnail", mp4File("vide"), []apptest.FormPart{thumbnailPart(apptest.PNG(800, 400))}, map[string]any{
			"meta.small.width": 640.0, "meta.small.height": 320.0,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := alice.Upload(tt.file, tt.parts...)
			for path, want := range tt.want {
				if got := at(m, path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if _, wantNone := tt.want["blurhash"]; wantNone == (len(fmt.Sprint(m.At("blurhash"))) == 28) {
				t.Errorf("blurhash is %v", m.At("blurhash"))
			}
			shown := alice.Publish("x", "media_ids[]", m.ID()).At("media_attachments").([]any)
			if got := fmt.Sprint(shown[0]); got != fmt.Sprint(m.Fields) {
				t.Errorf("the status shows %s, want %v", got, m.Fields)
			}
		})
	}
}

// at returns a member by its path, nil if a part of it does not exist.
func at(m *apptest.Object, path string) any {
	var v any = m.Fields
	for name := range strings.SplitSeq(path, ".") {
		in, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = in[name]
	}
	return v
}

func TestFocus(t *testing.T) {
	srv := apptest.Start(t, describe)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	m := alice.Upload(apptest.PNG(3, 3))
	path := "/api/v1/media/" + m.ID()
	for _, tt := range []struct {
		focus  string
		status int
		want   string
	}{
		{"0.25,-1", 200, "map[x:0.25 y:-1]"},
		{"", 200, "map[x:0.25 y:-1]"},
		{"1.01,0", 422, "map[x:0.25 y:-1]"},
		{"0,-1.01", 422, "map[x:0.25 y:-1]"},
		{"NaN,0", 422, "map[x:0.25 y:-1]"},
		{"0.5", 422, "map[x:0.25 y:-1]"},
		{"1,1,1", 422, "map[x:0.25 y:-1]"},
		{"x,y", 422, "map[x:0.25 y:-1]"},
		{"0,0", 200, "<nil>"},
	} {
		alice.SendJSON("PUT", path, map[string]any{"focus": tt.focus}).Want(tt.status)
		if got := fmt.Sprint(at(alice.Get(path).Want(200).Object(), "meta.focus")); got != tt.want {
			t.Errorf("after %q: %s, want %s", tt.focus, got, tt.want)
		}
		if tt.status == 422 {
			alice.SendForm("POST", "/api/v2/media", apptest.FilePart(apptest.PNG(3, 3)), apptest.ValuePart("focus", tt.focus)).Want(422)
		}
	}
	bob.SendJSON("PUT", path, map[string]any{"focus": "0,0"}).Want(404)

	st := alice.Publish("look", "media_ids[]", m.ID())
	edit := func(focus string) *apptest.Response {
		return alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{
			"status": "look", "media_ids": []string{m.ID()}, "media_attributes": []any{map[string]any{"id": m.ID(), "focus": focus}}})
	}
	edit("2,2").Want(422)
	shown := edit("0.5,0.5").Want(200).Object().At("media_attachments").([]any)
	if got := fmt.Sprint(shown[0].(map[string]any)["meta"]); !strings.Contains(got, "focus:map[x:0.5 y:0.5]") {
		t.Errorf("after an edit: %s", got)
	}
}

// TestOwnThumbnails uploads pictures for a sound, which only its preview_url shows.
func TestOwnThumbnails(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	picture := func(url string, width, height int) {
		t.Helper()
		file := srv.As(nil).Get(url).Want(200)
		got, _, err := image.DecodeConfig(bytes.NewReader(file.Body))
		if err != nil || got.Width != width || got.Height != height {
			t.Errorf("the preview is %+v, %v", got, err)
		}
	}
	m := alice.Upload(mp3File, thumbnailPart(apptest.PNG(1000, 500)))
	first := m.Str("preview_url")
	picture(first, 640, 320)
	path := "/api/v1/media/" + m.ID()
	alice.SendForm("PUT", path, thumbnailPart([]byte("<svg/>"))).Want(422)
	alice.SendForm("PUT", path, thumbnailPart(apptest.PNG(1000, 500)[:200])).Want(422)
	if got := alice.Get(path).Want(200).Object().Str("preview_url"); got != first {
		t.Errorf("a refused thumbnail changed the preview to %s", got)
	}
	m = alice.SendForm("PUT", path, thumbnailPart(apptest.PNG(30, 20))).Want(200).Object()
	picture(m.Str("preview_url"), 30, 20)
	alice.SendForm("POST", "/api/v2/media", apptest.FilePart(apptest.PNG(3, 3)), thumbnailPart(apptest.PNG(3, 3))).Want(422)

	srv.Advance(3 * time.Minute)
	srv.RunJobs()
	srv.As(nil).Get(first).Want(404) // replaced
	srv.As(nil).Get(m.Str("preview_url")).Want(200)
	alice.Do("DELETE", path, "", nil).Want(200)
	srv.Advance(3 * time.Minute)
	srv.RunJobs()
	srv.As(nil).Get(m.Str("preview_url")).Want(404)
	srv.As(nil).Get(m.Str("url")).Want(404)
}

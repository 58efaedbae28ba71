package federation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestIncomingMediaProperties checks what the API shows of a remote file. Values that are not valid are ignored.
func TestIncomingMediaProperties(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Media.Describe = true })
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	const hash = "LKO2?U%2Tw=w]~RBVZRi};RPxuwH"
	for _, tt := range []struct {
		name     string
		document apptest.Doc
		want     map[string]any
	}{
		{"a picture", apptest.Doc{"mediaType": "image/png", "width": 800, "height": 400, "blurhash": hash, "focalPoint": []any{-0.5, 1}},
			map[string]any{"meta.original.size": "800x400", "meta.original.aspect": 2.0, "meta.small.width": 800.0, "meta.focus.x": -0.5, "meta.focus.y": 1.0, "blurhash": hash}},
		{"a video", apptest.Doc{"mediaType": "video/mp4", "width": 64, "height": 64, "duration": "PT1H1M1.5S", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/preview.png"}},
			map[string]any{"meta.duration": 3661.5, "meta.length": "1:01:01.50", "preview_url": srv.Proxy.URL(peer.URL + "/preview.png")}},
		{"values out of range", apptest.Doc{"mediaType": "image/png", "width": -1, "height": 400, "blurhash": hash + "x", "focalPoint": []any{1.1, 0}, "duration": "P1Y"},
			map[string]any{"meta.original": nil, "meta.focus": nil, "blurhash": nil, "meta.duration": nil}},
		{"values of other types", apptest.Doc{"mediaType": "video/mp4", "width": "800", "height": 400, "blurhash": 5, "focalPoint": []any{"a", 0}, "duration": 60, "icon": "javascript:x()"},
			map[string]any{"meta.original": nil, "meta.focus": nil, "blurhash": nil, "preview_url": nil}},
		{"a focal point of three numbers", apptest.Doc{"mediaType": "image/png", "focalPoint": []any{0.1, 0.1, 0.1}}, map[string]any{"meta.focus": nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.document["type"], tt.document["url"] = "Document", peer.URL+"/file"
			note := peer.Note(bob, "text", apptest.Doc{"attachment": []any{tt.document}})
			peer.PostAndSettle(srv, peer.Create(note))
			got := alice.WantPost(note["id"])
			for path, want := range tt.want {
				var v any = got.At("media_attachments").([]any)[0]
				for key := range strings.SplitSeq(path, ".") {
					in, _ := v.(map[string]any)
					v = in[key]
				}
				if fmt.Sprint(v) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v", path, v, want)
				}
			}
		})
	}
}

// TestOutgoingMediaProperties checks the attachment of a local post as other servers fetch it.
func TestOutgoingMediaProperties(t *testing.T) {
	srv, _ := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	m := alice.Upload(apptest.JPEG(800, 400), apptest.ValuePart("focus", "0.5,-0.25"))
	st := alice.Publish("look", "media_ids[]", m.ID())
	req, err := http.NewRequest("GET", st.Str("uri"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/activity+json")
	var note struct {
		Attachment []struct {
			Width, Height float64
			Blurhash      string
			FocalPoint    []float64
		}
	}
	if err := json.Unmarshal(srv.As(nil).DoRequest(req).Want(200).Body, &note); err != nil {
		t.Fatal(err)
	}
	if len(note.Attachment) != 1 {
		t.Fatalf("got %+v", note)
	}
	a := note.Attachment[0]
	if a.Width != 800 || a.Height != 400 || len(a.Blurhash) != 28 || fmt.Sprint(a.FocalPoint) != "[0.5 -0.25]" {
		t.Errorf("got %+v", a)
	}
}

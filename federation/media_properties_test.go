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

// TestDeclaredMediaTypes checks the kind of attachments whose declared type says little or nothing: it is that of the object, or that of the end
// of a name. What is declared as a document is none of these.
func TestDeclaredMediaTypes(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	for _, tt := range []struct {
		name       string
		document   apptest.Doc
		kind, mime string
	}{
		{"a picture", apptest.Doc{"type": "Document", "mediaType": "image/webp", "url": "/a"}, "image", "image/webp"},
		{"bytes, by the address", apptest.Doc{"type": "Document", "mediaType": "application/octet-stream", "url": "/a.JPG?size=large#top"}, "image", "image/jpeg"},
		{"bytes, by the name", apptest.Doc{"type": "Document", "mediaType": "application/octet-stream", "url": "/a", "name": "IMG_1.png"}, "image", "image/png"},
		{"bytes, by the name before the address", apptest.Doc{"type": "Document", "mediaType": "application/octet-stream", "url": "/a.php", "name": "IMG_1.png"}, "image", "image/png"},
		{"bytes, by the object", apptest.Doc{"type": "Image", "mediaType": "application/octet-stream", "url": "/a"}, "image", "image/jpeg"},
		{"bytes of a film", apptest.Doc{"type": "Video", "mediaType": "binary/octet-stream", "url": "/a.webm"}, "video", "video/webm"},
		{"bytes of a film, by the object", apptest.Doc{"type": "Video", "mediaType": "binary/octet-stream", "url": "/a"}, "video", "video/mp4"},
		{"a sound without a type", apptest.Doc{"type": "Audio", "url": "/a"}, "audio", "audio/mpeg"},
		{"no type, by the address", apptest.Doc{"type": "Document", "url": "/a.mp4"}, "video", "video/mp4"},
		{"no type, the object before the address", apptest.Doc{"type": "Image", "url": "/picture.php"}, "image", "image/jpeg"},
		{"any picture", apptest.Doc{"type": "Document", "mediaType": "image/*", "url": "/a"}, "image", "image/jpeg"},
		{"any picture, by the address", apptest.Doc{"type": "Document", "mediaType": "image/*", "url": "/a.png"}, "image", "image/png"},
		{"a picture without format", apptest.Doc{"type": "Document", "mediaType": "image", "url": "/a.gif"}, "image", "image/gif"},
		{"a download", apptest.Doc{"type": "Document", "mediaType": "application/force-download", "url": "/a.opus"}, "audio", "audio/ogg"},
		{"an MP4", apptest.Doc{"type": "Document", "mediaType": "application/mp4", "url": "/a"}, "video", "video/mp4"},
		{"an MP4 with sound", apptest.Doc{"type": "Audio", "mediaType": "application/mp4", "url": "/a.m4a"}, "audio", "audio/mp4"},
		{"an Ogg", apptest.Doc{"type": "Document", "mediaType": "application/ogg", "url": "/a"}, "audio", "audio/ogg"},
		{"a link that says more", apptest.Doc{"type": "Document", "mediaType": "application/octet-stream",
			"url": apptest.Doc{"type": "Link", "mediaType": "image/png", "href": "/a"}}, "image", "image/png"},
		{"a link that says less", apptest.Doc{"type": "Document", "mediaType": "image/png",
			"url": apptest.Doc{"type": "Link", "mediaType": "application/octet-stream", "href": "/a"}}, "image", "image/png"},
		{"bytes", apptest.Doc{"type": "Document", "mediaType": "application/octet-stream", "url": "/a"}, "unknown", "application/octet-stream"},
		{"a PDF", apptest.Doc{"type": "Image", "mediaType": "application/pdf", "url": "/a.jpg"}, "unknown", "application/pdf"},
		{"a page", apptest.Doc{"type": "Image", "mediaType": "text/html", "url": "/a.jpg"}, "unknown", "text/html"},
		{"SVG", apptest.Doc{"type": "Image", "mediaType": "image/svg+xml", "url": "/a.jpg"}, "unknown", "image/svg+xml"},
		{"SVG by the address", apptest.Doc{"type": "Image", "mediaType": "application/octet-stream", "url": "/a.SVG?x"}, "unknown", "image/svg+xml"},
		{"SVG by its name", apptest.Doc{"type": "Document", "url": "/a.svg"}, "unknown", "image/svg+xml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if link, ok := tt.document["url"].(apptest.Doc); ok {
				link["href"] = peer.URL + link["href"].(string)
			} else {
				tt.document["url"] = peer.URL + tt.document["url"].(string)
			}
			note := peer.Note(bob, "text", apptest.Doc{"attachment": []any{tt.document}})
			peer.PostAndSettle(srv, peer.Create(note))
			files := alice.WantPost(note["id"]).At("media_attachments").([]any)
			if len(files) != 1 {
				t.Fatalf("got %v", files)
			}
			file := files[0].(map[string]any)
			if got := file["svc"].(map[string]any)["mime_type"]; file["type"] != tt.kind || got != tt.mime {
				t.Errorf("got %v, %v, want %s, %s", file["type"], got, tt.kind, tt.mime)
			}
		})
	}
}

// TestDeclaredPictureTypes checks which pictures of actors are shown, by the type that their document declares.
func TestDeclaredPictureTypes(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	for i, tt := range []struct {
		declared any
		shown    bool
	}{
		{"image/png", true},
		{nil, true},
		{"", true},
		{"image/*", true},
		{"application/octet-stream", true},
		{"binary/octet-stream; charset=binary", true},
		{"application/force-download", true},
		{"text/html", false},
		{"text/html, image/png", false},
		{"image/svg+xml", false},
		{"application/activity+json", false},
		{"application/pdf", false},
		{"video/mp4", false},
	} {
		picture := apptest.Doc{"type": "Image", "mediaType": tt.declared, "url": peer.URL + "/a.png"}
		bob := peer.AddActor(fmt.Sprintf("bob%d", i), apptest.Doc{"icon": picture, "image": picture})
		alice.FollowRemote(bob)
		account := alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200).Object()
		for _, key := range []string{"avatar", "header"} {
			if got := account.Str(key) == srv.Proxy.URL(peer.URL+"/a.png"); got != tt.shown {
				t.Errorf("%v: %s is %s", tt.declared, key, account.Str(key))
			}
		}
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

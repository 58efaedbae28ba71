package federation_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestTextPictures checks which pictures in the text of a post are shown as its attachments: blogs have theirs only there.
func TestTextPictures(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	attached := func(urls ...string) (list []any) {
		for _, u := range urls {
			list = append(list, apptest.Doc{"type": "Image", "mediaType": "image/png", "url": peer.URL + u, "name": "attached"})
		}
		return list
	}
	many := func(n int) (tags string, urls []string) {
		for i := range n {
			tags += fmt.Sprintf(`<img src="/%d.png">`, i)
			urls = append(urls, fmt.Sprintf("/%d.png", i))
		}
		return tags, urls
	}
	tags, urls := many(130)
	hundred := urls[:100]
	emoji := apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/cat.png"}}
	for _, tt := range []struct {
		name    string
		content string
		more    apptest.Doc
		want    []string // URLs below the peer's
	}{
		{"Ghost", `<figure class="kg-card"><img src="PEER/a.jpg" class="kg-image" alt="A lake" loading="lazy" width="2000" height="1333"></figure>`, apptest.Doc{"type": "Article", "name": "On lakes"}, []string{"/a.jpg"}},
		{"WordPress", `<p>text</p><img decoding="async" width="640" height="480" src="PEER/w/a.jpeg" alt="" class="wp-image-12" srcset="PEER/w/b.jpeg 2x" />`, nil, []string{"/w/a.jpeg"}},
		{"Micro.blog", `<p><img src='PEER/uploads/a.jpg'></p>`, nil, []string{"/uploads/a.jpg"}},
		{"relative URLs", `<img src="/a.png"><img src="b.png"><img src="//HOST/c.png">`, nil, []string{"/a.png", "/notes/b.png", "/c.png"}},
		{"several in order", `<img src="/b.png">x<img src="/a.png">`, nil, []string{"/b.png", "/a.png"}},
		{"the same twice", `<img src="/a.png"><img src="/a.png?size=2"><IMG SRC="/a.png">`, nil, []string{"/a.png"}},
		{"attached already", `<img src="/a.png?w=300"><img src="/b.png">`, apptest.Doc{"attachment": attached("/a.png?v=1")}, []string{"/a.png?v=1", "/b.png"}},
		{"the picture of an article", `<img src="/a.png"><img src="/b.png">`, apptest.Doc{"type": "Article", "name": "x", "image": apptest.Doc{"type": "Image", "url": peer.URL + "/a.png"}}, []string{"/a.png", "/b.png"}},
		{"the class of emoji", `<img class="emoji" src="/a.png"><img class="x custom-Emoji" src="/b.png"><img class="wp-smiley" src="/c.png">`, nil, nil},
		{"an emoji of the tags", `<img src="/cat.png?x"> :cat:`, apptest.Doc{"tag": []any{emoji}}, nil},
		{"small ones", `<img width="32" height="32" src="/a.png"><img width=1 height=1 src="/b.png"><img height="20" src="/c.png"><img width="0" src="/d.png"><img width="33" height="33" src="/e.png">`, nil, []string{"/e.png"}},
		{"sizes that are no numbers", `<img width="100%" height="auto" src="/a.png"><img width="-1" src="/b.png">`, nil, []string{"/a.png", "/b.png"}},
		{"addresses that are not public", `<img src="data:image/png;base64,AA"><img src="javascript:x()"><img src="http://10.0.0.1/a.png"><img src="ftp://example.org/a.png"><img src="https://user@example.org/a.png"><img src=""><img>`, nil, nil},
		{"SVG", `<img src="/a.svg">`, nil, nil},
		{"no elements", `<!-- <img src="/a.png"> --><script>"<img src='/b.png'>"</script><p title="<img src='/c.png'>">x</p>&lt;img src="/d.png"&gt;`, nil, nil},
		{"an unclosed tag", `<img src="/a.png"`, nil, nil},
		{"broken markup", `<p><b><img src="/a.png"<img src="/b.png"></i>`, nil, []string{"/a.png"}},
		{"Markdown", `<img src="/a.png">`, apptest.Doc{"mediaType": "text/markdown"}, nil},
		{"more than there may be", tags, nil, hundred},
		{"more than there may be, with attachments", tags, apptest.Doc{"attachment": attached(hundred...)}, hundred},
		{"behind the longest content", strings.Repeat("x", 200_000) + `<img src="/a.png">`, nil, nil},
		{"long attributes", `<img src="/a.png?` + strings.Repeat("x", 5000) + `"><img ` + strings.Repeat("a ", 10_000) + ` src="/b.png">`, nil, []string{"/b.png"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content := strings.NewReplacer("PEER", peer.URL, "HOST", peer.Host).Replace(tt.content)
			note := peer.Note(bob, content, tt.more)
			peer.PostAndSettle(srv, peer.Create(note))
			got := remoteURLs(alice.WantPost(note["id"]))
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], peer.URL)
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("got %.500v, want %.500v", got, tt.want)
			}
		})
	}
}

// remoteURLs returns the original addresses of the attachments of a status.
func remoteURLs(st *apptest.Object) (list []string) {
	for _, m := range st.At("media_attachments").([]any) {
		list = append(list, m.(map[string]any)["remote_url"].(string))
	}
	return list
}

// TestTextPictureProperties checks what is shown of a picture in a text, and that an edit with the same pictures keeps them.
func TestTextPictureProperties(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Media.Describe = true })
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	note := peer.Note(bob, `<img src="/a.jpg" alt=" A &quot;lake&quot; " width="640" height="480"><img src="/b" alt="IMG_1234.jpg" width="640">`)
	peer.PostAndSettle(srv, peer.Create(note))
	st := alice.WantPost(note["id"])
	for path, want := range map[string]any{
		"media_attachments.0.type": "image", "media_attachments.0.description": `A "lake"`, "media_attachments.0.svc.mime_type": "image/jpeg",
		"media_attachments.0.meta.original.size": "640x480", "media_attachments.0.url": srv.Proxy.URL(peer.URL + "/a.jpg"),
		"media_attachments.1.type": "image", "media_attachments.1.description": nil, "media_attachments.1.meta.original": nil,
	} {
		if got := st.Find(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	note["content"], note["updated"] = `edited <img src="/a.jpg?2" alt="A lake"><img src="/c.png">`, apptest.FromNow(0)
	peer.PostAndSettle(srv, peer.Activity("Update", bob, note))
	if got, want := remoteURLs(alice.WantPost(note["id"])), []string{peer.URL + "/a.jpg?2", peer.URL + "/c.png"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after an edit: %v, want %v", got, want)
	}
}

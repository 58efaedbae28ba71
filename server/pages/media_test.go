package pages_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"strings"
	"testing"

	"svc/app/apptest"
)

// animation returns a GIF of two frames.
func animation() []byte {
	var g gif.GIF
	for i := range 2 {
		frame := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.Black, color.White})
		frame.Pix[i] = 1
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestMosaic counts the tiles of posts with one to six pictures.
func TestMosaic(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for _, tt := range []struct {
		pictures    int
		class, more string
	}{{1, "n1", ""}, {2, "n2", ""}, {3, "n3", ""}, {4, "n4", ""}, {5, "n4", "+1 1 more picture"}, {6, "n4", "+2 2 more pictures"}} {
		t.Run(fmt.Sprint(tt.pictures), func(t *testing.T) {
			typed := []string{"visibility", "public"}
			for range tt.pictures {
				typed = append(typed, "media_ids[]", alice.Upload(apptest.PNG(20, 10), apptest.ValuePart("description", "a cup")).ID())
			}
			st := alice.Publish("look", typed...)
			page := alice.SignedIn().Get("/web/statuses/" + st.ID())
			if page.Status == 302 {
				page = page.Follow()
			}
			body := string(page.Want(200, tt.more).Body)
			if !strings.Contains(body, `<ul class="gallery `+tt.class+`">`) || strings.Contains(body, "more picture") != (tt.more != "") {
				t.Errorf("not %s: %s", tt.class, body)
			}
			if n := strings.Count(body, `data-size="20x10"`); n != tt.pictures {
				t.Errorf("%d pictures for the viewer", n)
			}
			if n := strings.Count(body, `<summary class="badge">ALT`); n != tt.pictures {
				t.Errorf("%d descriptions", n)
			}
		})
	}
}

// TestFocus checks which classes keep a focal point in view.
func TestFocus(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for focus, class := range map[string]string{"0,0": "", "-1,1": `class="x0 y0"`, "1,-1": `class="x10 y10"`, "0.42,0.1": `class="x7 y5"`} {
		st := alice.Publish("look", "media_ids[]", alice.Upload(apptest.PNG(20, 10), apptest.ValuePart("focus", focus)).ID())
		picture := cutOut(postPage(alice, st), `<a class="picture"`, `</a>`)
		if class != "" && !strings.Contains(picture, class) || class == "" && strings.Contains(picture, "class=\"x") {
			t.Errorf("%s: %s", focus, picture)
		}
	}
}

// TestMediaSettings checks which media are covered and which warnings open for each setting, and the preferences of the API.
func TestMediaSettings(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	picture := func() string { return alice.Upload(apptest.PNG(20, 10)).ID() }
	plain := alice.Publish("plain", "media_ids[]", picture())
	sensitive := alice.Publish("sensitive", "media_ids[]", picture(), "sensitive", "true")
	warned := alice.Publish("warned", "media_ids[]", picture(), "sensitive", "true", "spoiler_text", "careful")
	const covered, open, none = `<details class="cover">`, `<details class="cover" open>`, ""
	browser := alice.SignedIn()
	for _, tt := range []struct {
		media, warnings, preference string
		plain, sensitive, warned    string
	}{
		{"", "", "default", none, covered, none},
		{"show_all", "", "show_all", none, open, none},
		{"hide_all", "", "hide_all", covered, covered, covered},
		{"", "open", "default", none, covered, covered},
		{"show_all", "open", "show_all", none, open, open},
		{"something", "something", "default", none, covered, none},
	} {
		t.Run(tt.media+" "+tt.warnings, func(t *testing.T) {
			if tt.media == "something" {
				alice.SendJSON("PATCH", "/api/v1/svc/settings/web_interface", map[string]any{"media": tt.media, "warnings": tt.warnings}).Want(200)
			} else {
				browser.Get("/web/settings/reading").Want(200).Press("Save", "media", tt.media, "warnings", tt.warnings).Follow().Want(200, "Saved.")
			}
			preferences := alice.Get("/api/v1/preferences").Want(200).Object()
			if got := preferences.Str("reading:expand:media"); got != tt.preference {
				t.Errorf("reading:expand:media is %s", got)
			}
			if got := preferences.Bool("reading:expand:spoilers"); got != (tt.warnings == "open") {
				t.Errorf("reading:expand:spoilers is %t", got)
			}
			home := string(browser.Get("/web").Want(200).Body)
			for st, want := range map[*apptest.Object]string{plain: tt.plain, sensitive: tt.sensitive, warned: tt.warned} {
				post := cutOut(home, `id="p`+st.ID()+`"`, "</article>")
				if !strings.Contains(post, "gallery n1") || want != "" && !strings.Contains(post, want) || want == "" && strings.Contains(post, "cover") {
					t.Errorf("%s: want %q in %s", st.Str("content"), want, post)
				}
				if want == covered && !strings.Contains(post, `src="data:image/bmp;base64,`) {
					t.Errorf("no blurred picture in %s", post)
				}
			}
			if opened := strings.Contains(cutOut(home, `id="p`+warned.ID()+`"`, "</article>"), `<details class="warning" open>`); opened != (tt.warnings == "open") {
				t.Errorf("the warning is open: %t", opened)
			}
		})
	}
	main := postPage(alice, warned) // its warning is open
	if !strings.Contains(main, `<details class="warning" open>`) {
		t.Error("the warning of the post of a page is closed")
	}
	if visitor := string(srv.Browser().Get("/@alice").Want(200).Body); strings.Count(visitor, covered) != 1 {
		t.Errorf("a visitor is shown %s", visitor)
	}
}

// TestStillAnimations checks that no GIF moves, and nothing plays, before it is wanted.
func TestStillAnimations(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	m := alice.Upload(animation(), apptest.ValuePart("description", "two frames"))
	if m.Str("preview_url") == m.Str("url") {
		t.Error("an animation has no still preview")
	}
	body := postPage(alice, alice.Publish("look", "media_ids[]", m.ID()))
	picture := cutOut(body, `<a class="picture"`, `</a>`)
	if strings.Contains(picture, `src="`+m.Str("url")+`"`) || !strings.Contains(picture, `<span class="badge gif">GIF</span>`) {
		t.Errorf("the page has %s", picture)
	}
	m = alice.Upload(animation())
	srv.Exec(`UPDATE media SET thumbnail = '', preview_width = 0, preview_height = 0`) // as uploads of earlier versions, and remote pictures
	old := postPage(alice, alice.Publish("again", "media_ids[]", m.ID()))
	if strings.Contains(old, `<img src="`+m.Str("url")) || strings.Contains(body, "autoplay") {
		t.Errorf("the page has %s", old)
	}
}

// postPage returns the HTML of the page of a post.
func postPage(user *apptest.User, st *apptest.Object) string {
	user.Server.T.Helper()
	return string(user.SignedIn().Get("/@" + user.Nickname + "/" + st.ID()).Want(200).Body)
}

// cutOut returns the text from a beginning to an end.
func cutOut(text, begin, end string) string {
	_, text, _ = strings.Cut(text, begin)
	text, _, _ = strings.Cut(text, end)
	return text
}

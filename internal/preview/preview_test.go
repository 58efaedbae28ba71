package preview_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"svc/internal/preview"
)

var at = &url.URL{Scheme: "https", Host: "example.org", Path: "/news/today"}

func TestRead(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for _, tt := range []struct {
		name, page, contentType string
		want                    preview.Page
	}{
		{"nothing", "", "", preview.Page{}},
		{"no page", "just text", "", preview.Page{}},
		{"a title", "<html><head><title>\n The  &lt;b&gt; &amp; title\n</title>", "", preview.Page{Title: "The <b> & title"}},
		{"a title without a head", "<!doctype html><title>x</title><meta name=description content=y><p>z", "", preview.Page{Title: "x", Description: "y"}},
		{"the first title", "<title>a</title><title>b</title>", "", preview.Page{Title: "a"}},
		{"a title in a drawing", "<svg><title>a</title></svg><title>b</title>", "", preview.Page{Title: "b"}},
		{"a title that is markup", "<title>a<b>b</b></title>", "", preview.Page{Title: "a<b>b</b>"}},
		{"a title after the head", "<head></head><title>x</title>", "", preview.Page{}},
		{"properties in the body", "<head><title>x</title></head><body><p>a</p><meta property='og:title' content='y'><div><meta property='og:image' content='/a.png'>", "",
			preview.Page{Title: "y", Image: "https://example.org/a.png", Properties: map[string]string{"title": "y", "image": "/a.png"}}},
		{"properties behind an open head", "<head><title>x</title><body><meta name='twitter:title' content='y'>", "", preview.Page{Title: "y", Properties: map[string]string{"title": "y"}}},
		{"properties behind the head", "<head></head><meta property='og:title' content='y'><meta property='og:title' content='z'><body>", "",
			preview.Page{Title: "y", Properties: map[string]string{"title": "y"}}},
		{"properties in head and body", "<head><meta property='og:title' content='x'></head><body><meta property='og:title' content='y'><meta property='og:image' content='/a.png'>", "",
			preview.Page{Title: "x", Properties: map[string]string{"title": "x"}}},
		{"other metadata in the body", "<head></head><body><title>x</title><meta name=description content=y><h1>z</h1>", "", preview.Page{}},
		{"a comment", "<!-- <title>x</title> --><title>y</title>", "", preview.Page{Title: "y"}},
		{"a script", "<script>'<title>x</title>'</script><title>y</title>", "", preview.Page{Title: "y"}},
		{"a title without an end", "<title>x", "", preview.Page{Title: "x"}},
		{"half a tag", `<title>x</title><meta property="og:title" content="y`, "", preview.Page{Title: "x"}},
		{"OpenGraph", `<title>x</title><meta name="description" content="d">
			<meta property="og:title" content="The title"><meta property="og:description" content="What it &quot;is&quot;
			about"><meta property="og:image" content="/picture.png?a&amp;b"><meta property="og:image:alt" content=" A picture ">
			<meta property="og:image:width" content="640"><meta property="og:image:height" content="480px"><meta property="og:title" content="no">`, "",
			preview.Page{Title: "The title", Description: `What it "is" about`, Image: "https://example.org/picture.png?a&b", ImageAlt: "A picture",
				Width: 640, Height: 480, Properties: map[string]string{"title": "The title", "description": "What it \"is\"    about",
					"image": "/picture.png?a&b", "image:alt": " A picture ", "image:width": "640", "image:height": "480px"}}},
		{"by name", `<META NAME=" OG:Title " CONTENT="x"><meta name=description property=og:description content=y>`, "",
			preview.Page{Title: "x", Description: "y", Properties: map[string]string{"title": "x", "description": "y"}}},
		{"the cards of others", `<meta name="twitter:title" content="x"><meta name="twitter:image:src" content="https://cdn.example/a.png">`, "",
			preview.Page{Title: "x", Image: "https://cdn.example/a.png", Properties: map[string]string{"title": "x", "image:src": "https://cdn.example/a.png"}}},
		{"both", `<meta name="twitter:title" content="x"><meta name="twitter:card" content="summary"><meta property="og:title" content="y">`, "",
			preview.Page{Title: "y", Properties: map[string]string{"title": "y", "card": "summary"}}},
		{"an empty property", `<meta property="og:title" content=" "><title>x</title>`, "",
			preview.Page{Title: "x", Properties: map[string]string{"title": " "}}},
		{"nothing in it", `<meta><meta property><meta property=og:><meta content=x><meta property=og:title>`, "", preview.Page{}},
		{"a picture of http", `<meta property="og:image" content="http://example.com/a.png">`, "",
			preview.Page{Image: "https://example.com/a.png", Properties: map[string]string{"image": "http://example.com/a.png"}}},
		{"a width without a height", `<meta property="og:image" content="//example.com/a"><meta property="og:image:width" content="5">`, "",
			preview.Page{Image: "https://example.com/a", Properties: map[string]string{"image": "//example.com/a", "image:width": "5"}}},
		{"an odd width", `<meta property="og:image" content="//example.com/a"><meta property="og:image:width" content="-5"><meta property="og:image:height" content="99999999999999999999">`, "",
			preview.Page{Image: "https://example.com/a", Properties: map[string]string{"image": "//example.com/a", "image:width": "-5", "image:height": "99999999999999999999"}}},
		{"control characters", "<title>a\u0000\u0007b\u202ec\u2066d\ufffde</title>", "text/html; charset=utf-8", preview.Page{Title: "abcde"}},
		{"a long title", "<meta charset=utf-8><title>" + long + "</title>", "", preview.Page{Title: strings.Repeat("ä", 299) + "…"}},
		{"a charset by header", "<title>\xe4</title>", "text/html; charset=iso-8859-1", preview.Page{Title: "ä"}},
		{"a charset in the page", "<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title>", "text/html", preview.Page{Title: "Привет"}},
		{"a charset by its mark", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xe4\x00", "", preview.Page{Title: "ä"}},
		{"Japanese", "<title>\x93\xfa\x96\x7b</title>", "text/html; charset=Shift_JIS", preview.Page{Title: "日本"}},
		{"an unknown charset", "<meta charset=nonsense><title>x</title>", "text/html; charset=nonsense", preview.Page{Title: "x"}},
		{"beyond the limit", strings.Repeat(" ", preview.MaxPage) + "<title>x</title>", "", preview.Page{}},
	} {
		got, err := preview.Read(strings.NewReader(tt.page), tt.contentType, at)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !maps.Equal(got.Properties, tt.want.Properties) {
			t.Errorf("%s: got properties %q, want %q", tt.name, got.Properties, tt.want.Properties)
		}
		got.Properties, tt.want.Properties = nil, nil
		if g, w := *got, tt.want; g.Title != w.Title || g.Description != w.Description || g.Image != w.Image || g.ImageAlt != w.ImageAlt || g.Width != w.Width || g.Height != w.Height {
			t.Errorf("%s: got %+v, want %+v", tt.name, g, w)
		}
	}
}

func TestPictures(t *testing.T) {
	for _, address := range []string{
		"javascript:alert(1)", "data:image/png;base64,AAAA", "ftp://example.com/a", "http://example.com:8080/a", "https://", "https://user@example.com/a",
		"http://[", "https:///a", "mailto:a@example.com", "https://example.com/" + strings.Repeat("a", 2048), "", " ", "%zz",
	} {
		p, err := preview.Read(strings.NewReader(`<title>x</title><meta property="og:image" content="`+address+`">`), "", at)
		if err != nil || p.Image != "" && address != " " || p.Title != "x" {
			t.Errorf("%.40q: got %+v, %v, want no picture", address, p, err)
		}
	}
}

func TestManyProperties(t *testing.T) {
	var page strings.Builder
	for _, prefix := range []string{"og", "twitter", "other"} {
		for range 200 {
			page.WriteString(`<meta property="` + prefix + `:` + strings.Repeat("k", page.Len()%97) + `" content="` + strings.Repeat("v", 3000) + `">`)
		}
	}
	p, err := preview.Read(strings.NewReader(page.String()), "", at)
	if err != nil || len(p.Properties) == 0 {
		t.Fatal(p, err)
	}
	wantBounded(t, p)
}

// wantBounded checks the limits of any result.
func wantBounded(t *testing.T, p *preview.Page) {
	t.Helper()
	texts := map[string]int{p.Title: 300, p.Description: 1000, p.ImageAlt: 1500}
	if len(p.Properties) > 50 {
		t.Errorf("%d properties", len(p.Properties))
	}
	all := 0
	for k, v := range p.Properties {
		texts[k], texts[v] = 1000, 1000
		all += len(k) + len(v)
	}
	if all > 8<<10 {
		t.Errorf("properties of %d bytes", all)
	}
	for text, most := range texts {
		if n := utf8.RuneCountInString(text); n > most {
			t.Errorf("%d characters, want %d at most: %.50q", n, most, text)
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("not clean: %q", text)
		}
	}
	if p.Image != "" {
		if u, err := url.Parse(p.Image); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || len(p.Image) > 2048 {
			t.Errorf("a picture at %q", p.Image)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`<meta charset=utf-8><title>x</title><meta property="og:image" content="//a/b">`, "text/html; charset=utf-16")
	f.Add("\xff\xfe<\x00t\x00", "")
	f.Add("<svg><title><meta name=twitter:title content=\u202e>", "text/html; charset=gb18030")
	f.Fuzz(func(t *testing.T, page, contentType string) {
		p, err := preview.Read(strings.NewReader(page), contentType, at)
		if err != nil {
			t.Fatal(err) // reading from memory does not fail
		}
		wantBounded(t, p)
	})
}

package preview_test

import (
	"net/url"
	"strings"
	"testing"

	"svc/internal/preview"
)

func TestHasMeLink(t *testing.T) {
	const profile = "https://svc.example/@alice"
	for _, tt := range []struct {
		name, page string
		want       bool
	}{
		{"a link", `<p>me: <a href="https://svc.example/@alice" rel="me">x</a>`, true},
		{"in the head", `<head><link rel=me href=https://svc.example/@alice></head>`, true},
		{"one of many words in any case", `<A HREF="https://svc.example/@alice" REL="nofollow Me noopener">x</a>`, true},
		{"case of scheme and host, port, slash", `<a rel="me" href=" HTTPS://SVC.Example:443/@alice/ ">`, true},
		{"without a scheme", `<a rel="me" href="//svc.example/@alice">`, true},
		{"a fragment", `<a rel="me" href="https://svc.example/@alice#posts">`, true},
		{"after others", `<a rel="me" href="https://other.example/"><a rel="me" href="https://svc.example/@bob"><a rel="me" href="https://svc.example/@alice">`, true},
		{"escaped", `<a rel="me" href="https://svc.example/&#64;alice">`, true},
		{"no rel", `<a href="https://svc.example/@alice">x</a>`, false},
		{"another rel", `<a rel="meta home" href="https://svc.example/@alice">x</a>`, false},
		{"no href", `<a rel="me">https://svc.example/@alice</a>`, false},
		{"another account", `<a rel="me" href="https://svc.example/@alice2">`, false},
		{"another host", `<a rel="me" href="https://svc.example.evil.example/@alice">`, false},
		{"another port", `<a rel="me" href="https://svc.example:8443/@alice">`, false},
		{"http", `<a rel="me" href="http://svc.example:80/@alice">`, true},
		{"http on the port of https", `<a rel="me" href="http://svc.example:443/@alice">`, false},
		{"another scheme", `<a rel="me" href="ftp://svc.example/@alice">`, false},
		{"case of the path", `<a rel="me" href="https://svc.example/@Alice">`, false},
		{"a query", `<a rel="me" href="https://svc.example/@alice?x=https://svc.example/@alice">`, false},
		{"a user", `<a rel="me" href="https://svc.example@evil.example/@alice">`, false},
		{"the first of two attributes counts", `<a rel="x" rel="me" href="https://svc.example/@alice">`, false},
		{"of another element", `<div rel="me" href="https://svc.example/@alice">`, false},
		{"in a comment", `<!-- <a rel="me" href="https://svc.example/@alice"> -->`, false},
		{"in a script", `<script>'<a rel="me" href="https://svc.example/@alice">'</script>`, false},
		{"typed into a form", `<textarea><a rel="me" href="https://svc.example/@alice"></textarea>`, false},
		{"as text", `&lt;a rel="me" href="https://svc.example/@alice"&gt;`, false},
		{"half a tag", `<a rel="me" href="https://svc.example/@alice"`, false},
		{"no URL", `<a rel="me" href="https://svc.example:x/@alice"><a rel="me" href="%zz"><a rel="me" href="">`, false},
		{"too late", strings.Repeat(" ", preview.MaxPage) + `<a rel="me" href="https://svc.example/@alice">`, false},
		{"many others", strings.Repeat(`<a rel="me" href="https://svc.example/@bob">`, 20_000) + `<a rel="me" href="https://svc.example/@alice">`, true},
		{"nothing", "", false},
	} {
		want, err := url.Parse(profile)
		if err != nil {
			t.Fatal(err)
		}
		got, err := preview.HasMeLink(strings.NewReader(tt.page), "text/html; charset=utf-8", at, func(u *url.URL) bool { return u.User == nil && preview.IsLinkTo(want, u) })
		if got != tt.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

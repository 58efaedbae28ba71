package server_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestOEmbed(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]string{"display_name": `<b>"Alice"`}).Want(200)
	list := srv.AddList(alice, bob)
	post := func(text string, params ...string) string { return alice.Publish(text, params...).Str("url") }
	public := alice.Publish("one <script>alert('x')</script> & two\n\nthree https://example.org/?a&b @bob", "language", "en")
	address := public.Str("url")
	boost := alice.Post("/api/v1/statuses/" + public.ID() + "/reblog").Want(200).Object().ID()
	deleted := alice.Publish("to be deleted")
	alice.Do("DELETE", "/api/v1/statuses/"+deleted.ID(), "", nil).Want(200)
	remote := alice.Publish("remote")
	srv.Exec(`UPDATE statuses SET domain = 'example.com' WHERE id = ?`, apptest.StatusID(remote.ID()))
	for _, tt := range []struct {
		name   string
		params []string
		want   int
	}{
		{"public", []string{"url", address}, 200},
		{"with a query", []string{"url", address + "/?a=b#c"}, 200},
		{"another case", []string{"url", strings.Replace(address, "@alice", "@Alice", 1)}, 200},
		{"by its id", []string{"url", public.Str("uri")}, 200},
		{"as json", []string{"url", address, "format", "json"}, 200},
		{"unlisted", []string{"url", post("x", "visibility", "unlisted")}, 200},
		{"as xml", []string{"url", address, "format", "xml"}, 501},
		{"private", []string{"url", post("x", "visibility", "private")}, 404},
		{"local", []string{"url", post("x", "visibility", "local")}, 404},
		{"direct", []string{"url", post("@bob x", "visibility", "direct")}, 404},
		{"list", []string{"url", post("x", "visibility", "list:"+list)}, 404},
		{"a boost", []string{"url", strings.Replace(address, public.ID(), boost, 1)}, 404},
		{"deleted", []string{"url", deleted.Str("url")}, 404},
		{"remote", []string{"url", remote.Str("url")}, 404},
		{"another account's URL", []string{"url", strings.Replace(address, "@alice", "@bob", 1)}, 404},
		{"another host", []string{"url", strings.Replace(address, "127.0.0.1", "localhost", 1)}, 404},
		{"another scheme", []string{"url", strings.Replace(address, "http:", "https:", 1)}, 404},
		{"only an id", []string{"url", public.ID()}, 404},
		{"a profile", []string{"url", srv.URL + "/@alice"}, 404},
		{"nonsense", []string{"url", "http://[" + public.ID()}, 404},
		{"nothing", nil, 400},
		{"no width", []string{"url", address, "maxwidth", "0"}, 400},
		{"no number", []string{"url", address, "maxheight", "tall"}, 400},
	} {
		for _, c := range []*apptest.Client{srv.As(nil), alice.Client} {
			if got := c.Get("/api/oembed", tt.params...); got.Status != tt.want {
				t.Errorf("%s: got %d, want %d: %s", tt.name, got.Status, tt.want, got.Body)
			}
		}
	}
	response := srv.As(nil).Get("/api/oembed", "url", address, "maxwidth", "300")
	WantEntity(t, "an anonymous client", response, "OEmbed")
	o := response.Object()
	for key, want := range map[string]any{
		"type": "rich", "version": "1.0", "title": "one <script>alert('x')</script> & two three https://example.org/?a&b @bob", "author_name": `<b>"Alice"`, "author_url": srv.URL + "/@alice", "provider_url": srv.URL + "/",
		"provider_name": "svc", "width": 300.0, "height": nil, "cache_age": 86400.0,
	} {
		if o.At(key) != want {
			t.Errorf("%s is %v, want %v", key, o.At(key), want)
		}
	}
	for name, post := range map[string]*apptest.Object{
		"the subject": alice.Publish("text", "spoiler_text", "the subject"), strings.Repeat("x", 99) + "…": alice.Publish(strings.Repeat("x", 200)),
		"@alice@" + srv.Settings.Host(): alice.Publish("", "media_ids[]", alice.Upload(apptest.PNG(4, 4)).ID()),
	} {
		if got := srv.As(nil).Get("/api/oembed", "url", post.Str("url")).Want(200).Object().Str("title"); got != name {
			t.Errorf("the title is %q, want %q", got, name)
		}
	}
	shown := o.Str("html")
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(shown, -1) {
		if !regexp.MustCompile(`^</?(blockquote|p|footer|a|time)( (cite|lang|style|href|rel|datetime)="[^"<>]*")*>$`).MatchString(tag) {
			t.Errorf("the HTML has %s: %s", tag, shown)
		}
	}
	for _, want := range []string{
		"one <script>alert('x')</script> & two\n\nthree https://example.org/?a&b @bob", `<b>"Alice" (@alice@` + srv.Settings.Host() + ")", address, `lang="en"`,
	} {
		if !strings.Contains(html.UnescapeString(shown), want) {
			t.Errorf("%q is missing in %s", want, shown)
		}
	}
	withSubject := srv.As(nil).Get("/api/oembed", "url", post("secret", "spoiler_text", "a subject")).Want(200).Object().Str("html")
	if strings.Contains(withSubject, "secret") || !strings.Contains(withSubject, "a subject") {
		t.Errorf("the HTML of a post with a subject is %s", withSubject)
	}
	long := srv.As(nil).Get("/api/oembed", "url", post(strings.Repeat("ä", 1000))).Want(200).Object().Str("html")
	if strings.Count(long, "ä") != 499 {
		t.Errorf("the HTML of a long post has %d characters", strings.Count(long, "ä"))
	}

	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`<link rel="alternate" type="application/json\+oembed" href="([^"]*)"`).FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no oEmbed link: %.600s", page)
	}
	link, err := url.Parse(html.UnescapeString(string(found[1])))
	if err != nil || srv.As(nil).Get(link.RequestURI()).Want(200).Object().Str("html") == "" {
		t.Errorf("the oEmbed link %s does not work: %v", found[1], err)
	}
}

func TestOEmbedOfPrivateInstance(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	address := alice.Publish("x").Str("url")
	srv.As(nil).Get("/api/oembed", "url", address).Want(401)
	alice.Get("/api/oembed", "url", address).Want(200)
}

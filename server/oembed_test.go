package server_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc/internal/config"
)

func TestOEmbed(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]string{"display_name": `<b>"Alice"`}).want(200)
	list := srv.letList(alice, bob)
	post := func(text string, params ...string) string { return alice.publish(text, params...).str("url") }
	public := alice.publish("one <script>alert('x')</script> & two\n\nthree https://example.org/?a&b @bob", "language", "en")
	address := public.str("url")
	boost := alice.post("/api/v1/statuses/" + public.id() + "/reblog").want(200).object().id()
	gone := alice.publish("gone")
	alice.do("DELETE", "/api/v1/statuses/"+gone.id(), "", nil).want(200)
	elsewhere := alice.publish("from elsewhere")
	srv.insert(`UPDATE statuses SET domain = 'example.com' WHERE id = ?`, statusID(elsewhere.id()))
	for _, tt := range []struct {
		name   string
		params []string
		want   int
	}{
		{"public", []string{"url", address}, 200},
		{"with a query", []string{"url", address + "/?a=b#c"}, 200},
		{"another case", []string{"url", strings.Replace(address, "@alice", "@Alice", 1)}, 200},
		{"by its id", []string{"url", public.str("uri")}, 200},
		{"as json", []string{"url", address, "format", "json"}, 200},
		{"unlisted", []string{"url", post("x", "visibility", "unlisted")}, 200},
		{"as xml", []string{"url", address, "format", "xml"}, 501},
		{"private", []string{"url", post("x", "visibility", "private")}, 404},
		{"local", []string{"url", post("x", "visibility", "local")}, 404},
		{"direct", []string{"url", post("@bob x", "visibility", "direct")}, 404},
		{"list", []string{"url", post("x", "visibility", "list:"+list)}, 404},
		{"a boost", []string{"url", strings.Replace(address, public.id(), boost, 1)}, 404},
		{"gone", []string{"url", gone.str("url")}, 404},
		{"from elsewhere", []string{"url", elsewhere.str("url")}, 404},
		{"another's", []string{"url", strings.Replace(address, "@alice", "@bob", 1)}, 404},
		{"another server's", []string{"url", strings.Replace(address, "127.0.0.1", "localhost", 1)}, 404},
		{"another scheme", []string{"url", strings.Replace(address, "http:", "https:", 1)}, 404},
		{"an id alone", []string{"url", public.id()}, 404},
		{"a profile", []string{"url", srv.url + "/@alice"}, 404},
		{"nonsense", []string{"url", "http://[" + public.id()}, 404},
		{"nothing", nil, 400},
		{"no width", []string{"url", address, "maxwidth", "0"}, 400},
		{"no number", []string{"url", address, "maxheight", "tall"}, 400},
	} {
		for _, c := range []*caller{srv.as(nil), alice.caller} {
			if got := c.get("/api/oembed", tt.params...); got.status != tt.want {
				t.Errorf("%s: got %d, want %d: %s", tt.name, got.status, tt.want, got.body)
			}
		}
	}
	answer := srv.as(nil).get("/api/oembed", "url", address, "maxwidth", "300")
	wantEntity(t, "the anonymous", answer, "OEmbed")
	o := answer.object()
	for key, want := range map[string]any{
		"type": "rich", "version": "1.0", "author_name": `<b>"Alice"`, "author_url": srv.url + "/@alice", "provider_url": srv.url + "/",
		"provider_name": "svc", "width": 300.0, "height": nil, "cache_age": 86400.0,
	} {
		if o.at(key) != want {
			t.Errorf("%s is %v, want %v", key, o.at(key), want)
		}
	}
	shown := o.str("html")
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(shown, -1) {
		if !regexp.MustCompile(`^</?(blockquote|p|footer|a|time)( (cite|lang|style|href|rel|datetime)="[^"<>]*")*>$`).MatchString(tag) {
			t.Errorf("the HTML has %s: %s", tag, shown)
		}
	}
	for _, want := range []string{
		"one <script>alert('x')</script> & two\n\nthree https://example.org/?a&b @bob", `<b>"Alice" (@alice@` + srv.settings.Host() + ")", address, `lang="en"`,
	} {
		if !strings.Contains(html.UnescapeString(shown), want) {
			t.Errorf("%q is not in %s", want, shown)
		}
	}
	covered := srv.as(nil).get("/api/oembed", "url", post("secret", "spoiler_text", "a subject")).want(200).object().str("html")
	if strings.Contains(covered, "secret") || !strings.Contains(covered, "a subject") {
		t.Errorf("a post with a subject is shown as %s", covered)
	}
	long := srv.as(nil).get("/api/oembed", "url", post(strings.Repeat("ä", 1000))).want(200).object().str("html")
	if strings.Count(long, "ä") != 499 {
		t.Errorf("a long post is shown with %d characters", strings.Count(long, "ä"))
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
		t.Fatalf("the page does not tell of it: %.600s", page)
	}
	link, err := url.Parse(html.UnescapeString(string(found[1])))
	if err != nil || srv.as(nil).get(link.RequestURI()).want(200).object().str("html") == "" {
		t.Errorf("the page tells of %s: %v", found[1], err)
	}
}

func TestOEmbedOfPrivateInstance(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.signUp("alice")
	address := alice.publish("x").str("url")
	srv.as(nil).get("/api/oembed", "url", address).want(401)
	alice.get("/api/oembed", "url", address).want(200)
}

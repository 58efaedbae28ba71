package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestFirstPost signs in, posts from the home page, favourites the post there and takes that back.
func TestFirstPost(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	home := browser.Get("/web").Want(200, "Your home timeline is empty.")
	home = home.Press("Post", "status", "Hello from the browser").Follow().Want(200, "Your post is published.", "Hello from the browser")
	home = home.Press("Favourite").Follow().Want(200)
	statuses := alice.Get("/api/v1/timelines/home").Want(200).List()
	if len(statuses) != 1 || !statuses[0].Bool("favourited") {
		t.Fatalf("the timeline is %v", statuses)
	}
	home.Press("Favourite").Follow().Want(200)
	if got := alice.Get("/api/v1/statuses/" + statuses[0].ID()).Want(200).Object().Bool("favourited"); got {
		t.Errorf("favourited is %v after the second press", got)
	}
}

// TestFormsSentTwice sends the form of a post twice, as browsers do when a page is loaded again.
func TestFormsSentTwice(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	home := alice.SignedIn().Get("/web").Want(200)
	for range 2 {
		home.Press("Post", "status", "only once").Follow()
	}
	if got := alice.Get("/api/v1/timelines/home").Want(200).List(); len(got) != 1 {
		t.Errorf("%d posts", len(got))
	}
}

// TestFormErrors checks that a form which the API refuses is shown again with what was entered, and that other errors are pages.
func TestFormErrors(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web").Press("Post", "status", strings.Repeat("long ", 2000)).Want(422)
	if !strings.Contains(string(page.Body), ">long long") {
		t.Errorf("the text is lost: %s", page.Body)
	}
	token := page.Forms[0].Fields.Get("form_token")
	for _, path := range []string{"/web/do/api/v1/statuses/none/favourite", "/web/do/nothing", "/web/do/web/sign_out", "/web/do/api/v1/statuses/../../x"} {
		if a := browser.Post(path, map[string][]string{"form_token": {token}}); a.Status != 404 {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
}

// TestBackPaths checks that a form leads only to pages of this server.
func TestBackPaths(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").Str("id")
	browser := alice.SignedIn()
	token := browser.Get("/web").Want(200).Forms[0].Fields.Get("form_token")
	for back, want := range map[string]string{
		"":                     "/web#p" + st,
		"/web/local?x=1":       "/web/local?x=1#p" + st,
		"https://evil.example": "/web#p" + st,
		"//evil.example":       "/web#p" + st,
		`/\evil.example`:       "/web#p" + st,
		"/\t/evil.example":     "/web#p" + st,
	} {
		a := browser.Post("/web/do/api/v1/statuses/"+st+"/bookmark", map[string][]string{"form_token": {token}, "back": {back}}).Want(302)
		if got := a.Header.Get("Location"); got != want {
			t.Errorf("back %q leads to %q, want %q", back, got, want)
		}
	}
}

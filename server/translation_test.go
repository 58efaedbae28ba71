package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// translationServer stands for LibreTranslate. It writes its texts in upper case and adds a script.
type translationServer struct {
	*httptest.Server
	requests atomic.Int64 // for translations
	status   atomic.Int64 // of its answers
	last     atomic.Pointer[map[string]any]
}

func startTranslationServer(t *testing.T) *translationServer {
	s := new(translationServer)
	s.status.Store(200)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := int(s.status.Load()); status != 200 {
			w.WriteHeader(status)
			return
		}
		if r.URL.Path == "/languages" {
			json.NewEncoder(w).Encode([]any{
				map[string]any{"code": "en", "name": "English", "targets": []string{"de", "en", "pt"}},
				map[string]any{"code": "de", "name": "German", "targets": []string{"de", "en"}},
			})
			return
		}
		s.requests.Add(1)
		var question map[string]any
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
			t.Error(err)
		}
		s.last.Store(&question)
		texts := []string{}
		for _, q := range question["q"].([]any) {
			texts = append(texts, strings.NewReplacer("hello", "hallo", "&amp;", "&amp; und").Replace(q.(string))+"<script>alert(1)</script>")
		}
		json.NewEncoder(w).Encode(map[string]any{"translatedText": texts, "detectedLanguage": []any{map[string]any{"language": "en", "confidence": 90}}})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *translationServer) settings(c *config.Config) {
	c.Translation.URL, c.Translation.APIKey = s.URL, "translation key"
}

func TestTranslation(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	if !srv.As(nil).Get("/api/v2/instance").Object().Bool("configuration.translation.enabled") {
		t.Error("the instance says that translations are off")
	}
	languages := srv.As(nil).Get("/api/v1/instance/translation_languages").Want(200).Document()
	if got := languages["en"].([]any); !slices.Equal(got, []any{"de", "pt"}) || len(languages["und"].([]any)) != 3 {
		t.Errorf("languages: %v", languages)
	}

	st := alice.Publish("hello you", "poll[options][]", "hello one", "poll[options][]", "two", "poll[expires_in]", "3600",
		"spoiler_text", "hello & more", "language", "en")
	path := "/api/v1/statuses/" + st.ID() + "/translate"
	got := bob.Post(path, "lang", "de-AT").Want(200).Object()
	apptest.WantFields(t, "the translation", got, apptest.Doc{
		"content": "<p>hallo you</p>", "language": "de", "detected_source_language": "en", "provider": "LibreTranslate", "poll.id": st.Str("poll.id"),
	})
	if spoiler := got.Str("spoiler_text"); !strings.HasPrefix(spoiler, "hallo & und more") {
		t.Errorf("spoiler_text: %q", spoiler)
	}
	options := got.At("poll.options").([]any)
	if len(options) != 2 || !strings.HasPrefix(options[0].(map[string]any)["title"].(string), "hallo one") {
		t.Errorf("options: %v", options)
	}
	question := *service.last.Load()
	if question["source"] != "en" || question["target"] != "de" || question["api_key"] != "translation key" || question["format"] != "html" {
		t.Errorf("the service got %v", question)
	}

	bob.Post(path, "lang", "de").Want(200)
	if n := service.requests.Load(); n != 1 {
		t.Errorf("%d requests for the same translation, want 1", n)
	}
	alice.EditStatus(st.ID(), map[string]any{"status": "hello again", "language": "en"}).Want(200)
	if content := bob.Post(path, "lang", "de").Want(200).Object().Str("content"); content != "<p>hallo again</p>" {
		t.Errorf("after an edit: %q", content)
	}

	unknown := alice.Publish("hello", "visibility", "unlisted").ID()
	boost := bob.Post("/api/v1/statuses/" + unknown + "/reblog").Want(200).Object().ID()
	bob.Post("/api/v1/statuses/"+boost+"/translate", "lang", "pt-BR").Want(200).WantFields(apptest.Doc{"language": "pt", "detected_source_language": "en"})
}

// TestTranslationOfMedia translates descriptions. Attachments without one are left out.
func TestTranslationOfMedia(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings)
	alice := srv.SignUp("alice")
	described := alice.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "hello <b> & you")).ID()
	plain := alice.Upload(apptest.PNG(4, 4)).ID()
	st := alice.Publish("", "media_ids[]", described, "media_ids[]", plain, "language", "en")
	got := alice.Post("/api/v1/statuses/"+st.ID()+"/translate", "lang", "de").Want(200).Object()
	media := got.At("media_attachments").([]any)
	if len(media) != 1 || got.Str("content") != "" || got.At("poll") != nil {
		t.Fatalf("got %v", got)
	}
	m := media[0].(map[string]any)
	if m["id"] != described || !strings.HasPrefix(m["description"].(string), "hallo <b> & und you") {
		t.Errorf("got %v", m)
	}
}

// TestTranslationIsTooLong translates texts of 96 KiB, and refuses more without a request.
func TestTranslationIsTooLong(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings, func(c *config.Config) { c.Statuses.MaxLength = 100_000 })
	alice := srv.SignUp("alice")
	translate := func(text string, more ...string) *apptest.Response {
		id := alice.Publish(text, append(more, "language", "en")...).ID()
		return alice.Post("/api/v1/statuses/"+id+"/translate", "lang", "de")
	}
	const limit = 96<<10 - len("<p></p>")
	long := strings.Repeat("€", limit/3)
	translate(long).Want(200)
	requests := service.requests.Load()
	translate(long, "spoiler_text", "hello").WantError(422, "The post is too long to be translated")
	translate(long+"€").WantError(422, "The post is too long to be translated")
	if service.requests.Load() != requests {
		t.Error("too long texts were sent to the translation server")
	}
}

func TestTranslationErrors(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	service.status.Store(500)
	public := alice.Publish("hello", "language", "en").ID()
	translate := func(c *apptest.User, id, lang string) *apptest.Response {
		return c.Post("/api/v1/statuses/"+id+"/translate", "lang", lang)
	}
	const unavailable = "The translation server does not answer"
	srv.As(nil).Get("/api/v1/instance/translation_languages").Want(503).WantBusy(503, unavailable)
	service.status.Store(200)
	translate(bob, public, "de").WantBusy(503, unavailable) // no request right after a failure
	srv.Advance(time.Minute)
	translate(bob, public, "de").Want(200)
	service.status.Store(429)
	translate(bob, public, "pt").WantBusy(503, unavailable)
	service.status.Store(200)
	translate(bob, public, "pt").Want(200)

	translate(bob, public, "en").Want(403)
	translate(bob, public, "ja").Want(403)
	translate(bob, public, "!").Want(422)
	translate(bob, "1", "de").Want(404)
	translate(alice, alice.Publish("hello", "visibility", "private").ID(), "de").Want(403)
	translate(bob, alice.Publish("hello", "visibility", "private").ID(), "de").Want(404)
	srv.As(nil).Post("/api/v1/statuses/" + public + "/translate").Want(401)
	srv.NewToken(bob, "write").Post("/api/v1/statuses/" + public + "/translate").Want(403)
}

func TestTranslationLimit(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings, func(c *config.Config) { c.RateLimit.Enabled, c.RateLimit.Translations.Count = true, 1 })
	alice := srv.SignUp("alice")
	path := "/api/v1/statuses/" + alice.Publish("hello", "language", "en").ID() + "/translate"
	alice.Post(path, "lang", "de").Want(200)
	alice.Post(path, "lang", "de").Want(429)
}

func TestTranslationOff(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.Post("/api/v1/statuses/"+alice.Publish("hello").ID()+"/translate").WantError(404, "Translations are off on this server")
	if languages := srv.As(nil).Get("/api/v1/instance/translation_languages").Want(200).Document(); len(languages) != 0 {
		t.Errorf("languages: %v", languages)
	}
}

// TestTranslationsInAkkoma translates by the paths of Akkoma.
func TestTranslationsInAkkoma(t *testing.T) {
	service := startTranslationServer(t)
	srv := apptest.Start(t, service.settings)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	id := alice.Publish("hello you", "language", "en").ID()
	secret := alice.Publish("hello", "visibility", "private").ID()
	path := func(id, to string) string { return "/api/v1/statuses/" + id + "/translations/" + to }
	got := bob.Get(path(id, "de")).Want(200)
	if string(got.Body) != `{"detected_language":"en","text":"<p>hallo you</p>"}` {
		t.Errorf("got %s", got.Body)
	}
	bob.Get(path(id, "de"), "from", "de").Want(403)
	bob.Get(path(id, "pt"), "from", "en").Want(200)
	bob.Get(path(id, "fr")).Want(403)
	for _, bad := range []string{"x1", "deutsch!", strings.Repeat("d", 100)} {
		bob.Get(path(id, bad)).Want(400)
		bob.Get(path(id, "de"), "from", bad).Want(400)
	}
	bob.Get(path(secret, "de")).Want(404)
	alice.Get(path(secret, "de")).Want(403)
	srv.As(nil).Get(path(id, "de")).Want(401)
	languages := bob.Get("/api/v1/svc/translation/languages").Want(200)
	if want := `{"source":[{"code":"de","name":"German"},{"code":"en","name":"English"}],"target":[{"code":"de","name":"German"},{"code":"en","name":"English"},{"code":"pt","name":"Portuguese"}]}`; string(languages.Body) != want {
		t.Errorf("got %s, want %s", languages.Body, want)
	}
	srv.As(nil).Get("/api/v1/svc/translation/languages").Want(403)
	service.status.Store(500)
	bob.Get(path(id, "de")) // from the cache or 503
	off := apptest.Start(t)
	carol := off.SignUp("carol")
	carol.Get(path(carol.Publish("hello").ID(), "de")).Want(404)
	carol.Get("/api/v1/svc/translation/languages").Want(404)
}

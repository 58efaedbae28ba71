package translate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/internal/translate"
)

// start returns a client of a translation server with this handler.
func start(t *testing.T, timeout time.Duration, handler http.HandlerFunc) *translate.Service {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s, err := translate.New(translate.Config{URL: server.URL, APIKey: "secret key", Timeout: timeout, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantUnavailable(t *testing.T, err, cause error) {
	t.Helper()
	if !errors.Is(err, translate.ErrUnavailable) || cause != nil && !errors.Is(err, cause) {
		t.Errorf("got %v, want %v: %v", err, translate.ErrUnavailable, cause)
	}
	if err != nil && strings.Contains(err.Error(), "secret key") {
		t.Errorf("the key is in %v", err)
	}
}

func TestTimeout(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"no answer": func(http.ResponseWriter) {},
		"half an answer": func(w http.ResponseWriter) {
			io.WriteString(w, `{"translatedText":[`)
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, 50*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
				answer(w)
				<-r.Context().Done()
			})
			_, err := s.Translate(t.Context(), []string{"hello"}, "en", "de")
			wantUnavailable(t, err, context.DeadlineExceeded)
			_, err = s.Languages(t.Context())
			wantUnavailable(t, err, context.DeadlineExceeded)
		})
	}
}

// TestCanceled checks that a request ends when the client that wants the translation is gone.
func TestCanceled(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	s := start(t, time.Minute, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(asked)
		<-r.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := s.Translate(ctx, []string{"hello"}, "en", "de")
	wantUnavailable(t, err, context.Canceled)
	<-ended
}

func TestInvalidAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		cause  error
	}{
		{"no JSON", 200, "<html>", nil},
		{"nothing", 200, "", nil},
		{"half of the JSON", 200, `{"translatedText":["hallo"`, nil},
		{"another type", 200, `{"translatedText":"hallo"}`, nil},
		{"a list", 200, `["hallo"]`, nil},
		{"no texts", 200, `{}`, nil},
		{"null", 200, `null`, nil},
		{"too few texts", 200, `{"translatedText":["hallo"]}`, nil},
		{"too many texts", 200, `{"translatedText":["hallo","du","da"]}`, nil},
		{"numbers", 200, `{"translatedText":[1,2]}`, nil},
		{"too large", 200, `{"translatedText":["` + strings.Repeat("a", 1<<20) + `","b"]}`, fetch.ErrTooLarge},
		{"an error", 400, `{"error":"api_key secret key is wrong"}`, nil},
		{"a redirect", 302, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/other")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, err := s.Translate(t.Context(), []string{"hello", "you"}, "en", "de")
			wantUnavailable(t, err, tt.cause)
			if tt.body != "null" && tt.body != `{}` {
				_, err = s.Languages(t.Context())
				wantUnavailable(t, err, nil)
			}
		})
	}
}

// TestDetected checks the forms in which versions of the server name the language that they detected.
func TestDetected(t *testing.T) {
	for answer, want := range map[string]string{
		`{"language":"en","confidence":90}`:     "en",
		`[{"language":"fr"},{"language":"de"}]`: "fr",
		`[]`:                                    "",
		`null`:                                  "",
		`"en"`:                                  "",
		`[1]`:                                   "",
	} {
		s := start(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"translatedText":["hallo"],"detectedLanguage":%s}`, answer)
		})
		got, err := s.Translate(t.Context(), []string{"hello"}, translate.Auto, "de")
		if err != nil || got.Source != want {
			t.Errorf("%s: got %+v, %v, want %q", answer, got, err, want)
		}
	}
}

// TestConcurrency makes more requests than may run at the same time: four reach the server, the others wait for them, and none waits for
// longer than the timeout.
func TestConcurrency(t *testing.T) {
	const callers = 10
	arrived, release := make(chan struct{}, callers), make(chan struct{})
	s := start(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Texts []string `json:"q"`
		}
		json.NewDecoder(r.Body).Decode(&question)
		arrived <- struct{}{}
		<-release
		json.NewEncoder(w).Encode(map[string]any{"translatedText": question.Texts})
	})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			text := fmt.Sprint("text ", i)
			got, err := s.Translate(t.Context(), []string{text}, "en", "de")
			if err != nil || got.Texts[0] != text {
				t.Errorf("%s: got %+v, %v", text, got, err)
			}
		})
	}
	for range 4 {
		<-arrived
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Translate(ctx, []string{"one more"}, "en", "de")
	wantUnavailable(t, err, context.DeadlineExceeded)
	if n := len(arrived); n != 0 {
		t.Errorf("%d more requests arrived than may run at the same time", n)
	}
	close(release)
	wg.Wait()
}

// TestQueue fills the queue of waiting requests: one more is refused at once.
func TestQueue(t *testing.T) {
	release := make(chan struct{})
	s := start(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		io.WriteString(w, `{"translatedText":["hallo"]}`)
	})
	const running, waiting = 4, 200
	results := make(chan error)
	for i := range running + waiting + 1 {
		go func() {
			_, err := s.Translate(t.Context(), []string{fmt.Sprint(i)}, "en", "de")
			results <- err
		}()
	}
	wantUnavailable(t, <-results, limit.ErrBusy)
	close(release)
	for range running + waiting {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

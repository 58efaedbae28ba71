package apptest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"svc/internal/config"
)

// testName returns the value of SVC_TEST_API_NAME, which sets api.name of all test servers whose test does not set one; "": it is not set.
// Tests are written for the name svc: what clients send and receive is translated in front of the server.
//
// The variable is read in a test, not when the program starts, so that go test does not take cached results of another name.
var testName = sync.OnceValue(func() string {
	if name := os.Getenv("SVC_TEST_API_NAME"); name != standardName {
		return name
	}
	return ""
})

const standardName = "svc"

// untranslated matches keys and values in JSON that have the standard name.
var untranslated = regexp.MustCompile(`"(svc":|svc:|svc_|[a-z_]+:svc_)`)

// replaceName replaces a name between characters that are neither letters nor digits, as in "svc":, /svc/, svc_fe, user:svc_chat. A regular
// expression would take most of the time of tests with large texts under the race detector.
func replaceName(text, name, by string) string {
	var b strings.Builder
	from := 0 // b has the text before it
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			break
		}
		i += at
		at = i + len(name)
		if allowsName(text[:i]) && (at == len(text) || !isAlphanumeric(text[at])) {
			b.WriteString(text[from:i])
			b.WriteString(by)
			from = at
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// allowsName returns true if a name can begin after text: after no letter or digit, but for the digits of an escaped character of a URL.
func allowsName(text string) bool {
	n := len(text)
	return n == 0 || !isAlphanumeric(text[n-1]) || n >= 3 && text[n-3] == '%' && isHex(text[n-2]) && isHex(text[n-1])
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' }

func toTestName(text string) string { return replaceName(text, standardName, testName()) }

func fromTestName(text string) string {
	if testName() == "" {
		return text
	}
	return replaceName(text, testName(), standardName)
}

// translates returns true if what clients of a server with these settings send and receive is translated.
func translates(c *config.Config) bool { return testName() != "" && c.API.Name == testName() }

// translateNames returns a handler that translates names in requests and answers. Signed requests and the web interface, in which the
// name does not occur, stay as they are.
func translateNames(t testing.TB, c *config.Config, next http.Handler) http.Handler {
	if !translates(c) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Signature") != "" || r.URL.Path == "/web" || strings.HasPrefix(r.URL.Path, "/web/") {
			next.ServeHTTP(w, r)
			return
		}
		if err := translateRequest(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Header.Get("Upgrade") != "" { // StreamClient translates frames
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&translatingWriter{ResponseWriter: w, t: t}, r)
	})
}

// translateRequest translates a request. Of a form with files, only the names of the fields are translated.
func translateRequest(r *http.Request) error {
	address, err := url.ParseRequestURI(toTestName(r.RequestURI))
	if err != nil {
		return err
	}
	r.URL, r.RequestURI = address, address.RequestURI()
	if r.Header.Get("Accept-Encoding") == "gzip" { // asked for by Go's client itself, not by a test; a compressed answer could not be translated
		r.Header.Del("Accept-Encoding")
	}
	for _, key := range []string{"Cookie", "Referer"} {
		if v := r.Header.Get(key); v != "" {
			r.Header.Set(key, toTestName(v))
		}
	}
	kind := r.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		head := []byte(`name="` + standardName + `_`)
		if r.ContentLength < 0 || r.ContentLength > maxTranslatedForm {
			return nil
		}
		return replaceBody(r, func(b []byte) []byte { return bytes.ReplaceAll(b, head, []byte(`name="`+testName()+`_`)) })
	case kind == "application/json" || kind == "application/x-www-form-urlencoded":
		return replaceBody(r, func(b []byte) []byte { return []byte(toTestName(string(b))) })
	}
	return nil
}

// maxTranslatedForm is the largest form with files that is read before the server has seen its headers.
const maxTranslatedForm = 1 << 20

// replaceBody replaces the body of a request, unless it is incomplete.
func replaceBody(r *http.Request, replace func([]byte) []byte) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err}))
		return nil
	}
	replaced := replace(body)
	r.Body = io.NopCloser(bytes.NewReader(replaced))
	if r.ContentLength >= 0 {
		r.ContentLength = int64(len(replaced))
	}
	return nil
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// translatingWriter translates an answer, and fails the test if it contains the standard name. Files stay as they are.
type translatingWriter struct {
	http.ResponseWriter
	t       testing.TB
	started bool
	isText  bool
	isJSON  bool
}

// Unwrap is for http.ResponseController.
func (w *translatingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *translatingWriter) WriteHeader(status int) {
	w.start()
	w.ResponseWriter.WriteHeader(status)
}

func (w *translatingWriter) start() {
	if w.started {
		return
	}
	w.started = true
	for key, values := range w.Header() {
		translated := make([]string, len(values)) // several responses can share values
		for i := range values {
			translated[i] = fromTestName(values[i])
		}
		w.Header()[key] = translated
	}
	kind := w.Header().Get("Content-Type")
	w.isJSON = strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/event-stream")
	w.isText = w.isJSON || strings.HasPrefix(kind, "text/")
	if w.isText {
		w.Header().Del("Content-Length")
	}
}

func (w *translatingWriter) Write(b []byte) (int, error) {
	w.start()
	if !w.isText {
		return w.ResponseWriter.Write(b)
	}
	text := string(b)
	if w.isJSON && strings.Contains(text, standardName) {
		if found := untranslated.FindString(text); found != "" {
			w.t.Errorf("api.name is %q, but the server sent an identifier of %q: %s in %s", testName(), standardName, found, text)
		}
	}
	if _, err := io.WriteString(w.ResponseWriter, fromTestName(text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"svc/internal/errs"
)

// faultPrefix begins the keys of errors of the API. Their English texts are those that the API sends.
const faultPrefix = "fault."

// faultPattern matches the texts of an error that has arguments.
type faultPattern struct {
	key  string
	text *regexp.Regexp
}

// faultKeys are the keys of the errors without arguments by their English text, faultPatterns the others.
var faultKeys, faultPatterns = indexFaults(languages[0])

func indexFaults(english *Messages) (keys map[string]string, patterns []faultPattern) {
	keys = make(map[string]string)
	for key, text := range english.texts {
		if !strings.HasPrefix(key, faultPrefix) {
			continue
		}
		keys[text] = key
		if strings.Contains(text, "%") {
			pattern := strings.NewReplacer("%d", `([0-9]+)`, "%s", `(.*)`).Replace(regexp.QuoteMeta(text))
			patterns = append(patterns, faultPattern{key, regexp.MustCompile("^" + pattern + "$")})
		}
	}
	return keys, patterns
}

// Fault returns an error of the API in the language of the page, as it is if the catalogue does not have it.
func (m *Messages) Fault(text string) string {
	if key, ok := faultKeys[text]; ok {
		return m.Text(key)
	}
	for _, p := range faultPatterns {
		found := p.text.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		format := strings.ReplaceAll(m.Text(p.key), "%d", "%s")
		arguments := make([]any, len(found)-1)
		for i, argument := range found[1:] {
			arguments[i] = argument
		}
		return fmt.Sprintf(format, arguments...)
	}
	return text
}

// ErrorNotice tells the user of an error.
func (m *Messages) ErrorNotice(e *errs.Error) Notice {
	n := Notice{Title: m.Text("error.title"), Paragraphs: []string{m.Fault(e.Message)}}
	switch {
	case e.Status == http.StatusNotFound:
		n.Title = m.Text("error.not_found")
		if e.Message == errs.ErrRecordNotFound.Message {
			n.Paragraphs[0] = m.Text("error.gone")
		}
	case e.Status == http.StatusForbidden:
		n.Title = m.Text("error.forbidden")
	case e.Status == http.StatusTooManyRequests:
		n.Title, n.Paragraphs = m.Text("error.too_many"), []string{m.Text("error.wait")}
	case e.Status == http.StatusServiceUnavailable:
		n.Title, n.Paragraphs = m.Text("error.unavailable"), append(n.Paragraphs, m.Text("error.wait"))
	case e.Status == http.StatusInternalServerError:
		n.Title, n.Paragraphs = m.Text("error.failed"), []string{m.Text("error.logged")}
	}
	return n
}

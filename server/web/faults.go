package web

import (
	"html/template"
	"net/http"
	"sync"

	"svc/internal/errs"
)

// faultPrefix begins the keys of errors of the API. Their English texts are those that the API sends.
const faultPrefix = "fault."

// faults are the errors of the API.
var faults = sync.OnceValue(func() *sentences { return indexSentences(Languages()[0], faultPrefix) })

// Fault returns an error of the API in the language of the page, as it is if the catalogue does not have it.
func (m *Messages) Fault(text string) string {
	translated, _ := faults().translate(m, text)
	return translated
}

// FaultHTML returns an error of the API in the language of the page. One that the catalogue does not have says that it is in English.
func (m *Messages) FaultHTML(text string) template.HTML {
	translated, ok := faults().translate(m, text)
	html := template.HTML(template.HTMLEscapeString(translated))
	if ok || m.Language == StandardLanguage || m.wrote(text) {
		return html
	}
	return `<span lang="` + StandardLanguage + `">` + html + `</span>`
}

// wrote returns true if a text is one of the catalogue, with any arguments.
func (m *Messages) wrote(text string) bool {
	_, ok := m.own().find(text)
	return ok
}

// ErrorNotice tells the user of an error.
func (m *Messages) ErrorNotice(e *errs.Error) Notice {
	n := Notice{Title: m.Text("error.title"), Paragraphs: []string{m.Fault(e.Message)}}
	if _, ok := faults().find(e.Message); !ok && m.Language != StandardLanguage && !m.wrote(e.Message) {
		n.Language = StandardLanguage
	}
	switch {
	case e.Status == http.StatusNotFound:
		n.Title = m.Text("error.not_found")
		if e.Message == errs.ErrRecordNotFound.Message {
			n.Paragraphs[0], n.Language = m.Text("error.gone"), ""
		}
	case e.Status == http.StatusForbidden:
		n.Title = m.Text("error.forbidden")
	case e.Status == http.StatusTooManyRequests:
		n.Title, n.Paragraphs, n.Language = m.Text("error.too_many"), []string{m.Text("error.wait")}, ""
	case e.Status == http.StatusServiceUnavailable:
		n.Title, n.Paragraphs = m.Text("error.unavailable"), append(n.Paragraphs, m.Text("error.wait"))
	case e.Status == http.StatusInternalServerError:
		n.Title, n.Paragraphs, n.Language = m.Text("error.failed"), []string{m.Text("error.logged")}, ""
	}
	return n
}

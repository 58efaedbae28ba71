package server

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/text/language"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// instanceTexts serves the longer texts about the server. They are HTML files in static/ of the data directory: terms-of-service.html,
// privacy-policy.html, extended-description.html.
type instanceTexts struct{ *parts }

func (h *instanceTexts) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/instance/terms_of_service":       {rest.Anonymous.Answers("object"), h.showTerms},
		"GET /api/v1/instance/terms_of_service/:date": {rest.Anonymous.Answers("object"), h.showTermsOf},
		"GET /api/v1/instance/privacy_policy":         {rest.Anonymous.Answers("object"), h.showPrivacyPolicy},
		"GET /api/v1/instance/extended_description":   {rest.Anonymous.Answers("object"), h.showExtendedDescription},
		"GET /api/v1/instance/languages":              {rest.Anonymous.Answers("[]object"), h.listLanguages},
	}
}

// maxInstanceText is how many bytes of a file are served.
const maxInstanceText = 1 << 20

// read returns a file and when it was changed, and errs.ErrRecordNotFound if there is none.
func (h *instanceTexts) read(name string) (string, time.Time, error) {
	file, err := openInDir(h.StaticDir, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return "", time.Time{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", time.Time{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxInstanceText))
	return string(text), info.ModTime().UTC(), err
}

type termsOfService struct {
	EffectiveDate string  `json:"effective_date"`
	Effective     bool    `json:"effective"`
	Content       string  `json:"content"`
	SucceededBy   *string `json:"succeeded_by"`
}

// showTerms returns the terms of service, if the staff have written some.
func (h *instanceTexts) showTerms(*rest.Request) (any, error) {
	text, at, err := h.read("terms-of-service.html")
	return answer(termsOfService{at.Format(time.DateOnly), true, text, nil}, err, same)
}

// showTermsOf returns the terms of a date, which must be that of the present ones. Older ones are not kept.
func (h *instanceTexts) showTermsOf(r *rest.Request) (any, error) {
	text, at, err := h.read("terms-of-service.html")
	if err == nil && at.Format(time.DateOnly) != r.Param("date") {
		err = errs.ErrRecordNotFound
	}
	return answer(termsOfService{at.Format(time.DateOnly), true, text, nil}, err, same)
}

type instanceText struct {
	UpdatedAt *store.Time `json:"updated_at"`
	Content   string      `json:"content"`
}

// showPrivacyPolicy returns the privacy policy, if the staff have written one.
func (h *instanceTexts) showPrivacyPolicy(*rest.Request) (any, error) {
	text, at, err := h.read("privacy-policy.html")
	return answer(instanceText{new(store.At(at)), text}, err, same)
}

// showExtendedDescription returns the file, or the description in the settings.
func (h *instanceTexts) showExtendedDescription(*rest.Request) (any, error) {
	text, at, err := h.read("extended-description.html")
	if errs.IsNotFound(err) {
		return instanceText{nil, h.Settings.Load().Instance.Description}, nil
	}
	return answer(instanceText{new(store.At(at)), text}, err, same)
}

func same[T any](value T) T { return value }

// languageName returns the English name of a language, with the codes of its script and region. It returns the code if there is none.
func languageName(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return code
	}
	base, _, _ := tag.Raw()
	name := languageNames[base.String()]
	if _, rest, ok := strings.Cut(tag.String(), "-"); ok && name != "" {
		name += " (" + rest + ")"
	}
	return cmp.Or(name, code)
}

// listLanguages lists the languages of the server, the main one first.
func (h *instanceTexts) listLanguages(*rest.Request) (any, error) {
	type entry struct {
		Code string `json:"code"`
		Name string `json:"name"`
	}
	list := []entry{}
	for _, code := range h.Settings.Load().Instance.Languages {
		list = append(list, entry{code, languageName(code)})
	}
	return list, nil
}

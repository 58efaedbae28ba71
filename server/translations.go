package server

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/internal/translate"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// translations serves statuses in other languages. Without a translation server there are none.
type translations struct{ *parts }

func (h *translations) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/translate":        {rest.User("read:statuses").Limit("translations").Answers("Translation"), h.translateStatus},
		"GET /api/v1/instance/translation_languages": {rest.Anonymous.Answers("object"), h.listLanguages},

		// The same in the API of Akkoma.
		"GET /api/v1/statuses/:id/translations/:language": {rest.User("read:statuses").Limit("translations").Answers("TranslatedText"), h.translateTo},
		"GET /api/v1/svc/translation/languages":           {rest.User("read:statuses").Answers("TranslationChoices"), h.listNamedLanguages},
	}
}

// maxTranslatable is how many bytes of HTML, which is longer than the source, are translated for one request.
const maxTranslatable = 96 << 10

// listLanguages returns the target languages by source language. "und" is a status without a language.
func (h *translations) listLanguages(r *rest.Request) (any, error) {
	translator := h.Translator()
	if translator == nil {
		return struct{}{}, nil
	}
	languages, err := translator.Languages(r.Context())
	if err != nil {
		return nil, translationError(err)
	}
	return languages.WithUndetermined(), nil
}

// translateStatus returns the texts of a status in the language of the parameter, or else of the viewer, or else of the server.
func (h *translations) translateStatus(r *rest.Request) (any, error) {
	if h.Translator() == nil {
		return nil, errTranslationsOff
	}
	var p struct {
		Language string `param:"lang,word"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	target := h.targetLanguage(r, p.Language)
	if target == "" {
		return nil, errs.Invalid("Validation failed: lang must be a language such as en or pt-BR")
	}
	return h.translate(r, "", target)
}

// translateTo returns the text of a status in the language of the path. from is the language of the status, by default the one that it says.
func (h *translations) translateTo(r *rest.Request) (any, error) {
	var p struct {
		From string `param:"from,word"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	target := text.Language(r.Param("language"))
	if target == "" || p.From != "" && text.Language(p.From) == "" {
		return nil, errs.BadRequest("Bad Request: the path and from must have languages such as en or pt-BR")
	}
	t, err := h.translate(r, text.Language(p.From), target)
	if err != nil {
		return nil, err
	}
	return map[string]string{"text": t.Content, "detected_language": t.DetectedLanguage}, nil
}

// namedLanguage is a language in the API of Akkoma.
type namedLanguage struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// listNamedLanguages returns the languages from and to which posts can be translated.
func (h *translations) listNamedLanguages(r *rest.Request) (any, error) {
	translator := h.Translator()
	if translator == nil {
		return nil, errTranslationsOff
	}
	languages, err := translator.Languages(r.Context())
	if err != nil {
		return nil, translationError(err)
	}
	var targets []string
	for _, list := range languages {
		targets = append(targets, list...)
	}
	slices.Sort(targets)
	named := func(codes []string) []namedLanguage {
		return entity.Map(codes, func(code string) namedLanguage {
			base, _, _ := strings.Cut(code, "-")
			return namedLanguage{code, cmp.Or(languageNames[code], languageNames[base], code)}
		})
	}
	return map[string][]namedLanguage{"source": named(slices.Sorted(maps.Keys(languages))), "target": named(slices.Compact(targets))}, nil
}

var errTranslationsOff = errs.NotFound("Translations are off on this server")

// translate translates the status of the path. source is its language, "" for the one that it says.
func (h *translations) translate(r *rest.Request, source, target string) (*entity.Translation, error) {
	translator := h.Translator()
	if translator == nil {
		return nil, errTranslationsOff
	}
	t, err := h.translatable(r)
	if err != nil {
		return nil, err
	}
	languages, err := translator.Languages(r.Context())
	if err != nil {
		return nil, translationError(err)
	}
	from, to, err := languages.Match(cmp.Or(source, t.Status.Language), target)
	if err != nil {
		return nil, translationError(err)
	}
	result := new(translate.Result)
	if texts := t.Texts(); len(texts) > 0 {
		if result, err = translator.Translate(r.Context(), texts, from, to); err != nil {
			return nil, translationError(err)
		}
	}
	return h.Entities.Translation(r.Context(), r.Viewer, t, result, to)
}

// targetLanguage returns the language to translate to, "" if the given one is not valid.
func (h *translations) targetLanguage(r *rest.Request, given string) string {
	switch {
	case given != "":
		return text.Language(given)
	case r.User.DefaultLanguage != "":
		return r.User.DefaultLanguage
	case len(h.Settings.Load().Instance.Languages) > 0:
		return h.Settings.Load().Instance.Languages[0]
	}
	return "en"
}

// translatable returns what of the status of the path has text. Only public and unlisted statuses may go to the translation server.
func (h *translations) translatable(r *rest.Request) (*entity.Translatable, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	if st.Visibility != store.Public && st.Visibility != store.Unlisted {
		return nil, errs.Forbidden("Only public and unlisted posts can be translated")
	}
	t := &entity.Translatable{Status: st}
	if t.Poll, err = h.DB.PollOf(r.Context(), st.ID); err != nil {
		return nil, err
	}
	if t.Media, err = h.DB.MediaOf(r.Context(), []store.StatusID{st.ID}); err != nil {
		return nil, err
	}
	size := 0
	for _, s := range t.Texts() {
		size += len(s)
	}
	if size > maxTranslatable {
		return nil, errs.Invalid("The post is too long to be translated")
	}
	return t, nil
}

// translationError returns the answer to an error of translate.
func translationError(err error) error {
	switch {
	case errors.Is(err, translate.ErrLanguage):
		return errs.Forbidden("This post cannot be translated to this language")
	case errors.Is(err, translate.ErrUnavailable):
		return &errs.Error{Status: http.StatusServiceUnavailable, Message: "The translation server does not answer", RetryAfter: time.Minute, Err: err}
	}
	return err
}

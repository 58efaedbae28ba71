package server

import (
	"errors"
	"net/http"
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
		"POST /api/v1/statuses/:id/translate":        {rest.User("read:statuses").Limit("translations"), h.translateStatus},
		"GET /api/v1/instance/translation_languages": {rest.Anonymous, h.listLanguages},
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
	translator := h.Translator()
	if translator == nil {
		return nil, errs.NotFound("Translations are off on this server")
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
	t, err := h.translatable(r)
	if err != nil {
		return nil, err
	}
	languages, err := translator.Languages(r.Context())
	if err != nil {
		return nil, translationError(err)
	}
	from, to, err := languages.Match(t.Status.Language, target)
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

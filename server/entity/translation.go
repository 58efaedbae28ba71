package entity

import (
	"context"
	"html"

	"svc/internal/text"
	"svc/internal/translate"
	"svc/store"
)

// Translation is a status in another language.
type Translation struct {
	Content          string            `json:"content"`
	SpoilerText      string            `json:"spoiler_text"`
	Poll             *TranslatedPoll   `json:"poll"`
	MediaAttachments []TranslatedMedia `json:"media_attachments"`
	Language         string            `json:"language"`
	DetectedLanguage string            `json:"detected_source_language"`
	Provider         string            `json:"provider"`
}

// TranslatedPoll is the poll of a status in another language.
type TranslatedPoll struct {
	ID      string       `json:"id"`
	Options []EditOption `json:"options"`
}

// TranslatedMedia is the description of an attachment in another language.
type TranslatedMedia struct {
	ID          string `json:"id"`
	Description string `json:"description"`
}

// Translatable is what of a status has text. Poll is nil if it has none.
type Translatable struct {
	Status *store.Status
	Poll   *store.Poll
	Media  []*store.Media
}

// Texts returns the texts in HTML that are not empty. Translation takes their translations in the same order.
func (t *Translatable) Texts() (texts []string) {
	t.each(func(source string, isHTML bool) string {
		if !isHTML {
			source = html.EscapeString(source)
		}
		texts = append(texts, source)
		return ""
	})
	return texts
}

// each calls translated with every text that is not empty, and returns a translation with the results.
func (t *Translatable) each(translated func(source string, isHTML bool) string) *Translation {
	one := func(source string, isHTML bool) string {
		if source == "" {
			return ""
		}
		return translated(source, isHTML)
	}
	result := &Translation{
		Content:          one(t.Status.Content, true),
		SpoilerText:      one(t.Status.SpoilerText, false),
		MediaAttachments: []TranslatedMedia{},
	}
	if t.Poll != nil {
		result.Poll = &TranslatedPoll{ID: t.Poll.ID.String()}
		for _, title := range t.Poll.Titles() {
			result.Poll.Options = append(result.Poll.Options, EditOption{one(title, false)})
		}
	}
	for _, m := range t.Media {
		if m.Description != "" {
			result.MediaAttachments = append(result.MediaAttachments, TranslatedMedia{m.ID.String(), one(m.Description, false)})
		}
	}
	return result
}

// Translation returns a status in another language for the viewer. HTML of the translation is sanitized, because it comes from another server.
func (b *Builder) Translation(ctx context.Context, viewer *store.Account, t *Translatable, r *translate.Result, language string) (*Translation, error) {
	plain, err := b.wantsNoRichText(ctx, viewer)
	if err != nil {
		return nil, err
	}
	rest := r.Texts
	result := t.each(func(_ string, isHTML bool) string {
		translated := rest[0]
		rest = rest[1:]
		switch {
		case !isHTML:
			return html.UnescapeString(translated)
		case plain:
			return text.SanitizeStrict(translated)
		}
		return text.Sanitize(translated)
	})
	result.Language, result.DetectedLanguage, result.Provider = language, r.Source, translate.Provider
	return result, nil
}

package entity

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// StatusEdit is a version of a status.
type StatusEdit struct {
	Content          string     `json:"content"`
	SpoilerText      string     `json:"spoiler_text"`
	Sensitive        bool       `json:"sensitive"`
	CreatedAt        store.Time `json:"created_at"`
	Account          Account    `json:"account"`
	Poll             *EditPoll  `json:"poll"`
	MediaAttachments []object   `json:"media_attachments"`
	Emojis           []Emoji    `json:"emojis"`
	Quote            *quote     `json:"quote"` // no version changes what a status quotes
}

// EditPoll is the poll of a version.
type EditPoll struct {
	Options []EditOption `json:"options"`
}

// EditOption is an option of the poll of a version.
type EditOption struct {
	Title string `json:"title"`
}

// StatusEdits returns the versions of a status, for the viewer (nil: anonymous).
func (b *Builder) StatusEdits(ctx context.Context, viewer *store.Account, st *store.Status, versions []*store.StatusEdit) ([]StatusEdit, error) {
	author, err := b.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	var ids []store.MediaID
	for _, v := range versions {
		for _, m := range v.Media.V {
			ids = append(ids, m.ID)
		}
	}
	media, err := b.db.MediaByIDs(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	mediaOf := byID(media, func(m *store.Media) store.MediaID { return m.ID })
	current, err := b.Status(ctx, viewer, st.ID)
	if err != nil {
		return nil, err
	}
	plain, err := b.wantsNoRichText(ctx, viewer)
	if err != nil {
		return nil, err
	}
	list := make([]StatusEdit, 0, len(versions))
	for _, v := range versions {
		if !st.Local() {
			v.CutRemote(st)
		}
		e := StatusEdit{
			Content:          v.Content,
			SpoilerText:      v.SpoilerText,
			Sensitive:        v.Sensitive,
			CreatedAt:        v.CreatedAt,
			Account:          author,
			MediaAttachments: []object{},
			Quote:            current.quoteEntity(),
			Emojis:           b.emojisFor(st.Local(), st.Emojis.V, append([]string{v.Content, v.SpoilerText}, v.Poll.V...)...),
		}
		if plain {
			e.Content = text.SanitizeStrict(v.Content)
		}
		if len(v.Poll.V) > 0 {
			e.Poll = &EditPoll{}
			for _, title := range v.Poll.V {
				e.Poll.Options = append(e.Poll.Options, EditOption{title})
			}
		}
		for _, attached := range v.Media.V {
			if m := mediaOf[attached.ID]; m != nil && m.AccountID == st.AccountID {
				edited := *m
				edited.Description = attached.Description
				o, err := b.attachment(&edited)
				if err != nil {
					return nil, err
				}
				e.MediaAttachments = append(e.MediaAttachments, o)
			}
		}
		list = append(list, e)
	}
	return newestEdits(list, len(author.json)), nil
}

// maxEdits is how many bytes of JSON the versions of a status may have together.
const maxEdits = 2_000_000

// newestEdits returns the newest versions that fit into maxEdits. Each repeats the author and what the status quotes.
func newestEdits(list []StatusEdit, author int) []StatusEdit {
	quoted := 0
	if len(list) > 0 && list[0].Quote != nil {
		quoted = len(list[0].Quote.of.appendQuote(nil))
	}
	left := maxEdits
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		left -= author + quoted + text.JSONSize(e.Content) + text.JSONSize(e.SpoilerText)
		for _, o := range e.MediaAttachments {
			left -= len(o)
		}
		for _, emoji := range e.Emojis {
			left -= emojiSize(emoji)
		}
		if left < 0 && i < len(list)-1 {
			return list[i+1:]
		}
	}
	return list
}

// StatusSource is the source text of a status.
type StatusSource struct {
	ID          store.StatusID `json:"id"`
	Text        string         `json:"text"`
	SpoilerText string         `json:"spoiler_text"`
	ContentType string         `json:"content_type"`
}

// NewStatusSource returns the source text of a status. For a remote one it is the content as plain text.
func NewStatusSource(st *store.Status) StatusSource {
	s := StatusSource{ID: st.ID, Text: st.Text, SpoilerText: st.SpoilerText, ContentType: st.ContentType}
	if st.Text == "" && !st.Local() {
		st = cutStatus(st)
		s.Text, s.ContentType = text.HTMLToText(st.Content), string(text.PlainText)
	}
	return s
}

package server

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/store"
)

// oEmbeds serves the HTML with which other sites embed a status.
type oEmbeds struct{ *parts }

func (h *oEmbeds) routes() rest.Routes {
	return rest.Routes{
		"GET /api/oembed": {rest.Content().Answers("OEmbed"), h.showOEmbed},
	}
}

const (
	embedWidth        = 400
	maxEmbedChars     = 500          // of the text of a status
	maxEmbedTitle     = 100          // characters
	embedCacheSeconds = 24 * 60 * 60 // seconds
)

// oEmbed is the answer (oEmbed 1.0, type rich).
type oEmbed struct {
	Type         string `json:"type"`
	Version      string `json:"version"`
	Title        string `json:"title"`
	AuthorName   string `json:"author_name"`
	AuthorURL    string `json:"author_url"`
	ProviderName string `json:"provider_name"`
	ProviderURL  string `json:"provider_url"`
	CacheAge     int    `json:"cache_age"`
	HTML         string `json:"html"`
	Width        int    `json:"width"`
	Height       *int   `json:"height"` // null: depends on the content
}

// showOEmbed returns a public or unlisted status as a quotation with links. It has no script and no frame, so the embedding site need
// not trust this server.
func (h *oEmbeds) showOEmbed(r *rest.Request) (any, error) {
	var p struct {
		URL       string `param:"url"`
		Format    string `param:"format"`
		MaxWidth  *int   `param:"maxwidth"`
		MaxHeight *int   `param:"maxheight"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	switch {
	case p.URL == "":
		return nil, errs.BadRequest("Missing field: url.")
	case p.Format != "" && p.Format != "json":
		return nil, errs.New(http.StatusNotImplemented, "The only format is json")
	case p.MaxWidth != nil && *p.MaxWidth <= 0 || p.MaxHeight != nil && *p.MaxHeight <= 0:
		return nil, errs.BadRequest("maxwidth and maxheight must be above 0")
	}
	st, err := h.publicStatus(r, p.URL)
	if err != nil {
		return nil, err
	}
	author, err := h.DB.Account(r.Context(), st.AccountID)
	if err != nil {
		return nil, err
	}
	width := embedWidth
	if p.MaxWidth != nil {
		width = min(width, *p.MaxWidth)
	}
	html, err := h.quoteHTML(st, author, width)
	if err != nil {
		return nil, err
	}
	return oEmbed{
		Type: "rich", Version: "1.0", Title: h.title(st, author), AuthorName: author.DisplayName, AuthorURL: author.URL, ProviderName: h.Settings.Load().Instance.Name,
		ProviderURL: h.Settings.BaseURL + "/", CacheAge: embedCacheSeconds, HTML: html, Width: width,
	}, nil
}

// publicStatus returns the local status of a URL if anyone may see it.
func (h *oEmbeds) publicStatus(r *rest.Request, address string) (*store.Status, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errs.ErrRecordNotFound
	}
	id := store.ParseID[store.StatusID](path.Base(u.Path))
	if id == 0 && strings.EqualFold(u.Host, h.Settings.WebHost) {
		if id, err = h.DB.OldStatusID(r.Context(), h.Settings.BaseURL, u.Path); err != nil {
			return nil, err
		}
	}
	st, err := h.DB.VisibleStatus(r.Context(), 0, id)
	if err != nil {
		return nil, err
	}
	u.RawQuery, u.Fragment = "", ""
	address = strings.TrimSuffix(u.String(), "/")
	if !st.Local() || st.ReblogOfID != nil || !strings.EqualFold(address, st.URL) && address != st.URI {
		return nil, errs.ErrRecordNotFound
	}
	return st, nil
}

// quotationTemplate escapes all text of users.
var quotationTemplate = template.Must(template.New("quotation").Parse(
	`<blockquote cite="{{.URL}}"{{with .Language}} lang="{{.}}"{{end}} style="max-width: {{.Width}}px">` +
		`<p style="white-space: pre-line">{{.Text}}</p>` +
		`<footer>— <a href="{{.Profile}}" rel="nofollow noopener">{{.Name}} ({{.Handle}})</a>, ` +
		`<a href="{{.URL}}" rel="nofollow noopener"><time datetime="{{.At}}">{{.Day}}</time></a></footer></blockquote>`))

// shownText returns the subject of a status, or its text if it has none.
func shownText(st *store.Status) string {
	if st.SpoilerText != "" {
		return st.SpoilerText
	}
	return text.HTMLToText(st.Content)
}

// title returns the beginning of shownText, or the handle of the author if that is empty.
func (h *oEmbeds) title(st *store.Status, author *store.Account) string {
	return cmp.Or(text.Shorten(text.OneLine(shownText(st)), maxEmbedTitle), h.handle(author))
}

func (h *oEmbeds) handle(author *store.Account) string {
	return "@" + author.Nickname + "@" + h.Settings.Host
}

// quoteHTML returns the HTML of a status.
func (h *oEmbeds) quoteHTML(st *store.Status, author *store.Account, width int) (string, error) {
	var b bytes.Buffer
	err := quotationTemplate.Execute(&b, map[string]any{
		"URL": st.URL, "Language": st.Language, "Width": width, "Text": text.Shorten(shownText(st), maxEmbedChars),
		"Profile": author.URL, "Name": author.DisplayName, "Handle": h.handle(author),
		"At": st.CreatedAt.String(), "Day": st.CreatedAt.Time().Format("2 January 2006"),
	})
	return b.String(), err
}

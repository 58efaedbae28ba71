package pages

import (
	"bytes"
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) documentRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/admin/documents":        {rest.SignedIn, h.page((*page).documents)},
		"GET /web/admin/documents/:name":  {rest.SignedIn, h.page((*page).document)},
		"POST /web/admin/documents/:name": {rest.SignedIn, h.page((*page).writeDocument)},
		"GET /web/admin/emoji":            {rest.SignedIn, h.page((*page).emojiPacks)},
		"GET /web/admin/emoji/:name":      {rest.SignedIn, h.page((*page).emojiPack)},
	}
}

const documentPath = "/api/v1/svc/admin/instance_document/"

// documents lists the documents of the instance.
func (p *page) documents() (any, error) {
	content := web.SettingGroups{}
	for _, name := range documentNames {
		content.Groups = append(content.Groups, web.PlainLink{Title: name, Lang: "en", URL: "/web/admin/documents/" + name})
	}
	content.Title = "admin.documents.title"
	return p.show(http.StatusOK, content)
}

// documentNames are the documents that staff can write.
var documentNames = []string{"terms-of-service", "privacy-policy", "instance-panel"}

func (p *page) document() (any, error) {
	text, err := p.documentText()
	if err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, web.Document{DocumentName: p.Param("name"), Text: text})
}

// documentText returns the present text of a document, "" if there is none.
func (p *page) documentText() (string, error) {
	a, err := p.Call("GET", documentPath+url.PathEscape(p.Param("name")), nil)
	if e := forUser(err); e != nil && e.Status == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	answer := &captured{header: make(http.Header)}
	a.Value.(http.Handler).ServeHTTP(answer, p.Request.Request)
	return answer.body.String(), nil
}

// captured keeps an answer that a handler writes itself.
type captured struct {
	header http.Header
	body   bytes.Buffer
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(int)             {}
func (c *captured) Write(b []byte) (int, error) { return c.body.Write(b) }

// writeDocument replaces the text of a document.
func (p *page) writeDocument() (any, error) {
	_, err := p.Call("PATCH", documentPath+url.PathEscape(p.Param("name")), url.Values{"content": {p.Query("content")}})
	if e := forUser(err); e != nil && e.Status != http.StatusForbidden && e.Status != http.StatusNotFound {
		return p.show(e.Status, web.Document{DocumentName: p.Param("name"), Text: p.Query("content"), Error: e.Message})
	}
	if err != nil {
		return nil, err
	}
	return p.leave(p.URL.EscapedPath(), "saved", ""), nil
}

const emojiPackPath = "/api/v1/svc/emoji/pack"

// emojiPacks lists the packs of custom emojis.
func (p *page) emojiPacks() (any, error) {
	var content web.EmojiPacks
	if err := p.get(emojiPackPath+"s", url.Values{"page_size": {"100"}}, &content); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// emojiPack shows the emojis of a pack.
func (p *page) emojiPack() (any, error) {
	content := web.EmojiPack{PackName: p.Param("name")}
	if err := p.get(emojiPackPath, url.Values{"name": {content.PackName}, "page_size": {"500"}}, &content); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

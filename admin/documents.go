package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/store"
)

// MaxDocument is how many bytes a document of the instance may have.
const MaxDocument = 512 << 10

// documentPaths are the files of the documents of the instance in the operator's directory, and their paths on the web.
var documentPaths = map[string]struct{ file, path string }{
	"instance-panel":   {"instance/panel.html", "/instance/panel.html"},
	"terms-of-service": {"terms-of-service.html", "/static/terms-of-service.html"},
	"privacy-policy":   {"privacy-policy.html", "/static/privacy-policy.html"},
}

// Document is a document of the instance: its panel, its terms of service or its privacy policy.
type Document struct {
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Path      string    `json:"path"`       // of URL
	Content   string    `json:"content"`    // HTML; "": the default is shown
	UpdatedAt time.Time `json:"updated_at"` // zero: the default is shown
}

// Documents are the documents of the instance, as files in the operator's directory.
type Documents struct {
	staff *Service
	dir   string
}

// NewDocuments returns the documents in a directory, which need not exist.
func NewDocuments(s *Service, dir string) *Documents { return &Documents{s, dir} }

// As is Service.As.
func (d *Documents) As(actor *store.Account) *Documents { return &Documents{d.staff.As(actor), d.dir} }

// Has returns true if the staff have written a document.
func (d *Documents) Has(name string) bool {
	info, err := os.Stat(filepath.Join(d.dir, documentPaths[name].file))
	return err == nil && info.Mode().IsRegular()
}

// Show returns a document. Its content is empty if the staff have not written it.
func (d *Documents) Show(_ context.Context, name string) (*Document, error) {
	p, ok := documentPaths[name]
	if !ok {
		return nil, errs.NotFound("There is no document %q: there are instance-panel, terms-of-service and privacy-policy", name)
	}
	doc := &Document{Name: name, Path: p.path, URL: d.staff.social.Settings.BaseURL + p.path}
	file, err := os.Open(filepath.Join(d.dir, p.file))
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxDocument))
	doc.Content, doc.UpdatedAt = string(text), info.ModTime().UTC()
	return doc, err
}

// DocumentChange is a new text of a document.
type DocumentChange struct {
	Name    string `json:"name"`
	Content string `json:"content"` // HTML
}

// Write replaces a document. Visitors get the old one until the new one is complete.
func (d *Documents) Write(ctx context.Context, c DocumentChange) (*Document, error) {
	if _, err := d.Show(ctx, c.Name); err != nil {
		return nil, err
	}
	if err := checkDocument(c.Content); err != nil {
		return nil, err
	}
	file := filepath.Join(d.dir, documentPaths[c.Name].file)
	if err := disk.MakeFolder(filepath.Dir(file)); err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	if err := disk.ReplaceText(file, c.Content); err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	return d.recorded(ctx, "instance_document_update", "updated", c.Name)
}

// Delete removes a document, so that the default is shown again.
func (d *Documents) Delete(ctx context.Context, name string) (*Document, error) {
	doc, err := d.Show(ctx, name)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(d.dir, documentPaths[name].file)
	err = disk.Remove(file)
	if err == nil {
		err = disk.SyncPath(filepath.Dir(file))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.NotFound("There is no %s but the default", doc.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("delete document: %w", err)
	}
	return d.recorded(ctx, "instance_document_delete", "deleted", name)
}

// recorded adds an entry to the moderation log and returns the document as it is now.
func (d *Documents) recorded(ctx context.Context, action, done, name string) (*Document, error) {
	err := d.staff.db.Update(ctx, func(tx *store.Tx) error {
		tx.Emit(store.InstanceChanged{})
		return d.staff.record(ctx, tx, action, done+" instance document "+name, map[string]any{"name": name})
	})
	if err != nil {
		return nil, err
	}
	return d.Show(ctx, name)
}

// activeElements run code, load other pages or change where links lead.
var activeElements = map[string]bool{
	"script": true, "iframe": true, "frame": true, "frameset": true, "object": true, "embed": true, "applet": true, "base": true, "portal": true,
}

// checkDocument refuses files that are not HTML text or could run code: front ends put documents into their own pages.
func checkDocument(content string) error {
	switch {
	case strings.TrimSpace(content) == "":
		return errs.BadRequest("The document is empty. Delete it to show the default.")
	case len(content) > MaxDocument:
		return errs.TooLarge("The document has more than %d bytes", MaxDocument)
	case !utf8.ValidString(content) || strings.ContainsRune(content, 0):
		return errs.BadRequest("The document is not HTML text in UTF-8")
	}
	z := html.NewTokenizer(strings.NewReader(content))
	for {
		switch z.Next() {
		case html.ErrorToken: // the end
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			if err := checkTag(z.Token()); err != nil {
				return err
			}
		}
	}
}

func checkTag(t html.Token) error {
	if activeElements[t.Data] {
		return errs.BadRequest("The document has the element <%s>, which is not allowed", t.Data)
	}
	for _, a := range t.Attr {
		value := strings.ToLower(strings.Map(func(c rune) rune {
			if c <= ' ' {
				return -1
			}
			return c
		}, a.Val))
		scheme, _, _ := strings.Cut(value, ":")
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "srcdoc", a.Key == "http-equiv" && value == "refresh",
			scheme == "javascript", scheme == "vbscript", scheme == "data" && t.Data != "img":
			return errs.BadRequest("The document has the attribute %s=%q of <%s>, which is not allowed", a.Key, firstRunes(a.Val, 60), t.Data)
		}
	}
	return nil
}
func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

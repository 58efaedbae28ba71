package staff

import (
	"io"
	"net/http"
	"strings"

	"svc/admin"
	"svc/internal/errs"
	"svc/internal/frontend"
	"svc/server/rest"
	"svc/server/web/assets"
)

// documentRoutes are the documents of the instance: instance-panel, terms-of-service and privacy-policy.
func (h *Handlers) documentRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/instance_document/:document_name":    {rest.Admin("admin:read").Answers("page"), h.showDocument},
		"PATCH /api/v1/svc/admin/instance_document/:document_name":  {rest.Admin("admin:write").Answers("DocumentURL"), h.writeDocument},
		"DELETE /api/v1/svc/admin/instance_document/:document_name": {rest.Admin("admin:write").Answers("DocumentURL"), h.deleteDocument},
	}
}

// showDocument returns the HTML of a document: that of the staff, else that of the front end, else the default.
func (h *Handlers) showDocument(r *rest.Request) (any, error) {
	doc, err := h.Documents.Show(r.Context(), r.Param("document_name"))
	if err != nil {
		return nil, notFound(err)
	}
	content := doc.Content
	if content == "" {
		content = h.standardDocument(strings.TrimPrefix(doc.Path, "/"))
	}
	if content == "" {
		return nil, errNotFound
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
		io.WriteString(w, content) // fails only if the client has gone
	}), nil
}

// standardDocument returns the document that is shown if the staff have written none, "" if there is none.
func (h *Handlers) standardDocument(name string) string {
	if v, ok := frontend.ParseVersion(h.Settings.Load().Frontends.Primary); ok {
		if file, _, err := h.Frontends.Dir().OpenFile(v, name); err == nil {
			defer file.Close()
			text, _ := io.ReadAll(io.LimitReader(file, admin.MaxDocument))
			return string(text)
		}
	}
	text, _ := assets.FS.ReadFile(name)
	return string(text)
}

// writeDocument replaces a document by an uploaded file or by a text.
func (h *Handlers) writeDocument(r *rest.Request) (any, error) {
	var p struct {
		File    *rest.Upload `param:"file"`
		Content *string      `param:"content"` // an extension: the text itself
	}
	name := r.Param("document_name")
	if _, err := h.Documents.Show(r.Context(), name); err != nil {
		return nil, notFound(err)
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var content []byte
	switch {
	case p.Content != nil:
		content = []byte(*p.Content)
	case p.File == nil || p.File.Empty:
		return nil, errs.BadRequest("Missing field: file.")
	default:
		var err error
		if content, err = io.ReadAll(io.LimitReader(p.File.Open(), admin.MaxDocument+1)); err != nil {
			return nil, err
		}
	}
	doc, err := h.Documents.As(r.Viewer).Write(r.Context(), admin.DocumentChange{Name: name, Content: string(content)})
	if err != nil {
		return nil, err
	}
	return map[string]string{"url": doc.URL}, nil
}

// deleteDocument removes a document, so that the default is shown again.
func (h *Handlers) deleteDocument(r *rest.Request) (any, error) {
	doc, err := h.Documents.As(r.Viewer).Delete(r.Context(), r.Param("document_name"))
	if err != nil {
		return nil, notFound(err)
	}
	return map[string]string{"url": doc.URL}, nil
}

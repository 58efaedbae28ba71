package server

import (
	"fmt"
	"io"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// imports serves imports of follows, blocks and mutes, and their results.
type imports struct{ *parts }

func (h *imports) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/follow_import":      {rest.User("follow", "write:follows").Answers("string"), h.start(store.ImportFollows)},
		"POST /api/v1/svc/blocks_import":      {rest.User("follow", "write:blocks").Answers("string"), h.start(store.ImportBlocks)},
		"POST /api/v1/svc/mutes_import":       {rest.User("follow", "write:mutes").Answers("string"), h.start(store.ImportMutes)},
		"GET /api/v1/svc/imports":             {rest.User("read").Answers("[]Import"), h.listImports},
		"GET /api/v1/svc/imports/:id":         {rest.User("read").Answers("Import"), h.showImport},
		"GET /api/v1/svc/imports/:id/skipped": {rest.User("read").Answers("[]SkippedEntry"), h.listSkipped},
	}
}

// maxListedImports is how many imports are listed. An account can start fewer in a day.
const maxListedImports = 40

// start returns the handler that starts an import of a list, a text or a file.
func (h *imports) start(kind store.ImportKind) rest.Handler {
	return func(r *rest.Request) (any, error) {
		list, err := importParam(r)
		if err != nil {
			return nil, err
		}
		if _, err := h.Social.StartImport(r.Context(), r.Viewer, kind, list, false); err != nil {
			return nil, err
		}
		return "job started", nil
	}
}

// importParam returns the text of the parameter list, which may be a file.
func importParam(r *rest.Request) (string, error) {
	var file struct {
		List *rest.Upload `param:"list"`
	}
	if err := r.Bind(&file); err != nil {
		return "", err
	}
	if file.List != nil && !file.List.Empty {
		content, err := io.ReadAll(file.List.Open())
		if err != nil {
			return "", fmt.Errorf("read list: %w", err)
		}
		return string(content), nil
	}
	var text struct {
		List string `param:"list,required"`
	}
	err := r.Bind(&text)
	return text.List, err
}

// listImports lists the imports of the viewer, newest first.
func (h *imports) listImports(r *rest.Request) (any, error) {
	rows, err := h.DB.Imports(r.Context(), r.Viewer.ID, maxListedImports)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, entity.NewImport), nil
}

// showImport returns an import of the viewer.
func (h *imports) showImport(r *rest.Request) (any, error) {
	i, err := h.ownImport(r)
	if err != nil {
		return nil, err
	}
	return entity.NewImport(i), nil
}

// listSkipped lists the entries that an import skipped, in the order of the file. The position of the last one, as min_id, leads to the
// next page.
func (h *imports) listSkipped(r *rest.Request) (any, error) {
	i, err := h.ownImport(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		After int `param:"min_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	rows, err := h.DB.ImportEntries(r.Context(), i.ID, store.ImportSkipped, max(p.After, 0), r.Page(100, 1000).Limit)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, entity.NewSkippedEntry), nil
}

// ownImport returns the import of the path if it is the viewer's.
func (h *imports) ownImport(r *rest.Request) (*store.Import, error) {
	i, err := h.DB.Import(r.Context(), store.ParseID[store.ImportID](r.Param("id")))
	if err == nil && i.AccountID != r.Viewer.ID {
		err = errs.ErrRecordNotFound
	}
	return i, err
}

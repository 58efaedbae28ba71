package server

import (
	"encoding/csv"
	"net/http"

	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// exports serves what an account has as CSV that Mastodon and its kin import.
type exports struct{ *parts }

func (h *exports) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/exports/follows.csv":       {rest.User("read:follows").Answers("csv"), h.export(store.ImportFollows, "following_accounts.csv")},
		"GET /api/v1/svc/exports/blocks.csv":        {rest.User("read:blocks").Answers("csv"), h.export(store.ImportBlocks, "blocked_accounts.csv")},
		"GET /api/v1/svc/exports/mutes.csv":         {rest.User("read:mutes").Answers("csv"), h.export(store.ImportMutes, "muted_accounts.csv")},
		"GET /api/v1/svc/exports/domain_blocks.csv": {rest.User("read:blocks").Answers("csv"), h.export(store.ImportDomainBlocks, "blocked_domains.csv")},
		"GET /api/v1/svc/exports/lists.csv":         {rest.User("read:lists").Answers("csv"), h.export(store.ImportLists, "lists.csv")},
		"GET /api/v1/svc/exports/bookmarks.csv":     {rest.User("read:bookmarks").Answers("csv"), h.export(store.ImportBookmarks, "bookmarks.csv")},
	}
}

// export returns the handler that sends an export of the viewer as a file.
func (h *exports) export(kind store.ImportKind, file string) rest.Handler {
	return func(r *rest.Request) (any, error) {
		rows, next, err := h.Social.Export(r.Context(), r.Viewer.ID, kind, social.ExportCursor{})
		if err != nil {
			return nil, err
		}
		return &exportFile{exports: h, request: r, kind: kind, name: file, rows: rows, next: next}, nil
	}
}

// exportFile sends an export page by page. The first page is read already, so that its error can be answered.
type exportFile struct {
	*exports
	request *rest.Request
	kind    store.ImportKind
	name    string
	rows    [][]string
	next    *social.ExportCursor
}

func (f *exportFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	out := csv.NewWriter(w)
	for {
		if err := out.WriteAll(f.rows); err != nil || f.next == nil { // the client is gone, or it has all
			return
		}
		var err error
		if f.rows, f.next, err = f.Social.Export(r.Context(), f.request.Viewer.ID, f.kind, *f.next); err != nil {
			if r.Context().Err() == nil {
				f.request.LogError(err)
			}
			panic(http.ErrAbortHandler) // so that the client notices that the file is not complete
		}
	}
}

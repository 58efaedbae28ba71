package server

import (
	"io"

	"svc/internal/errs"
	"svc/moving"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// archives imports the posts of archives that users upload, in pieces so that an upload goes on after an interruption.
type archives struct{ *parts }

func (h *archives) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/archives":             {rest.User("read").Answers("[]Archive"), h.list},
		"POST /api/v1/svc/archives":            {rest.User("write:statuses").Uploads().Limit("media_upload").Written().Answers("Archive"), h.begin},
		"GET /api/v1/svc/archives/:id":         {rest.User("read").Answers("Archive"), h.show},
		"PUT /api/v1/svc/archives/:id":         {rest.User("write:statuses").Uploads().Answers("Archive"), h.addPiece},
		"DELETE /api/v1/svc/archives/:id":      {rest.User("write:statuses").Deletes().Answers("Archive"), h.undo},
		"GET /api/v1/svc/archives/:id/skipped": {rest.User("read").Answers("[]ArchiveSkip"), h.listSkipped},
	}
}

// list lists the archives from which the viewer has imported posts, newest first.
func (h *archives) list(r *rest.Request) (any, error) {
	rows, err := h.Social.ImportedArchives(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, entity.NewArchive), nil
}

// begin begins the import of an archive: of so many bytes, which follow in pieces, or of a small file that the request has. It must be of an
// account that the viewer names as an alias.
func (h *archives) begin(r *rest.Request) (any, error) {
	var p struct {
		Size   int64        `param:"size"`
		File   *rest.Upload `param:"file"`
		Public bool         `param:"public"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	whole := p.File != nil && !p.File.Empty
	if whole {
		p.Size = p.File.Size
	}
	a, err := h.Importer.BeginUpload(r.Context(), r.Viewer, p.Size, p.Public)
	if err != nil {
		return nil, err
	}
	for whole && a.Received < p.File.Size {
		piece := io.NewSectionReader(p.File.Open(), a.Received, moving.MaxPiece)
		if a, err = h.Importer.WritePiece(r.Context(), r.Viewer, a.ID, a.Received, piece); err != nil {
			return nil, err
		}
	}
	return entity.NewArchive(a), nil
}

// show returns an archive of the viewer: how far its upload is, or its import.
func (h *archives) show(r *rest.Request) (any, error) {
	a, err := h.own(r)
	if err != nil {
		return nil, err
	}
	return entity.NewArchive(a), nil
}

// addPiece adds a piece of at most 8 MiB to an upload, which begins at the offset that the archive names as received. The last piece starts
// the import.
func (h *archives) addPiece(r *rest.Request) (any, error) {
	var p struct {
		Offset int64        `param:"offset"`
		Piece  *rest.Upload `param:"piece,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Piece == nil || p.Piece.Empty {
		return nil, errs.Invalid("Validation failed: piece - must be a file")
	}
	a, err := h.Importer.WritePiece(r.Context(), r.Viewer, store.ParseID[store.ArchiveID](r.Param("id")), p.Offset, p.Piece.Open())
	if err != nil {
		return nil, err
	}
	return entity.NewArchive(a), nil
}

// undo stops an import and removes all posts that came from the archive.
func (h *archives) undo(r *rest.Request) (any, error) {
	a, err := h.Social.UndoArchive(r.Context(), r.Viewer.ID, store.ParseID[store.ArchiveID](r.Param("id")))
	if err != nil {
		return nil, err
	}
	return entity.NewArchive(a), nil
}

// listSkipped lists what was not imported of an archive, and why. The id of the last one, as min_id, leads to the next page.
func (h *archives) listSkipped(r *rest.Request) (any, error) {
	a, err := h.own(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		After int64 `param:"min_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	rows, err := h.DB.ArchiveSkips(r.Context(), a.ID, max(p.After, 0), r.Page(100, 1000).Limit)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, entity.NewArchiveSkip), nil
}

// own returns the archive of the path if it is the viewer's.
func (h *archives) own(r *rest.Request) (*store.Archive, error) {
	a, err := h.DB.Archive(r.Context(), store.ParseID[store.ArchiveID](r.Param("id")))
	if err == nil && a.AccountID != r.Viewer.ID {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

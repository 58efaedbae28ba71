package server

import (
	"context"
	"net/http"
	"slices"

	"svc/internal/limit"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// contexts serves the posts above and below a status.
type contexts struct {
	db       *store.DB
	entities *entity.Builder
	lookup   *lookup
	memory   *limit.Bytes
}

func (h *contexts) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/statuses/:id/context": {rest.Content("read:statuses"), h.showContext},
	}
}

// Limits of one answer. The posts that are nearest to the status are kept.
var (
	userThreadLimits      = store.ThreadLimits{Ancestors: 4096, Descendants: 4096, Depth: 4096}
	anonymousThreadLimits = store.ThreadLimits{Ancestors: 40, Descendants: 60, Depth: 20}
)

// A long context is rendered and sent in pieces, so that its size does not matter.
const (
	contextPiece       = 100     // statuses
	contextPieceMemory = 4 << 20 // while they are rendered, in bytes
)

// showContext returns the ancestors and descendants of a status. An extension: limit bounds both together.
func (h *contexts) showContext(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	h.lookup.completeThread(r, st)
	limits := anonymousThreadLimits
	if r.Viewer != nil {
		limits = userThreadLimits
	}
	if n := r.Page(0, contextPiece).Limit; n > 0 {
		limits = store.ThreadLimits{Ancestors: n * 2 / 5, Descendants: n - n*2/5, Depth: anonymousThreadLimits.Depth}
	}
	above, below, err := h.thread(r, st, limits)
	if err != nil {
		return nil, err
	}
	if len(above)+len(below) <= contextPiece {
		return h.entities.Context(r.Context(), r.Viewer, above, below)
	}
	c := &longContext{contexts: h, request: r}
	c.add(`{"ancestors":[`, above)
	c.add(`],"descendants":[`, below)
	return c, c.render(r.Context())
}

func (h *contexts) thread(r *rest.Request, of *store.Status, limits store.ThreadLimits) (above, below []store.StatusID, err error) {
	release, err := h.memory.Take(r.Context(), contextPieceMemory)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	return h.db.Thread(r.Context(), viewerID(r), of, limits)
}

// longContext sends a context in pieces. The first piece is rendered already, so that its error can be answered.
type longContext struct {
	*contexts
	request *rest.Request
	pieces  []contextStatuses // that are not rendered yet
	text    []byte            // of the last piece
	inList  bool              // the list of the last piece is not empty so far
}

// contextStatuses are statuses of one list.
type contextStatuses struct {
	head string // text before the list; "": the statuses continue it
	ids  []store.StatusID
}

func (c *longContext) add(head string, ids []store.StatusID) {
	first := min(len(ids), contextPiece)
	c.pieces = append(c.pieces, contextStatuses{head, ids[:first]})
	for more := range slices.Chunk(ids[first:], contextPiece) {
		c.pieces = append(c.pieces, contextStatuses{ids: more})
	}
}

// render renders the next piece.
func (c *longContext) render(ctx context.Context) error {
	release, err := c.memory.Take(ctx, contextPieceMemory)
	if err != nil {
		return err
	}
	defer release()
	p := c.pieces[0]
	c.pieces = c.pieces[1:]
	statuses, err := c.entities.Statuses(ctx, c.request.Viewer, p.ids)
	if err != nil {
		return err
	}
	if p.head != "" {
		c.inList = false
	}
	c.text = append(c.text[:0], p.head...)
	for _, s := range statuses {
		if c.inList {
			c.text = append(c.text, ',')
		}
		c.text, c.inList = s.AppendJSON(c.text), true
	}
	if len(c.pieces) == 0 {
		c.text = append(c.text, `]}`...)
	}
	return nil
}

func (c *longContext) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Type"] = rest.JsonType
	for {
		if _, err := w.Write(c.text); err != nil || len(c.pieces) == 0 {
			return
		}
		if err := c.render(r.Context()); err != nil {
			if r.Context().Err() == nil {
				c.request.LogError(err)
			}
			panic(http.ErrAbortHandler) // so that the client notices that the answer is not complete
		}
	}
}

package server

import (
	"errors"
	"slices"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// contexts serves the posts above and below a status.
type contexts struct{ *parts }

func (h *contexts) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/statuses/:id/context": {rest.Content("read:statuses").Answers("Context"), h.showContext},
	}
}

// Limits of one answer. The posts that are nearest to the status are kept.
var (
	userThreadLimits      = store.ThreadLimits{Ancestors: 4096, Descendants: 4096, Depth: 4096}
	anonymousThreadLimits = store.ThreadLimits{Ancestors: 40, Descendants: 60, Depth: 20}
)

// contextPiece is how many statuses of a long context are rendered at a time.
const contextPiece = 100

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
	thread, err := h.DB.Thread(r.Context(), viewerID(r), st, limits)
	if err != nil {
		return nil, err
	}
	if len(thread.Above)+len(thread.Below) <= contextPiece {
		whole, err := h.Entities.Context(r.Context(), r.Viewer, thread.Above, thread.Below)
		if err == nil && whole.JSONSize() <= r.MaxContext() {
			return whole, r.Shown(whole.JSONSize())
		}
		if err != nil && !errors.Is(err, store.ErrReadBudget) {
			return nil, err
		}
	}
	return h.longContext(r, thread)
}

// longContext renders a thread in pieces, up to the bytes that an answer may have: of the ancestors, which have half of them, those next to the
// status, and of the descendants those that are nearest and oldest, so that none is shown without what it replies to.
func (h *contexts) longContext(r *rest.Request, thread *store.Thread) (any, error) {
	if err := r.Large(); err != nil {
		return nil, err
	}
	above := slices.Clone(thread.Above)
	slices.Reverse(above)
	ancestors, size, err := h.first(r, above, r.MaxContext()/2)
	if err != nil {
		return nil, err
	}
	descendants, more, err := h.first(r, thread.Nearest(), r.MaxContext()-size)
	if err != nil {
		return nil, err
	}
	c := entity.Context{Ancestors: inOrder(thread.Above, ancestors), Descendants: inOrder(thread.Below, descendants)}
	c.Cut = len(c.Ancestors) < len(thread.Above) || len(c.Descendants) < len(thread.Below)
	return c, r.Shown(size + more)
}

// first renders the first statuses of a list that have at most so many bytes together.
func (h *contexts) first(r *rest.Request, ids []store.StatusID, most int) (shown map[store.StatusID]*entity.Status, size int, err error) {
	shown = make(map[store.StatusID]*entity.Status, len(ids))
	for len(ids) > 0 {
		list, n, err := rest.ShowSome(r, min(contextPiece, len(ids)), func(n int) (entity.List[*entity.Status], error) {
			return h.Entities.Statuses(r.Context(), r.Viewer, ids[:n])
		})
		if err != nil {
			return nil, 0, err
		}
		for _, s := range list {
			more := s.JSONSize() + len(",")
			if size+more > most {
				return shown, size, nil
			}
			size += more
			shown[s.ID()] = s
		}
		ids = ids[n:]
	}
	return shown, size, nil
}

// inOrder returns the statuses of the ids that are shown.
func inOrder(ids []store.StatusID, shown map[store.StatusID]*entity.Status) entity.List[*entity.Status] {
	list := make(entity.List[*entity.Status], 0, len(shown))
	for _, id := range ids {
		if s := shown[id]; s != nil {
			list = append(list, s)
		}
	}
	return list
}

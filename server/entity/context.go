package entity

import (
	"context"
	"slices"

	"svc/store"
)

// Context are the statuses above and below a status in its thread.
type Context struct {
	Ancestors   List[*Status] // from the root to the parent
	Descendants List[*Status] // depth-first
	Cut         bool          // posts were left out, because the answer would have been too large; not rendered
}

// AppendJSON renders the context.
func (c Context) AppendJSON(dst []byte) []byte {
	dst = c.Ancestors.AppendJSON(append(dst, `{"ancestors":`...))
	dst = c.Descendants.AppendJSON(append(dst, `,"descendants":`...))
	return append(dst, '}')
}

// Context renders a thread for the viewer (nil: anonymous).
func (b *Builder) Context(ctx context.Context, viewer *store.Account, above, below []store.StatusID) (Context, error) {
	statuses, err := b.Statuses(ctx, viewer, slices.Concat(above, below))
	if err != nil {
		return Context{}, err
	}
	n := 0 // the ancestors that were not deleted meanwhile
	for _, id := range above {
		if n < len(statuses) && statuses[n].id == id {
			n++
		}
	}
	return Context{Ancestors: statuses[:n], Descendants: statuses[n:]}, nil
}

package entity

import (
	"context"

	"svc/store"
)

// addQuotes sets what statuses quote. What a quoted status quotes itself is not shown.
func (b *Builder) addQuotes(ctx context.Context, viewer *store.Account, statuses List[*Status]) error {
	var ids []store.StatusID
	for _, s := range statuses {
		if s = s.original(); s.quoteOfID != nil {
			ids = append(ids, *s.quoteOfID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	shown, err := b.db.VisibleQuotes(ctx, idOf(viewer), unique(ids))
	if err != nil {
		return err
	}
	quoted, err := b.statusesWithoutQuotes(ctx, viewer, shown)
	if err != nil {
		return err
	}
	of := byID(quoted, (*Status).ID)
	for _, s := range statuses {
		if s = s.original(); s.quoteOfID != nil {
			s.forViewer.quote = of[*s.quoteOfID]
		}
	}
	return nil
}

// appendQuote appends what the status quotes, as members of the extension with a comma before each.
func (s *Status) appendQuote(dst []byte) []byte {
	q := s.forViewer.quote
	dst = append(dst, `,"quote":`...)
	if q != nil {
		dst = q.AppendJSON(dst)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"quote_id":`...)
	if q != nil {
		dst = append(append(append(dst, '"'), q.id.String()...), '"')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"quote_url":`...)
	if q != nil {
		dst = append(dst, q.quoteURL...)
	} else {
		dst = append(dst, "null"...)
	}
	return appendBool(dst, `,"quote_visible":`, q != nil)
}

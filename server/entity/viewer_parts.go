package entity

import (
	"context"

	"svc/store"
)

// viewerParts are the parts of a status that depend on the viewer and that few statuses have. Each has a file of its own.
type viewerParts struct {
	filtered *filtered // nil: no filter speaks of it
}

// addMore adds them to a page of statuses that are no boosts. Each costs a query only if the page has such a status.
func (b *Builder) addMore(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	if err := b.addFiltered(ctx, viewer, originals); err != nil {
		return err
	}
	return nil
}

func (s *Status) appendPoll(dst []byte) []byte { return append(dst, "null"...) }

func (s *Status) appendDirectConversation(dst []byte) []byte { return append(dst, "null"...) }

func (s *Status) appendReactions(dst []byte) []byte { return append(dst, "[]"...) }

// appendQuote appends members of the extension, each with a comma before it.
func (s *Status) appendQuote(dst []byte) []byte { return dst }

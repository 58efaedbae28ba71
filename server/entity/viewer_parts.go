package entity

import (
	"context"

	"svc/store"
)

// viewerMembers are the parts of a status that depend on the viewer and that few statuses have. Each has a file of its own.
type viewerMembers struct {
	quote              *Status                    // what the status quotes, nil if that is nothing the viewer may see
	directConversation store.DirectConversationID // 0: none
	ownVotes           []int                      // in its poll
	filtered           *filtered                  // nil: no filter speaks of it
	reactions          *viewerReactions           // nil: there are none, or none that depend on the viewer
}

// addViewerMembers adds them to a page of statuses that are no boosts. Each costs a query only if the page has such a status.
func (b *Builder) addViewerMembers(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	for _, add := range []func(context.Context, *store.Account, List[*Status]) error{
		b.addFiltered, b.addDirectConversations, b.addOwnVotes, b.addReactions,
	} {
		if err := add(ctx, viewer, originals); err != nil {
			return err
		}
	}
	return nil
}

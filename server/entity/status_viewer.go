package entity

import (
	"context"

	"svc/store"
)

// addMembers sets the members that are not cached. originals are the same statuses, with boosted statuses instead of boosts.
func (b *Builder) addMembers(ctx context.Context, viewer *store.Account, shown, originals List[*Status]) error {
	if err := b.addAccounts(ctx, shown, originals); err != nil {
		return err
	}
	if err := b.addParents(ctx, viewer, originals); err != nil {
		return err
	}
	if viewer != nil {
		if err := b.addFlags(ctx, viewer, shown, originals); err != nil {
			return err
		}
	}
	return b.addViewerMembers(ctx, viewer, originals)
}

// addAccounts sets the authors of the statuses and of the pages of their cards.
func (b *Builder) addAccounts(ctx context.Context, shown, originals List[*Status]) error {
	ids := make([]store.AccountID, 0, len(shown)+len(originals))
	for _, s := range shown {
		ids = append(ids, s.accountID)
	}
	for _, s := range originals {
		ids = append(ids, s.accountID)
		if s.card != nil {
			ids = append(ids, s.card.author)
		}
	}
	accounts, err := b.loadAccounts(ctx, unique(ids))
	if err != nil {
		return err
	}
	for _, s := range shown {
		s.account = accounts[s.accountID]
	}
	for _, s := range originals {
		s.account, s.cardAuthor = accounts[s.accountID], s.card.authorAmong(accounts)
	}
	return nil
}

// addParents sets which parents the viewer may see.
func (b *Builder) addParents(ctx context.Context, viewer *store.Account, originals []*Status) error {
	var replies []*Status
	var parents []store.StatusID
	unrestricted, err := b.db.SeesAllUnrestricted(ctx, idOf(viewer))
	if err != nil {
		return err
	}
	for _, s := range originals {
		switch p := s.parent; {
		case p == nil:
		case p.accountID == idOf(viewer), unrestricted && (p.visibility <= store.Unlisted || p.visibility == store.Local && viewer != nil):
			s.parentVisible = true
		default:
			replies = append(replies, s)
			parents = append(parents, p.id)
		}
	}
	if len(parents) == 0 {
		return nil
	}
	visible, err := b.db.VisibleIDs(ctx, idOf(viewer), parents)
	if err != nil {
		return err
	}
	seen := byID(visible, func(id store.StatusID) store.StatusID { return id })
	for _, s := range replies {
		_, s.parentVisible = seen[s.parent.id]
	}
	return nil
}

// addFlags sets what the viewer did with the statuses.
func (b *Builder) addFlags(ctx context.Context, viewer *store.Account, shown, originals []*Status) error {
	ids := make([]store.StatusID, 0, len(originals))
	for _, s := range originals {
		ids = append(ids, s.id)
	}
	flags, err := b.db.StatusFlags(ctx, viewer.ID, ids)
	if err != nil {
		return err
	}
	plain, err := b.wantsNoRichText(ctx, viewer)
	if err != nil {
		return err
	}
	for _, s := range shown {
		s.hasViewer, s.byViewer = true, s.accountID == viewer.ID
	}
	for _, s := range originals {
		s.flags = flags[s.id]
		s.hasViewer, s.byViewer, s.noRichText = true, s.accountID == viewer.ID, plain
	}
	return nil
}

// wantsNoRichText returns true if the viewer prefers plain text.
func (b *Builder) wantsNoRichText(ctx context.Context, viewer *store.Account) (bool, error) {
	if viewer == nil {
		return false, nil
	}
	self, err := b.loadAccounts(ctx, []store.AccountID{viewer.ID})
	return self[viewer.ID].cachedAccount != nil && self[viewer.ID].noRichText, err
}

// addViewerMembers sets what few statuses have. Each costs a query only if the page has such a status.
func (b *Builder) addViewerMembers(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	for _, add := range []func(context.Context, *store.Account, List[*Status]) error{
		b.addFollowedAuthors, b.addFiltered, b.addDirectConversations, b.addOwnVotes, b.addReactions,
	} {
		if err := add(ctx, viewer, originals); err != nil {
			return err
		}
	}
	return nil
}

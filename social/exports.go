package social

import (
	"context"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// exportPage is how many rows of an export are read at a time.
const exportPage = 500

// ExportCursor is a position in an export. The zero value is the beginning.
type ExportCursor struct {
	After int64 `json:"after"`
	List  int64 `json:"list"` // id of the list that the members are of, in an export of lists
}

// exportHeaders are the first lines of exports. Kinds that are not listed have none, as in Mastodon's.
var exportHeaders = map[store.ImportKind][]string{
	store.ImportFollows: {"Account address", "Show boosts", "Notify on new posts", "Languages"},
	store.ImportMutes:   {"Account address", "Hide notifications"},
}

// Export returns a page of rows of an export, in the CSV columns that Mastodon and its kin read, and the cursor of the next page, nil at the
// end. The first page begins with the header.
func (s *Service) Export(ctx context.Context, owner store.AccountID, kind store.ImportKind, from ExportCursor) (rows [][]string, next *ExportCursor, err error) {
	if header := exportHeaders[kind]; header != nil && from == (ExportCursor{}) {
		rows = append(rows, header)
	}
	var accounts []store.ExportedAccount
	after := store.AccountID(from.After)
	switch kind {
	case store.ImportFollows:
		accounts, err = s.db.ExportFollows(ctx, owner, after, exportPage)
	case store.ImportBlocks:
		accounts, err = s.db.ExportBlocks(ctx, owner, after, exportPage)
	case store.ImportMutes:
		accounts, err = s.db.ExportMutes(ctx, owner, after, exportPage)
	case store.ImportLists:
		return s.exportLists(ctx, owner, from)
	case store.ImportBookmarks:
		return exportStatuses(ctx, owner, from, s.db.ExportBookmarks)
	case store.ImportLikes:
		return exportStatuses(ctx, owner, from, s.db.ExportFavourites)
	case store.ImportDomainBlocks:
		domains, err := s.db.DomainBlocks(ctx, owner)
		for _, d := range domains {
			rows = append(rows, []string{d})
		}
		return rows, nil, err
	default:
		return nil, nil, errs.BadRequest("Unknown kind of export: %s", kind)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, a := range accounts {
		row := []string{s.address(a)}
		switch kind {
		case store.ImportFollows:
			row = append(row, strconv.FormatBool(a.ShowReblogs), strconv.FormatBool(a.Notify), strings.Join(a.Languages.V, ", "))
		case store.ImportMutes:
			row = append(row, strconv.FormatBool(a.HideNotifications))
		}
		rows = append(rows, row)
	}
	if len(accounts) == exportPage {
		next = &ExportCursor{After: int64(accounts[exportPage-1].ID)}
	}
	return rows, next, nil
}

// address returns the handle of an account with its domain, which other servers need.
func (s *Service) address(a store.ExportedAccount) string {
	if a.Domain == "" {
		return a.Nickname + "@" + s.Settings.Host
	}
	return a.Nickname + "@" + a.Domain
}

// exportLists returns members of lists, a page of one list at a time.
func (s *Service) exportLists(ctx context.Context, owner store.AccountID, from ExportCursor) (rows [][]string, next *ExportCursor, err error) {
	lists, err := s.db.Lists(ctx, owner)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range lists { // in the order of their ids
		if int64(l.ID) < from.List {
			continue
		}
		after := store.AccountID(0)
		if int64(l.ID) == from.List {
			after = store.AccountID(from.After)
		}
		members, err := s.db.ExportListMembers(ctx, l.ID, after, exportPage)
		if err != nil {
			return nil, nil, err
		}
		for _, a := range members {
			rows = append(rows, []string{l.Title, s.address(a)})
		}
		if len(members) == exportPage {
			return rows, &ExportCursor{List: int64(l.ID), After: int64(members[exportPage-1].ID)}, nil
		}
		if len(rows) >= exportPage {
			return rows, &ExportCursor{List: int64(l.ID) + 1}, nil
		}
	}
	return rows, nil, nil
}

// exportStatuses returns the ids of bookmarked or favourited statuses.
func exportStatuses(ctx context.Context, owner store.AccountID, from ExportCursor, read func(context.Context, store.AccountID, int64, int) ([]store.ExportedURI, error)) (
	rows [][]string, next *ExportCursor, err error) {
	list, err := read(ctx, owner, from.After, exportPage)
	for _, b := range list {
		rows = append(rows, []string{b.URI})
	}
	if len(list) == exportPage {
		next = &ExportCursor{After: list[exportPage-1].Cursor}
	}
	return rows, next, err
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
)

// StatusFlags are the interactions of a viewer with a status.
type StatusFlags struct {
	Favourited       bool
	Reblogged        bool
	Bookmarked       bool
	ThreadMuted      bool
	AuthorMuted      bool
	FavouritePending bool             // it waits for the approval of the author
	Folder           BookmarkFolderID // of the bookmark; 0: none
}

// maxCachedFlags is the number of statuses whose flags are cached, of all viewers together: about 4 MB.
const maxCachedFlags = 50_000

// viewerFlags are the cached flags of a viewer. They are changed in place, under the lock of the cache.
type viewerFlags map[StatusID]StatusFlags

// StatusFlags returns the flags of statuses for viewer. The ids must not be those of boosts.
func (r reader) StatusFlags(ctx context.Context, viewer AccountID, ids []StatusID) (map[StatusID]StatusFlags, error) {
	if r.q != r.db.q {
		return r.readFlags(ctx, viewer, ids)
	}
	flags := make(map[StatusID]StatusFlags, len(ids))
	var missing []StatusID
	generation := r.db.flagCache.View(viewer, func(cached viewerFlags) {
		for _, id := range ids {
			if f, ok := cached[id]; ok {
				flags[id] = f
			} else {
				missing = append(missing, id)
			}
		}
	})
	if len(missing) == 0 {
		return flags, nil
	}
	read, err := r.readFlags(ctx, viewer, missing)
	if err != nil {
		return nil, err
	}
	r.cacheFlags(viewer, generation, read)
	maps.Copy(flags, read)
	return flags, nil
}

func (r reader) cacheFlags(viewer AccountID, generation uint64, read viewerFlags) {
	r.db.flagCache.Update(viewer, generation, func(cached viewerFlags) viewerFlags {
		if cached == nil {
			cached = make(viewerFlags, len(read))
		}
		maps.Copy(cached, read)
		return cached
	})
}

func (r reader) readFlags(ctx context.Context, viewer AccountID, ids []StatusID) (map[StatusID]StatusFlags, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return scanFlags[StatusID](r.q.QueryContext(ctx, `
		SELECT s.id, `+flagColumns+`
		FROM json_each(?3) j
		CROSS JOIN statuses s ON s.id = j.value`, viewer, l, jsonArray(ids)))
}

// Bits of the first column of flagColumns.
const (
	flagFavourited = 1 << iota
	flagReblogged
	flagThreadMuted
	flagAuthorMuted
	flagFavouritePending
)

// flagColumns are the flags of the status s for the viewer ?1 with the lookups ?2, and the folder of the bookmark: NULL without a bookmark.
var flagColumns = `ifnull((SELECT ` + fmt.Sprintf("%d + %d", flagFavourited, flagFavouritePending) + ` * x.pending FROM favourites x WHERE x.account_id = ?1 AND x.status_id = s.id), 0)
			+ ` + bitSum(
	`0`,
	`s.reblogs_count > 0 AND EXISTS (SELECT 1 FROM statuses x WHERE x.reblog_of_id = s.id AND x.account_id = ?1)`,
	set("?2", lookupThreadMutes)+` AND EXISTS (SELECT 1 FROM thread_mutes x WHERE x.account_id = ?1 AND x.conversation_id = s.conversation_id)`,
	set("?2", lookupMutes)+` AND `+mutes("s.account_id")) + ` AS flags,
			(SELECT ifnull(x.folder_id, 0) FROM bookmarks x WHERE x.account_id = ?1 AND x.status_id = s.id) AS folder`

// flagsOfMany are the flags of one status for several viewers; ?1 is a JSON object of their lookups by id.
var flagsOfMany = strings.NewReplacer("?1", "j.viewer", "?2", "j.lookups").Replace(`
		SELECT j.viewer, `+flagColumns) + `
		FROM (SELECT CAST(key AS INTEGER) AS viewer, value AS lookups FROM json_each(?1)) j
		CROSS JOIN statuses s ON s.id = ?2`

// CacheFlags caches the flags of a status for several viewers with one query, which is cheaper than one for each.
func (r reader) CacheFlags(ctx context.Context, id StatusID, viewers []AccountID) error {
	lookups := make(map[AccountID]Lookups, len(viewers))
	generation := r.db.flagCache.Generation()
	for _, v := range viewers {
		l, err := r.lookups(ctx, v)
		if err != nil {
			return err
		}
		lookups[v] = l
	}
	flags, err := scanFlags[AccountID](r.q.QueryContext(ctx, flagsOfMany, encodeViewers(lookups), id))
	for v, f := range flags {
		r.cacheFlags(v, generation, viewerFlags{id: f})
	}
	return err
}

// scanFlags reads flags by the id before them.
func scanFlags[K ~int64](rows *sql.Rows, err error) (map[K]StatusFlags, error) {
	if err != nil {
		return nil, fmt.Errorf("status flags: %w", err)
	}
	defer rows.Close()
	flags := make(map[K]StatusFlags)
	for rows.Next() {
		var id, bits int64
		var folder sql.NullInt64 // NULL: no bookmark
		if err := rows.Scan(&id, &bits, &folder); err != nil {
			return nil, fmt.Errorf("status flags: %w", err)
		}
		flags[K(id)] = StatusFlags{
			Favourited: bits&flagFavourited != 0, FavouritePending: bits&flagFavouritePending != 0, Reblogged: bits&flagReblogged != 0, ThreadMuted: bits&flagThreadMuted != 0,
			AuthorMuted: bits&flagAuthorMuted != 0, Bookmarked: folder.Valid, Folder: BookmarkFolderID(folder.Int64),
		}
	}
	return flags, rows.Err()
}

package store

import (
	"context"
	"strings"
	"unicode/utf8"

	"svc/internal/errs"
	"svc/internal/text"
)

// Old addresses are those that other software gave to accounts, posts and files before svc takeover took these over. The rows of accounts, keys and statuses have the
// old ids themselves (accounts.uri, actor_keys.uri, statuses.uri); the rest follows from these and is not stored: uri + "/inbox", "/outbox", "/followers",
// "/following", "/collections/featured" and "/main-key" of an account, uri + "/activity" and "/replies" of a status. The tables here have
// other addresses, by path: the part of a URL after the authority, without a query, decoded
// (a space for %20), without a slash at the end.

// maxOldPath is the length of an old path and of its target, in bytes.
const maxOldPath = 2048

// AddOldAddress stores another path of a local status than that of its uri: of its page (/@alice/109612104811129202, /notice/9kXyZ), or of its
// Create (/activities/UUID). Browsers are redirected to the page of the status; documents that name the path mean the status. The row goes with the
// status. A path that exists already keeps its status. A malformed path is an error.
func (tx *Tx) AddOldAddress(ctx context.Context, path string, id StatusID) error {
	if err := tx.checkOldPath(path); err != nil {
		return err
	}
	return tx.exec(ctx, "add old address", `INSERT OR IGNORE INTO old_addresses (path, status_id) VALUES (?, ?)`, path, id)
}

// AddOldMedia stores the old path of a file and the path at which this server has it: /media/NAME for uploads, avatars and headers, /emoji/PACK/NAME for
// emoji. Requests are redirected there. A path that exists already keeps its target. A malformed path is an error.
func (tx *Tx) AddOldMedia(ctx context.Context, path, target string) error {
	if err := tx.checkOldPath(path); err != nil {
		return err
	}
	if err := tx.checkOldPath(target); err != nil {
		return err
	}
	return tx.exec(ctx, "add old media", `INSERT OR IGNORE INTO old_media (path, target) VALUES (?, ?)`, path, target)
}

// AddDeadAddress stores the path of an account, a status or another object that the other software had deleted. Requests are answered with 410.
// Statuses whose deletion must also keep copies from coming back have a tombstone too (AddDeadStatus). A malformed path is an error.
func (tx *Tx) AddDeadAddress(ctx context.Context, path string) error {
	if err := tx.checkOldPath(path); err != nil {
		return err
	}
	return tx.exec(ctx, "add dead address", `INSERT OR IGNORE INTO dead_addresses (path) VALUES (?)`, path)
}

// AddDeadStatus stores the uri of a local status that was deleted at a time: it is answered with a Tombstone and 410.
func (tx *Tx) AddDeadStatus(ctx context.Context, uri string, at Time) error {
	tx.db.oldAddresses.Store(true)
	return tx.exec(ctx, "add dead status", `
		INSERT OR IGNORE INTO tombstones (uri, deleted_at, kind)
		VALUES (?, ?, ?)`, uri, at, TombstoneStatus)
}

// AddDeadNickname stores the nickname of a deleted account without a row, in any case: no account can have it. Its pages /@NICK and /users/NICK are
// answered with 410.
func (tx *Tx) AddDeadNickname(ctx context.Context, nickname string) error {
	for _, path := range []string{"/users/" + nickname, "/@" + nickname} {
		if err := tx.AddDeadAddress(ctx, path); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "add dead nickname", `INSERT OR IGNORE INTO dead_nicknames (nickname_key) VALUES (?)`, text.NickKey(nickname))
}

// checkOldPath returns an error for a text that is not the decoded path of a URL. //HOST/PATH is none, because it names another server.
func (tx *Tx) checkOldPath(path string) error {
	tx.db.oldAddresses.Store(true) // stays if the transaction is rolled back, which costs queries only
	if len(path) > maxOldPath || !utf8.ValidString(path) || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return errs.Invalid("%.100q is not the path of a URL", path)
	}
	return nil
}

// HasOldAddresses returns whether there may be old addresses. It reads no row, so that a server that has taken nothing over makes no query.
func (db *DB) HasOldAddresses() bool { return db.oldAddresses.Load() }

// findOldAddresses sets whether there are old addresses. A database that cannot be read may have some.
func (db *DB) findOldAddresses(ctx context.Context) {
	found, err := one[bool](ctx, db.reader, "old addresses", `
		SELECT
			EXISTS (SELECT 1 FROM old_addresses WHERE path > '') OR
			EXISTS (SELECT 1 FROM old_media WHERE path > '') OR
			EXISTS (SELECT 1 FROM dead_addresses WHERE path > '') AS found`)
	old := err != nil || *found
	if !old {
		old, err = db.hasOldActors(ctx)
	}
	db.oldAddresses.Store(old || err != nil)
}

// hasOldActors returns whether the first local accounts have ids that other software made. Those of a takeover are the first ones.
func (db *DB) hasOldActors(ctx context.Context) (bool, error) {
	type row struct {
		ID  AccountID
		URI string
	}
	first, err := list[row](ctx, db.reader, "first local accounts", `
		SELECT id, uri
		FROM accounts
		WHERE domain = ''
		ORDER BY id
		LIMIT 10`)
	for _, a := range first {
		if strings.Contains(a.URI, "/users/") && !strings.HasSuffix(a.URI, "/users/"+a.ID.String()) {
			return true, err
		}
	}
	return false, err
}

// StatusIDByOldPath returns the id of the status that has an old path, 0 if there is none.
func (r reader) StatusIDByOldPath(ctx context.Context, path string) (StatusID, error) {
	if !r.db.HasOldAddresses() {
		return 0, nil
	}
	found, err := ids[StatusID](ctx, r, "status by old path", `SELECT status_id FROM old_addresses WHERE path = ?`, path)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// OldStatusID returns the id of the local status or boost at a path of base (https://example.org): the one with that uri, or with that old path. The
// path of the Create of a status leads to the status. It returns 0 if there is none, and always on a server that has taken nothing over,
// without a query: there, the path of a status has its id.
func (r reader) OldStatusID(ctx context.Context, base, path string) (StatusID, error) {
	if !r.db.HasOldAddresses() {
		return 0, nil
	}
	for {
		id, err := r.StatusIDByURI(ctx, base+path)
		if id == 0 && err == nil {
			id, err = r.StatusIDByOldPath(ctx, path)
		}
		object, isActivity := strings.CutSuffix(path, "/activity")
		if id != 0 || err != nil || !isActivity {
			return id, err
		}
		path = object
	}
}

// OldStatusURIs returns the uris of statuses by id, nil on a server that has taken nothing over, without a query: there, they are made of the ids.
func (r reader) OldStatusURIs(ctx context.Context, of []StatusID) (map[StatusID]string, error) {
	if !r.db.HasOldAddresses() || len(of) == 0 {
		return nil, nil
	}
	type row struct {
		ID  StatusID
		URI string
	}
	rows, err := list[row](ctx, r, "old status URIs", `
		SELECT s.id, s.uri
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value`, jsonArray(of))
	uris := make(map[StatusID]string, len(rows))
	for _, s := range rows {
		uris[s.ID] = s.URI
	}
	return uris, err
}

// OldMedia returns the path of the file that has an old path, "" if there is none.
func (r reader) OldMedia(ctx context.Context, path string) (string, error) {
	if !r.db.HasOldAddresses() {
		return "", nil
	}
	target, err := one[string](ctx, r, "old media", `SELECT target FROM old_media WHERE path = ?`, path)
	if err != nil || target == nil {
		return "", err
	}
	return *target, nil
}

// IsDeadAddress returns whether a path is that of something that other software had deleted.
func (r reader) IsDeadAddress(ctx context.Context, path string) (bool, error) {
	if !r.db.HasOldAddresses() {
		return false, nil
	}
	found, err := one[int](ctx, r, "dead address", `SELECT 1 FROM dead_addresses WHERE path = ?`, path)
	return found != nil, err
}

// IsDeadNickname returns whether an account that other software had deleted had a nickname.
func (r reader) IsDeadNickname(ctx context.Context, nickname string) (bool, error) {
	if !r.db.HasOldAddresses() {
		return false, nil
	}
	found, err := one[int](ctx, r, "dead nickname", `SELECT 1 FROM dead_nicknames WHERE nickname_key = ?`, text.NickKey(nickname))
	return found != nil, err
}

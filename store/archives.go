package store

import (
	"context"
	"time"
)

// ArchiveID is a flake in the API.
type ArchiveID int64

func (id ArchiveID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }

func (id ArchiveID) String() string { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake; any other text becomes 0.
func (id *ArchiveID) UnmarshalText(b []byte) error {
	*id = ArchiveID(parseLocalFlake(string(b)))
	return nil
}

// Time returns when the import of the archive was started.
func (id ArchiveID) Time() time.Time { return idTime(int64(id)) }

// ArchiveState is the state of the import of an archive.
type ArchiveState string

const (
	ArchiveUploading ArchiveState = "uploading"
	ArchiveQueued    ArchiveState = "queued" // or running
	ArchiveComplete  ArchiveState = "complete"
	ArchiveFailed    ArchiveState = "failed" // permanently; posts that were imported before stay
	ArchiveUndoing   ArchiveState = "undoing"
	ArchiveUndone    ArchiveState = "undone"
)

// Archive is an archive of a person, from which posts are imported into a local account.
type Archive struct {
	ID         ArchiveID
	AccountID  AccountID
	File       string // name in the folder imports, or the path that an operator named
	Uploaded   bool   // the file is removed when it is no longer needed
	ByStaff    bool   // its origin need not be an alias of the account
	Public     bool   // public posts stay public
	Origin     string // handle of the account that it is of
	ActorURI   string
	State      ArchiveState
	Size       int64 // bytes of an upload
	Received   int64 // of these
	Total      int   // entries of its outbox
	Position   int   // how many of these are processed
	Imported   int   // posts
	Files      int   // attachments
	Skipped    int   // posts and attachments that are left out for a reason
	Error      string
	FinishedAt *Time
	Emoji      bool // custom emoji of its posts are copied into a pack
}

// ArchiveSkip is a post or attachment of an archive that was not imported.
type ArchiveSkip struct {
	ID        int64
	ArchiveID ArchiveID
	Item      string // the id of a post, or a file
	Reason    string
}

// ImportedStatus says where an imported post is from.
type ImportedStatus struct {
	StatusID    StatusID
	AccountID   AccountID
	ArchiveID   ArchiveID
	OriginalURI string
	OriginalURL string // its page
}

// RunArchive is the job that imports an archive, or undoes that. It continues where it was interrupted.
type RunArchive struct {
	ArchiveID ArchiveID `json:"archive_id"`
}

// Kind allows one archive at a time, so that the memory of one and the room of one unpacked archive are enough.
func (RunArchive) Kind() JobKind {
	return JobKind{Name: "run_archive", Timeout: NoTimeout, Parallel: 1}
}

// ArchiveKey is the unique key of the job of an archive.
func ArchiveKey(id ArchiveID) string { return "archive:" + id.String() }

// PruneUploads is the recurring job that removes uploads of archives that did not end.
type PruneUploads struct{}

func (PruneUploads) Kind() JobKind {
	return JobKind{Name: "prune_uploads", Every: 6 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

// Archive returns an archive, and errs.ErrRecordNotFound if there is none.
func (r reader) Archive(ctx context.Context, id ArchiveID) (*Archive, error) {
	return get[Archive](ctx, r, "archive", `SELECT * FROM archives WHERE id = ?`, id)
}

// Archives returns the archives of an account, newest first.
func (r reader) Archives(ctx context.Context, account AccountID, limit int) ([]*Archive, error) {
	return list[*Archive](ctx, r, "archives", `
		SELECT *
		FROM archives INDEXED BY archives_account
		WHERE account_id = ?
		ORDER BY id DESC
		LIMIT ?`, account, limit)
}

// UnfinishedUploads returns archives whose upload began before a time and has not ended.
func (r reader) UnfinishedUploads(ctx context.Context, before time.Time, limit int) ([]*Archive, error) {
	return list[*Archive](ctx, r, "unfinished uploads", `
		SELECT *
		FROM archives INDEXED BY archives_uploading
		WHERE state = 'uploading' AND id < ?
		ORDER BY id
		LIMIT ?`, before.UnixMilli()<<sequenceBits, limit)
}

// ArchiveSkips returns what an archive has skipped, in the order of the archive, after an id.
func (r reader) ArchiveSkips(ctx context.Context, id ArchiveID, after int64, limit int) ([]*ArchiveSkip, error) {
	return list[*ArchiveSkip](ctx, r, "archive skips", `
		SELECT *
		FROM archive_skips INDEXED BY archive_skips_archive
		WHERE archive_id = ? AND id > ?
		ORDER BY id
		LIMIT ?`, id, after, limit)
}

// AddArchive inserts an archive with a new id.
func (tx *Tx) AddArchive(ctx context.Context, a *Archive) error {
	a.ID = ArchiveID(tx.newID())
	return tx.exec(ctx, "add archive", insertArchive.text, insertArchive.args(a)...)
}

// SaveArchive writes what changes of an archive.
func (tx *Tx) SaveArchive(ctx context.Context, a *Archive) error {
	a.Error = truncate(a.Error, 500)
	return tx.exec(ctx, "save archive", updateArchive.text, updateArchive.args(a)...)
}

// RemoveArchive deletes an archive, of which no post is left.
func (tx *Tx) RemoveArchive(ctx context.Context, id ArchiveID) error {
	return tx.exec(ctx, "remove archive", `DELETE FROM archives WHERE id = ?`, id)
}

// maxArchiveSkips is how many skipped posts and attachments of an archive are stored. All are counted.
const maxArchiveSkips = 1000

// AddArchiveSkip stores that a post or attachment is skipped, unless there are too many.
func (tx *Tx) AddArchiveSkip(ctx context.Context, id ArchiveID, item, reason string) error {
	return tx.exec(ctx, "add archive skip", `
		INSERT INTO archive_skips (archive_id, item, reason)
		SELECT ?1, ?2, ?3
		WHERE (SELECT count(*) FROM archive_skips WHERE archive_id = ?1) < ?4`, id, truncate(item, 500), truncate(reason, 500), maxArchiveSkips)
}

// ClearArchiveSkips deletes the rows about skipped posts and attachments.
func (tx *Tx) ClearArchiveSkips(ctx context.Context, id ArchiveID) error {
	return tx.exec(ctx, "clear archive skips", `DELETE FROM archive_skips WHERE archive_id = ?`, id)
}

// keepRemovedOriginal stores that an imported post is deleted, so that its archive does not bring it back.
func (tx *Tx) keepRemovedOriginal(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "keep removed original", `
		INSERT INTO removed_originals (account_id, original_uri, archive_id)
		SELECT account_id, original_uri, archive_id
		FROM imported_statuses
		WHERE status_id = ?
		ON CONFLICT DO NOTHING`, id)
}

// ForgetRemovedOriginals lets another import bring back posts of an archive that were deleted.
func (tx *Tx) ForgetRemovedOriginals(ctx context.Context, id ArchiveID) error {
	return tx.exec(ctx, "forget removed originals", `DELETE FROM removed_originals WHERE archive_id = ?`, id)
}

// RemovedOriginals returns those of the ids whose imported posts were deleted.
func (r reader) RemovedOriginals(ctx context.Context, account AccountID, uris []string) ([]string, error) {
	return list[string](ctx, r, "removed originals", `
		SELECT original_uri
		FROM json_each(?2) j
		CROSS JOIN removed_originals o ON o.account_id = ?1 AND o.original_uri = j.value`, account, jsonTexts(uris))
}

// KnownOriginals returns those of the ids that posts of an account have: imported posts by the id of their original, others by their own.
func (r reader) KnownOriginals(ctx context.Context, account AccountID, uris []string) (map[string]StatusID, error) {
	type row struct {
		URI string
		ID  StatusID
	}
	rows, err := list[row](ctx, r, "known originals", `
		SELECT j.value AS uri, i.status_id AS id
		FROM json_each(?2) j
		CROSS JOIN imported_statuses i ON i.account_id = ?1 AND i.original_uri = j.value
		UNION ALL
		SELECT s.uri, s.id
		FROM json_each(?2) j
		CROSS JOIN statuses s ON s.uri = j.value AND s.account_id = ?1`, account, jsonTexts(uris))
	known := make(map[string]StatusID, len(rows))
	for _, k := range rows {
		known[k.URI] = k.ID
	}
	return known, err
}

// ImportedFrom is where an imported post is from, as others see it.
type ImportedFrom struct {
	StatusID StatusID
	Origin   string // handle
	URL      string
}

// ImportedFrom returns where those of the statuses that are imported are from, in no order.
func (r reader) ImportedFrom(ctx context.Context, ids []StatusID) ([]ImportedFrom, error) {
	return list[ImportedFrom](ctx, r, "imported from", `
		SELECT i.status_id, a.origin, i.original_url AS url
		FROM json_each(?) j
		CROSS JOIN imported_statuses i ON i.status_id = j.value
		CROSS JOIN archives a ON a.id = i.archive_id`, jsonArray(ids))
}

// EmojisOfArchive returns the custom emoji of the posts that were imported from an archive: those of its old server.
func (r reader) EmojisOfArchive(ctx context.Context, id ArchiveID, limit int) ([]RemoteEmoji, error) {
	return list[RemoteEmoji](ctx, r, "emoji of an archive", `
		SELECT DISTINCT j.value ->> 'shortcode' AS shortcode, j.value ->> 'url' AS url
		FROM imported_statuses i INDEXED BY imported_statuses_archive
		CROSS JOIN statuses s ON s.id = i.status_id
		CROSS JOIN json_each(s.emojis) j
		WHERE i.archive_id = ?
		LIMIT ?`, id, limit)
}

// StatusesOfArchive returns the posts that were imported from an archive, oldest first.
func (r reader) StatusesOfArchive(ctx context.Context, id ArchiveID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "statuses of an archive", `
		SELECT s.*
		FROM imported_statuses i INDEXED BY imported_statuses_archive
		CROSS JOIN statuses s ON s.id = i.status_id
		WHERE i.archive_id = ?
		ORDER BY i.status_id
		LIMIT ?`, id, limit)
}

// AddImportedStatus stores where an imported post is from.
func (tx *Tx) AddImportedStatus(ctx context.Context, i *ImportedStatus) error {
	tx.invalidateStatus(i.StatusID)
	return tx.exec(ctx, "add imported status", insertImportedStatus.text, insertImportedStatus.args(i)...)
}

// CountUnfederated returns how many public and unlisted posts and boosts of an account never leave this server.
func (r reader) CountUnfederated(ctx context.Context, account AccountID) (int, error) {
	return value[int](ctx, r, "count unfederated", `
		SELECT count(*)
		FROM statuses INDEXED BY statuses_unfederated
		WHERE account_id = ? AND unfederated = 1 AND visibility IN (0, 1)`, account)
}

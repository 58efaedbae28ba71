package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// ImportID is a flake in the API.
type ImportID int64

func (id ImportID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }

func (id ImportID) String() string { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake; any other text becomes 0.
func (id *ImportID) UnmarshalText(b []byte) error {
	*id = ImportID(parseLocalFlake(string(b)))
	return nil
}

// Time returns when the import was started.
func (id ImportID) Time() time.Time { return idTime(int64(id)) }

// ImportKind is what an import adds to an account. Exports have the same kinds.
type ImportKind string

const (
	ImportFollows      ImportKind = "follows"
	ImportBlocks       ImportKind = "blocks"
	ImportMutes        ImportKind = "mutes"
	ImportDomainBlocks ImportKind = "domain_blocks"
	ImportLists        ImportKind = "lists"
	ImportBookmarks    ImportKind = "bookmarks"
	ImportLikes        ImportKind = "likes"
)

// ImportKinds are all kinds.
var ImportKinds = []ImportKind{ImportFollows, ImportBlocks, ImportMutes, ImportDomainBlocks, ImportLists, ImportBookmarks, ImportLikes}

// Import is an import of entries of one kind.
type Import struct {
	ID         ImportID
	AccountID  AccountID
	Kind       ImportKind
	Total      int // entries
	Imported   int // of these
	Skipped    int // of these
	FinishedAt *Time
}

// ImportState is the state of an entry that is not imported.
type ImportState string

const (
	ImportNew     ImportState = "new"
	ImportRetry   ImportState = "retry" // it failed, possibly for a short time only
	ImportSkipped ImportState = "skipped"
)

// ImportEntry is an entry of an import.
type ImportEntry struct {
	ImportID ImportID
	Position int // in the file, from 1 on
	State    ImportState
	Target   string // a handle, URI or domain
	Options  JSON[ImportOptions]
	Reason   string // why it was not imported
}

// ImportOptions are the other columns of an entry. Nil: the file does not have it.
type ImportOptions struct {
	ShowReblogs       *bool    `json:"show_reblogs,omitempty"`
	Notify            *bool    `json:"notify,omitempty"`
	Languages         []string `json:"languages,omitzero"`
	HideNotifications *bool    `json:"hide_notifications,omitempty"`
	List              string   `json:"list,omitempty"` // the title of the list to which the account is added
}

// RunImport is the job that imports entries. It continues where it was interrupted.
type RunImport struct {
	ImportID ImportID `json:"import_id"`
	Retries  int      `json:"retries,omitempty"` // how often the entries whose server did not answer were retried, this time included
	After    int      `json:"after,omitempty"`   // position of the last one that was retried this time
}

func (RunImport) Kind() JobKind { return JobKind{Name: "run_import", Timeout: NoTimeout, Parallel: 2} }

// ImportKey is the unique key of the job of an import.
func ImportKey(id ImportID) string { return "import:" + id.String() }

// Import returns an import, and errs.ErrRecordNotFound if there is none.
func (r reader) Import(ctx context.Context, id ImportID) (*Import, error) {
	i, err := one[Import](ctx, r, "import", `SELECT * FROM imports WHERE id = ?`, id)
	if i == nil && err == nil {
		err = notFound
	}
	return i, err
}

// Imports returns the imports of an account, newest first.
func (r reader) Imports(ctx context.Context, account AccountID, limit int) ([]*Import, error) {
	return list[*Import](ctx, r, "imports", `
		SELECT *
		FROM imports INDEXED BY imports_account
		WHERE account_id = ?
		ORDER BY id DESC
		LIMIT ?`, account, limit)
}

// ImportEntries returns the entries of an import in a state after a position, in the order of the file.
func (r reader) ImportEntries(ctx context.Context, id ImportID, state ImportState, after, limit int) ([]*ImportEntry, error) {
	return list[*ImportEntry](ctx, r, "import entries", `
		SELECT *
		FROM import_entries INDEXED BY import_entries_state
		WHERE import_id = ? AND state = ? AND position > ?
		ORDER BY position
		LIMIT ?`, id, state, after, limit)
}

// AddImport inserts an import with a new id and its entries, of which it reads Target and Options.
func (tx *Tx) AddImport(ctx context.Context, i *Import, entries []ImportEntry) error {
	i.ID, i.Total = ImportID(tx.newID()), len(entries)
	if err := tx.exec(ctx, "add import", `
		INSERT INTO imports (id, account_id, kind, total)
		VALUES (?, ?, ?, ?)`, i.ID, i.AccountID, i.Kind, i.Total); err != nil {
		return err
	}
	type row struct {
		Target  string        `json:"target"`
		Options ImportOptions `json:"options"`
	}
	rows := make([]row, len(entries))
	for n, e := range entries {
		rows[n] = row{e.Target, e.Options.V}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("add import: %w", err)
	}
	err = tx.exec(ctx, "add import entries", `
		INSERT INTO import_entries (import_id, position, target, options)
		SELECT ?1, j.key + 1, j.value ->> 'target', j.value -> 'options'
		FROM json_each(?2) j`, i.ID, string(text))
	return err
}

// RecordImported deletes imported entries and counts them.
func (tx *Tx) RecordImported(ctx context.Context, id ImportID, positions []int64) error {
	n, err := tx.execRows(ctx, "record imported", `
		DELETE FROM import_entries
		WHERE import_id = ? AND position IN (SELECT value FROM json_each(?))`, id, jsonArray(positions))
	if err != nil || n == 0 {
		return err
	}
	err = tx.exec(ctx, "count imported", `UPDATE imports SET imported = imported + ? WHERE id = ?`, n, id)
	return err
}

// RecordNotImported stores state and reason of an entry that failed.
func (tx *Tx) RecordNotImported(ctx context.Context, e *ImportEntry) error {
	n, err := tx.execRows(ctx, "record skipped", `
		UPDATE import_entries
		SET state = ?, reason = ?
		WHERE import_id = ? AND position = ? AND state <> 'skipped'`, e.State, truncate(e.Reason, 500), e.ImportID, e.Position)
	if err != nil || n == 0 || e.State != ImportSkipped {
		return err
	}
	err = tx.exec(ctx, "count skipped", `UPDATE imports SET skipped = skipped + ? WHERE id = ?`, n, e.ImportID)
	return err
}

// SkipRestOfImport skips all entries that are left, for one reason.
func (tx *Tx) SkipRestOfImport(ctx context.Context, id ImportID, reason string) error {
	n, err := tx.execRows(ctx, "skip rest of import", `
		UPDATE import_entries
		SET state = 'skipped', reason = ?
		WHERE import_id = ? AND state IN ('new', 'retry')`, reason, id)
	if err != nil {
		return err
	}
	err = tx.exec(ctx, "count skipped", `UPDATE imports SET skipped = skipped + ? WHERE id = ?`, n, id)
	return err
}

// FinishImport records that no entry is left.
func (tx *Tx) FinishImport(ctx context.Context, id ImportID) error {
	err := tx.exec(ctx, "finish import", `UPDATE imports SET finished_at = ? WHERE id = ? AND finished_at IS NULL`, At(tx.db.now()), id)
	return err
}

const (
	importTTL        = 30 * 24 * time.Hour // of finished imports
	importEntryBatch = 2000                // rows per transaction
)

// PruneImports deletes a batch of an import that was finished long ago. It returns whether there may be more.
func (tx *Tx) PruneImports(ctx context.Context) (more bool, err error) {
	id, err := one[ImportID](ctx, tx.reader, "old import", `
		SELECT id
		FROM imports
		WHERE finished_at < ?
		ORDER BY finished_at
		LIMIT 1`, At(tx.db.now().Add(-importTTL)))
	if err != nil || id == nil {
		return false, err
	}
	n, err := tx.execRows(ctx, "prune import entries", `
		DELETE FROM import_entries
		WHERE (import_id, position) IN (SELECT import_id, position FROM import_entries WHERE import_id = ? LIMIT ?)`, *id, importEntryBatch)
	if err != nil || n == importEntryBatch {
		return true, err
	}
	err = tx.exec(ctx, "prune import", `DELETE FROM imports WHERE id = ?`, *id)
	return true, err
}

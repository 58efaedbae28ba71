package entity

import "svc/store"

// Import is an import of the viewer.
type Import struct {
	ID         store.ImportID   `json:"id"`
	Kind       store.ImportKind `json:"kind"`
	State      string           `json:"state"`    // running or finished
	Total      int              `json:"total"`    // entries
	Imported   int              `json:"imported"` // of these
	Skipped    int              `json:"skipped"`  // of these
	CreatedAt  store.Time       `json:"created_at"`
	FinishedAt *store.Time      `json:"finished_at"`
}

// NewImport renders an import.
func NewImport(row *store.Import) Import {
	i := Import{
		ID: row.ID, Kind: row.Kind, State: "running", Total: row.Total, Imported: row.Imported, Skipped: row.Skipped,
		CreatedAt: store.At(row.ID.Time()), FinishedAt: row.FinishedAt,
	}
	if row.FinishedAt != nil {
		i.State = "finished"
	}
	return i
}

// SkippedEntry is an entry of an import that was skipped.
type SkippedEntry struct {
	Position int    `json:"position"` // in the file, from 1 on
	Entry    string `json:"entry"`
	Reason   string `json:"reason"`
}

// NewSkippedEntry renders an entry that was skipped.
func NewSkippedEntry(row *store.ImportEntry) SkippedEntry {
	return SkippedEntry{Position: row.Position, Entry: row.Target, Reason: row.Reason}
}

package entity

import "svc/store"

// Archive is an archive from which posts of the viewer are imported.
type Archive struct {
	ID         store.ArchiveID    `json:"id"`
	State      store.ArchiveState `json:"state"`
	Origin     *string            `json:"origin"` // handle of the account that it is of; nil: not known yet
	Size       int64              `json:"size"`   // bytes of the upload
	Received   int64              `json:"received"`
	Total      int                `json:"total"`    // entries of its outbox
	Position   int                `json:"position"` // how many of these are processed
	Imported   int                `json:"imported"` // posts
	Files      int                `json:"files"`
	Skipped    int                `json:"skipped"`
	Error      *string            `json:"error"`
	CreatedAt  store.Time         `json:"created_at"`
	FinishedAt *store.Time        `json:"finished_at"`
}

// NewArchive renders an archive.
func NewArchive(row *store.Archive) Archive {
	a := Archive{
		ID: row.ID, State: row.State, Size: row.Size, Received: row.Received, Total: row.Total, Position: row.Position, Imported: row.Imported, Files: row.Files,
		Skipped: row.Skipped, CreatedAt: store.At(row.ID.Time()), FinishedAt: row.FinishedAt,
	}
	if row.Origin != "" {
		a.Origin = &row.Origin
	}
	if row.Error != "" {
		a.Error = &row.Error
	}
	return a
}

// ArchiveSkip is a post or file of an archive that was not imported, and why.
type ArchiveSkip struct {
	ID     int64  `json:"id"`
	Item   string `json:"item"`
	Reason string `json:"reason"`
}

// NewArchiveSkip renders what was skipped.
func NewArchiveSkip(row *store.ArchiveSkip) ArchiveSkip {
	return ArchiveSkip{row.ID, row.Item, row.Reason}
}

package store

import (
	"context"
	"slices"
)

// StatusEdit is an earlier version of a status.
type StatusEdit struct {
	ID          int64
	StatusID    StatusID
	CreatedAt   Time // since when this version was current
	Sensitive   bool
	SpoilerText string
	Text        string
	Content     string
	ContentType string
	Media       JSON[[]MediaVersion] // in order
	Poll        JSON[[]string]       // the options of its poll, in order
}

// MediaVersion is an attachment in a version of a status.
type MediaVersion struct {
	ID          MediaID `json:"id"`
	Description string  `json:"description"`
}

// AsEdit returns the current version of the status. poll is nil if it has none.
func (s *Status) AsEdit(media []*Media, poll *Poll) *StatusEdit {
	v := &StatusEdit{
		StatusID: s.ID, CreatedAt: s.CreatedAt, Sensitive: s.Sensitive, SpoilerText: s.SpoilerText,
		Text: s.Text, Content: s.Content, ContentType: s.ContentType,
	}
	if s.EditedAt != nil {
		v.CreatedAt = *s.EditedAt
	}
	v.Media.V = []MediaVersion{}
	for _, m := range media {
		v.Media.V = append(v.Media.V, MediaVersion{m.ID, m.Description})
	}
	v.Poll.V = poll.Titles()
	return v
}

// StatusEdits returns the latest earlier versions of a status, oldest first.
func (r reader) StatusEdits(ctx context.Context, id StatusID, limit int) ([]*StatusEdit, error) {
	edits, err := list[*StatusEdit](ctx, r, "status edits", `
		SELECT *
		FROM status_edits
		WHERE status_id = ?
		ORDER BY id DESC
		LIMIT ?`, id, limit)
	slices.Reverse(edits)
	return edits, err
}

// maxVersions is how many earlier versions are kept: the first and the latest.
const maxVersions = 200

// AddStatusEdit stores a version of a status before it changes. If there are too many, those in the middle are deleted.
func (tx *Tx) AddStatusEdit(ctx context.Context, v *StatusEdit) error {
	v.ID = tx.newID()
	if err := tx.exec(ctx, "add status edit", insertStatusEdit.text, insertStatusEdit.args(v)...); err != nil {
		return err
	}
	n, err := tx.execRows(ctx, "delete versions", `
		DELETE FROM status_edits
		WHERE status_id = ?1
			AND id <= (SELECT id FROM status_edits INDEXED BY status_edits_status WHERE status_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
			AND id > (SELECT min(id) FROM status_edits INDEXED BY status_edits_status WHERE status_id = ?1)`, v.StatusID, maxVersions-1)
	if n == 0 || err != nil {
		return err
	}
	return tx.detachUnusedMedia(ctx, v.StatusID)
}

// detachUnusedMedia detaches the attachments that no version of a status has.
func (tx *Tx) detachUnusedMedia(ctx context.Context, id StatusID) error {
	versions, err := list[JSON[[]MediaVersion]](ctx, tx.reader, "media of versions", `SELECT media FROM status_edits WHERE status_id = ?`, id)
	if err != nil {
		return err
	}
	var used []MediaID
	for _, v := range versions {
		for _, m := range v.V {
			used = append(used, m.ID)
		}
	}
	return tx.exec(ctx, "detach media", `
		UPDATE media
		SET status_id = NULL
		WHERE status_id = ? AND position < 0 AND id NOT IN (SELECT value FROM json_each(?))`, id, jsonArray(used))
}

// LatestEdits returns the latest earlier versions of statuses, at most each of every status, oldest first.
func (r reader) LatestEdits(ctx context.Context, ids []StatusID, each int) ([]*StatusEdit, error) {
	return list[*StatusEdit](ctx, r, "latest edits", `
		SELECT e.*
		FROM json_each(?) j
		CROSS JOIN status_edits e
		WHERE e.id IN (
			SELECT x.id
			FROM status_edits x INDEXED BY status_edits_status
			WHERE x.status_id = j.value
			ORDER BY x.id DESC
			LIMIT ?)
		ORDER BY j.key, e.id`, jsonArray(ids), each)
}

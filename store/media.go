package store

import "context"

// Media is an upload, or an attachment of a remote post.
type Media struct {
	ID          MediaID
	AccountID   AccountID
	StatusID    *StatusID // nil: not attached
	Position    int
	Type        string // image, video, audio, unknown
	Mime        string
	File        string // name in the media folder, "" for remote media
	Thumbnail   string // likewise, "" where the file itself serves
	RemoteURL   string
	Description string
	Size        int64
	CreatedAt   Time
}

// MediaOf returns the attachments of the statuses, in order of status and position.
func (r reader) MediaOf(ctx context.Context, ids []StatusID) ([]*Media, error) {
	return list[*Media](ctx, r, "attachments", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.status_id = j.value
		ORDER BY j.key, m.position`, jsonArray(ids))
}

// MediaByID returns an upload, and errs.ErrRecordNotFound if there is none.
func (r reader) MediaByID(ctx context.Context, id MediaID) (*Media, error) {
	m, err := one[Media](ctx, r, "media", `SELECT * FROM media WHERE id = ?`, id)
	if m == nil && err == nil {
		err = notFound
	}
	return m, err
}

// MediaByIDs returns the uploads that have one of the ids, in the order of ids.
func (r reader) MediaByIDs(ctx context.Context, ids []MediaID) ([]*Media, error) {
	return list[*Media](ctx, r, "media", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.id = j.value
		ORDER BY j.key`, jsonArray(ids))
}

// AddMedia inserts an upload. Its ID and CreatedAt are set.
func (tx *Tx) AddMedia(ctx context.Context, m *Media) error {
	m.ID, m.CreatedAt = MediaID(tx.newID()), At(tx.db.now())
	_, err := tx.exec(ctx, "add media", `
		INSERT INTO media (id, account_id, status_id, position, type, mime, file, thumbnail, remote_url, description, size, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.AccountID, m.StatusID, m.Position, m.Type, m.Mime, m.File, m.Thumbnail, m.RemoteURL, m.Description, m.Size, m.CreatedAt)
	return err
}

// DescribeMedia sets the text that stands for an upload.
func (tx *Tx) DescribeMedia(ctx context.Context, m *Media) error {
	_, err := tx.exec(ctx, "describe media", `UPDATE media SET description = ? WHERE id = ?`, m.Description, m.ID)
	if m.StatusID != nil {
		tx.touchStatus(*m.StatusID)
	}
	return err
}

// Attach gives a status these attachments, in this order, in place of those it had.
func (tx *Tx) Attach(ctx context.Context, id StatusID, media []*Media) error {
	if _, err := tx.exec(ctx, "detach media", `UPDATE media SET status_id = NULL WHERE status_id = ?`, id); err != nil {
		return err
	}
	for i, m := range media {
		m.StatusID, m.Position = &id, i
		if _, err := tx.exec(ctx, "attach media", `UPDATE media SET status_id = ?, position = ? WHERE id = ?`, id, i, m.ID); err != nil {
			return err
		}
	}
	tx.touchStatus(id)
	return nil
}

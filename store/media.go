package store

import (
	"context"
	"slices"
	"time"
)

// MediaTypes are the types of attachments in the client API.
var MediaTypes = []string{"image", "video", "audio", "unknown"}

// Media is an upload, or an attachment of a remote status.
type Media struct {
	ID          MediaID
	AccountID   AccountID
	StatusID    *StatusID    // nil: not attached to a status
	MessageID   *MessageID   // nil: not attached to a message of a chat
	ScheduledID *ScheduledID // of a scheduled status
	Position    int          // -1: only earlier versions of the status have it
	IsMascot    bool         // the picture that front ends show the account in empty places
	Type        string       // image, video, audio, unknown
	Mime        string
	File        string // name in the media directory, "" for remote media
	Thumbnail   string // likewise; "": the file itself
	RemoteURL   string
	PreviewURL  string // picture of a remote video or sound
	Description string
	Size        int64

	// Properties that are known, else 0.
	Width         int // as displayed, in pixels
	Height        int
	PreviewWidth  int // of Thumbnail
	PreviewHeight int
	Duration      int64   // milliseconds
	FrameRate     float64 // frames a second
	Blurhash      string
	FocusX        float64 // the point to keep when the picture is cropped: left -1, right 1
	FocusY        float64 // bottom -1, top 1

	CreatedAt  Time
	DetachedAt *Time // since when it is attached to nothing
}

// Detached returns true if the upload is attached to nothing.
func (m *Media) Detached() bool {
	return m.StatusID == nil && m.MessageID == nil && m.ScheduledID == nil && !m.IsMascot
}

// Files returns the names of the files of an upload, without "".
func (m *Media) Files() []string {
	return slices.DeleteFunc([]string{m.File, m.Thumbnail}, func(name string) bool { return name == "" })
}

// MediaOf returns the attachments of the statuses, in order of status and position.
func (r reader) MediaOf(ctx context.Context, ids []StatusID) ([]*Media, error) {
	return list[*Media](ctx, r, "attachments", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.status_id = j.value AND m.position >= 0
		ORDER BY j.key, m.position`, jsonArray(ids))
}

// OwnMedia returns an upload of the owner, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnMedia(ctx context.Context, owner AccountID, id MediaID) (*Media, error) {
	return get[Media](ctx, r, "media", `SELECT * FROM media WHERE id = ? AND account_id = ?`, id, owner)
}

// MediaByIDs returns the uploads that have one of the ids, in the order of ids.
func (r reader) MediaByIDs(ctx context.Context, ids []MediaID) ([]*Media, error) {
	return list[*Media](ctx, r, "media", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.id = j.value
		ORDER BY j.key`, jsonArray(ids))
}

// UsedFiles returns those of the files that a row of media has.
func (r reader) UsedFiles(ctx context.Context, names []string) ([]string, error) {
	return list[string](ctx, r, "used files", `
		SELECT j.value
		FROM json_each(?) j
		WHERE EXISTS (SELECT 1 FROM media m WHERE m.file = j.value AND m.file <> '')
			OR EXISTS (SELECT 1 FROM media m WHERE m.thumbnail = j.value AND m.thumbnail <> '')`, jsonTexts(names))
}

// ProfilePictures returns the files in the profiles of local accounts.
func (r reader) ProfilePictures(ctx context.Context) ([]string, error) {
	type row struct{ Avatar, AvatarStatic, Header, HeaderStatic, Background string }
	rows, err := list[row](ctx, r, "profile pictures", `
		SELECT avatar, avatar_static, header, header_static, background
		FROM accounts
		WHERE domain = ''`)
	var files []string
	for _, a := range rows {
		for _, name := range []string{a.Avatar, a.AvatarStatic, a.Header, a.HeaderStatic, a.Background} {
			if name != "" {
				files = append(files, name)
			}
		}
	}
	return files, err
}

// AddMedia inserts an upload. Its ID, CreatedAt and DetachedAt are set.
func (tx *Tx) AddMedia(ctx context.Context, m *Media) error {
	m.ID, m.CreatedAt, m.DetachedAt = MediaID(tx.newID()), At(tx.db.now()), nil
	if m.Detached() {
		m.DetachedAt = &m.CreatedAt
	}
	if err := checkType(m.Type, MediaTypes); err != nil {
		return err
	}
	return tx.exec(ctx, "add media", insertMedia.text, insertMedia.args(m)...)
}

// DescribeMedia saves the description, focus and thumbnail of an upload, and the properties of the thumbnail.
func (tx *Tx) DescribeMedia(ctx context.Context, m *Media) error {
	if m.StatusID != nil {
		tx.invalidateStatus(*m.StatusID)
	}
	return tx.exec(ctx, "describe media", describeMedia.text, describeMedia.args(m)...)
}

// DeleteMedia deletes the row of an upload.
func (tx *Tx) DeleteMedia(ctx context.Context, id MediaID) error {
	return tx.exec(ctx, "delete media", `DELETE FROM media WHERE id = ?`, id)
}

// DeleteMediaOf deletes the media of a status, with those of its earlier versions.
func (tx *Tx) DeleteMediaOf(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "delete media of a status", `DELETE FROM media WHERE status_id = ?`, id)
}

// AttachMedia replaces the attachments of a status, in this order. The old ones stay for the earlier versions of the status.
func (tx *Tx) AttachMedia(ctx context.Context, id StatusID, media []*Media) error {
	if err := tx.exec(ctx, "detach media from version", `UPDATE media SET position = -1 WHERE status_id = ?`, id); err != nil {
		return err
	}
	for i, m := range media {
		m.StatusID, m.Position, m.DetachedAt = &id, i, nil
		if err := tx.exec(ctx, "attach media", `
			UPDATE media
			SET status_id = ?, position = ?, detached_at = NULL
			WHERE id = ?`, id, i, m.ID); err != nil {
			return err
		}
	}
	tx.invalidateStatus(id)
	return nil
}

// MediaOfMessages returns the attachments of chat messages.
func (r reader) MediaOfMessages(ctx context.Context, ids []MessageID) ([]*Media, error) {
	return list[*Media](ctx, r, "attachments of messages", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.message_id = j.value`, jsonArray(ids))
}

// AttachMediaToMessage attaches an upload to a chat message.
func (tx *Tx) AttachMediaToMessage(ctx context.Context, id MessageID, m *Media) error {
	m.MessageID, m.DetachedAt = &id, nil
	return tx.exec(ctx, "attach media", `UPDATE media SET message_id = ?, detached_at = NULL WHERE id = ?`, id, m.ID)
}

// MarkDetachedMedia sets DetachedAt of up to n uploads whose status or message was deleted. It returns how many there were.
func (tx *Tx) MarkDetachedMedia(ctx context.Context, n int) (int64, error) {
	return tx.execRows(ctx, "mark detached media", `
		UPDATE media
		SET detached_at = ?
		WHERE id IN (
			SELECT id
			FROM media
			WHERE status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0 AND detached_at IS NULL
			LIMIT ?)`, At(tx.db.now()), n)
}

// DropDetachedMedia deletes the rows of up to n uploads that are detached for d. It returns how many there were.
func (tx *Tx) DropDetachedMedia(ctx context.Context, d time.Duration, n int) (int64, error) {
	return tx.execRows(ctx, "drop detached media", `
		DELETE FROM media
		WHERE id IN (
			SELECT id
			FROM media
			WHERE status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0 AND detached_at <= ?
			LIMIT ?)`, At(tx.db.now().Add(-d)), n)
}

// CountDetachedMedia returns how many uploads are attached to nothing since before a time.
func (r reader) CountDetachedMedia(ctx context.Context, before time.Time) (int64, error) {
	return value[int64](ctx, r, "count detached media", `
		SELECT count(*)
		FROM media
		WHERE status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0 AND detached_at <= ?`, At(before))
}

// FilesInUse returns those of the files that an upload has which is not detached since before a time.
func (r reader) FilesInUse(ctx context.Context, names []string, before time.Time) ([]string, error) {
	return list[string](ctx, r, "files in use", `
		SELECT j.value
		FROM json_each(?1) j
		WHERE EXISTS (SELECT 1 FROM media m WHERE m.file = j.value AND m.file <> '' AND (m.detached_at IS NULL OR m.detached_at > ?2))
			OR EXISTS (SELECT 1 FROM media m WHERE m.thumbnail = j.value AND m.thumbnail <> '' AND (m.detached_at IS NULL OR m.detached_at > ?2))`,
		jsonTexts(names), At(before))
}

// UploadsAfter returns up to n uploads of this server with a larger id.
func (r reader) UploadsAfter(ctx context.Context, after MediaID, n int) ([]*Media, error) {
	return list[*Media](ctx, r, "uploads", `
		SELECT *
		FROM media
		WHERE id > ? AND file <> ''
		ORDER BY id
		LIMIT ?`, after, n)
}

// SetMediaSize corrects the size of an upload.
func (tx *Tx) SetMediaSize(ctx context.Context, id MediaID, size int64) error {
	return tx.exec(ctx, "set size of media", `UPDATE media SET size = ? WHERE id = ?`, size, id)
}

// DeleteDetachedMedia deletes the row of an upload that is attached to nothing.
func (tx *Tx) DeleteDetachedMedia(ctx context.Context, id MediaID) error {
	return tx.exec(ctx, "delete detached media", `
		DELETE FROM media
		WHERE id = ? AND status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0`, id)
}

// Mascot returns the mascot of an account, nil if it has none.
func (r reader) Mascot(ctx context.Context, account AccountID) (*Media, error) {
	return one[Media](ctx, r, "mascot", `SELECT * FROM media WHERE account_id = ? AND is_mascot = 1`, account)
}

// RemoveMascot deletes the mascot of an account, if there is one, and returns its files.
func (tx *Tx) RemoveMascot(ctx context.Context, account AccountID) (files []string, err error) {
	m, err := one[Media](ctx, tx.reader, "remove mascot", `DELETE FROM media WHERE account_id = ? AND is_mascot = 1 RETURNING *`, account)
	if m == nil || err != nil {
		return nil, err
	}
	return m.Files(), nil
}

package store

import "context"

// MediaBan bans a file: it is not served, and its content cannot be uploaded.
type MediaBan struct {
	ID       int64
	Address  string // its own URL, not that of the media proxy
	SHA256   string // of the content, hexadecimal; "": unknown
	BannedAt Time
}

// MaxMediaBans is how many bans there can be.
const MaxMediaBans = 10_000

// MediaBanned returns true if the file at a URL is banned.
func (r reader) MediaBanned(ctx context.Context, address string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM media_bans WHERE address = ?`, address)
}

// ContentBanned returns true if content with one of the hexadecimal SHA-256 sums is banned.
func (r reader) ContentBanned(ctx context.Context, sums []string) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		FROM json_each(?) j
		CROSS JOIN media_bans b ON b.sha256 = j.value AND b.sha256 <> ''
		LIMIT 1`, jsonTexts(sums))
}

// HasContentBans returns true if any content is banned.
func (r reader) HasContentBans(ctx context.Context) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM media_bans WHERE sha256 <> '' LIMIT 1`)
}

// IsServed returns true if a file in the media folder belongs to an upload or a profile, and neither its content nor that of the upload whose
// thumbnail it is is banned. A file without a row is left over from an interrupted upload or deletion.
func (r reader) IsServed(ctx context.Context, name string) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		FROM stored_files
		WHERE name = ?1
			AND NOT EXISTS (SELECT 1 FROM media_bans b WHERE b.sha256 = stored_files.sha256 AND b.sha256 <> '')
			AND NOT EXISTS (SELECT 1 FROM media_bans WHERE sha256 = ?2 AND sha256 <> '')
			AND NOT EXISTS (
				SELECT 1
				FROM media m
				CROSS JOIN stored_files f ON f.name = m.file
				CROSS JOIN media_bans b ON b.sha256 = f.sha256 AND b.sha256 <> ''
				WHERE m.thumbnail = ?1 AND m.thumbnail <> '')`, name, sumInName(name))
}

// MediaBanQuery selects bans.
type MediaBanQuery struct {
	Text   string `json:"query"` // part of the address, in any case; "": all
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
}

// MediaBans returns a page of bans, newest first.
func (r reader) MediaBans(ctx context.Context, q MediaBanQuery) ([]*MediaBan, error) {
	return list[*MediaBan](ctx, r, "media bans", `
		SELECT *
		FROM media_bans
		WHERE instr(lower(address), lower(?)) > 0
		ORDER BY id DESC
		LIMIT ? OFFSET ?`, q.Text, q.Limit, q.Offset)
}

// CountMediaBans returns how many bans have a text in their address.
func (r reader) CountMediaBans(ctx context.Context, text string) (int, error) {
	return value[int](ctx, r, "count media bans", `SELECT count(*) FROM media_bans WHERE instr(lower(address), lower(?)) > 0`, text)
}

// AddMediaBan bans the file at a URL. Repeating it is not an error, and adds the SHA-256 if that was unknown. It returns whether the ban is new.
func (tx *Tx) AddMediaBan(ctx context.Context, address, sum string) (bool, error) {
	n, err := tx.execRows(ctx, "ban media", `
		INSERT INTO media_bans (id, address, sha256, banned_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, tx.newID(), address, sum, At(tx.db.now()))
	if err != nil || n > 0 || sum == "" {
		return n > 0, err
	}
	return false, tx.SetMediaBanSum(ctx, address, sum)
}

// SetMediaBanSum sets the SHA-256 of a ban that has none. It does nothing if there is no such ban.
func (tx *Tx) SetMediaBanSum(ctx context.Context, address, sum string) error {
	return tx.exec(ctx, "set SHA-256 of a media ban", `UPDATE media_bans SET sha256 = ? WHERE address = ? AND sha256 = ''`, sum, address)
}

// RemoveMediaBan removes a ban. It returns whether there was one.
func (tx *Tx) RemoveMediaBan(ctx context.Context, address string) (bool, error) {
	n, err := tx.execRows(ctx, "unban media", `DELETE FROM media_bans WHERE address = ?`, address)
	return n > 0, err
}

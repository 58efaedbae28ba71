package store

import (
	"context"
)

// MediaBan says that a file of another server is not shown. It was made at the time of its id.
type MediaBan struct {
	ID       int64
	Address  string
	BannedAt Time
}

// MaxMediaBans is how many there can be.
const MaxMediaBans = 10_000

// MediaBanned tells whether the file at an address is banned.
func (r reader) MediaBanned(ctx context.Context, address string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM media_bans WHERE address = ?`, address)
}

// MediaBans returns all bans, the latest first.
func (r reader) MediaBans(ctx context.Context) ([]*MediaBan, error) {
	return list[*MediaBan](ctx, r, "media bans", `SELECT * FROM media_bans ORDER BY id DESC LIMIT ?`, MaxMediaBans)
}

// CountMediaBans returns how many bans there are.
func (tx *Tx) CountMediaBans(ctx context.Context) (int, error) {
	n, err := one[int](ctx, tx.reader, "count media bans", `SELECT count(*) FROM media_bans`)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// AddMediaBan bans the file at an address. Doing it twice is no error.
func (tx *Tx) AddMediaBan(ctx context.Context, address string) error {
	_, err := tx.exec(ctx, "ban media", `
		INSERT INTO media_bans (id, address, banned_at) VALUES (?, ?, ?)
		ON CONFLICT DO NOTHING`, tx.newID(), address, At(tx.db.now()))
	return err
}

// RemoveMediaBan ends that. Where there was none, it is no error either.
func (tx *Tx) RemoveMediaBan(ctx context.Context, address string) error {
	_, err := tx.exec(ctx, "unban media", `DELETE FROM media_bans WHERE address = ?`, address)
	return err
}

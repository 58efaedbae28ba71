package store

import "context"

// SettingRow is a setting that administrators have changed, in the form of the admin API.
type SettingRow struct {
	GroupName string
	Key       string
	Value     string // JSON
}

// MaxSettingRows bounds the settings in the database.
const MaxSettingRows = 1000

// SettingRows returns all settings in the database.
func (r reader) SettingRows(ctx context.Context) ([]*SettingRow, error) {
	return list[*SettingRow](ctx, r, "settings", `SELECT * FROM settings ORDER BY group_name, key LIMIT ?`, MaxSettingRows)
}

// SetSettingRow inserts or replaces a setting.
func (tx *Tx) SetSettingRow(ctx context.Context, row SettingRow) error {
	return tx.exec(ctx, "set setting", `
		INSERT INTO settings (group_name, key, value)
		VALUES (?, ?, ?)
		ON CONFLICT (group_name, key) DO UPDATE SET value = excluded.value`, row.GroupName, row.Key, row.Value)
}

// DeleteSettingRow removes a setting.
func (tx *Tx) DeleteSettingRow(ctx context.Context, group, key string) error {
	return tx.exec(ctx, "delete setting", `DELETE FROM settings WHERE group_name = ? AND key = ?`, group, key)
}

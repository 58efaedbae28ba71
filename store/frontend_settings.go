package store

import (
	"context"
	"encoding/json"
)

// FrontendSettings is what a front end stores for a user.
type FrontendSettings struct {
	AccountID AccountID
	Name      string // of the front end
	Settings  string
}

// FrontendSettings returns what a front end stores for an account, nil if it stores nothing.
func (r reader) FrontendSettings(ctx context.Context, id AccountID, name string) (json.RawMessage, error) {
	row, err := one[FrontendSettings](ctx, r, "front end settings", `SELECT * FROM frontend_settings WHERE account_id = ? AND name = ?`, id, name)
	if row == nil || err != nil {
		return nil, err
	}
	return json.RawMessage(row.Settings), nil
}

// AllFrontendSettings returns what all front ends store for an account, by name.
func (r reader) AllFrontendSettings(ctx context.Context, id AccountID) ([]*FrontendSettings, error) {
	return list[*FrontendSettings](ctx, r, "all front end settings", `SELECT * FROM frontend_settings WHERE account_id = ? ORDER BY name`, id)
}

// FrontendSettingsSize returns the bytes of all names and settings of an account.
func (r reader) FrontendSettingsSize(ctx context.Context, id AccountID) (int, error) {
	return value[int](ctx, r, "size of front end settings", `
		SELECT ifnull(sum(octet_length(name) + octet_length(settings)), 0)
		FROM frontend_settings
		WHERE account_id = ?`, id)
}

// SetFrontendSettings replaces what a front end stores for an account.
func (tx *Tx) SetFrontendSettings(ctx context.Context, id AccountID, name string, settings json.RawMessage) error {
	tx.invalidateAccount(id) // the account as it sees itself is cached
	return tx.exec(ctx, "set front end settings", `
		INSERT INTO frontend_settings (account_id, name, settings)
		VALUES (?, ?, ?)
		ON CONFLICT (account_id, name) DO UPDATE
		SET settings = excluded.settings`, id, name, string(settings))
}

// RemoveFrontendSettings removes what a front end stores for an account.
func (tx *Tx) RemoveFrontendSettings(ctx context.Context, id AccountID, name string) error {
	tx.invalidateAccount(id)
	return tx.exec(ctx, "remove front end settings", `DELETE FROM frontend_settings WHERE account_id = ? AND name = ?`, id, name)
}
